// AMD Instinct GPUs, through the library ROCm SMI.
//
// rsmi_dev_energy_count_get returns an accumulator, the worth of one unit in microjoules (15.3 or so), and the time of
// the reading by the card's clock. A card with two dies (MI250, MI250X) appears as two devices: the even one counts
// both dies, the odd one stays at 0 and becomes no channel. An even one that stays at 0 does not count at all (MI100
// with some firmware), which is reported. In a virtual machine the library does not respond.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include "base/settings.hpp"
#include "meter/parts/device_clock.hpp"
#include "meter/parts/shared_library.hpp"
#include "meter/source.hpp"

namespace lull::meter {
namespace {

constexpr int success = 0;
constexpr seconds update_interval{0.1};
constexpr std::int64_t slack_ns = 500'000'000;
constexpr double most_watts = 3000;

struct energy_count {
  std::uint64_t units = 0;
  float microjoules_per_unit = 0;
  std::uint64_t stamp_ns = 0;
};

class rocm_library {
 public:
  explicit rocm_library(const std::string& path)
      : library_(path.find('/') == std::string::npos ? shared_library({path, "/opt/rocm/lib/" + path})
                                                     : shared_library({path})) {
    if (!library_) {
      problem_ = library_.missing();
      return;
    }
    if (!(library_.find("rsmi_init", init_) && library_.find("rsmi_shut_down", shut_down_) &&
          library_.find("rsmi_num_monitor_devices", count_) && library_.find("rsmi_dev_energy_count_get", energy_))) {
      problem_ = path + " is not ROCm SMI";
      return;
    }
    if (const int status = init_(0); status != success)
      problem_ = fmt::format("rsmi_init: error {}", status);
    else
      running_ = true;
  }
  rocm_library(const rocm_library&) = delete;
  rocm_library& operator=(const rocm_library&) = delete;
  ~rocm_library() {
    if (running_) shut_down_();
  }

  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] std::uint32_t devices() const {
    std::uint32_t count = 0;
    return running_ && count_(&count) == success ? count : 0;
  }
  [[nodiscard]] int energy(std::uint32_t device, energy_count& into) const {
    return energy_(device, &into.units, &into.microjoules_per_unit, &into.stamp_ns);
  }

 private:
  shared_library library_;
  int (*init_)(std::uint64_t) = nullptr;
  int (*shut_down_)() = nullptr;
  int (*count_)(std::uint32_t*) = nullptr;
  int (*energy_)(std::uint32_t, std::uint64_t*, float*, std::uint64_t*) = nullptr;
  bool running_ = false;
  std::string problem_;
};

struct gpu {
  std::uint32_t device;
  device_clock clock;
};

struct gpus {
  std::shared_ptr<const rocm_library> library;
  std::vector<gpu> all;
  source_description description;
};

source_description nothing_yet() {
  return {.name = "rocm",
          .kind = kind::measured,
          .unit = "counter_resolution uJ",
          .interval = update_interval,
          .range = {},
          .permission = "group render or video",
          .channels = {},
          .state = {}};
}

void add(gpus& to, std::uint32_t device, const energy_count& now, bool two_dies) {
  const double joules = static_cast<double>(now.microjoules_per_unit) * 1e-6;
  to.description.channels.push_back(
      {.name = fmt::format("rocm:gpu{}", device),
       .covers = domain::gpu,
       .kind = kind::measured,
       .interval = update_interval,
       .basis = fmt::format("rsmi_dev_energy_count_get, {:.4g} uJ per unit{}", joules * 1e6,
                            two_dies ? fmt::format(", of both dies (device {} is the other)", device + 1) : ""),
       .limits = {.range = 0, .max_per_second = most_watts / joules, .slack_ns = slack_ns},
       .joules_per_unit = {joules, joules, joules},
       .watts = {}});
  to.all.push_back({device, {}});
}

gpus find_gpus(const std::string& path) {
  gpus found{std::make_shared<const rocm_library>(path), {}, nothing_yet()};
  availability& state = found.description.state;
  if (const std::string& problem = found.library->problem(); !problem.empty()) {
    state.reason = problem;
    return found;
  }
  const std::uint32_t count = found.library->devices();
  if (count == 0) state.reason = "ROCm SMI finds no GPU";
  std::vector<energy_count> counts(count);
  for (std::uint32_t i = 0; i < count && state.reason.empty(); ++i) {
    if (const int status = found.library->energy(i, counts[i]); status != success)
      state.reason = fmt::format("GPU {}: rsmi_dev_energy_count_get: error {}", i, status);
    else if (!(counts[i].microjoules_per_unit > 0))
      state.reason = fmt::format("GPU {} does not report the unit of its counter", i);
    else if (counts[i].units == 0 && (i % 2 == 0 || counts[i - 1].units == 0))
      state.reason = fmt::format("the counter of GPU {} stays at 0", i);
  }
  state.readable = state.reason.empty();
  for (std::uint32_t i = 0; i < count && state.readable; ++i)
    if (counts[i].units > 0) add(found, i, counts[i], i % 2 == 0 && i + 1 < count && counts[i + 1].units == 0);
  return found;
}

class rocm final : public source {
 public:
  rocm(const sysroot& root, gpus found)
      : source(std::move(found.description)),
        root_(root),
        library_(std::move(found.library)),
        gpus_(std::move(found.all)) {}

  void read(std::span<reading> into) override {
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      energy_count count;
      const int status = library_->energy(gpus_[i].device, count);
      into[i] = stamped({count.units, status == success ? 0 : EIO}, root_.now());
      if (into[i].value && count.stamp_ns > 0)
        into[i].time_ns = gpus_[i].clock.at(static_cast<std::int64_t>(count.stamp_ns), into[i].time_ns);
    }
  }

 private:
  sysroot root_;
  std::shared_ptr<const rocm_library> library_;
  std::vector<gpu> gpus_;
};

}  // namespace

std::unique_ptr<source> make_rocm(const sysroot& root) {
  if (!root.is_this_machine() && !setting_is_set("LULL_ROCM_LIBRARY")) {
    gpus none{nullptr, {}, nothing_yet()};
    none.description.state.reason = "the GPUs of another machine cannot be read";
    return std::make_unique<rocm>(root, std::move(none));
  }
  return std::make_unique<rocm>(root, find_gpus(setting_text("LULL_ROCM_LIBRARY")));
}

}  // namespace lull::meter
