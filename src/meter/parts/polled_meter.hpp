// A slow meter: a separate thread polls it about once a second, so that the sampler never waits for it.
//
// The constructor takes the first answer and starts the thread; the destructor ends it within some 20 ms, even while a
// command is running. An answer is a power in watts, integrated as in power_integral.hpp, or the count of a watt-hour
// meter. A missing or implausible answer is a gap.
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
  // Why an answer since the last call was rejected; empty if all were accepted.
  [[nodiscard]] std::string complaint();

 private:
  void run(const std::stop_token& stop);
  void take(const meter_answer& answer);

  question ask_;
  answer_in unit_;
  sysroot root_;
  std::chrono::nanoseconds interval_;

  std::mutex lock_;  // protects the following members
  plausible_power believed_;
  power_integral integral_;
  reading count_;
  std::string complaint_;

  std::jthread thread_;  // last, so that it ends before the members that it uses are destroyed
};

// The common properties of command sources: one channel `NAME:node` that covers the whole node, and how to query it.
struct command_meter {
  std::string name;
  std::string command;
  std::string_view scale;  // the setting that scales its numbers
  answer_in unit = answer_in::watts;
  std::string basis;  // where the number comes from
  std::string permission;
  bool asked_for = false;                                        // a setting of the user names it
  std::function<meter_answer(const std::string& output)> parse;  // an exception means no answer
};

// A source that queries the meter at once, to check that it is readable, and then polls it.
[[nodiscard]] std::unique_ptr<source> make_command_meter(const command_meter& meter, const sysroot& root);
// A source that is not available.
[[nodiscard]] std::unique_ptr<source> make_absent_meter(const command_meter& meter, availability why);

}  // namespace lull::meter
