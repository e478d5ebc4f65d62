// NVIDIA GPUs, through their management library NVML, which comes with the driver.
//
// nvmlDeviceGetTotalEnergyConsumption counts millijoules since the driver was loaded, from Volta on. If it returns
// NOT_SUPPORTED, nvmlDeviceGetPowerUsage is integrated instead: milliwatts, averaged over a second on Ampere and later
// (except GA100). The counter moves every 20 to 100 ms. Either covers the whole card; instances of a partitioned GPU
// (MIG) have no separate meter, so a program in one of them is charged for all.
//
// The functions are those of NVML's stable C interface; only those that are called are declared here.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <vector>

#include "base/settings.hpp"
#include "meter/parts/power_integral.hpp"
#include "meter/parts/shared_library.hpp"
#include "meter/source.hpp"

namespace lull::meter {
namespace {

constexpr int success = 0;
constexpr int not_supported = 3;
constexpr int no_permission = 4;

constexpr seconds update_interval{0.1};
constexpr seconds average_of_power{1};
constexpr std::int64_t slack_ns = 500'000'000;
constexpr std::int64_t longest_ns = 15'000'000'000;  // the sampler may be as slow as 0.1 Hz
constexpr double most_watts = 3000;

class nvml_library {
 public:
  using device = void*;

  explicit nvml_library(const std::string& path) : library_({path}) {
    if (!library_) {
      problem_ = library_.missing();
      return;
    }
    if (!(library_.find("nvmlInit_v2", init_) && library_.find("nvmlShutdown", shutdown_) &&
          library_.find("nvmlErrorString", error_string_) && library_.find("nvmlDeviceGetCount_v2", count_) &&
          library_.find("nvmlDeviceGetHandleByIndex_v2", handle_) && library_.find("nvmlDeviceGetUUID", uuid_) &&
          library_.find("nvmlDeviceGetPowerUsage", power_))) {
      problem_ = path + " is not NVML";
      return;
    }
    // GPUs older than Volta, and older drivers, do not have it.
    if (!library_.find("nvmlDeviceGetTotalEnergyConsumption", energy_)) energy_ = nullptr;
    if (!library_.find("nvmlDeviceGetMigMode", mig_)) mig_ = nullptr;
    if (!library_.find("nvmlDeviceGetPowerManagementLimit", limit_)) limit_ = nullptr;
    if (const int status = init_(); status != success)
      problem_ = "nvmlInit: " + describe(status);
    else
      running_ = true;
  }
  nvml_library(const nvml_library&) = delete;
  nvml_library& operator=(const nvml_library&) = delete;
  ~nvml_library() {
    if (running_) shutdown_();
  }

  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] std::string describe(int status) const { return error_string_(status); }

  [[nodiscard]] std::vector<device> devices() const {
    unsigned count = 0;
    std::vector<device> found;
    if (!running_ || count_(&count) != success) return found;
    for (unsigned i = 0; i < count; ++i)
      if (device d = nullptr; handle_(i, &d) == success) found.push_back(d);
    return found;
  }
  [[nodiscard]] std::string uuid(device d) const {
    std::array<char, 96> text{};
    return uuid_(d, text.data(), static_cast<unsigned>(text.size())) == success ? text.data() : "";
  }
  [[nodiscard]] bool divided(device d) const {
    unsigned now = 0, later = 0;
    return mig_ != nullptr && mig_(d, &now, &later) == success && now != 0;
  }
  // Millijoules and milliwatts; they are valid only if the status is success.
  [[nodiscard]] int energy(device d, unsigned long long& millijoules) const {
    return energy_ != nullptr ? energy_(d, &millijoules) : not_supported;
  }
  [[nodiscard]] int power(device d, unsigned& milliwatts) const { return power_(d, &milliwatts); }
  [[nodiscard]] double limit_watts(device d) const {
    unsigned milliwatts = 0;
    return limit_ != nullptr && limit_(d, &milliwatts) == success ? milliwatts * 1e-3 : 0;
  }

 private:
  shared_library library_;
  int (*init_)() = nullptr;
  int (*shutdown_)() = nullptr;
  const char* (*error_string_)(int) = nullptr;
  int (*count_)(unsigned*) = nullptr;
  int (*handle_)(unsigned, device*) = nullptr;
  int (*uuid_)(device, char*, unsigned) = nullptr;
  int (*energy_)(device, unsigned long long*) = nullptr;
  int (*power_)(device, unsigned*) = nullptr;
  int (*mig_)(device, unsigned*, unsigned*) = nullptr;
  int (*limit_)(device, unsigned*) = nullptr;
  bool running_ = false;
  std::string problem_;
};

struct gpu {
  nvml_library::device device;
  std::optional<power_integral> integral;  // if it has no energy counter
};

struct gpus {
  std::shared_ptr<const nvml_library> library;
  std::vector<gpu> all;
  source_description description;
};

source_description nothing_yet() {
  return {.name = "nvml",
          .kind = kind::measured,
          .unit = "mJ",
          .interval = update_interval,
          .range = {},
          .permission = "none",
          .channels = {},
          .state = {}};
}

void add(gpus& to, nvml_library::device device, std::size_t number) {
  const nvml_library& library = *to.library;
  unsigned long long millijoules = 0;
  unsigned milliwatts = 0;
  const int counter = library.energy(device, millijoules);
  const bool counts = counter == success;
  const int status = counts ? success : counter == not_supported ? library.power(device, milliwatts) : counter;
  if (status != success) {
    availability& state = to.description.state;
    state.reason = fmt::format("GPU {}: {}", number, library.describe(status));
    if (status == no_permission) state.fix = "run where /dev/nvidia* may be opened";
    return;
  }
  const std::string whole = library.divided(device) ? ", the whole GPU although it is divided (MIG)" : "";
  const double limit = library.limit_watts(device);
  const double joules_per_unit = counts ? 1e-3 : 1e-6;
  to.description.channels.push_back(
      {.name = fmt::format("nvml:gpu{}", number),
       .covers = domain::gpu,
       .kind = kind::measured,
       .interval = counts ? update_interval : average_of_power,
       .basis = fmt::format(
           "{}, {}{}", library.uuid(device),
           counts ? "nvmlDeviceGetTotalEnergyConsumption" : "nvmlDeviceGetPowerUsage, integrated by trapezoids", whole),
       .limits = counts ? counter_limits{.range = 0, .max_per_second = most_watts * 1e3, .slack_ns = slack_ns}
                        : counter_limits{.range = 0, .max_per_second = 0, .slack_ns = 0, .may_rest = true},
       .joules_per_unit = {joules_per_unit, joules_per_unit, joules_per_unit},
       .watts = {},
       .integrated = !counts});
  to.all.push_back({device, counts ? std::nullopt : std::optional(power_integral(longest_ns, limit))});
}

gpus find_gpus(const std::string& path) {
  gpus found{std::make_shared<const nvml_library>(path), {}, nothing_yet()};
  availability& state = found.description.state;
  if (const std::string& problem = found.library->problem(); !problem.empty()) {
    state.reason = problem;
    return found;
  }
  const auto devices = found.library->devices();
  if (devices.empty()) state.reason = "NVML finds no GPU";
  for (std::size_t i = 0; i < devices.size(); ++i) add(found, devices[i], i);
  // Reading only some of the GPUs would look like reading all.
  state.readable = !devices.empty() && found.all.size() == devices.size();
  return found;
}

class nvml final : public source {
 public:
  nvml(const sysroot& root, gpus found)
      : source(std::move(found.description)),
        root_(root),
        library_(std::move(found.library)),
        gpus_(std::move(found.all)) {}

  void read(std::span<reading> into) override {
    for (std::size_t i = 0; i < gpus_.size(); ++i) into[i] = read(gpus_[i]);
  }

 private:
  reading read(gpu& g) const {
    if (g.integral) {
      unsigned milliwatts = 0;
      const bool good = library_->power(g.device, milliwatts) == success;
      const std::int64_t now = root_.now();
      g.integral->push(good ? std::optional(milliwatts * 1e-3) : std::nullopt, now);
      return g.integral->at(now);
    }
    unsigned long long millijoules = 0;
    const bool good = library_->energy(g.device, millijoules) == success;
    return stamped({millijoules, good ? 0 : EIO}, root_.now());
  }

  sysroot root_;
  std::shared_ptr<const nvml_library> library_;
  std::vector<gpu> gpus_;
};

}  // namespace

std::unique_ptr<source> make_nvml(const sysroot& root) {
  if (!root.is_this_machine() && !setting_is_set("LULL_NVML_LIBRARY")) {
    gpus none{nullptr, {}, nothing_yet()};
    none.description.state.reason = "the GPUs of another machine cannot be read";
    return std::make_unique<nvml>(root, std::move(none));
  }
  return std::make_unique<nvml>(root, find_gpus(setting_text("LULL_NVML_LIBRARY")));
}

}  // namespace lull::meter
