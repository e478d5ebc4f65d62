// What a trace says of a program: who sent how much to whom, and on what time went, of each process and over the run.
//
// Time in communication is split after Scalasca's patterns. All waits but the last are at the begin of a call:
//   late sender     a receive that is there before its message was sent waits until it is
//   late receiver   a send that returns only after its receive was posted waits until it is; one that returns before
//                   (eager) does not wait
//   imbalance       of a collective: all wait for the last where all depend on all, for the root where they depend on it,
//                   the root for the last where it depends on all
//   polling         a test or probe in which nothing was found to be complete or to have come
//   transfer        the rest
// Memory grows with processes, bins and messages under way, not with the length of the trace.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "trace/events.hpp"

namespace lull::trace {

enum class time_state : std::uint8_t {
  compute,
  late_sender,
  late_receiver,
  imbalance,
  polling,
  transfer,
  files,
  setup
};
inline constexpr std::size_t time_states = 8;

struct traffic {
  std::uint32_t from, to;                            // processes
  std::uint64_t messages = 0, bytes = 0;             // point to point
  std::uint64_t one_sided = 0, one_sided_bytes = 0;  // in the direction in which they go
};

struct process_account {
  std::array<double, time_states> seconds{};                                 // summed over its threads
  std::uint64_t sent = 0, sent_bytes = 0, received = 0, received_bytes = 0;  // point to point
  std::uint64_t gaps = 0;  // between what it sends, point to point and one-sided; their moments in seconds
  double gap_mean = 0, gap_squares = 0;  // the latter is the sum of squared differences from the mean
};

struct function_account {
  std::uint64_t calls = 0;
  double seconds = 0;  // with what it calls
};

struct collective_account {
  std::uint64_t calls = 0;  // of single processes
  std::uint64_t sent_bytes = 0, received_bytes = 0;
};

struct analysis {
  double seconds = 0;
  std::uint64_t events = 0;
  std::size_t bins = 0;
  std::vector<process_account> processes;
  std::vector<float> in_bins;  // seconds, by process, then bin, then state
  std::vector<std::uint64_t> message_bytes_in_bins, collective_bytes_in_bins;  // of all processes
  std::vector<traffic> pairs;
  std::array<std::uint64_t, 65> sizes{}, size_bytes{};  // point to point: 0, 1, 2–3, 4–7, … bytes
  std::array<collective_account, collectives> by_collective{};
  std::vector<function_account> functions;           // by region
  std::vector<std::vector<double>> metrics_in_bins;  // the last value in each bin; NaN where there is none
  std::uint64_t unmatched_sends = 0, unmatched_receives = 0;
  std::uint64_t too_early = 0;  // received before they were sent, by the clocks
  double most_too_early_s = 0;
  std::uint64_t incomplete_collectives = 0;
};

// A visitor for archive_reader::read().
class analyser : public event_visitor {
 public:
  // At least one bin; fewer than asked for where there are many processes.
  analyser(const definitions& all, std::size_t bins);
  ~analyser() override;
  void on(const event& e) override;
  // Once, after the last event.
  [[nodiscard]] analysis result();

 private:
  class worker;
  std::unique_ptr<worker> worker_;
};

}  // namespace lull::trace
