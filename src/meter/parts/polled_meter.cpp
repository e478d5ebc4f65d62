#include "meter/parts/polled_meter.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <utility>

#include "base/settings.hpp"
#include "meter/parts/command.hpp"

namespace lull::meter {
namespace {

using std::chrono::milliseconds;

constexpr double microjoules_per_watt_hour = 3.6e9;
constexpr double most_of_a_count = 4e9;  // watt-hours; in microjoules this fits into 64 bits
constexpr std::int64_t longest_step_ns = 60'000'000'000;

milliseconds milliseconds_in(std::string_view setting) {
  return milliseconds(std::lround(setting_real(setting) * 1e3));
}

// Long enough that a command which just meets its time-out does not cause a gap.
std::int64_t longest_ns() {
  const std::chrono::nanoseconds longest =
      2 * milliseconds_in("LULL_COMMAND_INTERVAL_S") + milliseconds_in("LULL_COMMAND_TIMEOUT_S");
  return longest.count();
}

}  // namespace

polled_meter::polled_meter(question ask, answer_in unit, const meter_answer& first, const sysroot& root)
    : ask_(std::move(ask)),
      unit_(unit),
      root_(root),
      interval_(milliseconds_in("LULL_COMMAND_INTERVAL_S")),
      believed_(plausible_watts_of_node()),
      integral_(longest_ns()) {
  take(first);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void polled_meter::take(const meter_answer& answer) {
  const std::scoped_lock hold(lock_);
  const std::string doubt =
      unit_ == answer_in::watts && answer.number ? believed_.doubt(*answer.number) : std::string{};
  if (!answer.number) complaint_ = answer.failure;
  if (!doubt.empty()) complaint_ = doubt;
  if (unit_ == answer_in::watts) {
    integral_.push(doubt.empty() ? answer.number : std::nullopt, root_.now());
  } else if (answer.number) {
    // Such a meter shows whole watt-hours or tenths, so one of its steps may be missing at either end.
    count_ = {.value = static_cast<std::uint64_t>(*answer.number * microjoules_per_watt_hour),
              .error = 0,
              .time_ns = root_.now(),
              .since = continuity::kept,
              .doubt = 0,
              .pending = microjoules_per_watt_hour,
              .bridged = count_.bridged};
  } else {
    count_ = {.value = {}, .error = EIO, .time_ns = root_.now(), .bridged = count_.bridged};
  }
}

void polled_meter::run(const std::stop_token& stop) {
  std::mutex mutex;  // never notified: the condition variable is only interrupted by the stop token
  std::condition_variable_any never;
  std::unique_lock wait(mutex);
  for (auto deadline = std::chrono::steady_clock::now() + interval_;; deadline += interval_) {
    if (const auto now = std::chrono::steady_clock::now(); deadline < now) deadline = now;
    never.wait_until(wait, stop, deadline, [] { return false; });
    if (stop.stop_requested()) return;
    const meter_answer answer = ask_(stop);
    if (stop.stop_requested()) return;
    take(answer);
  }
}

reading polled_meter::read() {
  const std::scoped_lock hold(lock_);
  return unit_ == answer_in::watts ? integral_.at(root_.now()) : count_;
}

std::string polled_meter::complaint() {
  const std::scoped_lock hold(lock_);
  return std::exchange(complaint_, {});
}

namespace {

// Any failure counts as no answer: an exception that left a polling thread would terminate the user's command.
meter_answer ask_once(const command_meter& meter, const command& how, double scale, milliseconds longest,
                      const std::stop_token& stop) {
  meter_answer answer;
  try {
    const command_result result = how.run(longest, stop);
    answer = result.failure.empty() ? meter.parse(as_utf8(result.output)) : meter_answer{{}, as_utf8(result.failure)};
    if (answer.number) *answer.number *= scale;
    if (answer.number && !(*answer.number >= 0 && *answer.number < most_of_a_count))
      answer = {{}, fmt::format("{:.6g} is not a reading", *answer.number)};
  } catch (const std::exception& problem) {
    answer = {{}, as_utf8(problem.what())};
  }
  if (!answer.number) answer.failure = fmt::format("{}: {}", as_utf8(meter.command), answer.failure);
  return answer;
}

// An outlet counts no faster than a node can draw. It may show whole tenths of a kilowatt-hour, with a delay.
counter_limits limits_of(const command_meter& meter) {
  if (meter.unit == answer_in::watts) return {.may_rest = true};
  return {.range = 0,
          .max_per_second = plausible_watts_of_node().high * 1e6,
          .slack_ns = longest_step_ns,
          .may_rest = true};
}

source_description describe(const command_meter& meter, availability state) {
  const seconds interval{setting_real("LULL_COMMAND_INTERVAL_S")};
  source_description result{.name = meter.name,
                            .kind = kind::measured,
                            .unit = meter.unit == answer_in::watts ? "W" : "Wh",
                            .interval = interval,
                            .range = {},
                            .permission = meter.permission,
                            .channels = {},
                            .state = std::move(state),
                            .left_out = {},
                            .asked_for = meter.asked_for};
  if (result.state.readable)
    result.channels.push_back(
        {.name = meter.name + ":node",
         .covers = domain::node,
         .kind = kind::measured,
         .interval = interval,
         .basis =
             fmt::format("{}{} from the command: {}", meter.basis,
                         meter.unit == answer_in::watts ? ", integrated by trapezoids," : ",", as_utf8(meter.command)),
         .limits = limits_of(meter),
         .joules_per_unit = {1e-6, 1e-6, 1e-6},
         .watts = {},
         .integrated = true});
  return result;
}

class command_source final : public source {
 public:
  command_source(const command_meter& meter, const polled_meter::question& ask, const meter_answer& first,
                 const sysroot& root)
      : source(describe(meter, {true, "", ""})), polled_(ask, meter.unit, first, root) {}

  void read(std::span<reading> into) override { into[0] = polled_.read(); }
  [[nodiscard]] std::string complaint() override { return polled_.complaint(); }

 private:
  polled_meter polled_;
};

class absent_source final : public source {
 public:
  using source::source;
  void read(std::span<reading> /*no channels*/) override {}
};

}  // namespace

std::unique_ptr<source> make_absent_meter(const command_meter& meter, availability why) {
  return std::make_unique<absent_source>(describe(meter, std::move(why)));
}

std::unique_ptr<source> make_command_meter(const command_meter& meter, const sysroot& root) {
  const milliseconds longest = milliseconds_in("LULL_COMMAND_TIMEOUT_S");
  const double scale = setting_real(meter.scale);
  const polled_meter::question ask = [meter, how = command(meter.command), scale,
                                      longest](const std::stop_token& stop) {
    return ask_once(meter, how, scale, longest, stop);
  };
  meter_answer first = ask({});
  if (first.number && meter.unit == answer_in::watts)
    if (const std::string doubt = plausible_power(plausible_watts_of_node()).doubt(*first.number); !doubt.empty())
      first = {{}, fmt::format("{}: {}", as_utf8(meter.command), doubt), fmt::format("export {}=FACTOR", meter.scale)};
  if (!first.number) return make_absent_meter(meter, {false, first.failure, first.fix});
  return std::make_unique<command_source>(meter, ask, first, root);
}

}  // namespace lull::meter
