// The simulator's core: packets through switches with finite buffers, one after another, as fast as memory allows.
//
// The model of a switch. A packet arrives in the input buffer of its port and virtual channel, where its sender had reserved
// room. `switch_delay` after its head (cut-through) or its tail (store-and-forward) it is routed and moves to the output
// buffer of the port and channel chosen as soon as there is room; then its input room is free and a credit travels back.
// Inputs that wait for the same output buffer are served round robin. The link takes the channels of its port that have a
// packet and the credits for it round robin, one packet at a time; a packet leaves the output buffer when its first bit
// does. The crossbar is never the bottleneck. Nodes take from their link whatever comes.
//
// Credits and idle links cost no events of their own: a port looks for credits that have come back when it needs them, and
// only a port that found none, or is busy, is called again.
//
// Everything a packet touches at one hop is in four lines of memory: the packet, the intake it stands in, the port it leaves
// by and that port's channels. Which they are is known in time to fetch them before they are needed, because the events of a
// place in a window are handled in three steps, the first while the place before is in its last:
//
//   look    fetch the packets and intakes of arrivals, the ports of services
//   route   choose the ways of arrivals, in order of time; fetch their ports; fetch the packets that services will send
//   act     everything else, in order of time
//
// So routing sees what was routed before it at once, but what became of it (a wait for credits, a wake-up) only from the next
// window on.
#pragma once
#include <time.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "netsim/link_power.hpp"
#include "netsim/plumbing.hpp"
#include "netsim/simulation.hpp"
#include "netsim/statistics.hpp"
#include "netsim/tally.hpp"
#include "netsim/topology.hpp"
#include "netsim/traffic.hpp"
#include "netsim/windows.hpp"

namespace lull::netsim {

template <topology_shape T>
class engine {
 public:
  engine(const T& topology, const simulation& asked)
      : topology_(topology),
        asked_(asked),
        links_(topology, asked),
        rooms_(links_.most_ports()),
        traffic_(asked, topology.nodes()),
        power_(asked.power, links_.count()),
        reluctance_(static_cast<picoseconds>(asked.routing.reluctance * static_cast<double>(power_.wake_delay()))),
        queue_(topology.switches(), links_.window_bits()),
        random_(asked.seed),
        injectors_(topology.nodes()),
        tally_(asked) {}

  result run(const progress& shown);

 private:
  enum call : unsigned { service, credit, computed };

  // A node's interface: cuts messages into packets, one message at a time.
  struct alignas(64) injector {
    route_state way{};
    std::uint32_t message = nowhere;
    std::uint32_t unsent = 0;
  };

  void act_by_place();
  void look(std::size_t n) const;
  void route(std::size_t n);
  void act(std::size_t n);
  void answer_in_turn(const event& call);
  void answer(const event& call);
  void choose_way(std::uint32_t at, packet& p);
  void arrive(link_id in, std::uint32_t index);
  void release(const packet& p);
  void append(link_id out, unsigned channel, std::uint32_t index);
  void serve_when_due(link_id out);
  void serve(link_id out);
  void serve_node(link_id out);
  [[nodiscard]] std::uint32_t cut_packet(const injector& i, std::int32_t bytes);
  template <bool from_node>
  void transmit(link_id out, unsigned channel, std::uint32_t index, picoseconds at);
  void deliver(std::uint32_t index, picoseconds at);
  void take_credit(link_id out, unsigned channel, std::int32_t bytes);
  [[nodiscard]] bool has_credit(link_id out, unsigned channel, std::int32_t bytes);
  void collect_credits(intake& in, picoseconds until);
  void await_credit(link_id out, unsigned channel);
  void call(link_id out, picoseconds at);
  void call_node(std::uint32_t node);
  void schedule_computed(std::uint32_t node, std::optional<picoseconds> at);
  void begin();
  [[nodiscard]] result finish(bool stopped);
  [[noreturn]] void report_deadlock() const;

  const T& topology_;
  const simulation& asked_;
  plumbing links_;
  waiting_rooms rooms_;
  traffic traffic_;
  link_power power_;
  picoseconds reluctance_;
  windows queue_;
  generator random_;
  pool<packet> packets_;
  pool<message> messages_;
  std::vector<injector> injectors_;
  tally tally_;
  picoseconds now_ = 0;
  std::uint64_t events_ = 0;
};

// While one place acts, the records of the next are fetched.
template <topology_shape T>
void engine<T>::act_by_place() {
  for (std::size_t n = 0, places = queue_.places(); n < places; ++n) {
    if (n == 0) look(0);
    if (n + 1 < places) look(n + 1);
    route(n);
    act(n);
  }
}

// Inlined always: GCC takes a function that only prefetches for one without effect, and drops the call.
template <topology_shape T>
[[gnu::always_inline]] inline void engine<T>::look(std::size_t n) const {
  links_.prefetch_free_at(queue_.place(n));
  for (const event& e : queue_.events(windows::arrivals, n)) {
    packets_.prefetch(e.b);
    links_.prefetch_intake(e.a);
  }
  for (const event& e : queue_.events(windows::calls, n)) {
    const link_id link = windows::what(e) == computed ? links_.node_link(e.a) : e.a;
    links_.prefetch_port(link);
    links_.prefetch_channel(link, 0);
    if (links_.from_node(link)) {
      __builtin_prefetch(&injectors_[links_.node_of(link)]);
      traffic_.prefetch(links_.node_of(link));
    }
  }
}

template <topology_shape T>
void engine<T>::route(std::size_t n) {
  const std::uint32_t at = queue_.place(n);
  for (const event& e : queue_.events(windows::calls, n)) {
    if (windows::what(e) != service || links_.from_node(e.a)) continue;
    for (unsigned left = links_.port_of(e.a).occupied; left != 0; left &= left - 1)
      packets_.prefetch(links_.channel_of(e.a, static_cast<unsigned>(std::countr_zero(left))).head);
  }
  for (const event& e : queue_.events(windows::arrivals, n)) {
    now_ = queue_.time_of(e);
    const intake& in = links_.intake_of(e.a);
    // A full intake will hand its credits over; whether it is full cannot be predicted, so something is fetched anyway.
    __builtin_prefetch(in.count == intake::most ? static_cast<const void*>(&links_.channel_of(in.sender, 0)) : &in);
    choose_way(at, packets_[e.b]);
  }
}

template <topology_shape T>
void engine<T>::act(std::size_t n) {
  const std::span<const event> arriving = queue_.events(windows::arrivals, n);
  const std::span<const event> calling = queue_.events(windows::calls, n);
  auto call = calling.begin();
  event sooner{};
  for (const event& e : arriving) {
    for (; call != calling.end() && (call->when >> 2U) < (e.when >> 2U); ++call) answer_in_turn(*call);
    while (queue_.sooner(e.when, sooner)) answer(sooner);
    now_ = queue_.time_of(e);
    arrive(e.a, e.b);
  }
  for (; call != calling.end(); ++call) answer_in_turn(*call);
  while (queue_.take(sooner))
    if (queue_.time_of(sooner) <= asked_.end) answer(sooner);
}

template <topology_shape T>
void engine<T>::answer_in_turn(const event& call) {
  event sooner{};
  while (queue_.sooner(call.when, sooner)) answer(sooner);
  answer(call);
}

template <topology_shape T>
void engine<T>::answer(const event& e) {
  now_ = queue_.time_of(e);
  switch (windows::what(e)) {
    case service:
      return serve_when_due(e.a);
    case credit:
      return take_credit(e.a, e.b >> 24U, static_cast<std::int32_t>(e.b & 0xffffffU));
    default:
      tally_.last = std::max(tally_.last, now_);
      schedule_computed(e.a, traffic_.computed(e.a, now_));
      return call_node(e.a);
  }
}

template <topology_shape T>
void engine<T>::choose_way(std::uint32_t at, packet& p) {
  const link_id first = links_.first_port(at);
  unsigned number = p.way.to_port;
  unsigned channel = p.way.lane;
  if (at == p.way.to_switch) {
    messages_.prefetch(p.message);
  } else {
    const chooser ports(at, asked_.routing.algorithm, links_.free_at(first), now_, power_.awake_for(), reluctance_,
                        asked_.routing.bias, random_);
    if (p.hops == 1) topology_.start(at, p.way, ports);
    const hop h = topology_.route(at, p.way, ports);
    number = h.port;
    channel += h.channel * links_.lanes();
  }
  p.out = first + number;
  p.out_channel = static_cast<std::uint8_t>(channel);
  links_.prefetch_port(p.out);
  links_.prefetch_channel(p.out, channel);
  if (power_.on()) power_.prefetch(p.out);
  picoseconds& free = *links_.free_at(p.out);
  free = std::max(free, now_) + links_.transfer_time(number == p.way.to_port && at == p.way.to_switch, p.bytes);
}

// A packet stands in an input buffer and goes where it was routed to.
template <topology_shape T>
void engine<T>::arrive(link_id in, std::uint32_t index) {
  packet& p = packets_[index];
  p.in = in;
  const link_id out = p.out;
  const unsigned channel = p.out_channel;
  port& o = links_.port_of(out);
  if (o.busy_until <= now_ && o.occupied == 0 && has_credit(out, channel, p.bytes)) {
    release(p);
    return transmit<false>(out, channel, index, now_);
  }
  if ((o.crowded >> channel & 1U) == 0 && links_.channel_of(out, channel).space >= p.bytes) {
    release(p);
    append(out, channel, index);
  } else {
    rooms_.add(links_.room_of(out, channel), in - links_.first_port(o.place), index, packets_);
    o.crowded = static_cast<std::uint16_t>(o.crowded | 1U << channel);
  }
  if (o.busy_until > now_)
    call(out, o.busy_until);
  else
    serve(out);
}

// The packet moves on inside the switch: its room in the input buffer is free when its tail is there, and its sender will
// know when the credit has travelled back.
template <topology_shape T>
void engine<T>::release(const packet& p) {
  intake& in = links_.intake_of(p.in);
  const picoseconds at = std::max(now_, p.tail) + asked_.network.credit_delay + asked_.network.cable_delay;
  const std::uint32_t what = std::uint32_t{p.channel} << 24U | static_cast<std::uint32_t>(p.bytes);
  if ((in.awaited >> p.channel & 1U) == 0) [[likely]] {
    // Credits back by the window's begin can be handed over: nobody asks for an earlier time any more.
    if (in.count == intake::most) collect_credits(in, queue_.begin());
    if (in.count < intake::most) [[likely]] {
      in.at[in.count] = at;
      in.what[in.count] = what;
      ++in.count;
      return;
    }
  }
  queue_.schedule<windows::calls>(at, links_.port_of(in.sender).place, credit, in.sender, what);
}

template <topology_shape T>
void engine<T>::append(link_id out, unsigned channel, std::uint32_t index) {
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
void engine<T>::call(link_id out, picoseconds at) {
  port& o = links_.port_of(out);
  if (at >= o.called) return;
  o.called = at;
  queue_.schedule<windows::calls>(at, o.place, service, out, 0);
}

template <topology_shape T>
void engine<T>::serve_when_due(link_id out) {
  port& o = links_.port_of(out);
  if (o.called != now_) return;  // an earlier call was scheduled after this one
  o.called = never;
  if (links_.from_node(out)) return serve_node(out);
  if (o.busy_until > now_) return o.occupied != 0 ? call(out, o.busy_until) : void();
  serve(out);
}

// An idle port sends the head of the next channel that has one and the credits for it.
template <topology_shape T>
void engine<T>::serve(link_id out) {
  port& o = links_.port_of(out);
  // Channels from `turn` on, then those before it.
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
      transmit<false>(out, channel, index, now_);
      if ((o.crowded >> channel & 1U) != 0) {
        std::uint32_t& room = links_.room_of(out, channel);
        while (room != nowhere) {
          const std::uint32_t next = rooms_.first(room);
          if (packets_[next].bytes > q.space) break;
          rooms_.take(room, packets_);
          release(packets_[next]);
          append(out, channel, next);
        }
        if (room == nowhere) o.crowded = static_cast<std::uint16_t>(o.crowded & ~(1U << channel));
      }
      if (o.occupied != 0) call(out, o.busy_until);
      return;
    }
  }
  for (unsigned left = o.occupied; left != 0; left &= left - 1) await_credit(out, static_cast<unsigned>(std::countr_zero(left)));
}

template <topology_shape T>
bool engine<T>::has_credit(link_id out, unsigned channel, std::int32_t bytes) {
  const channel_queue& q = links_.channel_of(out, channel);
  if (q.credit >= bytes) [[likely]]
    return true;
  collect_credits(links_.intake_of(links_.port_of(out).far), now_);
  return q.credit >= bytes;
}

template <topology_shape T>
void engine<T>::collect_credits(intake& in, picoseconds until) {
  unsigned kept = 0;
  for (unsigned i = 0; i < in.count; ++i) {
    const picoseconds at = in.at[i];
    const std::uint32_t what = in.what[i];
    const bool back = at <= until;  // cannot be predicted: no branch
    links_.channel_of(in.sender, what >> 24U).credit += back ? static_cast<std::int32_t>(what & 0xffffffU) : 0;
    in.at[kept] = at;
    in.what[kept] = what;
    kept += back ? 0 : 1;
  }
  in.count = static_cast<std::uint8_t>(kept);
}

// A port without credits is called when the next one is back, or asks the other end to tell.
template <topology_shape T>
void engine<T>::await_credit(link_id out, unsigned channel) {
  intake& in = links_.intake_of(links_.port_of(out).far);
  picoseconds soonest = never;
  for (unsigned i = 0; i < in.count; ++i)
    if (in.what[i] >> 24U == channel) soonest = std::min(soonest, in.at[i]);
  if (soonest != never) return call(out, soonest);
  in.awaited = static_cast<std::uint16_t>(in.awaited | 1U << channel);
}

template <topology_shape T>
void engine<T>::take_credit(link_id out, unsigned channel, std::int32_t bytes) {
  port& o = links_.port_of(out);
  intake& in = links_.intake_of(o.far);
  links_.channel_of(out, channel).credit += bytes;
  in.awaited = static_cast<std::uint16_t>(in.awaited & ~(1U << channel));
  if (links_.from_node(out)) return serve_node(out);
  if (o.occupied == 0) return;
  if (o.busy_until > now_)
    call(out, o.busy_until);
  else
    serve(out);
}

template <topology_shape T>
void engine<T>::call_node(std::uint32_t node) {
  const link_id out = links_.node_link(node);
  const port& o = links_.port_of(out);
  const injector& i = injectors_[node];
  if (i.unsent > 0) return call(out, std::max(o.busy_until, now_));
  if (const auto created = traffic_.next_at(node))
    call(out, std::max({o.busy_until, *created + asked_.network.nic_delay, now_}));
}

// A node sends a message at one go, as far as its credits reach: nothing else uses its link meanwhile.
template <topology_shape T>
void engine<T>::serve_node(link_id out) {
  const std::uint32_t node = links_.node_of(out);
  port& o = links_.port_of(out);
  injector& i = injectors_[node];
  if (o.busy_until > now_) return call_node(node);
  if (i.unsent == 0) {
    const auto created = traffic_.next_at(node);
    if (!created || *created + asked_.network.nic_delay > now_) return call_node(node);
    i.message = messages_.take();
    message& m = messages_[i.message] = traffic_.take(node);
    const endpoint home = topology_.home(m.to);
    i.unsent = m.bytes;
    i.way = {.to_switch = home.id, .key = pair_key(node, m.to), .to_port = home.port};
    i.way.lane = static_cast<std::uint8_t>(std::uint64_t{mixed(i.way.key)} * links_.lanes() >> 32U);
  }
  for (picoseconds at = now_; at <= asked_.end; at = o.busy_until) {
    const auto bytes = static_cast<std::int32_t>(std::min<std::int64_t>(asked_.network.packet, i.unsent));
    if (!has_credit(out, i.way.lane, bytes)) {
      if (at > now_) break;  // by then there may be more
      return await_credit(out, i.way.lane);
    }
    i.unsent -= static_cast<std::uint32_t>(bytes);
    tally_.injected(bytes);
    transmit<true>(out, i.way.lane, cut_packet(i, bytes), at);
    if (i.unsent > 0) continue;
    schedule_computed(node, traffic_.sent(node, o.busy_until));
    break;
  }
  call_node(node);
}

template <topology_shape T>
std::uint32_t engine<T>::cut_packet(const injector& i, std::int32_t bytes) {
  const std::uint32_t index = packets_.take();
  packet& p = packets_[index];
  p.way = i.way;
  p.message = i.message;
  p.bytes = bytes;
  return index;
}

// The first bit leaves at `at`, or when the link has woken up. The link must be idle then.
template <topology_shape T>
template <bool from_node>
void engine<T>::transmit(link_id out, unsigned channel, std::uint32_t index, picoseconds at) {
  packet& p = packets_[index];
  port& o = links_.port_of(out);
  channel_queue& q = links_.channel_of(out, channel);
  const network_parameters& net = asked_.network;
  picoseconds start = at;
  picoseconds time = links_.transfer_time(o.node_cable, p.bytes);
  if (power_.on()) {
    const auto woken = power_.wake(out, o.busy_until, at, net.output_buffer - q.space);
    start = woken.at;
    if (woken.slow) time = power_.slowed(time);
  }
  picoseconds end = start + time;
  if constexpr (from_node)
    p.first_bit = start;
  else if (net.cut_through)
    end = std::max(end, p.tail + net.switch_delay);  // the tail cannot leave before it came
  o.busy_until = end;
  o.bytes += static_cast<std::uint64_t>(p.bytes);
  ++o.packets;
  ++p.hops;
  if constexpr (!from_node) {
    picoseconds& free = *links_.free_at(out);
    free = std::max(free, end);
    if (o.to_node) return deliver(index, end + net.cable_delay);
  }
  q.credit -= p.bytes;
  p.channel = static_cast<std::uint8_t>(channel);
  p.tail = end + net.cable_delay;
  queue_.schedule<windows::arrivals>((net.cut_through ? start : end) + net.cable_delay + net.switch_delay, o.far_place, 0, o.far, index);
}

// The last bit of a packet reaches its node at `at`. Nothing there depends on it but the end of its message.
template <topology_shape T>
void engine<T>::deliver(std::uint32_t index, picoseconds at) {
  const packet& p = packets_[index];
  message& m = messages_[p.message];
  const picoseconds done = at + asked_.network.nic_delay;
  if (tally_.delivered(p, m, at, done)) {
    schedule_computed(m.to, traffic_.arrived(m, done));
    messages_.put_back(p.message);
  }
  packets_.put_back(index);
}

template <topology_shape T>
void engine<T>::schedule_computed(std::uint32_t node, std::optional<picoseconds> at) {
  if (at) queue_.schedule<windows::calls>(*at, links_.port_of(links_.node_link(node)).place, computed, node, 0);
}

template <topology_shape T>
void engine<T>::begin() {
  for (std::uint32_t node = 0; node < topology_.nodes(); ++node) {
    schedule_computed(node, traffic_.first_computed(node));
    call_node(node);
  }
}

template <topology_shape T>
result engine<T>::run(const progress& shown) {
  using clock = std::chrono::steady_clock;
  constexpr auto between = std::chrono::milliseconds(100);
  auto show_at = clock::now() + between;
  bool stopped = false;
  begin();
  std::uint64_t look_at = 0;
  while (queue_.open()) {
    if (queue_.begin() > asked_.end) break;
    if (asked_.end - queue_.begin() < queue_.length()) queue_.cut_off(asked_.end);
    act_by_place();
    events_ += queue_.count();
    if (events_ < look_at) continue;
    look_at = events_ + 16384;
    if (clock::now() < show_at) continue;
    show_at = clock::now() + between;
    if (shown && !shown({queue_.begin(), events_, tally_.messages_done(), traffic_.expected()})) {
      stopped = true;
      break;
    }
  }
  if (!stopped && asked_.end == never && (packets_.used() > 0 || traffic_.waiting() > 0)) report_deadlock();
  return finish(stopped);
}

template <topology_shape T>
result engine<T>::finish(bool stopped) {
  result r = tally_.counted(traffic_);
  r.stopped = stopped;
  r.events = events_;
  r.messages_created = traffic_.created();
  r.virtual_channels = links_.channels();
  r.window = queue_.length();
  r.ended = stopped ? queue_.begin() : asked_.end != never ? asked_.end : tally_.last;
  r.links.reserve(links_.count());
  for (link_id link = 0; link < links_.count(); ++link) {
    const port& o = links_.port_of(link);
    const bool from_node = links_.from_node(link);
    power_.close(link, o.busy_until, r.ended);
    const link_rest rest = power_.on() ? power_.rests()[link] : link_rest{};
    r.packet_links += o.packets;
    r.links.push_back({.from = from_node ? links_.node_of(link) : o.place,
                       .to = o.to_node ? links_.node_of(o.far) : o.far_place,
                       .kind = from_node   ? link_result::link_kind::injection
                               : o.to_node ? link_result::link_kind::ejection
                                           : link_result::link_kind::network,
                       .packets = o.packets,
                       .bytes = o.bytes,
                       .wakes = rest.wakes,
                       .deep_sleep = rest.deep,
                       .fast_wake = asked_.power.mode == power_mode::adaptive_rate ? 0 : rest.other,
                       .slow = asked_.power.mode == power_mode::adaptive_rate ? rest.other : 0,
                       .busy = links_.transfer_time(o.node_cable, static_cast<std::int64_t>(o.bytes))});
  }
  return r;
}

// Names a few ports that wait for each other.
template <topology_shape T>
void engine<T>::report_deadlock() const {
  std::string where;
  unsigned named = 0;
  std::uint64_t stuck = 0;
  for (link_id link = 0; link < links_.count(); ++link) {
    const port& o = links_.port_of(link);
    if (o.occupied == 0 || links_.from_node(link)) continue;
    ++stuck;
    if (named++ < 3) where += fmt::format("{} from switch {} to {}", named > 1 ? "," : "", o.place, o.far_place);
  }
  throw error("simulate the network",
              fmt::format("it is deadlocked at {} ps: {} packets wait for room that will not come, at {} ports:{}{}", now_,
                          packets_.used(), stuck, where, stuck > 3 ? ", ..." : ""),
              "the routing needs more virtual channels than it was given");
}

template <topology_shape T>
result run_engine(const T& topology, const simulation& asked, const progress& shown) {
  const auto cpu_seconds = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  };
  const double before = cpu_seconds();
  engine<T> core(topology, asked);
  const double ready = cpu_seconds();
  result r = core.run(shown);
  r.setup_cpu_s = ready - before;
  r.loop_cpu_s = cpu_seconds() - ready;
  return r;
}

}  // namespace lull::netsim
