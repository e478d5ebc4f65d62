// A small ROCm SMI for tests: the JSON file that FAKE_ROCM names contains the accumulators, resolution and time stamp,
// and is read again at every call: {"accumulators": [..], "counter_resolution_uJ": .., "timestamp_ns": ..}.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

nlohmann::json cards() {
  const char* path = std::getenv("FAKE_ROCM");
  std::ifstream file(path != nullptr ? path : "");
  return nlohmann::json::parse(file, nullptr, false);
}

}  // namespace

EXPORTED int rsmi_init(std::uint64_t) { return cards().is_object() ? 0 : 8; }
EXPORTED int rsmi_shut_down() { return 0; }
EXPORTED int rsmi_num_monitor_devices(std::uint32_t* count) {
  *count = static_cast<std::uint32_t>(cards().at("accumulators").size());
  return 0;
}
EXPORTED int rsmi_dev_energy_count_get(std::uint32_t device, std::uint64_t* units, float* resolution,
                                       std::uint64_t* stamp) {
  const nlohmann::json now = cards();
  if (now.at("accumulators").at(device).is_null()) return 2;  // RSMI_STATUS_NOT_SUPPORTED
  *units = now["accumulators"][device];
  *resolution = now.at("counter_resolution_uJ");
  *stamp = now.at("timestamp_ns");
  return 0;
}
