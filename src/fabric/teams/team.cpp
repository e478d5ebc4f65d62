#include "fabric/teams/team.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>

#include "base/hash.hpp"

namespace lull::fabric {
namespace {

constexpr unsigned doing_bits = 16;  // of a counter between nodes; the epoch is above them

int rounds_for(int nodes) { return static_cast<int>(std::bit_width(static_cast<unsigned>(nodes - 1))); }

std::size_t words_of(int pes) { return (static_cast<std::size_t>(pes) * sizeof(std::uint64_t) + 63) / 64 * 64; }

std::size_t bytes_of_slot(int pes) {
  const auto buffers = static_cast<std::size_t>(rounds_for(pes)) + 1;  // at most one node for each PE
  return sizeof(team_block) + words_of(pes) + (pes > 1 ? buffers * team::chunk_bytes : 0);
}

team_block* block_at(const team_ground& ground, int slot) {
  return reinterpret_cast<team_block*>(ground.blocks + bytes_of_slot(ground.pes) * static_cast<std::size_t>(slot));
}

}  // namespace

std::size_t team::bytes_for(int pes, int slots) { return bytes_of_slot(pes) * static_cast<std::size_t>(slots); }

team::team(const team_ground& ground, int slot, std::vector<pe_id> members)
    : ground_(ground), slot_(slot), members_(std::move(members)), block_(block_at(ground, slot)) {
  std::vector<node_id> seen;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const node_id node = ground.places.node_of(members_[i]);
    const auto found = std::ranges::find(seen, node);
    const auto number = static_cast<int>(found - seen.begin());
    if (found == seen.end()) {
      seen.push_back(node);
      leaders_.push_back(static_cast<int>(i));
    }
    node_by_index_.push_back(number);
    if (members_[i] == ground.me) my_index_ = static_cast<int>(i);
    if (ground.places.shares_memory(members_[i])) {
      here_.push_back(static_cast<int>(i));
      my_node_ = number;
    }
  }
  leader_block_ = static_cast<team_block*>(ground.memory.direct(block_, pe(leader(my_node_))));
}

int team::index_of(pe_id pe) const {
  const auto found = std::ranges::find(members_, pe);
  return found == members_.end() ? -1 : static_cast<int>(found - members_.begin());
}

void team::clear(const team_ground& ground, int slot) {
  std::memset(static_cast<void*>(block_at(ground, slot)), 0, sizeof(team_block));
}

std::uint64_t* team::words() const { return reinterpret_cast<std::uint64_t*>(block_ + 1); }

std::byte* team::buffer(way direction, int round) const {
  const auto index = direction == way::down ? std::size_t{0} : static_cast<std::size_t>(round) + 1;
  return reinterpret_cast<std::byte*>(block_ + 1) + words_of(ground_.pes) + index * chunk_bytes;
}

const std::byte* team::workspace() const {
  const auto offset = buffer(way::up, 0) - reinterpret_cast<const std::byte*>(block_);
  return reinterpret_cast<const std::byte*>(leader_block_) + offset;
}

std::size_t team::workspace_bytes() const { return static_cast<std::size_t>(rounds_for(ground_.pes)) * chunk_bytes; }

void team::put_to_leaders(std::size_t offset, const void* data, std::size_t bytes) {
  for (int step = 0; step < nodes(); ++step)  // different nodes start with different targets
    ground_.moving.put(traffic_, buffer(way::up, 0) + offset, data, bytes, pe(leader((my_node_ + step) % nodes())),
                       true);
}

void team::ring_here() {
  for (const int index : here_) ground_.memory.bell_of(pe(index)).ring_after_atomic();
}

void team::sync(std::uint64_t doing) {
  node_barrier(
      doing,
      [&] {
        if (nodes() == 1) return;
        next_epoch();
        exchange(doing);
      },
      wait::operation::barrier);
}

void team::leave() {
  sync();
  // All have arrived, but members that slept must still read that in the leader's block. Therefore the leader goes
  // last.
  if (my_index_ != leader(my_node_)) {
    leader_block_->left.fetch_add(1, std::memory_order_acq_rel);
    ground_.memory.bell_of(pe(leader(my_node_))).ring_after_atomic();
    return;
  }
  ground_.waits.until({wait::operation::collective},
                      [&] { return leader_block_->left.load(std::memory_order_acquire) + 1 == here_.size(); });
}

std::uint64_t team::describe(std::initializer_list<std::uint64_t> arguments) {
  std::uint64_t hash = 0;
  for (const std::uint64_t value : arguments) hash = hash_with(hash, value);
  return hash | 1U;
}

void team::wait_for(const std::uint64_t& counter, std::uint64_t doing, int node) {
  const std::uint64_t epoch = leader_block_->epoch;
  const std::atomic_ref<std::uint64_t> reached(const_cast<std::uint64_t&>(counter));
  ground_.waits.until({.what = wait::operation::barrier,
                       .peer = pe(leader(node)).index(),
                       .where = std::as_bytes(std::span(&counter, 1))},
                      [&] { return reached.load(std::memory_order_acquire) >> doing_bits >= epoch; });
  if (!ground_.checks) return;
  const std::uint64_t now = reached.load(std::memory_order_relaxed);  // no older than what the wait has read
  constexpr std::uint64_t mask = (1ULL << doing_bits) - 1;
  if (now >> doing_bits == epoch && (now & mask) != (doing & mask)) mismatch(leader(node));
}

std::uint64_t team::begin_call(collective what, std::uint64_t a, std::uint64_t b, const void* target) {
  if (!ground_.checks) return 0;
  const std::uint64_t doing = describe({static_cast<std::uint64_t>(what), a, b, ground_.memory.offset_of(target)});
  compare_calls(doing);
  return doing;
}

void team::exchange(std::uint64_t doing) {
  const std::uint64_t value = leader_block_->epoch << doing_bits | (doing & ((1ULL << doing_bits) - 1));
  for (int round = 0, step = 1; step < nodes(); ++round, step *= 2) {
    auto* const mark = &block_->round[round];
    ground_.moving.put_signal(traffic_, mark, nullptr, 0,
                              {.word = mark, .value = value, .how = amo_op::max, .whole_node = true},
                              pe(leader((my_node_ + step) % nodes())), true);
    wait_for(leader_block_->round[round], doing, (my_node_ - step % nodes() + nodes()) % nodes());
  }
}

void team::pass(way direction, int node, int round, void* target, const void* data, std::size_t bytes,
                std::uint64_t doing) {
  const std::uint64_t value = leader_block_->epoch << doing_bits | (doing & ((1ULL << doing_bits) - 1));
  auto* const mark = direction == way::down ? &block_->down[round] : &block_->up[round];
  ground_.moving.put_signal(traffic_, target, data, bytes,
                            {.word = mark, .value = value, .how = amo_op::max, .whole_node = true}, pe(leader(node)),
                            true);
}

void team::await(way direction, int round, int node, std::uint64_t doing) {
  wait_for(direction == way::down ? leader_block_->down[round] : leader_block_->up[round], doing, node);
}

void team::compare_doing(std::uint64_t doing) const {
  for (const int index : here_) {
    const auto* const other = static_cast<const team_block*>(ground_.memory.direct(block_, pe(index)));
    if (other->doing != doing) mismatch(index);
  }
}

void team::mismatch(int other) const {
  std::fprintf(stderr,
               "lull: PE %d: collective calls do not match: PE %d is in another call, or in the same call with another "
               "root, count or address\n",
               ground_.me.index(), pe(other).index());
  std::_Exit(1);
}

}  // namespace lull::fabric
