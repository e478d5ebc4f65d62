// A meter that takes its time: asked about once a second by a thread of its own, so that the sampler never waits for
// it.
//
// The thread runs from construction, which is given the first answer, to destruction, which ends it within some 20 ms
// even while a question is outstanding. An answer is a power in watts, integrated as in power_integral.hpp, or the
// count of a meter of watt-hours. A question without an answer, or with one that no node can give, is a gap.
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "meter/parts/plausible_power.hpp"
#include "meter/parts/power_integral.hpp"
#include "meter/parts/printed_quantity.hpp"
#include "meter/source.hpp"

namespace lull::meter {

class polled_meter {
 public:
  using question = std::function<meter_answer(const std::stop_token&)>;

  polled_meter(question ask, answer_in unit, const meter_answer& first, const sysroot& root);
  polled_meter(const polled_meter&) = delete;
  polled_meter& operator=(const polled_meter&) = delete;
  ~polled_meter() = default;

  // In microjoules.
  [[nodiscard]] reading read();
  // Why an answer since the last call was no reading; empty when all were.
  [[nodiscard]] std::string complaint();

 private:
  void run(const std::stop_token& stop);
  void take(const meter_answer& answer);

  question ask_;
  answer_in unit_;
  sysroot root_;
  std::chrono::nanoseconds interval_;

  std::mutex lock_;  // for what follows
  plausible_power believed_;
  power_integral integral_;
  reading count_;
  std::string complaint_;

  std::jthread thread_;  // last, so that it has ended before anything it uses is destroyed
};

// What a command source is, for all of them: one channel `NAME:node` that covers the whole box, and how it is asked.
struct command_meter {
  std::string name;
  std::string command;
  std::string_view scale;  // the setting by which its numbers are multiplied
  answer_in unit = answer_in::watts;
  std::string basis;  // what stands behind the number
  std::string permission;
  bool asked_for = false;                                        // a setting of the user's names it
  std::function<meter_answer(const std::string& output)> parse;  // may throw: no answer
};

// A source that asks at once, to know whether it is readable, and then polls.
[[nodiscard]] std::unique_ptr<source> make_command_meter(const command_meter& meter, const sysroot& root);
// One that is not there.
[[nodiscard]] std::unique_ptr<source> make_absent_meter(const command_meter& meter, availability why);

}  // namespace lull::meter
