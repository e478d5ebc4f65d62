// A set of PEs that act together: where they stand, how they meet, how their nodes exchange data.
//
// The cheapest way for the PEs of one node to do something together is that the last of them to arrive does it, with
// the memory of the others before it, while they sleep: one wake-up for each, whatever is done. node_barrier() is that.
// What has to pass between nodes is exchanged by these leaders, each waiting at most log2(nodes) times. Data
// that passes so lands in the segment of its node's first member, the leader.
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

// Counters only grow. Behind it stand the buffers of the exchange between nodes, and a word for each PE of the job.
struct team_block {
  static constexpr int most_rounds = 16;            // 65,536 nodes
  alignas(64) std::atomic<std::uint64_t> arrived;   // in the leader's block: members of this node so far
  alignas(64) std::atomic<std::uint64_t> released;  // likewise: meetings that are over
  std::atomic<std::uint64_t> left;                  // likewise: members that will not touch this block again
  // In the leader's block, of the exchange between nodes: the epoch that is going on, and for each partner the epoch up
  // to which its messages have come. With LULL_CHECK their low bits say what the partner was doing.
  alignas(64) std::uint64_t epoch;
  std::uint64_t round[most_rounds];
  std::uint64_t up[most_rounds];
  std::uint64_t down[most_rounds];
  std::uint64_t doing;            // in each member's block, with LULL_CHECK: the call it is in
  std::uint64_t word;             // in each member's block: what it contributes to a small exchange
  std::uint64_t offered, agreed;  // in each member's block: of team_slots
};

// What every team stands on.
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

class team {
 public:
  static constexpr std::size_t chunk_bytes = 16384;  // of one message between nodes in a reduction

  // Members by their PE in the whole job, in the team's order; this PE must be one of them.
  team(const team_ground& ground, int slot, std::vector<pe_id> members);

  [[nodiscard]] int size() const { return static_cast<int>(members_.size()); }
  [[nodiscard]] int my_index() const { return my_index_; }
  [[nodiscard]] pe_id pe(int index) const { return members_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] std::span<const pe_id> members() const { return members_; }
  [[nodiscard]] int index_of(pe_id pe) const;  // -1: not a member
  [[nodiscard]] int slot() const { return slot_; }
  [[nodiscard]] const team_ground& ground() const { return ground_; }
  // How many collective calls this PE has begun; of whoever keeps something from before them for as long as it lasts.
  [[nodiscard]] const std::uint64_t& barriers() const { return barriers_; }

  // Which members share memory with this PE, by index; and the nodes on which the team stands.
  [[nodiscard]] std::span<const int> here() const { return here_; }
  [[nodiscard]] int nodes() const { return static_cast<int>(leaders_.size()); }
  [[nodiscard]] int my_node() const { return my_node_; }
  [[nodiscard]] int node_of(int index) const { return node_by_index_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] int leader(int node) const { return leaders_[static_cast<std::size_t>(node)]; }  // an index

  // Clears this PE's block for a new team in `slot`; the others must not use it before all have.
  static void clear(const team_ground& ground, int slot);
  // Bytes that the blocks of all slots take in symmetric memory.
  [[nodiscard]] static std::size_t bytes_for(int pes, int slots);

  // All members of this node arrive; the last runs act() while the others wait; then all go on. What the members wrote
  // before is visible to act(), and what it wrote to them afterwards. `doing` says, for LULL_CHECK, what must be the
  // same everywhere; compare_calls() is how a call that exchanges anything between nodes must begin then.
  template <class Act>
  void node_barrier(std::uint64_t doing, Act&& act, wait::operation what = wait::operation::collective) {
    const std::uint64_t number = ++barriers_;
    if (ground_.checks) mine().doing = doing;
    team_block& shared = leader_block();
    tsan_release();
    if (shared.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < number * here_.size()) {
      const wait::awaited meeting{.what = what, .by_stores = false};
      ground_.waits.until(meeting, [&] { return shared.released.load(std::memory_order_acquire) >= number; });
      return;
    }
    tsan_acquire();
    if (ground_.checks) compare_doing(doing);
    act();
    shared.released.store(number, std::memory_order_seq_cst);
    ring_here();
  }
  void sync(std::uint64_t doing = 0);        // all members of all nodes; does not imply quiet()
  void compare_calls(std::uint64_t doing) {  // with LULL_CHECK ends the job when the members are in different calls
    if (ground_.checks) sync(doing);
  }
  // What `sync` is told by a call with these arguments: the same everywhere when they are, and never 0.
  [[nodiscard]] static std::uint64_t describe(std::initializer_list<std::uint64_t> arguments);
  void leave();  // the last call: afterwards the slot may belong to another team

  // For leaders, inside node_barrier(). Every node of the team makes the same calls in the same order.
  void next_epoch() { ++leader_block().epoch; }
  void exchange(std::uint64_t doing);  // all nodes have come here
  enum class way : std::uint8_t { up, down };
  // `bytes` to `target`, symmetric, of the leader of `node`, 2^round nodes away; then its counter for `way` and `round`
  // reaches this epoch. The leader of the next epoch may be another process, whose messages could overtake:
  // before a epoch with passes down ends, completed() must have returned.
  void pass(way direction, int node, int round, void* target, const void* data, std::size_t bytes, std::uint64_t doing);
  void completed() { ground_.moving.quiet(traffic_); }
  void await(way direction, int round, int node, std::uint64_t doing);  // for what `node` passes
  // Buffers for that, in the block: chunk_bytes each, `up` by round.
  [[nodiscard]] std::byte* buffer(way direction, int round) const;
  // A word for each PE of the job, in this PE's block: workspace of collect.
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
  std::vector<int> node_by_index_;  // by index, numbered by first appearance
  std::vector<int> leaders_;        // by node
  int my_node_ = 0;
  std::uint64_t barriers_ = 0;
  team_block* block_;         // this PE's
  team_block* leader_block_;  // the leader's, as this PE sees it
  context traffic_;           // of the exchange between nodes
};

}  // namespace lull::fabric
