#include "aggregate/plan/direct_path.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <new>

#include "base/clock.hpp"
#include "fabric/teams/collectives.hpp"
#include "fabric/teams/team.hpp"
#include "model/machine/machine_file.hpp"

namespace lull::aggregate {
constexpr std::size_t largest_measured = 4096;  // bytes of an item

// Separate cache lines: a PE polls other words than those that arriving PEs write.
struct direct_path::shared_words {
  alignas(64) std::uint64_t left;     // the last phase that some PE found too large for the direct path
  alignas(64) std::uint64_t arrived;  // in the leader's: arrivals of PEs of this node
  std::uint64_t nodes;                // in the leader's: arrivals of other nodes, each when all its PEs have arrived
  alignas(64) std::uint64_t word;
  model::direct_budget budget;
  alignas(64) std::array<std::byte, largest_measured> item;
};

direct_path::direct_path(fabric::world& world)
    : world_(world),
      pes_here_(world.places().members(world.places().my_node()).size()),
      other_nodes_(static_cast<std::uint64_t>(world.places().nodes() - 1)),
      mine_(static_cast<shared_words*>(world.memory().allocate(sizeof(shared_words)))) {
  if (!mine_) throw std::bad_alloc();
  *mine_ = {};
  at_node_ = static_cast<shared_words*>(world.memory().direct(mine_, world.places().leader(world.places().my_node())));
  world.everybody().sync();
}

direct_path::~direct_path() {
  world_.transfers().quiet(traffic_);
  world_.everybody().sync();
  world_.memory().release(mine_);
}

// The costs that model::budget_of_direct_phase() needs, except the empty phase and the PEs per core.
model::direct_path_costs direct_path::measured(bool gets, std::size_t item_bytes) {
  constexpr int repeats = 15, near_items = 32, far_items = 16;
  const std::size_t bytes = std::min(item_bytes, largest_measured);
  const std::vector<std::byte> item(bytes);
  std::vector<pe_id> near, far;  // the next PE first
  for (int i = 1; i <= world_.pes(); ++i) {
    const pe_id pe{(world_.me().index() + i) % world_.pes()};
    (world_.places().shares_memory(pe) ? near : far).push_back(pe);
  }
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
  // Of a local measurement the minimum counts: in the other repeats a PE may have lost its core.
  const double barrier = median_ns([&] { world_.everybody().sync(); });
  const auto ns_per_item = [&](const std::vector<pe_id>& to, int items) {
    const auto all = sorted_ns([&] {
      for (int i = 0; i < items; ++i) {
        const pe_id pe = to[static_cast<std::size_t>(i) % to.size()];
        std::uint64_t value = 0;
        if (gets)
          world_.transfers().get(traffic_, &value, &mine_->word, sizeof value, pe);
        else if (bytes > sizeof value)
          world_.transfers().put(traffic_, mine_->item.data(), item.data(), bytes, pe, true);
        else
          world_.transfers().non_fetching(traffic_, &mine_->word, {fabric::amo_op::add, 8, 0, 0, 0}, pe);
      }
      world_.transfers().quiet(traffic_);
    });
    return static_cast<double>(all[0]) / items;
  };
  const double far_share = static_cast<double>(far.size()) / world_.pes();
  // All PEs measure the same number of times, because they begin together.
  return {.empty_phase_ns = 0,
          .barrier_ns = barrier,
          .ns_per_near_item = ns_per_item(near, near_items),
          .ns_per_far_item = other_nodes_ == 0 ? 0 : ns_per_item(far, far_items),
          .far_share = far_share};
}

// The result of PE 0 holds for all.
model::direct_budget direct_path::budget(const buffered& other, const std::optional<model::direct_path_costs>& known) {
  model::machine here = model::this_machine();
  here.link = here.network;
  buffered_ns_ = other.ns_per_item + (other.gets ? 0 : model::ns_of_copies(here, other.item_bytes));
  predicted_ =
      model::predicted_direct_path(here, world_.pes(), static_cast<int>(pes_here_), other.gets, other.ns_per_phase);
  known_ = here.correction.off ? predicted_ : known ? *known : measured(other.gets, other.item_bytes);
  if (!here.correction.off) known_.empty_phase_ns = other.measured_ns_per_phase;
  // Where PEs outnumber cores, they issue their items one after the other, as they arrive at the barrier.
  predicted_.pes_per_core = known_.pes_per_core = world_.pes_per_core();
  predicted_.empty_phase_ns *= other.share_of_phase;
  known_.empty_phase_ns *= other.share_of_phase;
  // Only PE 0 writes: its broadcast may arrive before the other PEs have come this far.
  if (world_.me().index() == 0) mine_->budget = model::budget_of_direct_phase(known_, buffered_ns_);
  fabric::broadcast(world_.everybody(), &mine_->budget, &mine_->budget, sizeof mine_->budget, 0);
  return mine_->budget;
}

std::vector<model::choice_account> direct_path::accounts(const phases_seen& direct, const phases_seen& buffered) const {
  std::vector<model::choice_account> all;
  for (const bool directly : {true, false}) {
    const phases_seen& seen = directly ? direct : buffered;
    if (seen.phases == 0) continue;
    const double items = static_cast<double>(seen.items) / static_cast<double>(seen.phases);
    all.push_back({.choice = "direct",
                   .where = directly ? "phases that were" : "phases that were not",
                   .per = "phase",
                   .alternatives = {{.name = "direct",
                                     .predicted_ns = model::ns_of_direct_phase(predicted_, items),
                                     .corrected_ns = model::ns_of_direct_phase(known_, items),
                                     .operations = directly ? seen.phases : 0},
                                    {.name = "buffers",
                                     .predicted_ns = model::ns_of_buffered_phase(predicted_, items, buffered_ns_),
                                     .corrected_ns = model::ns_of_buffered_phase(known_, items, buffered_ns_),
                                     .operations = directly ? 0 : seen.phases}}});
  }
  return all;
}

void direct_path::leave(std::uint64_t phase) {
  for (int pe = 0; pe < world_.pes(); ++pe)
    world_.transfers().put(traffic_, &mine_->left, &phase, sizeof phase, pe_id{pe}, true);
  world_.transfers().quiet(traffic_);
}

bool direct_path::somebody_left(std::uint64_t phase) const {
  return std::atomic_ref(mine_->left).load(std::memory_order_acquire) == phase;
}

void direct_path::arrive() {
  const job::layout& layout = world_.places();
  const std::uint64_t expected = ++barriers_ * pes_here_;
  if (std::atomic_ref(at_node_->arrived).fetch_add(1, std::memory_order_acq_rel) + 1 != expected) return;
  for (int node = 0; node < layout.nodes(); ++node)
    if (const node_id there{node}; there != layout.my_node())
      world_.transfers().put_signal(traffic_, &mine_->nodes, nullptr, 0,
                                    {.word = &mine_->nodes, .value = 1, .how = fabric::amo_op::add, .whole_node = true},
                                    layout.leader(there), false);
  world_.memory().ring_node();
}

bool direct_path::all_arrived() const {
  return std::atomic_ref(at_node_->arrived).load(std::memory_order_acquire) >= barriers_ * pes_here_ &&
         (other_nodes_ == 0 ||
          std::atomic_ref(at_node_->nodes).load(std::memory_order_acquire) >= barriers_ * other_nodes_);
}

void direct_path::barrier(std::uint64_t phase) {
  arrive();
  world_.wait().until({wait::operation::aggregate}, [&] { return all_arrived() || somebody_left(phase); });
}

}  // namespace lull::aggregate
