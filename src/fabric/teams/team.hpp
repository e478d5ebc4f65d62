// A set of PEs that act together: their places, their barriers, and the exchange of data between their nodes.
//
// The cheapest joint action of the PEs of a node is the following: the last arriver acts on the memory of all of them
// while the others sleep, so each needs one wake-up, whatever the action. node_barrier() implements this. The last
// arrivers of the nodes exchange what must pass between nodes, and each waits at most log2(nodes) times. The data that
// they exchange arrives in the segment of its node's first member, the leader.
//
// All calls are collective over the team. The state that members share is a `team_block` in symmetric memory, one per
// slot; a slot belongs to at most one team of a PE at a time.
#pragma once
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "fabric/memory/symmetric_memory.hpp"
#include "fabric/transfers/context.hpp"
#include "fabric/transfers/transfers.hpp"
#include "job/layout.hpp"
#include "wait/waiting.hpp"

namespace lull::fabric {

// Counters only grow. The buffers of the exchange between nodes and a word for each PE of the job follow the block.
// Plain words are written and read on two sides of a node_barrier(), which orders them. The exchange between nodes
// accesses its counters by atomic operations.
struct team_block {
  static constexpr int most_rounds = 16;            // 65,536 nodes
  alignas(64) std::atomic<std::uint64_t> arrived;   // in the leader's block: members of this node so far
  alignas(64) std::atomic<std::uint64_t> released;  // likewise: barriers that are complete
  std::atomic<std::uint64_t> left;                  // likewise: members that will not touch this block again
  // In the leader's block, for the exchange between nodes: the current epoch, and for each partner the epoch up to
  // which its messages have arrived. With LULL_CHECK the low bits identify the partner's call.
  alignas(64) std::uint64_t epoch;
  std::uint64_t round[most_rounds];
  std::uint64_t up[most_rounds];
  std::uint64_t down[most_rounds];
  std::uint64_t doing;            // in each member's block, with LULL_CHECK: its current call
  std::uint64_t word;             // in each member's block: its contribution to a small exchange
  std::uint64_t offered, agreed;  // in each member's block: of team_slots
};

// What every team needs from the runtime.
struct team_ground {
  pe_id me;
  int pes;
  const job::layout& places;
  const symmetric_memory& memory;
  transfers& moving;
  wait::waiting& waits;
  std::byte* blocks;  // symmetric, cleared, of team::bytes_for() bytes
  bool checks;        // LULL_CHECK
};

// The collective operations (collectives.hpp).
enum class collective : std::uint64_t { broadcast = 1, gather, gather_varying, all_to_all, reduce, scan };

class team {
 public:
  // Up to this size one member of a node acts for all, which is cheaper than waking each of them to act.
  static constexpr std::size_t small_block = 16384;
  static constexpr std::size_t chunk_bytes = 16384;  // of one message between nodes in a reduction

  // `members`: by their PE in the whole job, in the team's order; they include this PE.
  team(const team_ground& ground, int slot, std::vector<pe_id> members);

  [[nodiscard]] int size() const { return static_cast<int>(members_.size()); }
  [[nodiscard]] int my_index() const { return my_index_; }
  [[nodiscard]] pe_id pe(int index) const { return members_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] std::span<const pe_id> members() const { return members_; }
  [[nodiscard]] int index_of(pe_id pe) const;  // -1: not a member
  [[nodiscard]] int slot() const { return slot_; }
  [[nodiscard]] const team_ground& ground() const { return ground_; }
  // The number of collective calls that this PE has begun. The reference lets callers notice when the number changes.
  [[nodiscard]] const std::uint64_t& barriers() const { return barriers_; }

  // The members that share memory with this PE, by index; and the number of nodes of the team.
  [[nodiscard]] std::span<const int> here() const { return here_; }
  [[nodiscard]] int nodes() const { return static_cast<int>(leaders_.size()); }
  [[nodiscard]] int my_node() const { return my_node_; }
  [[nodiscard]] int node_of(int index) const { return node_by_index_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] int leader(int node) const { return leaders_[static_cast<std::size_t>(node)]; }  // an index

  // Clears this PE's block for a new team in `slot`. No PE may use the block before all have cleared theirs.
  static void clear(const team_ground& ground, int slot);
  // Bytes of the blocks of all slots in symmetric memory.
  [[nodiscard]] static std::size_t bytes_for(int pes, int slots);

  // All members of this node arrive; the last one runs act() while the others wait; then all continue. act() sees what
  // the members wrote before, and they see what it wrote. For LULL_CHECK, `doing` identifies what must be the same
  // everywhere; a call that exchanges anything between nodes must begin with compare_calls() then.
  template <class Act>
  void node_barrier(std::uint64_t doing, Act&& act, wait::operation what = wait::operation::collective) {
    const std::uint64_t number = ++barriers_;
    if (ground_.checks) mine().doing = doing;
    team_block& shared = leader_block();
    tsan_release();
    if (shared.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < number * here_.size()) {
      const wait::awaited release{.what = what, .by_stores = false};
      ground_.waits.until(release, [&] { return shared.released.load(std::memory_order_acquire) >= number; });
      return;
    }
    tsan_acquire();
    if (ground_.checks) compare_doing(doing);
    act();
    shared.released.store(number, std::memory_order_seq_cst);
    ring_here();
  }
  void sync(std::uint64_t doing = 0);        // all members of all nodes; does not imply quiet()
  void compare_calls(std::uint64_t doing) {  // with LULL_CHECK, ends the job if members are in different calls
    if (ground_.checks) sync(doing);
  }
  // The beginning of every collective operation. With LULL_CHECK, compares what must be the same on all members and
  // returns its hash, `doing`, for later checks.
  [[nodiscard]] std::uint64_t begin_call(collective what, std::uint64_t a, std::uint64_t b, const void* target);
  // The value of `doing` for a call with these arguments: the same everywhere if they are, and never 0.
  [[nodiscard]] static std::uint64_t describe(std::initializer_list<std::uint64_t> arguments);
  void leave();  // the last call: afterwards the slot may belong to another team

  // For last arrivers, inside node_barrier(). Every node of the team makes the same calls in the same order.
  void next_epoch() { ++leader_block().epoch; }
  void exchange(std::uint64_t doing);  // returns when all nodes have come here
  enum class way : std::uint8_t { up, down };
  // Writes `bytes` to `target`, symmetric, of the leader of `node`, 2^round nodes away; then its counter for
  // `direction` and `round` reaches this epoch. In the next epoch another process may be the last arriver, and its
  // messages could overtake these: before an epoch with passes down ends, completed() must have returned.
  void pass(way direction, int node, int round, void* target, const void* data, std::size_t bytes, std::uint64_t doing);
  void completed() { ground_.moving.quiet(traffic_); }
  void await(way direction, int round, int node, std::uint64_t doing);  // for what `node` passes
  // The buffers for these passes, in the block: chunk_bytes each, for `up` one per round.
  [[nodiscard]] std::byte* buffer(way direction, int round) const;
  // The buffers for passes up together, in the leader's block, for operations without such passes: when a reduction
  // returns on any node, all nodes have read them, but not that for passes down. And a put to the same place, `offset`
  // bytes from the begin, in the blocks of all leaders, which completed() completes.
  [[nodiscard]] const std::byte* workspace() const;
  [[nodiscard]] std::size_t workspace_bytes() const;
  void put_to_leaders(std::size_t offset, const void* data, std::size_t bytes);
  // A word for each PE of the job, in this PE's block: the workspace of collect.
  [[nodiscard]] std::uint64_t* words() const;
  [[nodiscard]] team_block& mine() const { return *block_; }
  [[nodiscard]] team_block& leader_block() const { return *leader_block_; }

 private:
  void ring_here();
  void compare_doing(std::uint64_t doing) const;
  void wait_for(const std::uint64_t& counter, std::uint64_t doing, int node);
  [[noreturn]] void mismatch(int other) const;

  const team_ground& ground_;
  int slot_;
  std::vector<pe_id> members_;
  int my_index_ = -1;
  std::vector<int> here_;           // ascending
  std::vector<int> node_by_index_;  // by index; nodes are numbered by first appearance
  std::vector<int> leaders_;        // by node
  int my_node_ = 0;
  std::uint64_t barriers_ = 0;
  team_block* block_;         // this PE's
  team_block* leader_block_;  // the leader's, mapped by this PE
  context traffic_;           // of the exchange between nodes
};

}  // namespace lull::fabric
