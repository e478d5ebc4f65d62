// The records of ports, buffers and packets and the wiring between them, which the engine's loop reads and writes.
//
// A link is one direction of a cable. Its number is that of the port that sends into it: ports of switch 0, of switch
// 1, ..., then one for each node. The two directions of a cable refer to each other as `far`. The receiving end of a
// link at a switch, the input port, is stored under the number of the link that leaves by the same port, so that all
// records of a switch are contiguous.
#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "netsim/memory.hpp"
#include "netsim/simulation.hpp"
#include "netsim/topology.hpp"

namespace lull::netsim {

using link_id = std::uint32_t;

struct alignas(64) packet {
  route_state path;
  std::uint32_t next = nowhere;  // in its queue
  std::uint32_t message = 0;
  std::int32_t bytes = 0;
  link_id in = 0;             // the input port, by its link
  bool started = false;       // topology.start() has chosen its path
  std::uint8_t sent_by = 0;   // 1 + the part (parts.hpp) that sent it, if it is another than where it is; otherwise 0
  picoseconds tail = 0;       // when its last bit arrived there
  picoseconds first_bit = 0;  // when it left its node
  link_id out = 0;            // the link by which it leaves
  std::uint8_t channel = 0;   // of the input port
  std::uint8_t out_channel = 0;
  std::uint16_t hops = 0;  // links crossed
};
static_assert(sizeof(packet) == 64);

// The sending end of a link. It has room for counts of 32 bits only; see full_counts.
struct alignas(64) port {
  picoseconds busy_until = 0;
  picoseconds service_due = never;  // when its next service is due; timers for later services are void
  std::uint64_t bytes = 0;          // sent
  picoseconds deep = 0;             // see link_rest
  picoseconds other = 0;
  std::uint32_t wakes = 0;
  std::uint32_t packets = 0;   // sent
  link_id far = 0;             // the other direction of the cable
  std::uint32_t far_lp = 0;    // the logical process at the end of the link; for a cable to a node, that of the node
  std::uint16_t occupied = 0;  // bit mask of channels with packets in the output buffer
  std::uint16_t blocked = 0;   // bit mask of channels for which packets wait in input buffers
  std::uint8_t turn = 0;       // the channel to serve first
  bool to_node = false;
  bool node_cable = false;    // to or from a node
  std::uint8_t leads_to = 0;  // 1 + the part at the other end, if it is another; otherwise 0
};

// What ports have counted, in 64 bits: a port adds its counts to these whenever `is_full` says so, and begins anew. A
// link that is never idle sends 2^32 packets of 4 KiB within half an hour of simulated time.
class full_counts {
 public:
  struct counts {
    std::uint64_t packets = 0;
    std::uint64_t wakes = 0;
  };
  // A link wakes once for a packet at most, so `wakes` is never larger.
  [[nodiscard]] static bool is_full(const port& o) { return o.packets >= std::uint32_t{1} << 31U; }
  void add(link_id link, port& o) {
    counts& sum = sums_[link];
    sum.packets += std::exchange(o.packets, 0);
    sum.wakes += std::exchange(o.wakes, 0);
  }
  [[nodiscard]] counts of(link_id link, const port& o) const {
    const auto sum = sums_.find(link);
    const counts before = sum == sums_.end() ? counts{} : sum->second;
    return {before.packets + o.packets, before.wakes + o.wakes};
  }

 private:
  std::unordered_map<link_id, counts> sums_;  // of the few links that were ever full
};

// One virtual channel of a port: its output buffer, and the free space at the other end that its sender knows of.
struct channel_queue {
  std::uint32_t head = nowhere;
  std::uint32_t tail = nowhere;
  std::int32_t credit = 0;  // bytes
  std::int32_t space = 0;   // free bytes of the output buffer
};

// The receiving end of a link: credits on their way back that the sender has not collected yet. The record belongs to
// the sender of the link: only the sender's logical process depends on its content.
struct alignas(64) input_port {
  static constexpr unsigned most = 4;
  std::array<picoseconds, most> at{};
  std::array<std::uint32_t, most> what{};  // channel << 24 | bytes
  link_id sender = 0;                      // the link that ends here
  std::uint32_t more = nowhere;            // a list of the credits that do not fit in here
  std::uint16_t awaited = 0;               // bit mask of channels whose sender waits for a credit
  std::uint8_t count = 0;
};
static_assert(sizeof(port) == 64 && sizeof(input_port) == 64 && sizeof(channel_queue) == 16);

// Allocator for large arrays. They are aligned to a cache line, so that four channels share one, and use huge pages,
// because a hop touches arrays all over.
template <class R>
struct large {
  using value_type = R;
  large() = default;
  template <class Other>
  explicit large(const large<Other>& /*other*/) {}
  R* allocate(std::size_t n) {
    constexpr std::size_t huge = std::size_t{2} << 20U;
    const std::size_t bytes = n * sizeof(R);
    void* p = ::operator new (bytes, std::align_val_t{bytes < huge ? 64 : huge});
    if (bytes >= huge) madvise(p, bytes, MADV_HUGEPAGE);
    return static_cast<R*>(p);
  }
  void deallocate(R* p, std::size_t n) {
    ::operator delete (p, std::align_val_t{n * sizeof(R) < std::size_t{2} << 20U ? 64 : std::size_t{2} << 20U});
  }
  bool operator==(const large& /*other*/) const { return true; }
};
template <class R>
using large_vector = std::vector<R, large<R>>;

// Records of one kind, which are numbered; numbers are reused. After all records were free, consecutive calls of take()
// return adjacent records.
template <class R>
class pool {
 public:
  std::uint32_t take() {
    if (free_count_ == 0) [[unlikely]]
      return add();
    const std::uint32_t index = free_[--free_count_];
    ::new (&records_[index]) R;  // in place: copying a fresh record would stall on its parts
    return index;
  }
  void put_back(std::uint32_t index) {
    free_[free_count_++] = index;
    ++put_back_;
    if (free_count_ == records_.size() && put_back_ >= free_count_) [[unlikely]]
      put_in_order();
  }
  void prefetch(std::uint32_t index) const { __builtin_prefetch(&records_[index]); }
  R& operator[](std::uint32_t index) { return records_[index]; }
  const R& operator[](std::uint32_t index) const { return records_[index]; }
  [[nodiscard]] std::size_t used() const { return records_.size() - free_count_; }

 private:
  [[gnu::noinline]] std::uint32_t add() {
    records_.emplace_back();
    free_.resize(records_.capacity());
    return static_cast<std::uint32_t>(records_.size() - 1);
  }
  // All are free: take() returns the lowest number next.
  [[gnu::noinline]] void put_in_order() {
    put_back_ = 0;
    for (std::size_t i = 0; i < free_count_; ++i) free_[i] = static_cast<std::uint32_t>(free_count_ - 1 - i);
  }

  large_vector<R> records_;
  std::vector<std::uint32_t> free_;  // the last is taken next; has room for all
  std::size_t free_count_ = 0;
  std::size_t put_back_ = 0;  // since put_in_order()
};

// Packets in input buffers whose output buffer is full, served round robin over the inputs. A queue (`room`) exists
// only while a channel of a port is blocked.
class virtual_output_queues {
 public:
  explicit virtual_output_queues(unsigned most_ports) : ports_(most_ports), words_((most_ports + 63) / 64) {}

  void add(std::uint32_t& room, unsigned input, std::uint32_t index, pool<packet>& packets) {
    if (room == nowhere) {
      room = open();
      turns_[room] = input;  // whatever another queue has left there
    }
    const std::size_t at = std::size_t{room} * ports_ + input;
    packets[index].next = nowhere;
    if (heads_[at] == nowhere)
      heads_[at] = index;
    else
      packets[tails_[at]].next = index;
    tails_[at] = index;
    bits_[std::size_t{room} * words_ + input / 64] |= std::uint64_t{1} << input % 64;
  }
  // The next packet. The queue must exist.
  [[nodiscard]] std::uint32_t first(std::uint32_t room) const {
    return heads_[std::size_t{room} * ports_ + turn_input(room)];
  }
  // Removes the next packet; closes the queue if it was the last.
  void take(std::uint32_t& room, const pool<packet>& packets) {
    const unsigned input = turn_input(room);
    const std::size_t at = std::size_t{room} * ports_ + input;
    heads_[at] = packets[heads_[at]].next;
    std::uint64_t* bits = &bits_[std::size_t{room} * words_];
    if (heads_[at] == nowhere) bits[input / 64] &= ~(std::uint64_t{1} << input % 64);
    turns_[room] = input + 1 == ports_ ? 0 : input + 1;
    if (std::all_of(bits, bits + words_, [](std::uint64_t w) { return w == 0; })) {
      free_.push_back(room);
      room = nowhere;
    }
  }

 private:
  [[nodiscard]] unsigned turn_input(std::uint32_t room) const {
    const std::uint64_t* bits = &bits_[std::size_t{room} * words_];
    const unsigned from = turns_[room];
    std::uint64_t word = bits[from / 64] & (~std::uint64_t{0} << from % 64);
    for (unsigned w = from / 64;;) {
      if (word != 0) return w * 64 + static_cast<unsigned>(std::countr_zero(word));
      w = w + 1 == words_ ? 0 : w + 1;
      word = bits[w];
    }
  }
  std::uint32_t open() {
    if (free_.empty()) {
      const auto room = static_cast<std::uint32_t>(turns_.size());
      turns_.push_back(0);
      heads_.resize(heads_.size() + ports_, nowhere);
      tails_.resize(tails_.size() + ports_, nowhere);
      bits_.resize(bits_.size() + words_);
      return room;
    }
    const std::uint32_t room = free_.back();
    free_.pop_back();
    return room;
  }

  unsigned ports_, words_;
  std::vector<std::uint32_t> heads_, tails_;  // [room][input]
  std::vector<std::uint64_t> bits_;           // mask of inputs with packets, by room
  std::vector<unsigned> turns_;
  std::vector<std::uint32_t> free_;
};

// A copy shares the records with the original: each part has one, and writes only its own records.
class network_state {
 public:
  template <topology_shape T>
  // Calls `still_wanted` from time to time while it sets up a large network; an exception of it ends the set-up.
  network_state(const T& topology, const simulation& asked, bool with_channels,
                const std::function<void()>& still_wanted);
  // Records which links lead to another part; `part_of` each switch.
  void divide(std::span<const std::uint8_t> part_of);

  [[nodiscard]] std::size_t count() const { return records_->ports.size(); }
  [[nodiscard]] link_id first_port(std::uint32_t of_switch) const { return first_[of_switch]; }
  [[nodiscard]] link_id node_link(std::uint32_t node) const { return first_of_nodes_ + node; }
  [[nodiscard]] bool from_node(link_id link) const { return link >= first_of_nodes_; }
  [[nodiscard]] std::uint32_t node_of(link_id link) const { return link - first_of_nodes_; }

  // The switch that sends into the link.
  [[nodiscard]] std::uint32_t switch_of(link_id link) const {
    const std::vector<link_id>& first = records_->first;
    return static_cast<std::uint32_t>(std::ranges::upper_bound(first, link) - first.begin() - 1);
  }

  [[nodiscard]] port& port_of(link_id link) { return ports_[link]; }
  [[nodiscard]] const port& port_of(link_id link) const { return ports_[link]; }
  [[nodiscard]] channel_queue& channel_of(link_id link, unsigned channel) {
    return channels_[std::size_t{link} * channels_per_link_ + channel];
  }
  [[nodiscard]] input_port& input_of(link_id link) { return inputs_[link]; }
  [[nodiscard]] std::uint32_t& voq_of(link_id link, unsigned channel) {
    return voqs_[std::size_t{link} * channels_per_link_ + channel];
  }
  // When the port will have sent all that waits for it, as routing estimates it.
  [[nodiscard]] picoseconds* free_at(link_id link) { return &free_at_[link]; }

  void prefetch_port(link_id link) const { __builtin_prefetch(&ports_[link]); }
  void prefetch_channel(link_id link, unsigned channel) const {
    __builtin_prefetch(&channels_[std::size_t{link} * channels_per_link_ + channel]);
  }
  void prefetch_input(link_id link) const { __builtin_prefetch(&inputs_[link]); }
  void prefetch_free_at(std::uint32_t of_switch) const {
    for (link_id link = first_[of_switch]; link < first_[of_switch + 1]; link += 8) __builtin_prefetch(&free_at_[link]);
  }

  [[nodiscard]] picoseconds transfer_time(bool node_cable, std::int64_t bytes) const {
    return static_cast<picoseconds>(static_cast<std::uint64_t>(bytes) * rates_[node_cable ? 1 : 0] >> rate_bits);
  }
  // The same for all that a link has sent, which may take longer than the 2^44 ps that a 64-bit product can hold.
  [[nodiscard]] picoseconds transfer_time_of_all(bool node_cable, std::uint64_t bytes) const {
    __extension__ using product = unsigned __int128;
    return static_cast<picoseconds>(product{bytes} * rates_[node_cable ? 1 : 0] >> rate_bits);
  }
  [[nodiscard]] unsigned lanes() const { return lanes_; }
  [[nodiscard]] unsigned channels() const { return channels_per_link_; }
  [[nodiscard]] unsigned window_bits() const { return window_bits_; }
  [[nodiscard]] unsigned most_ports() const { return most_ports_; }

 private:
  static constexpr unsigned rate_bits = 20;
  static constexpr link_id links_between_looks = 1 << 18;
  void check(const simulation& asked, unsigned classes);

  struct records {
    std::vector<link_id> first;  // of each switch; the last is that of the nodes
    large_vector<port> ports;
    large_vector<channel_queue> channels;
    large_vector<input_port> inputs;  // of links that end at a switch
    std::vector<std::uint32_t> voqs;
    large_vector<picoseconds> free_at;
  };
  std::shared_ptr<records> records_ = std::make_shared<records>();
  // Where they begin.
  const link_id* first_ = nullptr;
  link_id first_of_nodes_ = 0;
  port* ports_ = nullptr;
  channel_queue* channels_ = nullptr;
  input_port* inputs_ = nullptr;
  std::uint32_t* voqs_ = nullptr;
  picoseconds* free_at_ = nullptr;
  std::array<std::uint64_t, 2> rates_{};  // picoseconds per byte << rate_bits
  unsigned channels_per_link_ = 1, lanes_ = 1, window_bits_ = 0, most_ports_ = 0;
};

inline void network_state::check(const simulation& asked, unsigned classes) {
  const network_parameters& n = asked.network;
  const auto require = [](bool holds, const char* key, const std::string& rule) {
    if (!holds) throw usage_error("build the network", fmt::format("{} must {}", key, rule));
  };
  require(n.packet >= 1 && n.packet < 1 << 24, "network.packet", "be in 1..16777215 bytes");
  require(n.bandwidth > 0, "network.bandwidth", "be more than 0");
  require(n.nic_bandwidth > 0, "network.nic_bandwidth", "be more than 0");
  constexpr double most_s = 16;  // transfer_time() can hold 2^44 ps = 17.6 s
  require(static_cast<double>(n.packet) <= most_s * std::min(n.bandwidth, n.nic_bandwidth), "network.bandwidth",
          fmt::format("send a packet of {} bytes within {} s, and so must network.nic_bandwidth", n.packet, most_s));
  require(n.input_buffer >= n.packet && n.input_buffer < 1 << 30, "network.input_buffer",
          fmt::format("hold a packet of {} bytes and be below 1 GiB", n.packet));
  require(n.output_buffer >= n.packet && n.output_buffer < 1 << 30, "network.output_buffer",
          fmt::format("hold a packet of {} bytes and be below 1 GiB", n.packet));
  channels_per_link_ = n.virtual_channels == 0 ? classes : n.virtual_channels;
  require(channels_per_link_ >= classes && channels_per_link_ <= 16, "network.virtual_channels",
          fmt::format("be in {}..16 with this routing, which needs {} to be free from deadlock", classes, classes));
  lanes_ = channels_per_link_ / classes;
  const picoseconds ahead = n.cable_delay + std::min(n.switch_delay, n.credit_delay);
  require(n.cable_delay >= 0 && n.switch_delay >= 0 && n.credit_delay >= 0 && n.nic_delay >= 0, "network.*_delay",
          "not be negative");
  require(ahead >= 1024, "network.cable_delay",
          "be at least 1.024 ns together with switch_delay, and together with credit_delay");
  window_bits_ = std::min(static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(ahead))) - 1, 17U);
}

template <topology_shape T>
network_state::network_state(const T& topology, const simulation& asked, bool with_channels,
                             const std::function<void()>& still_wanted) {
  check(asked, topology.channels(asked.routing.algorithm));
  const auto fixed = [](double bytes_per_second) {
    return static_cast<std::uint64_t>(std::llround(1e12 / bytes_per_second * (1U << rate_bits)));
  };
  rates_ = {fixed(asked.network.bandwidth), fixed(asked.network.nic_bandwidth)};
  link_id links = 0;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    records_->first.push_back(links);
    links += topology.ports(s);
    most_ports_ = std::max(most_ports_, topology.ports(s));
  }
  records_->first.push_back(links);
  first_ = records_->first.data();
  first_of_nodes_ = links;
  links += topology.nodes();
  const std::size_t per_link = sizeof(port) + sizeof(picoseconds);
  const std::size_t with_queues =
      sizeof(input_port) + std::size_t{channels_per_link_} * (sizeof(channel_queue) + sizeof(std::uint32_t));
  require_memory(links, std::uint64_t{links} * (per_link + (with_channels ? with_queues : 0)));
  records_->ports.resize(links);
  if (with_channels) {
    records_->inputs.resize(first_of_nodes_);
    records_->channels.resize(std::size_t{links} * channels_per_link_);
    records_->voqs.resize(std::size_t{first_of_nodes_} * channels_per_link_, nowhere);
  }
  records_->free_at.resize(first_of_nodes_);
  ports_ = records_->ports.data();
  inputs_ = records_->inputs.data();
  channels_ = records_->channels.data();
  voqs_ = records_->voqs.data();
  free_at_ = records_->free_at.data();
  const auto buffers = [&](link_id link, std::int64_t credit) {
    if (!with_channels) return;
    for (unsigned c = 0; c < channels_per_link_; ++c)
      channel_of(link, c) = {.credit = static_cast<std::int32_t>(credit),
                             .space = static_cast<std::int32_t>(asked.network.output_buffer)};
  };
  link_id look_at = links_between_looks;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    if (first_[s] >= look_at) {
      look_at = first_[s] + links_between_looks;
      still_wanted();
    }
    for (unsigned p = 0; p < topology.ports(s); ++p) {
      const endpoint other = topology.peer(s, p);
      const link_id link = first_[s] + p;
      port& o = ports_[link];
      o.far_lp = other.node ? s : other.id;
      o.far = other.node ? node_link(other.id) : first_[other.id] + other.port;
      o.to_node = o.node_cable = other.node;
      if (with_channels) inputs_[link].sender = o.far;
      buffers(link, other.node ? std::numeric_limits<std::int32_t>::max() : asked.network.input_buffer);
      if (!other.node) continue;
      port& back = ports_[o.far];
      back.far_lp = s;
      back.far = link;
      back.node_cable = true;
      buffers(o.far, asked.network.input_buffer);
    }
  }
}

inline void network_state::divide(std::span<const std::uint8_t> part_of) {
  for (std::uint32_t s = 0; s < part_of.size(); ++s)
    for (link_id link = first_[s]; link < first_[s + 1]; ++link) {
      const std::uint8_t there = part_of[ports_[link].far_lp];
      ports_[link].leads_to = there == part_of[s] ? std::uint8_t{0} : static_cast<std::uint8_t>(there + 1);
    }
}

}  // namespace lull::netsim
