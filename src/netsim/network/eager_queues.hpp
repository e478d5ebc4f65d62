// The fast switch model: ports send first come, first served, so that the departure of a packet is known when it is
// routed, and a busy port needs neither a queue nor a second event.
//
// The model is exact if every port has one channel and no buffer ever fills. A packet then moves to its output buffer
// when it is routed, no packet waits for credits, and packets depart in the order of arrival, as in
// explicit_queues.hpp. The longest wait at any port shows at the end whether the buffers would have been large enough
// (`why_not_exact`).
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "netsim/network/core.hpp"

namespace lull::netsim {

template <topology_shape T>
class eager_queues : public core<eager_queues<T>, T> {
 public:
  static constexpr bool has_channels = false;
  using base = core<eager_queues<T>, T>;
  using base::base;

  // Why a run of this simulation cannot be exact, as far as it is known beforehand; empty if it may be exact.
  [[nodiscard]] static std::string why_not(const T& topology, const simulation& asked);
  // After the run: why it was not exact; empty if it was. `longest_wait` at any port of any part.
  [[nodiscard]] static std::string why_not_exact(const simulation& asked, picoseconds longest_wait);
  [[nodiscard]] picoseconds longest_wait() const { return longest_wait_; }
  // Packets never wait for each other.
  [[noreturn]] void report_deadlock(std::size_t /*packets*/, picoseconds at) const { this->report_waiting(at); }

 private:
  friend base;
  using base::asked_, base::links_, base::queue_, base::packets_, base::now_, base::traffic_;
  using base::choose_path, base::prefetch_timer, base::serve_node, base::end_computation;
  using base::service;

  void look(std::span<const event> arriving, std::span<const event> timing) const;
  void route(std::span<const event> arriving, std::span<const event> timing);
  void handle(const event& timer);
  void arrive(link_id in, std::uint32_t index);
  [[nodiscard]] static bool may_send(link_id /*out*/, unsigned /*channel*/, std::int32_t /*bytes*/) { return true; }
  static void await_credit(link_id /*out*/, unsigned /*channel*/) {}
  void send(link_id out, unsigned /*channel*/, std::uint32_t index, picoseconds at) {
    this->template transmit<true>(out, index, at, 0);
  }

  picoseconds longest_wait_ = 0;  // from a packet's arrival at a port to its first bit
};

template <topology_shape T>
std::string eager_queues<T>::why_not(const T& topology, const simulation& asked) {
  const network_parameters& n = asked.network;
  if (topology.channels(asked.routing.algorithm) > 1) return "the routing needs more than one virtual channel";
  if (n.virtual_channels > 1) return "there is more than one virtual channel";
  if (policy_of(asked.power).does == link_policy::behaviour::changes_rate)
    return "adaptive-rate links depend on their queues";
  // The most bytes that a link can have sent before its first credit returns.
  const double rate = std::max(n.bandwidth, n.nic_bandwidth) * 1e-12;
  const auto round_trip = static_cast<double>(2 * n.cable_delay + n.switch_delay + n.credit_delay);
  const double needed = 2 * static_cast<double>(n.packet) + rate * round_trip;
  if (needed > static_cast<double>(n.input_buffer))
    return fmt::format("an input buffer must hold {:.0f} bytes for its link never to wait for credits",
                       std::ceil(needed));
  return "";
}

template <topology_shape T>
std::string eager_queues<T>::why_not_exact(const simulation& asked, picoseconds longest_wait) {
  const network_parameters& n = asked.network;
  const double most = static_cast<double>(longest_wait) * std::max(n.bandwidth, n.nic_bandwidth) * 1e-12 +
                      static_cast<double>(n.packet);
  if (most <= static_cast<double>(n.output_buffer)) return "";
  return fmt::format("a packet waited {:.1f} us at a port, for which an output buffer may need {:.0f} bytes",
                     static_cast<double>(longest_wait) * 1e-6, std::ceil(most));
}

// Always inlined: GCC assumes that a function that only prefetches has no effect, and drops the call.
template <topology_shape T>
[[gnu::always_inline]] inline void eager_queues<T>::look(std::span<const event> arriving,
                                                         std::span<const event> timing) const {
  for (const event& e : arriving) {
    links_.prefetch_free_at(e.lp);
    packets_.prefetch(base::packet_of(e));
  }
  for (const event& e : timing) prefetch_timer(e);
}

template <topology_shape T>
void eager_queues<T>::route(std::span<const event> arriving, std::span<const event> /*timing*/) {
  for (const event& e : arriving) {
    now_ = queue_.time_of(e);
    choose_path(e.lp, packets_[base::packet_of(e)]);
  }
}

template <topology_shape T>
void eager_queues<T>::arrive(link_id /*in*/, std::uint32_t index) {
  const link_id out = packets_[index].out;
  const picoseconds at = std::max(now_, links_.port_of(out).busy_until);
  longest_wait_ = std::max(longest_wait_, at - now_);
  this->template transmit<false>(out, index, at, 0);
}

template <topology_shape T>
void eager_queues<T>::handle(const event& e) {
  now_ = queue_.time_of(e);
  if (windows::what(e) != service) return end_computation(e.a);
  port& o = links_.port_of(e.a);
  if (o.service_due != now_) return;  // an earlier service was scheduled after this timer
  o.service_due = never;
  serve_node(e.a);
}

}  // namespace lull::netsim
