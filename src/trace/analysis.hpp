// Analyses the trace of a program: which processes sent how much to which, and how they spent their time, for each
// process and over the run.
//
// Time in communication is divided by Scalasca's patterns. All waits except polling are at the begin of a call:
//   late sender     a receive that is posted before its message is sent waits for it
//   late receiver   a send that returns only after its receive was posted waits for it; one that returns before (eager)
//                   does not wait
//   imbalance       of a collective: all wait for the last process if all depend on all, for the root if they depend on
//                   it; the root waits for the last if it depends on all
//   polling         a test or probe that found nothing complete or arrived
//   transfer        the rest
// Memory grows with processes, bins and messages in flight, not with the length of the trace.
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
  std::uint64_t one_sided = 0, one_sided_bytes = 0;  // in the direction of the data
};

struct process_account {
  std::array<double, time_states> seconds{};                                 // summed over its threads
  std::uint64_t sent = 0, sent_bytes = 0, received = 0, received_bytes = 0;  // point to point
  std::uint64_t gaps = 0;  // number of intervals between its sends, point to point and one-sided; statistics in seconds
  double gap_mean = 0, gap_squares = 0;  // gap_squares: sum of squared differences from the mean
};

struct function_account {
  std::uint64_t calls = 0;
  double seconds = 0;  // including callees
};

struct collective_account {
  std::uint64_t calls = 0;  // by single processes
  std::uint64_t sent_bytes = 0, received_bytes = 0;
};

struct analysis {
  double seconds = 0;
  std::uint64_t events = 0;
  std::size_t bins = 0;
  std::vector<process_account> processes;
  std::vector<float> in_bins;  // seconds, indexed by process, bin, state
  std::vector<std::uint64_t> message_bytes_in_bins, collective_bytes_in_bins;  // of all processes
  std::vector<traffic> pairs;
  std::array<std::uint64_t, 65> sizes{}, size_bytes{};  // point to point: 0, 1, 2–3, 4–7, … bytes
  std::array<collective_account, collectives> by_collective{};
  std::vector<function_account> functions;           // by region
  std::vector<std::vector<double>> metrics_in_bins;  // the last value in each bin; NaN if there is none
  std::uint64_t unmatched_sends = 0, unmatched_receives = 0;
  std::uint64_t too_early = 0;  // received before they were sent, according to the clocks
  double most_too_early_s = 0;
  std::uint64_t incomplete_collectives = 0;
};

// A visitor for archive_reader::read().
class analyser : public event_visitor {
 public:
  // `bins` is at least one; with many processes it uses fewer.
  analyser(const definitions& all, std::size_t bins);
  ~analyser() override;
  void on(const event& e) override;
  // Call once, after the last event.
  [[nodiscard]] analysis result();

 private:
  class worker;
  std::unique_ptr<worker> worker_;
};

}  // namespace lull::trace
