// What a run has delivered so far: counts and latencies, in total and per job.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "netsim/network/network_state.hpp"
#include "netsim/network/statistics.hpp"
#include "netsim/network/traffic.hpp"
#include "netsim/simulation.hpp"

namespace lull::netsim {

class deliveries {
 public:
  explicit deliveries(const simulation& asked)
      : asked_(asked), packet_latency_(asked.warmup), network_latency_(asked.warmup) {
    for (const netsim::job& j : asked.jobs)
      jobs_.push_back({.latency = latency_counter(std::max(asked.warmup, j.start))});
  }

  picoseconds last = 0;  // when the last message was complete, or the last computation ended

  void injected(std::int32_t bytes) {
    ++injected_;
    injected_bytes_ += static_cast<std::uint64_t>(bytes);
  }

  // Counts a packet whose last bit reaches its node at `arrived`, and which the node has received at `done`. Returns
  // whether its message is complete. Packets received after the end of the run are not counted.
  bool delivered(const packet& p, message& m, picoseconds arrived, picoseconds done) {
    m.left -= static_cast<std::uint32_t>(p.bytes);
    if (done > asked_.end) [[unlikely]]
      return m.left == 0;
    ++delivered_;
    delivered_bytes_ += static_cast<std::uint64_t>(p.bytes);
    if (p.hops >= hops_.size()) [[unlikely]]
      hops_.resize(p.hops + std::size_t{1});
    ++hops_[p.hops];
    const bool counts = m.created >= asked_.warmup;
    if (counts) {
      packet_latency_.add(done - m.created, done);
      network_latency_.add(arrived - p.first_bit, done);
    }
    if (m.left > 0) return false;
    job& j = jobs_[m.job];
    ++j.messages;
    j.bytes += m.bytes;
    ++messages_;
    j.last = std::max(j.last, done);
    last = std::max(last, done);
    if (counts) j.latency.add(done - m.created, done);
    return true;
  }

  // Adds what another part of the same run has delivered.
  void add(const deliveries& other) {
    last = std::max(last, other.last);
    injected_ += other.injected_;
    injected_bytes_ += other.injected_bytes_;
    delivered_ += other.delivered_;
    delivered_bytes_ += other.delivered_bytes_;
    messages_ += other.messages_;
    packet_latency_.add(other.packet_latency_);
    network_latency_.add(other.network_latency_);
    hops_.resize(std::max(hops_.size(), other.hops_.size()));
    for (std::size_t i = 0; i < other.hops_.size(); ++i) hops_[i] += other.hops_[i];
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      jobs_[i].messages += other.jobs_[i].messages;
      jobs_[i].bytes += other.jobs_[i].bytes;
      jobs_[i].last = std::max(jobs_[i].last, other.jobs_[i].last);
      jobs_[i].latency.add(other.jobs_[i].latency);
    }
  }

  [[nodiscard]] std::uint64_t messages_done() const { return messages_; }

  // After a run that ended no later than `end`; `never`: when all was done.
  [[nodiscard]] result counted(const traffic& by, picoseconds end) const {
    result r;
    r.packets = delivered_;
    r.packets_injected = injected_;
    r.bytes_injected = injected_bytes_;
    r.bytes_delivered = delivered_bytes_;
    r.messages_delivered = messages_;
    r.packet_latency = packet_latency_.counted();
    r.network_latency = network_latency_.counted();
    r.hops = hops_;  // the last entry counts at least one packet
    for (std::uint32_t i = 0; i < jobs_.size(); ++i) {
      const job& j = jobs_[i];
      r.jobs.push_back({.name = asked_.jobs[i].name,
                        .started = asked_.jobs[i].start,
                        .ended = j.last,
                        .messages = j.messages,
                        .bytes = j.bytes,
                        .message_latency = j.latency.counted()});
      by.add_to(r.jobs.back(), i, end);
    }
    return r;
  }

 private:
  struct job {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    picoseconds last = 0;
    latency_counter latency;
  };
  const simulation& asked_;
  latency_counter packet_latency_, network_latency_;
  std::vector<std::uint64_t> hops_;
  std::vector<job> jobs_;
  std::uint64_t injected_ = 0, injected_bytes_ = 0, delivered_ = 0, delivered_bytes_ = 0, messages_ = 0;
};

}  // namespace lull::netsim
