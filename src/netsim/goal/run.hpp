// A GOAL file on its nodes, as the network sees it: a workload. Messages travel as those of programs do (player.hpp):
// the same protocol, hosts and options, without collectives.
//
//   calc        its CPU computes for that many nanoseconds, times compute_scale
//   send        its CPU is busy for `overhead`; then the message leaves. The send ends when its last byte has left the
//               node; if it is longer than `eager`, it first asks, and is answered when a receive takes it
//   recv        takes the first message that matches, by source and tag, from the moment when it begins; its CPU is
//               busy for `overhead` after the message has arrived
//
// Each event costs O(1) and the edges of the operations that begin and end by it, apart from the search of a message
// among the posted receives (matching.hpp).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "netsim/goal/process.hpp"
#include "netsim/goal/recorded_steps.hpp"
#include "netsim/program/common_ends.hpp"
#include "netsim/program/host.hpp"
#include "netsim/program/pace.hpp"
#include "netsim/program/play_options.hpp"
#include "netsim/program/protocol.hpp"
#include "netsim/program/waits.hpp"
#include "netsim/workload/workload.hpp"

namespace lull::netsim {

class goal_run final : public workload, private host::listener, private protocol::listener {
 public:
  // The job has as many processes as the graph has ranks.
  goal_run(const job_setup& setup, std::shared_ptr<const goal_graph> graph);

  [[nodiscard]] process& of(std::uint32_t rank) override { return messages_.host_of(rank); }
  [[nodiscard]] std::optional<std::uint64_t> expected() const override { return std::nullopt; }
  [[nodiscard]] std::uint64_t waiting() const override { return running_; }
  [[nodiscard]] bool has_run() const override { return run_ends_.of_all(options_.repeats); }
  [[nodiscard]] bool at_a_stand() const override { return running_ > 0 && messages_.at_rest(); }
  [[nodiscard]] std::string who_waits() const override;
  void add_to(job_result& result, picoseconds end) const override;

 private:
  struct rank_state {
    goal_process runs;
    pace takes;
    std::int64_t ended_runs = 0;
    picoseconds run_began = 0;
    bool begun = false, ended = false;
  };

  void will_have_sent(std::uint32_t label, picoseconds at) override { messages_.will_have_sent(label, at); }
  void will_have_arrived(std::uint32_t label, picoseconds at) override { messages_.will_have_arrived(label, at); }
  void takes(std::uint32_t /*label*/, std::uint32_t next) const override { messages_.fetch(next); }
  [[nodiscard]] bool wants_arrival(std::uint32_t label) const override {
    const auto plain = messages_.is_plain(label);
    return !plain || ranks_[plain->to].ended || ranks_[plain->to].runs.receives();
  }
  void has_arrived(std::uint32_t label, picoseconds now) override { messages_.has_arrived(label, now); }
  void crossed(std::uint32_t label, std::span<const std::uint32_t> links) override { messages_.crossed(label, links); }
  void will_complete(const completion& what, picoseconds at) override {
    if (steps_) steps_->caused_by(what.rank, what.slot, recorded_->take_cause());
    messages_.host_of(what.rank).note_completion(what, at);
  }
  void completed(const completion& what, picoseconds now) override;
  void resume(std::uint32_t rank, std::uint32_t number, picoseconds now) override;
  void memory_changed(std::uint32_t /*rank*/, picoseconds /*now*/) override {}

  void go_on(std::uint32_t rank, picoseconds now);
  void use_cpu(std::uint32_t rank, std::uint8_t cpu, picoseconds now);
  void cpu_is_done(std::uint32_t rank, std::uint32_t number, picoseconds now);
  void post(std::uint32_t rank, std::uint32_t number, picoseconds now);
  void arrived(std::uint32_t rank, std::uint32_t number, picoseconds now);
  void begin_run(std::uint32_t rank, picoseconds now);
  void run_ended(std::uint32_t rank, picoseconds now);
  void begun(std::uint32_t rank, std::uint32_t number, picoseconds now);
  void ended(std::uint32_t rank, std::uint32_t number, picoseconds now);
  [[nodiscard]] process_wait wait_of(std::uint32_t rank) const;

  const simulation& asked_;
  const play_options options_;
  const std::shared_ptr<const goal_graph> graph_;
  std::optional<dependencies> recorded_;  // if the tolerance is wanted
  std::optional<recorded_steps> steps_;   // the same
  std::vector<host> hosts_;
  protocol messages_;
  std::vector<rank_state> ranks_;
  common_ends run_ends_;
  std::uint64_t running_;  // ranks that have not ended
  picoseconds ended_ = 0;
};

}  // namespace lull::netsim
