// A program on its nodes, as the network sees it: a workload. It holds the processes, their hosts, and what is known of
// all of them together.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "netsim/program/common_ends.hpp"
#include "netsim/program/executor.hpp"
#include "netsim/program/host.hpp"
#include "netsim/program/play_options.hpp"
#include "netsim/program/program.hpp"
#include "netsim/program/protocol.hpp"
#include "netsim/program/sampled_units.hpp"
#include "netsim/workload/workload.hpp"

namespace lull::netsim {

class program_run final : public workload, private host::listener, private protocol::listener {
 public:
  program_run(const job_setup& setup, std::unique_ptr<program> what);

  [[nodiscard]] process& of(std::uint32_t rank) override { return messages_.host_of(rank); }
  [[nodiscard]] std::optional<std::uint64_t> expected() const override { return std::nullopt; }
  [[nodiscard]] std::uint64_t waiting() const override { return running_; }
  [[nodiscard]] bool has_run() const override { return run_ends_.of_all(options_.repeats); }
  [[nodiscard]] bool at_a_stand() const override { return running_ > 0 && messages_.at_rest(); }
  [[nodiscard]] std::string who_waits() const override;
  void add_to(job_result& result, picoseconds end) const override;

  // Called by executors.
  [[nodiscard]] sampled_units* units() { return units_ ? &*units_ : nullptr; }
  [[nodiscard]] const play_options& options() const { return options_; }
  [[nodiscard]] const program& what() const { return *what_; }
  [[nodiscard]] protocol& messages() { return messages_; }
  [[nodiscard]] dependencies* recorded() { return recorded_ ? &*recorded_ : nullptr; }  // if they are
  [[nodiscard]] std::uint32_t size() const { return size_; }
  // The schedule of `rank` in the collective `o`, the next of its group; fills in what its activity must know.
  [[nodiscard]] stream join(std::uint32_t rank, membership& as, const operation& o, activity& joined);
  void iteration_ended(std::uint32_t number, picoseconds now) { iteration_ends_.add(number, now); }
  void run_ended(std::uint32_t number, picoseconds now) { run_ends_.add(number, now); }
  // A process that has ended so many runs and iterations takes no part in those of the others.
  void process_leaves(std::uint32_t runs, std::uint32_t iterations) {
    run_ends_.leave(runs);
    iteration_ends_.leave(iterations);
  }
  void process_ended(picoseconds now);

 private:
  // A collective that some members of its group have yet to begin. The first process to begin determines the number of
  // bytes, and thus the algorithm.
  struct begun_collective {
    collective which = collective::barrier;
    std::uint32_t root = 0;  // rank in the job
    std::uint32_t root_in_group = 0;
    std::uint32_t first = 0;  // the process that began it
    std::uint32_t left = 0;   // processes that have yet to begin
    std::uint64_t bytes = 0;
    const collective_algorithm* algorithm = nullptr;
  };

  void will_have_sent(std::uint32_t label, picoseconds at) override { messages_.will_have_sent(label, at); }
  void will_have_arrived(std::uint32_t label, picoseconds at) override { messages_.will_have_arrived(label, at); }
  void takes(std::uint32_t label, std::uint32_t next) const override {
    messages_.fetch(next);
    const completion& of = messages_.begun_by(label);
    executors_[of.rank].fetch(of.activity, of.slot);
  }
  void crossed(std::uint32_t label, std::span<const std::uint32_t> links) override { messages_.crossed(label, links); }
  [[nodiscard]] bool wants_arrival(std::uint32_t label) const override {
    const auto plain = messages_.is_plain(label);
    return !plain || executors_[plain->to].wants_message(plain->from);
  }
  void has_arrived(std::uint32_t label, picoseconds now) override { messages_.has_arrived(label, now); }
  void resume(std::uint32_t rank, std::uint32_t activity, picoseconds now) override {
    executors_[rank].resume(activity, now);
  }
  void will_complete(const completion& what, picoseconds at) override {
    executors_[what.rank].will_complete(what.activity, what.slot, at);
  }
  void completed(const completion& what, picoseconds now) override {
    executors_[what.rank].completed(what.activity, what.slot, now);
  }
  void memory_changed(std::uint32_t rank, picoseconds now) override { executors_[rank].memory_changed(now); }
  [[nodiscard]] std::uint32_t root_in_group(const operation& o) const;

  const simulation& asked_;
  const play_options options_;
  const std::unique_ptr<program> what_;
  const std::uint32_t size_;
  std::optional<sampled_units> units_;    // if the simulation is sampled
  std::optional<dependencies> recorded_;  // if the tolerance is wanted
  std::vector<host> hosts_;
  protocol messages_;
  std::deque<executor> executors_;                                   // by rank
  std::unordered_map<std::uint64_t, begun_collective> collectives_;  // by context
  common_ends iteration_ends_;
  common_ends run_ends_;
  std::uint64_t running_;
  picoseconds ended_ = 0;  // of the last process
};

}  // namespace lull::netsim
