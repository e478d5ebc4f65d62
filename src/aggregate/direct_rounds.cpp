#include "aggregate/direct_rounds.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <new>

#include "base/clock.hpp"
#include "fabric/collectives.hpp"
#include "fabric/team.hpp"

namespace lull::aggregate {
namespace {

constexpr std::uint64_t always = std::uint64_t{1} << 62U;

}  // namespace

// Lines of their own: what all arrive at is not what a PE looks at meanwhile.
struct direct_rounds::place {
  alignas(64) std::uint64_t left;     // the last round that some PE found too large to be made directly
  alignas(64) std::uint64_t arrived;  // in the leader's: arrivals of PEs of this node
  std::uint64_t nodes;                // in the leader's: and of other nodes, when all their PEs had arrived
  alignas(64) std::uint64_t word;
  std::uint64_t limit;
};

direct_rounds::direct_rounds(fabric::world& world)
    : world_(world),
      pes_here_(world.places().members(world.places().my_node()).size()),
      other_nodes_(static_cast<std::uint64_t>(world.places().nodes() - 1)),
      mine_(static_cast<place*>(world.memory().allocate(sizeof(place)))) {
  if (!mine_) throw std::bad_alloc();
  *mine_ = {};
  at_node_ = static_cast<place*>(world.memory().direct(mine_, world.places().leader(world.places().my_node())));
  world.everybody().sync();
}

direct_rounds::~direct_rounds() {
  world_.transfers().quiet(traffic_);
  world_.everybody().sync();
  world_.memory().release(mine_);
}

// The end of an empty round beyond a barrier, over what a word costs directly beyond an item in a buffer. What PE 0
// finds holds for all.
std::uint64_t direct_rounds::measure(bool gets, double aggregated_ns, const std::function<void()>& empty_round) {
  constexpr int repeats = 15, words = 32;
  const auto sorted_ns = [&](auto&& act) {
    std::array<std::int64_t, repeats> took{};
    act();  // the first is slower
    for (std::int64_t& t : took) {
      world_.everybody().sync();
      const std::int64_t begin = now_ns();
      act();
      t = now_ns() - begin;
    }
    std::ranges::sort(took);
    return took;
  };
  const auto median_ns = [&](auto&& act) { return static_cast<double>(sorted_ns(act)[repeats / 2]); };
  // Of what PEs do by themselves the least counts: in all others a PE may have lost its core. Where PEs outnumber cores
  // they do it in turn, as they meet.
  const double turns = std::max(1.0, static_cast<double>(pes_here_) / world_.cores_of_host());
  const double barrier = median_ns([&] { world_.everybody().sync(); });
  const double round = median_ns(empty_round);
  const double direct =
      static_cast<double>(sorted_ns([&] {
        for (int i = 1; i <= words; ++i) {
          const pe_id pe{(world_.me().index() + i) % world_.pes()};
          std::uint64_t value = 0;
          if (gets)
            world_.transfers().get(traffic_, &value, &mine_->word, sizeof value, pe);
          else
            world_.transfers().non_fetching(traffic_, &mine_->word, {fabric::amo_op::add, 8, 0, 0, 0}, pe);
        }
        world_.transfers().quiet(traffic_);
      })[0]) /
      words;
  const double gain = turns * (direct - aggregated_ns);
  // Only PE 0 writes: what it sends may arrive before the others have come as far.
  if (world_.me().index() == 0)
    mine_->limit = gain <= 0 ? always : static_cast<std::uint64_t>(std::max(0.0, round - barrier) / gain);
  fabric::broadcast(world_.everybody(), &mine_->limit, &mine_->limit, sizeof mine_->limit, 0);
  return mine_->limit;
}

void direct_rounds::leave(std::uint64_t round) {
  for (int pe = 0; pe < world_.pes(); ++pe)
    world_.transfers().put(traffic_, &mine_->left, &round, sizeof round, pe_id{pe}, true);
  world_.transfers().quiet(traffic_);
}

bool direct_rounds::somebody_left(std::uint64_t round) const {
  return std::atomic_ref(mine_->left).load(std::memory_order_acquire) == round;
}

void direct_rounds::arrive() {
  const job::layout& places = world_.places();
  const std::uint64_t expected = ++meetings_ * pes_here_;
  if (std::atomic_ref(at_node_->arrived).fetch_add(1, std::memory_order_acq_rel) + 1 != expected) return;
  for (int node = 0; node < places.nodes(); ++node)
    if (const node_id there{node}; there != places.my_node())
      world_.transfers().put_signal(traffic_, &mine_->nodes, nullptr, 0,
                                    {.word = &mine_->nodes, .value = 1, .how = fabric::amo_op::add, .whole_node = true},
                                    places.leader(there), false);
  world_.memory().ring_node();
}

bool direct_rounds::all_arrived() const {
  return std::atomic_ref(at_node_->arrived).load(std::memory_order_acquire) >= meetings_ * pes_here_ &&
         (other_nodes_ == 0 ||
          std::atomic_ref(at_node_->nodes).load(std::memory_order_acquire) >= meetings_ * other_nodes_);
}

void direct_rounds::meet(std::uint64_t round) {
  arrive();
  world_.wait().until({wait::operation::aggregate}, [&] { return all_arrived() || somebody_left(round); });
}

}  // namespace lull::aggregate
