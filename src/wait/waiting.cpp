#include "wait/waiting.hpp"

#include <cstdio>
#include <string>

#include "base/settings.hpp"
#include "base/topology.hpp"
#include "model/machine/machine_file.hpp"

namespace lull::wait {

waiting::waiting(doorbell& bell, progress_source* source, const wait_surroundings& where)
    : bell_(bell),
      source_(source),
      policy_(wait_policy_named(setting_text("LULL_WAIT")).value_or(wait_policy::interrupt)),
      limits_{.spin_ns = setting_integer("LULL_WAIT_SPIN_US") * 1000,
              .yields = static_cast<int>(setting_integer("LULL_WAIT_YIELDS")),
              .timeout_ns = setting_integer("LULL_WAIT_TIMEOUT_MS") * 1'000'000,
              .oversubscribed = where.oversubscribed,
              .threshold = setting_size("LULL_WAIT_THRESHOLD")},
      limits_oversubscribed_(limits_),
      where_(where),
      alone_(where.alone),
      history_(256, model::this_machine().waiting),
      statistics_(setting_text("LULL_STATS") != "0") {
  limits_oversubscribed_.oversubscribed = true;
  if (model::this_machine().correction.off) history_.keep_nothing();
  prepare(policy_);
}

void waiting::count_this_thread() noexcept {
  struct counted {
    counted() { threads_.fetch_add(1, std::memory_order_relaxed); }
    ~counted() { threads_.fetch_sub(1, std::memory_order_relaxed); }
  };
  [[maybe_unused]] static thread_local const counted this_one;
}

void waiting::prepare(wait_policy policy) {
  const std::lock_guard hold(preparing_);
  if (!lowers_frequency(policy) || asked_for_frequency_) return;
  asked_for_frequency_ = true;
  std::shared_ptr<core_frequency> frequency;
  std::string problem = "there are more PEs than cores, and one PE's wait would slow another's work";
  if (!where_.oversubscribed) {
    auto attempt = core_frequency::make(setting_text("LULL_SYSROOT"), allowed_cores());
    frequency = std::move(attempt.frequency);
    problem = std::move(attempt.problem);
  }
  if (!frequency) {
    if (where_.is_reporter)
      std::fprintf(stderr, "lull: lower the frequency while waiting: %s; continuing without\n", problem.c_str());
    return;
  }
  if (source_) source_->serve_at_full(frequency);
  frequency_.set(std::move(frequency));
}

wait_table waiting::table() const {
  wait_table copy = statistics_.table();
  if (const core_frequency* const frequency = frequency_.get()) {
    copy.frequency_changes = frequency->changes();
    copy.ns_changing_frequency = frequency->ns_changing();
  }
  if (source_) copy.ns_progress_cpu = source_->serving_cpu_ns();
  return copy;
}

}  // namespace lull::wait
