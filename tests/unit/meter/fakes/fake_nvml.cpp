// A small NVML for tests: the JSON file that FAKE_NVML names describes its GPUs and is read again at every call. The
// format is that of the fixture tools/nvml_fake.json.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

constexpr int success = 0, not_supported = 3, lost = 15, unknown = 999;

nlohmann::json gpus() {
  const char* path = std::getenv("FAKE_NVML");
  std::ifstream file(path != nullptr ? path : "");
  return nlohmann::json::parse(file, nullptr, false);
}

nlohmann::json gpu(void* device) { return gpus().at(reinterpret_cast<std::size_t>(device) - 1); }

template <class Number>
int number(void* device, const char* key, Number* into) {
  const nlohmann::json card = gpu(device);
  if (card.contains("lost")) return lost;
  if (!card.contains(key) || card[key].is_null()) return not_supported;
  *into = card[key].get<Number>();
  return success;
}

}  // namespace

EXPORTED int nvmlInit_v2() { return gpus().is_array() ? success : unknown; }
EXPORTED int nvmlShutdown() { return success; }
EXPORTED const char* nvmlErrorString(int status) {
  return status == lost ? "GPU is lost" : status == not_supported ? "Not Supported" : "Unknown Error";
}
EXPORTED int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(gpus().size());
  return success;
}
EXPORTED int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = reinterpret_cast<void*>(std::size_t{index} + 1);
  return success;
}
EXPORTED int nvmlDeviceGetUUID(void* device, char* text, unsigned length) {
  std::strncpy(text, gpu(device).at("uuid").get<std::string>().c_str(), length - 1);
  return success;
}
EXPORTED int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  return number(device, "total_energy_mJ", millijoules);
}
EXPORTED int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  return number(device, "power_mW", milliwatts);
}
EXPORTED int nvmlDeviceGetMigMode(void* device, unsigned* now, unsigned* later) {
  *now = *later = gpu(device).value("mig", false) ? 1 : 0;
  return success;
}
EXPORTED int nvmlDeviceGetPowerManagementLimit(void* device, unsigned* milliwatts) {
  return number(device, "limit_mW", milliwatts);
}
