// The full switch model: finite input and output buffers, virtual channels, credits, round-robin arbitration.
//
// A packet arrives in the input buffer of its port and virtual channel, where its sender has reserved space. It is
// routed `switch_delay` after its head (cut-through) or its tail (store-and-forward) arrives, and moves to the output
// buffer of the chosen port and channel as soon as there is space; this frees its space in the input buffer, and a
// credit travels back. Inputs that wait for the same output buffer are served round robin. The link serves the channels
// of its port that have a packet and the credits for it round robin, one packet at a time; a packet leaves the output
// buffer when its first bit does. The crossbar is never the bottleneck. Nodes always accept what their link delivers.
//
// Credits and idle links need no events of their own: a port collects returned credits when it needs them, and only a
// port that found none, or is busy, gets a timer. A credit returns no sooner than the next window, so the result does
// not depend on whether its receiver records it before or after the sender acts in this window. A hop touches four cache lines: the packet, its input port, its
// output port and that port's channels.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "netsim/counted.hpp"
#include "netsim/network/core.hpp"

namespace lull::netsim {

template <topology_shape T>
class explicit_queues : public core<explicit_queues<T>, T> {
 public:
  static constexpr bool has_channels = true;
  explicit_queues(shared_network<T>& shared, unsigned part) : base(shared, part), voqs_(links_.most_ports()) {}

  // No event is left, but `packets` packets are; the last one was sent at `at`.
  [[noreturn]] void report_deadlock(std::size_t packets, picoseconds at) const;

 private:
  using base = core<explicit_queues<T>, T>;
  friend base;
  using base::asked_, base::links_, base::queue_, base::packets_, base::now_, base::here_, base::power_, base::traffic_,
      base::injectors_, base::events_;
  using base::schedule_service, base::choose_path, base::prefetch_timer, base::serve_node, base::end_computation;
  using base::service;

  void look(std::span<const event> arriving, std::span<const event> timing) const;
  void route(std::span<const event> arriving, std::span<const event> timing);
  void handle(const event& timer);
  void arrive(link_id in, std::uint32_t index);
  void release(packet& p);
  void append(link_id out, unsigned channel, std::uint32_t index);
  void serve_when_due(link_id out);
  void serve(link_id out);
  void return_credit(link_id in, std::uint32_t what, picoseconds at);
  void keep_more(input_port& in, std::uint32_t what, picoseconds at);
  void collect_more(input_port& in, picoseconds until);
  void notify_sender(link_id in, unsigned channel, picoseconds at);
  [[nodiscard]] bool has_credit(link_id out, unsigned channel, std::int32_t bytes) {
    if (links_.channel_of(out, channel).credit >= bytes) [[likely]]
      return true;
    return collects_credit(out, channel, bytes);
  }
  [[nodiscard]] bool collects_credit(link_id out, unsigned channel, std::int32_t bytes);
  [[nodiscard]] bool may_send(link_id out, unsigned channel, std::int32_t bytes) {
    return has_credit(out, channel, bytes);
  }
  void send(link_id out, unsigned channel, std::uint32_t index, picoseconds at);
  void send_on(link_id out, unsigned channel, std::uint32_t index);
  // Bytes that wait for a link, including those of the current packet.
  [[nodiscard]] std::int64_t backlog(link_id out, const packet& p);
  [[nodiscard]] std::int64_t backlog_of_node(link_id out, const packet& p, picoseconds at);
  void collect_credits(input_port& in, picoseconds until);
  void await_credit(link_id out, unsigned channel);

  // A credit that found no space in its input port.
  struct further_credit {
    picoseconds at;
    std::uint32_t what;
    std::uint32_t next;  // in the list of its input port, or of free records
  };
  virtual_output_queues voqs_;
  std::vector<further_credit> further_;
  std::uint32_t free_further_ = nowhere;
};

// Always inlined: GCC assumes that a function that only prefetches has no effect, and drops the call.
template <topology_shape T>
[[gnu::always_inline]] inline void explicit_queues<T>::look(std::span<const event> arriving,
                                                            std::span<const event> timing) const {
  for (const event& e : arriving) {
    links_.prefetch_free_at(e.lp);
    packets_.prefetch(base::packet_of(e));
    if ((e.b & base::from_other_part) == 0) [[likely]]
      links_.prefetch_input(e.a);
  }
  for (const event& e : timing) prefetch_timer(e);
}

template <topology_shape T>
void explicit_queues<T>::route(std::span<const event> arriving, std::span<const event> timing) {
  for (const event& e : timing) {
    if (windows::what(e) != service || links_.from_node(e.a)) continue;
    for (unsigned left = links_.port_of(e.a).occupied; left != 0; left &= left - 1)
      packets_.prefetch(links_.channel_of(e.a, static_cast<unsigned>(std::countr_zero(left))).head);
  }
  for (const event& e : arriving) {
    now_ = queue_.time_of(e);
    if ((e.b & base::from_other_part) == 0) [[likely]] {
      const input_port& in = links_.input_of(e.a);
      // A full input port will transfer its credits to the sender. Whether it is full cannot be predicted, so one of
      // the two records is fetched without a branch.
      __builtin_prefetch(in.count == input_port::most ? static_cast<const void*>(&links_.channel_of(in.sender, 0))
                                                      : &in);
    }
    choose_path(e.lp, packets_[base::packet_of(e)]);
  }
}

template <topology_shape T>
void explicit_queues<T>::handle(const event& e) {
  now_ = queue_.time_of(e);
  if (windows::what(e) == service) return serve_when_due(e.a);
  end_computation(e.a);
}

// A packet in an input buffer moves to the output that routing has chosen.
template <topology_shape T>
void explicit_queues<T>::arrive(link_id in, std::uint32_t index) {
  packet& p = packets_[index];
  p.in = in;
  const link_id out = p.out;
  const unsigned channel = p.out_channel;
  port& o = links_.port_of(out);
  if (o.busy_until <= now_ && o.occupied == 0 && has_credit(out, channel, p.bytes)) {
    release(p);
    return send_on(out, channel, index);
  }
  if ((o.blocked >> channel & 1U) == 0 && links_.channel_of(out, channel).space >= p.bytes) {
    release(p);
    append(out, channel, index);
  } else {
    voqs_.add(links_.voq_of(out, channel), in - links_.first_port(here_), index, packets_);
    o.blocked = static_cast<std::uint16_t>(o.blocked | 1U << channel);
  }
  if (o.busy_until > now_)
    schedule_service(out, o.busy_until);
  else
    serve(out);
}

// The packet moves on inside the switch. Its space in the input buffer is free when its tail has arrived, and its
// sender learns of it when the credit has travelled back.
template <topology_shape T>
void explicit_queues<T>::release(packet& p) {
  const picoseconds at = std::max(now_, p.tail) + asked_.network.credit_delay + asked_.network.cable_delay;
  const std::uint32_t what = std::uint32_t{p.channel} << 24U | static_cast<std::uint32_t>(p.bytes);
  if (p.sent_by != 0) [[unlikely]]
    return this->post_credit(p, what, at);
  return_credit(p.in, what, at);
}

// A credit will be back at `at`. If the sender already waits, it gets a timer for this time, unless it has one for an
// earlier credit; if it waits later in this window, it finds the credit here.
template <topology_shape T>
[[gnu::always_inline]] inline void explicit_queues<T>::return_credit(link_id link, std::uint32_t what, picoseconds at) {
  input_port& in = links_.input_of(link);
  // Credits that are back by the begin of the window can be transferred: no event asks for an earlier time any more.
  if (in.count == input_port::most) collect_credits(in, queue_.begin());
  if (in.count < input_port::most) [[likely]] {
    in.at[in.count] = at;
    in.what[in.count] = what;
    ++in.count;
  } else {
    keep_more(in, what, at);
  }
  if ((in.awaited >> (what >> 24U) & 1U) != 0) [[unlikely]]
    notify_sender(link, what >> 24U, at);
}

template <topology_shape T>
[[gnu::noinline]] void explicit_queues<T>::keep_more(input_port& in, std::uint32_t what, picoseconds at) {
  std::uint32_t index = free_further_;
  if (index == nowhere) {
    index = static_cast<std::uint32_t>(further_.size());
    further_.emplace_back();
  } else {
    free_further_ = further_[index].next;
  }
  further_[index] = {at, what, in.more};
  in.more = index;
}

template <topology_shape T>
[[gnu::noinline]] void explicit_queues<T>::notify_sender(link_id link, unsigned channel, picoseconds at) {
  input_port& in = links_.input_of(link);
  const link_id sender = in.sender;
  const bool waits = links_.from_node(sender) ? injectors_[links_.node_of(sender)].unsent > 0
                                              : (links_.port_of(sender).occupied >> channel & 1U) != 0;
  if (waits)
    schedule_service(sender, at, links_.port_of(link).far_lp);
  else
    in.awaited = static_cast<std::uint16_t>(in.awaited & ~(1U << channel));
}

template <topology_shape T>
void explicit_queues<T>::append(link_id out, unsigned channel, std::uint32_t index) {
  packet& p = packets_[index];
  channel_queue& q = links_.channel_of(out, channel);
  p.next = nowhere;
  if (q.head == nowhere)
    q.head = index;
  else
    packets_[q.tail].next = index;
  q.tail = index;
  q.space -= p.bytes;
  port& o = links_.port_of(out);
  o.occupied = static_cast<std::uint16_t>(o.occupied | 1U << channel);
}

template <topology_shape T>
void explicit_queues<T>::serve_when_due(link_id out) {
  port& o = links_.port_of(out);
  if (o.service_due != now_) return;  // an earlier service was scheduled after this timer
  o.service_due = never;
  if (links_.from_node(out)) return serve_node(out);
  if (o.busy_until > now_) return o.occupied != 0 ? schedule_service(out, o.busy_until) : void();
  serve(out);
}

// An idle port sends the first packet of the next channel that has a packet and the credits for it.
template <topology_shape T>
void explicit_queues<T>::serve(link_id out) {
  port& o = links_.port_of(out);
  // First the channels from `turn` on, then those before it.
  for (unsigned part = 0; part < 2; ++part) {
    const unsigned from = (1U << o.turn) - 1;
    for (unsigned left = part == 0 ? o.occupied & ~from : o.occupied & from; left != 0; left &= left - 1) {
      const auto channel = static_cast<unsigned>(std::countr_zero(left));
      channel_queue& q = links_.channel_of(out, channel);
      const std::uint32_t index = q.head;
      packet& p = packets_[index];
      if (!has_credit(out, channel, p.bytes)) continue;
      q.head = p.next;
      q.space += p.bytes;
      if (q.head == nowhere) o.occupied = static_cast<std::uint16_t>(o.occupied & ~(1U << channel));
      o.turn = static_cast<std::uint8_t>(channel + 1 == links_.channels() ? 0 : channel + 1);
      ++events_;
      send_on(out, channel, index);
      if ((o.blocked >> channel & 1U) != 0) {
        std::uint32_t& room = links_.voq_of(out, channel);
        while (room != nowhere) {
          const std::uint32_t next = voqs_.first(room);
          if (packets_[next].bytes > q.space) break;
          voqs_.take(room, packets_);
          release(packets_[next]);
          append(out, channel, next);
        }
        if (room == nowhere) o.blocked = static_cast<std::uint16_t>(o.blocked & ~(1U << channel));
      }
      if (o.occupied != 0) schedule_service(out, o.busy_until);
      return;
    }
  }
  for (unsigned left = o.occupied; left != 0; left &= left - 1)
    await_credit(out, static_cast<unsigned>(std::countr_zero(left)));
}

template <topology_shape T>
[[gnu::noinline]] bool explicit_queues<T>::collects_credit(link_id out, unsigned channel, std::int32_t bytes) {
  input_port& in = links_.input_of(links_.port_of(out).far);
  collect_credits(in, now_);
  if (links_.channel_of(out, channel).credit < bytes) return false;
  in.awaited = static_cast<std::uint16_t>(in.awaited & ~(1U << channel));
  return true;
}

template <topology_shape T>
void explicit_queues<T>::collect_credits(input_port& in, picoseconds until) {
  unsigned kept = 0;
  for (unsigned i = 0; i < in.count; ++i) {
    const picoseconds at = in.at[i];
    const std::uint32_t what = in.what[i];
    const bool back = at <= until;  // no branch, since it cannot be predicted
    links_.channel_of(in.sender, what >> 24U).credit += back ? static_cast<std::int32_t>(what & 0xffffffU) : 0;
    in.at[kept] = at;
    in.what[kept] = what;
    kept += back ? 0 : 1;
  }
  in.count = static_cast<std::uint8_t>(kept);
  if (in.more != nowhere) [[unlikely]]
    collect_more(in, until);
}

template <topology_shape T>
[[gnu::noinline]] void explicit_queues<T>::collect_more(input_port& in, picoseconds until) {
  for (std::uint32_t* at = &in.more; *at != nowhere;) {
    further_credit& c = further_[*at];
    if (c.at > until) {
      at = &c.next;
      continue;
    }
    links_.channel_of(in.sender, c.what >> 24U).credit += static_cast<std::int32_t>(c.what & 0xffffffU);
    const std::uint32_t index = std::exchange(*at, c.next);
    c.next = std::exchange(free_further_, index);
  }
}

// A port without credits gets a timer for the return of the next one that is known, and is notified of those that the
// other end returns from now on.
template <topology_shape T>
void explicit_queues<T>::await_credit(link_id out, unsigned channel) {
  input_port& in = links_.input_of(links_.port_of(out).far);
  picoseconds soonest = never;
  for (unsigned i = 0; i < in.count; ++i)
    if (in.what[i] >> 24U == channel) soonest = std::min(soonest, in.at[i]);
  for (std::uint32_t i = in.more; i != nowhere; i = further_[i].next)
    if (further_[i].what >> 24U == channel) soonest = std::min(soonest, further_[i].at);
  in.awaited = static_cast<std::uint16_t>(in.awaited | 1U << channel);
  if (soonest != never) schedule_service(out, soonest);
}

// Names a few of the ports that wait for each other.
template <topology_shape T>
void explicit_queues<T>::report_deadlock(std::size_t packets, picoseconds at) const {
  if (packets == 0) this->report_waiting(at);
  std::string where;
  unsigned named = 0;
  std::uint64_t stuck = 0;
  for (link_id link = 0; link < links_.count(); ++link) {
    const port& o = links_.port_of(link);
    if (o.occupied == 0 || links_.from_node(link)) continue;
    ++stuck;
    if (named++ < 3)
      where += fmt::format("{} from switch {} to {}", named > 1 ? "," : "", links_.switch_of(link), o.far_lp);
  }
  throw error("simulate the network",
              fmt::format("it is deadlocked at {} ps: {} for space that is never freed, at {}:{}{}", at,
                          counted(packets, "packet waits", "packets wait"), counted(stuck, "port"), where,
                          stuck > 3 ? ", ..." : ""),
              "the routing needs more virtual channels than it has");
}

template <topology_shape T>
void explicit_queues<T>::send(link_id out, unsigned channel, std::uint32_t index, picoseconds at) {
  packet& p = packets_[index];
  p.channel = static_cast<std::uint8_t>(channel);
  links_.channel_of(out, channel).credit -= p.bytes;
  this->template transmit<true>(out, index, at, power_.follows_backlog() ? backlog_of_node(out, p, at) : 0);
}

template <topology_shape T>
void explicit_queues<T>::send_on(link_id out, unsigned channel, std::uint32_t index) {
  packet& p = packets_[index];
  channel_queue& q = links_.channel_of(out, channel);
  p.channel = static_cast<std::uint8_t>(channel);
  if (!links_.port_of(out).to_node) q.credit -= p.bytes;
  this->template transmit<false>(out, index, now_, power_.follows_backlog() ? backlog(out, p) : 0);
}

template <topology_shape T>
std::int64_t explicit_queues<T>::backlog(link_id out, const packet& p) {
  std::int64_t bytes = p.bytes;
  for (unsigned left = links_.port_of(out).occupied; left != 0; left &= left - 1)
    bytes += asked_.network.output_buffer - links_.channel_of(out, static_cast<unsigned>(std::countr_zero(left))).space;
  return bytes;
}

template <topology_shape T>
std::int64_t explicit_queues<T>::backlog_of_node(link_id out, const packet& p, picoseconds at) {
  const std::uint32_t node = links_.node_of(out);
  const std::int64_t begun = std::int64_t{p.bytes} + injectors_[node].unsent;
  return begun + traffic_.waiting_bytes(node, at - asked_.network.nic_delay, power_.raise_backlog() - begun);
}

}  // namespace lull::netsim
