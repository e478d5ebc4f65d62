// The engine that both switch models share: nodes that cut messages into packets, routing, links that transmit packets
// and sleep between them, delivery, and the loop over windows and logical processes. `Self`, explicit_queues.hpp or
// eager_queues.hpp, models the inside of a switch.
//
// The engine handles the events of a logical process in a window in three steps, and runs the first two some events
// ahead of the last. It therefore knows the records that a hop touches early enough to prefetch them:
//
//   look    prefetches the packets of arrivals, and the records that timers need
//   route   chooses the paths of arrivals, in order of time, and prefetches their output ports
//   act     does everything else, in order of time
//
// Routing therefore sees earlier routing decisions at once. It sees their effects (a wait for credits, a wake-up) only
// from the next window on. An engine simulates one part of a network (parts.hpp), in its own thread if there are several.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "netsim/counted.hpp"
#include "netsim/network/deliveries.hpp"
#include "netsim/network/network_state.hpp"
#include "netsim/network/shared_network.hpp"
#include "netsim/network/statistics.hpp"
#include "netsim/network/windows.hpp"
#include "netsim/power/link_power.hpp"
#include "netsim/power/pauses.hpp"
#include "netsim/sampling/losses.hpp"
#include "netsim/simulation.hpp"
#include "netsim/tolerance/routes_taken.hpp"
#include "netsim/topology.hpp"

namespace lull::netsim {

// Self provides has_channels; look(arrivals, timers), route(arrivals, timers); arrive(in, packet), handle(timer);
// may_send(link, channel, bytes), await_credit(link, channel) and send(link, channel, packet, at) for nodes' links; and
// return_credit(in, what, at) for credits from other parts; and report_deadlock(packets, at).
template <class Self, topology_shape T>
class core {
  static_assert(T::most_links <= std::numeric_limits<decltype(packet::hops)>::max(), "a packet counts its links");

 public:
  core(shared_network<T>& shared, unsigned part)
      : shared_(shared),
        part_(part),
        topology_(shared.topology),
        asked_(shared.asked),
        links_(shared.links),
        traffic_(shared.jobs),
        power_(policy_of(asked_.power), links_.count(), !asked_.savings.empty()),
        pauses_(asked_.saving_policies()),
        losses_(power_.policy(), asked_.sample ? asked_.jobs.size() : 0),
        taken_(asked_.tolerance.has_value()),
        reluctance_(static_cast<picoseconds>(asked_.routing.reluctance * static_cast<double>(power_.wake_delay()))),
        queue_(topology_.switches(), links_.window_bits()),
        random_(shared.random.data()),
        messages_(shared.messages, part),
        injectors_(shared.injectors.data()),
        deliveries_(asked_) {}

  // In turns with the other parts (turns.hpp): begins, and then simulates each window that some part wants.
  void begin();
  void simulate(std::int64_t window);
  // The first window in which this part has an event, or has caused one in another; windows::no_window: none.
  [[nodiscard]] std::int64_t wanted() { return std::min(queue_.next(), first_posted_); }

  // After the run.
  [[nodiscard]] std::size_t packets_left() const { return packets_.used(); }
  [[nodiscard]] deliveries& delivered() { return deliveries_; }
  [[nodiscard]] const link_losses& lost() const { return losses_; }
  [[nodiscard]] pauses& paused() { return pauses_; }  // complete when all links are closed
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t messages_created() const { return created_; }
  [[nodiscard]] picoseconds window_begin() const { return queue_.begin(); }
  [[nodiscard]] picoseconds window_length() const { return queue_.length(); }
  [[nodiscard]] const link_policy& policy() const { return power_.policy(); }
  [[nodiscard]] link_result close(link_id link, picoseconds ended);  // of this part

 protected:
  enum reason : unsigned { service, computed };  // in this order at the same time

  // A bit of the number of a packet in the event of its arrival: another part has sent it. The record of its input port
  // then belongs to that part, and must not even be read.
  static constexpr std::uint32_t from_other_part = std::uint32_t{1} << 31U;
  static std::uint32_t packet_of(const event& arrival) { return arrival.b & ~from_other_part; }

  // The events of one kind in the open window, and how many of them the first two steps have handled.
  class cursor {
   public:
    explicit cursor(std::span<const event> all) : all_(all) {}
    // The events to handle next, up to `end`. If there are any, they are at least `together`, so that most calls return
    // the same number.
    std::span<const event> to_look_at(std::uint32_t end, std::uint32_t together) {
      return upto(looked_, end, together);
    }
    std::span<const event> to_route(std::uint32_t end, std::uint32_t together) { return upto(routed_, end, together); }

   private:
    std::span<const event> upto(std::uint32_t& done, std::uint32_t end, std::uint32_t together) const {
      const auto all = static_cast<std::uint32_t>(all_.size());
      if (done >= std::min(end, all)) return {};
      const std::uint32_t from = done;
      done = std::min(std::max(end, from + together), all);
      return all_.subspan(from, done - from);
    }
    std::span<const event> all_;
    std::uint32_t looked_ = 0, routed_ = 0;
  };

  static link_result::link_kind kind_of(bool from_node, const port& o) {
    using kind = link_result::link_kind;
    return from_node ? kind::injection : o.to_node ? kind::ejection : kind::network;
  }

  Self& self() { return static_cast<Self&>(*this); }
  void act_by_lp();
  void act(std::size_t n);
  void handle_in_turn(const event& timer);
  void choose_path(std::uint32_t at, packet& p);
  void serve_node(link_id out);
  [[nodiscard]] std::uint32_t cut_packet(const injector& i, std::int32_t bytes);
  template <bool from_node>
  void transmit(link_id out, std::uint32_t index, picoseconds at, std::int64_t waiting);
  void deliver(std::uint32_t index, picoseconds at);
  void end_computation(std::uint32_t node);
  void prefetch_timer(const event& timer) const;
  void schedule_service(link_id out, picoseconds at) { schedule_service(out, at, here_); }
  void schedule_service(link_id out, picoseconds at, std::uint32_t lp) {
    if (at < links_.port_of(out).service_due) advance_service(out, at, lp);
  }
  void advance_service(link_id out, picoseconds at, std::uint32_t lp);
  void schedule_node(std::uint32_t node);
  void schedule_computed(std::uint32_t node, picoseconds at);
  void post(const port& o, std::uint32_t index, picoseconds at);
  void post_credit(packet& p, std::uint32_t what, picoseconds at);
  void give_up(std::uint32_t message);
  void collect_mail();
  [[nodiscard]] mailbox& mail_to(unsigned part) { return shared_.mail_of(mail_set_, part_, part); }
  // Reports which processes still wait, and for what, although no event is left.
  [[noreturn]] void report_waiting(picoseconds at) const;

  shared_network<T>& shared_;
  unsigned part_;
  const T& topology_;
  const simulation& asked_;
  network_state links_;
  traffic& traffic_;
  link_power power_;
  pauses pauses_;
  link_losses losses_;
  routes_taken taken_;
  picoseconds reluctance_;
  windows queue_;
  generator* random_;  // by switch
  pool<packet> packets_;
  messages_of_part messages_;
  injector* injectors_;  // by node
  deliveries deliveries_;
  full_counts full_;
  unsigned mail_set_ = 0;                           // that this part writes now
  std::int64_t first_posted_ = windows::no_window;  // the first window on which mail has an effect
  std::uint64_t created_ = 0;                       // messages
  picoseconds now_ = 0;
  std::uint32_t here_ = 0;    // the current logical process
  std::uint64_t events_ = 0;  // that had an effect; a timer may have none
};

// While one logical process acts, the engine prefetches the records of the next one. In sparse traffic most logical
// processes have few events, so this would be too late; the engine then prefetches a fixed number of events ahead.
template <class Self, topology_shape T>
void core<Self, T>::act_by_lp() {
  // In events; docs/explanation/network-simulator.md explains how they were chosen.
  constexpr std::uint32_t sparse = 4;  // traffic is sparse below this many events per logical process
  constexpr std::uint32_t look_ahead = 8;
  constexpr std::uint32_t route_ahead = 4;
  const std::size_t lps = queue_.lps();
  const bool far = queue_.count() < sparse * lps;
  cursor arriving(queue_.events(windows::packets));
  cursor timing(queue_.events(windows::timers));
  for (std::size_t n = 0; n < lps; ++n) {
    const std::uint32_t packets = queue_.end_of(windows::packets, n);
    const std::uint32_t timers = queue_.end_of(windows::timers, n);
    if (far) {
      self().look(arriving.to_look_at(packets + look_ahead, look_ahead),
                  timing.to_look_at(timers + look_ahead, look_ahead));
      self().route(arriving.to_route(packets + 1, route_ahead), timing.to_route(timers + 1, route_ahead));
    } else {
      const std::size_t next = std::min(n + 1, lps - 1);
      self().look(arriving.to_look_at(queue_.end_of(windows::packets, next), 0),
                  timing.to_look_at(queue_.end_of(windows::timers, next), 0));
      self().route(arriving.to_route(packets, 0), timing.to_route(timers, 0));
    }
    here_ = queue_.lp(n);
    act(n);
  }
}

template <class Self, topology_shape T>
void core<Self, T>::act(std::size_t n) {
  const std::span<const event> arriving = queue_.events(windows::packets, n);
  const std::span<const event> timing = queue_.events(windows::timers, n);
  auto timer = timing.begin();
  event sooner{};
  for (const event& e : arriving) {
    for (; timer != timing.end() && timer->when < e.when; ++timer) handle_in_turn(*timer);
    while (queue_.sooner(e.when, sooner)) self().handle(sooner);
    now_ = queue_.time_of(e);
    self().arrive(e.a, packet_of(e));
  }
  for (; timer != timing.end(); ++timer) handle_in_turn(*timer);
  while (queue_.take(sooner))
    if (queue_.time_of(sooner) <= asked_.end) self().handle(sooner);
}

template <class Self, topology_shape T>
void core<Self, T>::handle_in_turn(const event& timer) {
  event sooner{};
  while (queue_.sooner(timer.when, sooner)) self().handle(sooner);
  self().handle(timer);
}

template <class Self, topology_shape T>
[[gnu::noinline]] void core<Self, T>::advance_service(link_id out, picoseconds at, std::uint32_t lp) {
  links_.port_of(out).service_due = at;
  queue_.template schedule<windows::timers>(at, lp, service, out, 0);
}

template <class Self, topology_shape T>
void core<Self, T>::schedule_node(std::uint32_t node) {
  const link_id out = links_.node_link(node);
  const port& o = links_.port_of(out);
  const injector& i = injectors_[node];
  if (i.unsent > 0) return schedule_service(out, std::max(o.busy_until, now_));
  if (const picoseconds created = traffic_.next_at(node); created != never)
    schedule_service(out, std::max({o.busy_until, created + asked_.network.nic_delay, now_}));
}

// A node sends a message in one piece, as far as its credits allow: no other message shares its link until the end.
template <class Self, topology_shape T>
void core<Self, T>::serve_node(link_id out) {
  const std::uint32_t node = links_.node_of(out);
  port& o = links_.port_of(out);
  injector& i = injectors_[node];
  if (o.busy_until > now_) return schedule_node(node);
  if (i.unsent == 0) {
    const picoseconds created = traffic_.next_at(node);
    if (created == never || created + asked_.network.nic_delay > now_) return schedule_node(node);
    i.message = messages_.take();
    ++created_;
    message& m = messages_[i.message] = traffic_.take(node);
    const endpoint to = topology_.attach_point(m.to);
    i.unsent = m.bytes;
    i.path = {.to_switch = to.id, .key = pair_key(node, m.to), .to_port = to.port};
    i.path.lane = static_cast<std::uint8_t>(std::uint64_t{mixed(i.path.key)} * links_.lanes() >> 32U);
  }
  for (picoseconds at = now_; at <= asked_.end; at = o.busy_until) {
    const auto bytes = static_cast<std::int32_t>(std::min<std::int64_t>(asked_.network.packet, i.unsent));
    if (!self().may_send(out, i.path.lane, bytes)) {
      if (at > now_) break;  // credits may have come back by `at`
      return self().await_credit(out, i.path.lane);
    }
    i.unsent -= static_cast<std::uint32_t>(bytes);
    ++events_;
    deliveries_.injected(bytes);
    self().send(out, i.path.lane, cut_packet(i, bytes), at);
    if (i.unsent > 0) continue;
    schedule_computed(node, traffic_.sent(node, o.busy_until));
    break;
  }
  schedule_node(node);
}

template <class Self, topology_shape T>
std::uint32_t core<Self, T>::cut_packet(const injector& i, std::int32_t bytes) {
  const std::uint32_t index = packets_.take();
  packet& p = packets_[index];
  p.path = i.path;
  p.message = i.message;
  p.bytes = bytes;
  if (taken_.recorded()) [[unlikely]]
    taken_.begin(index);
  return index;
}

template <class Self, topology_shape T>
void core<Self, T>::choose_path(std::uint32_t at, packet& p) {
  const link_id first = links_.first_port(at);
  unsigned number = p.path.to_port;
  unsigned channel = p.path.lane;
  if (at == p.path.to_switch) {
    messages_.prefetch(p.message);
  } else {
    const chooser ports(at, asked_.routing.algorithm, links_.free_at(first), now_, power_.awake_for(), reluctance_,
                        asked_.routing.bias, random_[at]);
    if (!p.started) {
      p.started = true;
      topology_.start(at, p.path, ports);
    }
    const hop h = topology_.route(at, p.path, ports);
    number = h.port;
    channel += h.channel * links_.lanes();
  }
  p.out = first + number;
  p.out_channel = static_cast<std::uint8_t>(channel);
  links_.prefetch_port(p.out);
  if constexpr (Self::has_channels) links_.prefetch_channel(p.out, channel);
  picoseconds& free = *links_.free_at(p.out);
  free = std::max(free, now_) + links_.transfer_time(number == p.path.to_port && at == p.path.to_switch, p.bytes);
}

// The first bit leaves at `at`, or when the link has woken up. The link must be idle at `at`. `waiting`: queued bytes,
// including this packet; a power policy that follows the backlog uses it.
template <class Self, topology_shape T>
template <bool from_node>
void core<Self, T>::transmit(link_id out, std::uint32_t index, picoseconds at, std::int64_t waiting) {
  packet& p = packets_[index];
  port& o = links_.port_of(out);
  const network_parameters& net = asked_.network;
  picoseconds start = at;
  const std::array<picoseconds, 2> rest_before{o.deep, o.other};
  picoseconds time = links_.transfer_time(o.node_cable, p.bytes);
  if (power_.on()) {
    if (power_.watched()) [[unlikely]]
      pauses_.add(static_cast<std::size_t>(kind_of(from_node, o)), at - o.busy_until);
    const auto woken = power_.wake(o, out, o.busy_until, at, waiting);
    start = woken.at;
    if (woken.slow) time = power_.slowed(out, time);
  }
  picoseconds end = start + time;
  if constexpr (from_node)
    p.first_bit = start;
  else if (net.cut_through)
    end = std::max(end, p.tail + net.switch_delay);  // the tail cannot leave before it has arrived
  if (losses_.booked()) [[unlikely]]
    losses_.add(messages_[p.message].job, messages_[p.message].account, static_cast<std::size_t>(kind_of(from_node, o)),
                end - o.busy_until, o.deep - rest_before[0], o.other - rest_before[1], start > at);
  if (taken_.recorded()) [[unlikely]]
    taken_.add(index, out);
  o.busy_until = end;
  o.bytes += static_cast<std::uint64_t>(p.bytes);
  ++o.packets;
  if (full_counts::is_full(o)) [[unlikely]]
    full_.add(out, o);
  ++p.hops;
  if constexpr (!from_node) {
    picoseconds& free = *links_.free_at(out);
    free = std::max(free, end);
    if (o.to_node) return deliver(index, end + net.cable_delay);
  }
  p.tail = end + net.cable_delay;
  const picoseconds there = (net.cut_through ? start : end) + net.cable_delay + net.switch_delay;
  if constexpr (!from_node) {
    if (o.leads_to != 0) [[unlikely]]
      return post(o, index, there);
  }
  queue_.template schedule<windows::packets>(there, o.far_lp, 0, o.far, index);
}

// The last bit of a packet reaches its node at `at`. Only the end of its message depends on it.
template <class Self, topology_shape T>
void core<Self, T>::deliver(std::uint32_t index, picoseconds at) {
  const packet& p = packets_[index];
  message& m = messages_[p.message];
  const picoseconds done = at + asked_.network.nic_delay;
  if (deliveries_.delivered(p, m, at, done)) {
    if (taken_.recorded()) [[unlikely]]
      traffic_.crossed(m, taken_.of(index));
    schedule_computed(m.to, traffic_.arrived(m, done));
    give_up(p.message);
  }
  packets_.put_back(index);
}

template <class Self, topology_shape T>
void core<Self, T>::schedule_computed(std::uint32_t node, picoseconds at) {
  if (at != never)
    queue_.template schedule<windows::timers>(at, links_.port_of(links_.node_link(node)).far_lp, computed, node, 0);
}

template <class Self, topology_shape T>
void core<Self, T>::begin() {
  for (std::uint32_t node = 0; node < topology_.nodes(); ++node) {
    here_ = links_.port_of(links_.node_link(node)).far_lp;
    if (shared_.part_of[here_] != part_) continue;
    schedule_computed(node, traffic_.first_computed(node));
    schedule_node(node);
  }
}

template <class Self, topology_shape T>
void core<Self, T>::simulate(std::int64_t window) {
  if (shared_.parts > 1) collect_mail();
  queue_.open(window);
  if (asked_.end - queue_.begin() < queue_.length()) queue_.cut_off(asked_.end);
  act_by_lp();
  events_ += queue_.count(windows::packets);
}

template <class Self, topology_shape T>
void core<Self, T>::report_waiting(picoseconds at) const {
  const std::string who = traffic_.who_waits();
  throw error("simulate the network", fmt::format("{} waiting at {} ps for messages that no process sends{}{}",
                                                  counted(traffic_.waiting(), "process is", "processes are"), at,
                                                  who.empty() ? "" : ": ", who));
}

template <class Self, topology_shape T>
link_result core<Self, T>::close(link_id link, picoseconds ended) {
  port& o = links_.port_of(link);
  const bool from_node = links_.from_node(link);
  power_.close(o, link, o.busy_until, ended);
  const full_counts::counts counted = full_.of(link, o);
  if (power_.watched() && ended > o.busy_until)
    pauses_.close(static_cast<std::size_t>(kind_of(from_node, o)), counted.packets > 0, ended - o.busy_until);
  return {.from = from_node ? links_.node_of(link) : links_.switch_of(link),
          .to = o.to_node ? links_.node_of(o.far) : o.far_lp,
          .kind = kind_of(from_node, o),
          .packets = counted.packets,
          .bytes = o.bytes,
          .wakes = counted.wakes,
          .deep_sleep = o.deep,
          .fast_wake = power_.follows_backlog() ? 0 : o.other,
          .slow = power_.follows_backlog() ? o.other : 0,
          .busy = links_.transfer_time_of_all(o.node_cable, o.bytes) + power_.lag(link)};
}

template <class Self, topology_shape T>
void core<Self, T>::end_computation(std::uint32_t node) {
  ++events_;
  deliveries_.last = std::max(deliveries_.last, now_);
  schedule_computed(node, traffic_.computed(node, now_));
  schedule_node(node);
}

template <class Self, topology_shape T>
[[gnu::always_inline]] inline void core<Self, T>::prefetch_timer(const event& timer) const {
  const link_id link = windows::what(timer) == computed ? links_.node_link(timer.a) : timer.a;
  links_.prefetch_port(link);
  if constexpr (Self::has_channels) links_.prefetch_channel(link, 0);
  if (links_.from_node(link)) {
    __builtin_prefetch(&injectors_[links_.node_of(link)]);
    traffic_.prefetch(links_.node_of(link));
  }
}

}  // namespace lull::netsim

#include "netsim/network/post.hpp"
