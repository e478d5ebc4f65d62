#include "meter/polled_meter.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <utility>

#include "base/settings.hpp"
#include "meter/command.hpp"

namespace lull::meter {
namespace {

using std::chrono::milliseconds;

constexpr double microjoules_per_watt_hour = 3.6e9;

milliseconds milliseconds_in(std::string_view setting) {
  return milliseconds(std::lround(setting_real(setting) * 1e3));
}

// A command that just keeps within its time-out is no gap.
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
      integral_(longest_ns()) {
  take(first);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void polled_meter::take(const meter_answer& answer) {
  const std::scoped_lock hold(lock_);
  if (unit_ == answer_in::watts) {
    integral_.push(answer.number, root_.now());
  } else if (answer.number) {
    // Such a meter shows whole watt-hours or tenths: at either end one of its steps may be missing.
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
  std::mutex mutex;  // nobody notifies: the condition variable is there to be interrupted by the stop token
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

namespace {

meter_answer ask_once(const command_meter& meter, const command& how, milliseconds longest,
                      const std::stop_token& stop) {
  const command_result result = how.run(longest, stop);
  if (!result.failure.empty()) return {{}, fmt::format("{}: {}", meter.command, result.failure), ""};
  meter_answer answer = meter.parse(result.output);
  if (answer.number && !(*answer.number >= 0 && std::isfinite(*answer.number)))
    answer = {{}, fmt::format("{} W or Wh is no reading", *answer.number), ""};
  if (!answer.number) answer.failure = fmt::format("{}: {}", meter.command, answer.failure);
  return answer;
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
                            .state = std::move(state)};
  if (result.state.readable)
    result.channels.push_back(
        {.name = meter.name + ":node",
         .covers = domain::node,
         .kind = kind::measured,
         .interval = interval,
         .basis = fmt::format("{}{} from the command: {}", meter.basis,
                              meter.unit == answer_in::watts ? ", integrated by trapezoids," : ",", meter.command),
         .limits = {.may_rest = true},
         .joules_per_unit = {1e-6, 1e-6, 1e-6},
         .watts = {},
         .integrated = true});
  return result;
}

class command_source final : public source {
 public:
  command_source(const command_meter& meter, const command& how, milliseconds longest, const meter_answer& first,
                 const sysroot& root)
      : source(describe(meter, {true, "", ""})),
        polled_([meter, how, longest](const std::stop_token& stop) { return ask_once(meter, how, longest, stop); },
                meter.unit, first, root) {}

  void read(std::span<reading> into) override { into[0] = polled_.read(); }

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
  const command how(meter.command);
  const meter_answer first = ask_once(meter, how, longest, {});
  if (!first.number) return make_absent_meter(meter, {false, first.failure, first.fix});
  return std::make_unique<command_source>(meter, how, longest, first, root);
}

}  // namespace lull::meter
