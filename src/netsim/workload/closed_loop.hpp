// Closed loop: a process computes, sends one message to each partner, waits until they have been sent and the messages
// of the same iteration to it have arrived, and begins again.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "netsim/simulation.hpp"
#include "netsim/workload/workload.hpp"

namespace lull::netsim {

template <class P>
class closed_loop final : public workload {
 public:
  closed_loop(const job_setup& setup, P pattern);

  [[nodiscard]] process& of(std::uint32_t rank) override { return processes_[rank]; }
  [[nodiscard]] std::optional<std::uint64_t> expected() const override { return expected_; }
  [[nodiscard]] std::uint64_t waiting() const override { return unfinished_; }
  void add_to(job_result& result, picoseconds end) const override;

 private:
  class member final : public process {
   public:
    member(closed_loop& of, std::uint32_t rank) : of_(of), rank_(rank) {}
    [[nodiscard]] picoseconds next_at() const override { return to_.empty() ? never : ready_; }
    [[nodiscard]] message take() override;
    [[nodiscard]] std::int64_t waiting_bytes(picoseconds /*now*/, std::int64_t /*enough*/) const override {
      return static_cast<std::int64_t>(to_.size()) * of_.job_.message;
    }
    [[nodiscard]] picoseconds first_computed() const override { return of_.job_.start + of_.job_.compute; }
    [[nodiscard]] picoseconds computed(picoseconds now) override;
    [[nodiscard]] picoseconds sent(picoseconds now) override;
    [[nodiscard]] picoseconds arrived(std::uint32_t label, picoseconds now) override;

   private:
    [[nodiscard]] picoseconds end_iteration();

    closed_loop& of_;
    std::uint32_t rank_;
    std::uint32_t iteration_ = 0;
    std::uint32_t unsent_ = 0;
    std::uint32_t expected_ = 0;
    bool computing_ = true;
    picoseconds ready_ = 0;                // when the computation ended
    picoseconds latest_ = 0;               // latest of the events that it waited for
    std::vector<std::uint32_t> to_;        // ranks to which it has yet to send
    std::vector<std::uint32_t> early_{0};  // arrived messages by iterations ahead of this one; [0]: this one
  };

  // Several threads may call this; the order does not matter.
  void note_end(std::uint32_t iteration, picoseconds at) {
    const std::atomic_ref end(ends_[iteration]);
    picoseconds latest = end.load(std::memory_order_relaxed);
    while (latest < at && !end.compare_exchange_weak(latest, at, std::memory_order_relaxed)) {
    }
    std::atomic_ref(still_in_[iteration]).fetch_sub(1, std::memory_order_relaxed);
  }

  const job& job_;
  std::uint32_t index_;
  P pattern_;
  std::uint64_t expected_ = 0;
  std::uint64_t unfinished_;
  std::vector<picoseconds> ends_;        // of the last process that has ended each iteration
  std::vector<std::uint32_t> still_in_;  // processes that have yet to end it, by iteration
  std::vector<member> processes_;
};

template <class P>
closed_loop<P>::closed_loop(const job_setup& setup, P pattern)
    : job_(setup.job()), index_(setup.index), pattern_(std::move(pattern)), unfinished_(setup.size()) {
  setup.require(job_.iterations > 0, "iterations", fmt::format("is {}", job_.iterations), "it must be 1 or more");
  ends_.resize(static_cast<std::size_t>(job_.iterations));
  still_in_.assign(ends_.size(), setup.size());
  processes_.reserve(setup.size());
  for (std::uint32_t rank = 0; rank < setup.size(); ++rank) {
    processes_.emplace_back(*this, rank);
    expected_ += pattern_.partners(rank, 0).size() * ends_.size();  // the same in every iteration
  }
}

template <class P>
message closed_loop<P>::member::take() {
  const auto bytes = static_cast<std::uint32_t>(of_.job_.message);
  const message m{.created = ready_,
                  .to = of_.job_.nodes[to_.back()],
                  .bytes = bytes,
                  .left = bytes,
                  .label = iteration_,
                  .job = of_.index_};
  to_.pop_back();
  return m;
}

template <class P>
picoseconds closed_loop<P>::member::computed(picoseconds now) {
  computing_ = false;
  ready_ = now;
  to_ = of_.pattern_.partners(rank_, iteration_);
  unsent_ = static_cast<std::uint32_t>(to_.size());
  expected_ = of_.pattern_.expected_by(rank_, iteration_);
  latest_ = std::max(latest_, now);
  return end_iteration();
}

template <class P>
picoseconds closed_loop<P>::member::sent(picoseconds now) {
  --unsent_;
  latest_ = std::max(latest_, now);
  return end_iteration();
}

template <class P>
picoseconds closed_loop<P>::member::arrived(std::uint32_t label, picoseconds now) {
  const std::size_t ahead = label - iteration_;  // the sender may be ahead, never behind
  if (early_.size() <= ahead) early_.resize(ahead + 1);
  ++early_[ahead];
  latest_ = std::max(latest_, now);
  return end_iteration();
}

template <class P>
picoseconds closed_loop<P>::member::end_iteration() {
  if (computing_ || unsent_ > 0 || early_.front() < expected_) return never;
  of_.note_end(iteration_, latest_);
  ++iteration_;
  early_.erase(early_.begin());
  if (early_.empty()) early_.push_back(0);
  computing_ = true;
  if (iteration_ == of_.ends_.size()) {
    std::atomic_ref(of_.unfinished_).fetch_sub(1, std::memory_order_relaxed);
    return never;
  }
  return latest_ + of_.job_.compute;
}

template <class P>
void closed_loop<P>::add_to(job_result& result, picoseconds end) const {
  // An iteration's end may be known before the simulation reaches it.
  std::size_t over = 0;
  while (over < ends_.size() && still_in_[over] == 0 && ends_[over] <= end) ++over;
  result.iteration_ends.assign(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(over));
  if (over > 0) result.ended = std::max(result.ended, ends_[over - 1]);
}

}  // namespace lull::netsim
