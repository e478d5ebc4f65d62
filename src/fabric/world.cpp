#include "fabric/world.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/error.hpp"
#include "base/settings.hpp"

namespace lull::fabric {
namespace {

constexpr const char* key = "lull.pe";

// What a PE tells all others; the UCX address, if any, follows it.
struct introduction {
  segment_name heap;
  std::uint64_t heap_bytes;
  place where;
  cpu_set_t cores;
};

constexpr std::size_t round_up(std::size_t value, std::size_t step) { return (value + step - 1) / step * step; }

std::size_t header_size(int pes) {
  constexpr std::size_t page = 4096;
  return round_up(sizeof(pe_header) + static_cast<std::size_t>(pes) * sizeof(std::atomic<std::uint64_t>), page);
}

place place_of(const bootstrap& boot) {
  const auto& here = boot.host_ranks();
  const auto count = static_cast<int>(here.size());
  const auto blocks = static_cast<int>(setting_integer("LULL_NODES"));
  if (blocks > count)
    throw usage_error("split the PEs of this host into " + std::to_string(blocks) + " emulated nodes (LULL_NODES)",
                      "there are only " + std::to_string(count) + " PEs", "ask for no more nodes than PEs");
  const auto position = std::ranges::lower_bound(here, boot.rank().index()) - here.begin();
  return {boot.host(), block_of(static_cast<int>(position), count, blocks)};
}

}  // namespace

world::world()
    : header_bytes_(header_size(boot_.size())),
      heap_bytes_(round_up(setting_size("SHMEM_SYMMETRIC_SIZE"), 4096)),
      own_(segment_.map_own(header_bytes_ + heap_bytes_)),
      peers_(static_cast<std::size_t>(boot_.size())),
      heap_base_(own_.data() + header_bytes_),
      heap_of_(static_cast<std::size_t>(boot_.size())),
      headers_(static_cast<std::size_t>(boot_.size())),
      allocator_(heap_bytes_),
      unacknowledged_limit_(static_cast<std::uint64_t>(setting_integer("LULL_UNACKNOWLEDGED"))) {
  if (boot_.spans_hosts() || setting_integer("LULL_NODES") > 1) start_remote();
  exchange_and_map();
  const auto mine = static_cast<std::size_t>(me().index());
  if (remote_) agent_ = std::make_unique<agent>(*remote_);
  serving_.store(agent_.get(), std::memory_order_release);
  const bool alone = layout_->members(layout_->my_node()).size() == 1;
  waiting_ = std::make_unique<waiting>(
      headers_[mine]->bell, agent_.get(),
      wait_surroundings{.oversubscribed = oversubscribed_, .alone = alone, .speaks = me().index() == 0});
  boot_.fence();  // everybody has mapped everybody: the descriptors have done their duty
  segment_.close();
}

world::~world() = default;

void world::start_remote() {
  // UCX would use shared memory between emulated nodes too, where it loses wake-ups and where no wire is emulated.
  if (setting_integer("LULL_NODES") > 1) setenv("UCX_TLS", "tcp,self", 0);  // NOLINT(concurrency-mt-unsafe)
  remote_ = std::make_unique<remote>(me(), pes(), std::span(heap_base_, heap_bytes_),
                                     remote_hooks{.memory_changed =
                                                      [this, bell = &reinterpret_cast<pe_header*>(own_.data())->bell] {
                                                        bell->ring();
                                                        wake_sleeper();
                                                      },
                                                  .barrier_arrival =
                                                      [this](node_id from, std::uint64_t epoch) {
                                                        auto& seen = leader_->node_arrived(from.index());
                                                        if (seen.load(std::memory_order_relaxed) < epoch)
                                                          seen.store(epoch, std::memory_order_release);
                                                        ring_node();
                                                        wake_sleeper();
                                                      }});
}

void world::exchange_and_map() {
  introduction mine{segment_.name(), heap_bytes_, place_of(boot_), {}};
  sched_getaffinity(0, sizeof mine.cores, &mine.cores);
  std::vector<std::byte> blob(sizeof mine);
  std::memcpy(blob.data(), &mine, sizeof mine);
  if (remote_) {
    const auto address = remote_->address();
    blob.insert(blob.end(), address.begin(), address.end());
  }
  boot_.publish(key, blob);
  boot_.fence();

  std::vector<introduction> all(static_cast<std::size_t>(pes()));
  std::vector<place> places;
  std::vector<std::vector<std::byte>> addresses;
  for (int pe = 0; pe < pes(); ++pe) {
    const auto theirs = pes() == 1 ? blob : boot_.lookup(key, pe_id{pe});
    auto& other = all[static_cast<std::size_t>(pe)];
    std::memcpy(&other, theirs.data(), sizeof other);
    if (other.heap_bytes != heap_bytes_)
      throw error("make the symmetric heap",
                  "PE " + std::to_string(pe) + " has " + std::to_string(other.heap_bytes) + " bytes, this PE " +
                      std::to_string(heap_bytes_),
                  "give SHMEM_SYMMETRIC_SIZE the same value everywhere");
    places.push_back(other.where);
    addresses.emplace_back(theirs.begin() + sizeof other, theirs.end());
  }
  layout_.emplace(places, me());

  cpu_set_t cores;
  CPU_ZERO(&cores);
  int pes_here = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const pe_id pe{static_cast<int>(i)};
    if (all[i].where.host == mine.where.host) {
      CPU_OR(&cores, &cores, &all[i].cores);
      ++pes_here;
    }
    if (pe != me() && layout_->shares_memory(pe)) peers_[i] = map_peer(all[i].heap, header_bytes_ + heap_bytes_);
    std::byte* const start = pe == me() ? own_.data() : peers_[i].data();
    headers_[i] = reinterpret_cast<pe_header*>(start);
    heap_of_[i] = start ? start + header_bytes_ : nullptr;
  }
  oversubscribed_ = pes_here > CPU_COUNT(&cores);
  leader_ = headers_[static_cast<std::size_t>(layout_->leader(layout_->my_node()).index())];
  if (remote_)
    for (std::size_t i = 0; i < all.size(); ++i) remote_->connect(pe_id{static_cast<int>(i)}, std::move(addresses[i]));
}

void world::finalize() {
  quiet();
  barrier();
  boot_.fence();
  if (remote_) {
    serving_.store(nullptr, std::memory_order_release);
    agent_.reset();
    boot_.fence();  // nobody serves any more, so nobody is disturbed by a connection that ends
    remote_->disconnect();
    boot_.fence();
  }
}

std::vector<std::vector<std::byte>> world::tell_first_pe(const std::string& key, std::span<const std::byte> mine) {
  if (pes() == 1) return {{mine.begin(), mine.end()}};
  boot_.publish(key, mine);
  boot_.fence();
  std::vector<std::vector<std::byte>> all;
  if (me().index() == 0)
    for (int pe = 0; pe < pes(); ++pe) all.push_back(boot_.lookup(key, pe_id{pe}));
  return all;
}

void* world::allocate(std::size_t bytes, std::size_t alignment) {
  const auto offset = allocator_.allocate(bytes, alignment);
  return offset ? heap_base_ + *offset : nullptr;
}

bool world::release(void* symmetric) { return allocator_.release(offset_of(symmetric)); }

std::optional<std::size_t> world::size_of(const void* symmetric) const {
  return allocator_.size_of(offset_of(symmetric));
}

void world::wait_for_room(pe_id pe) {
  wait().until({operation::put, 0, pe.index(), {}, true},
               [&] { return remote_->unacknowledged(pe) < unacknowledged_limit_; });
}

void world::put_remote(void* target, const void* source, std::size_t bytes, pe_id pe, const signal_update* signal,
                       bool blocking) {
  wait_for_room(pe);
  unconfirmed_.add(bytes, pe);
  if (!blocking) return remote_->put(pe, offset_of(target), source, bytes, signal, nullptr);
  std::atomic<bool> sent{false};
  remote_->put(pe, offset_of(target), source, bytes, signal, &sent);
  wait().until({operation::put, bytes, pe.index(), {}, true}, [&] { return sent.load(std::memory_order_acquire); });
}

void world::put_signal(void* target, const void* source, std::size_t bytes, std::uint64_t* signal, std::uint64_t value,
                       bool add, pe_id pe, bool blocking) {
  if (void* const there = direct(target, pe)) {
    std::memcpy(there, source, bytes);
    apply_update({add ? update_op::add : update_op::set, 8, 0, value, 0}, direct(signal, pe));
    bell_of(pe).ring_after_atomic();
    return;
  }
  const signal_update wanted{offset_of(signal), value, add};
  put_remote(target, source, bytes, pe, &wanted, blocking);
}

void world::get_remote(void* destination, const void* source, std::size_t bytes, pe_id pe) {
  reply answer{.destination = destination, .bytes = bytes};
  remote_->get(pe, offset_of(source), answer);
  wait().until({operation::get, bytes, pe.index(), {}, true},
               [&] { return answer.done.load(std::memory_order_acquire); });
}

void world::change_remote(void* target, update u, pe_id pe) {
  wait_for_room(pe);
  u.offset = offset_of(target);
  remote_->change(pe, u);
}

std::uint64_t world::fetch_remote(void* target, update u, pe_id pe) {
  std::uint64_t old = 0;
  reply answer{.destination = &old, .bytes = u.width};
  u.offset = offset_of(target);
  remote_->fetch(pe, u, answer);
  wait().until({operation::atomic, u.width, pe.index(), {}, true},
               [&] { return answer.done.load(std::memory_order_acquire); });
  return old;
}

void world::fence() {
  std::atomic_thread_fence(std::memory_order_release);
  // Small messages to one PE arrive in order; a large one may be overtaken.
  if (remote_ && !remote_->ordered()) quiet();
}

void world::quiet() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!remote_) return;
  const auto [bytes, peer] = unconfirmed_.take();
  wait().until({operation::quiet, bytes, peer, {}, true}, [&] { return remote_->quiet(); });
}

void world::ring_node() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (const pe_id pe : layout_->members(layout_->my_node())) bell_of(pe).ring_after_atomic();
}

void world::barrier() {
  const std::uint64_t epoch = ++barrier_epoch_;
  const auto here = layout_->members(layout_->my_node()).size();
  if (leader_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < epoch * here) {
    wait().until({operation::barrier}, [&] { return leader_->completed.load(std::memory_order_acquire) >= epoch; });
    return;
  }
  // The last of this node: tell the other nodes, wait for them, let the node go.
  for (int node = 0; node < layout_->nodes(); ++node) {
    if (node_id{node} != layout_->my_node()) remote_->arrive(layout_->leader(node_id{node}), layout_->my_node(), epoch);
  }
  wait().until({operation::barrier}, [&] {  // messages arrive at the leader, which may be another PE
    for (int node = 0; node < layout_->nodes(); ++node) {
      if (node_id{node} != layout_->my_node() && leader_->node_arrived(node).load(std::memory_order_acquire) < epoch)
        return false;
    }
    return true;
  });
  leader_->completed.store(epoch, std::memory_order_release);
  ring_node();
}

}  // namespace lull::fabric
