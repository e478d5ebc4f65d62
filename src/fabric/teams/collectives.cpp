#include "fabric/teams/collectives.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <vector>

namespace lull::fabric {
namespace {

const void* source_of(const team& t, const void* source, int index) {
  return t.ground().memory.direct(source, t.pe(index));
}
void* target_of(const team& t, void* target, int index) { return t.ground().memory.direct(target, t.pe(index)); }

void copy(void* to, const void* from, std::size_t bytes) {
  if (to != from && bytes != 0) std::memcpy(to, from, bytes);
}

// Passes `bytes` at `target` of each leader down a binomial tree whose root is `root_node`; the root reads them at
// `source`.
void spread(team& t, void* target, const void* source, std::size_t bytes, int root_node, std::uint64_t doing) {
  const int nodes = t.nodes();
  const int mine = (t.my_node() - root_node + nodes) % nodes;
  int reach = static_cast<int>(std::bit_ceil(static_cast<unsigned>(nodes)));
  if (mine != 0) {
    reach = mine & -mine;
    t.await(team::way::down, std::countr_zero(static_cast<unsigned>(reach)), (mine - reach + root_node) % nodes, doing);
  }
  for (int step = reach / 2; step > 0; step /= 2)
    if (mine + step < nodes)
      t.pass(team::way::down, (mine + step + root_node) % nodes, std::countr_zero(static_cast<unsigned>(step)), target,
             source, bytes, doing);
  t.completed();
}

// Combines the nodes' partial results, `count` elements at `partial`, up a binomial tree and spreads the result again.
void combine_nodes(team& t, std::byte* partial, std::size_t count, std::size_t bytes, combine_elements combine,
                   std::uint64_t doing) {
  t.next_epoch();
  const int mine = t.my_node();
  auto* const head_base = reinterpret_cast<std::byte*>(&t.leader_block());
  const auto at_leader = [&](const std::byte* buffer) {
    return head_base + (buffer - reinterpret_cast<const std::byte*>(&t.mine()));
  };
  for (int round = 0, step = 1; step < t.nodes(); ++round, step *= 2) {
    if ((mine & step) != 0) {
      t.pass(team::way::up, mine - step, round, t.buffer(team::way::up, round), partial, bytes, doing);
      break;
    }
    if (mine + step >= t.nodes()) continue;
    t.await(team::way::up, round, mine + step, doing);
    combine(partial, at_leader(t.buffer(team::way::up, round)), count);
  }
  const std::byte* const arrived = mine == 0 ? partial : at_leader(t.buffer(team::way::down, 0));
  spread(t, t.buffer(team::way::down, 0), arrived, bytes, 0, doing);
  if (mine != 0) std::memcpy(partial, arrived, bytes);
}

// Copies this member's block to its place in the targets of all members of its node and of one member of each other
// node. When all blocks have arrived, the members that share memory with that one copy the blocks from other nodes.
void gather_blocks(team& t, void* target, const void* source, const std::vector<std::size_t>& begin,
                   std::uint64_t doing) {
  transfers& moving = t.ground().moving;
  const auto me = static_cast<std::size_t>(t.my_index());
  const std::size_t bytes = begin[me + 1] - begin[me];
  auto* const place = static_cast<std::byte*>(target) + begin[me];
  context traffic;
  for (int node = 0; node < t.nodes(); ++node)
    if (node != t.my_node() && bytes != 0) moving.put(traffic, place, source, bytes, t.pe(t.leader(node)), false);
  for (const int index : t.here()) copy(target_of(t, place, index), source, bytes);
  moving.quiet(traffic);
  t.sync(doing);
  if (t.nodes() == 1) return;
  const int leader = t.leader(t.my_node());
  if (t.my_index() != leader) {
    const auto* const complete = static_cast<const std::byte*>(source_of(t, target, leader));
    for (int index = 0; index < t.size(); ++index) {
      const auto i = static_cast<std::size_t>(index);
      if (t.node_of(index) != t.my_node())
        copy(static_cast<std::byte*>(target) + begin[i], complete + begin[i], begin[i + 1] - begin[i]);
    }
  }
  t.node_barrier(doing, [] {});  // the leader's target must stay until the other members have read it
}

}  // namespace

void broadcast(team& t, void* target, const void* source, std::size_t bytes, int root) {
  const std::uint64_t doing = t.begin_call(collective::broadcast, bytes, static_cast<std::uint64_t>(root), target);
  const int root_node = t.node_of(root);
  const int leader = t.leader(t.my_node());
  const bool by_leader = bytes <= team::small_block;
  const auto origin = [&] {  // where this node's members find the data
    return root_node == t.my_node() ? source_of(t, source, root) : source_of(t, target, leader);
  };
  t.node_barrier(doing, [&] {
    if (t.nodes() > 1) {
      t.next_epoch();
      spread(t, target, origin(), bytes, root_node, doing);
    }
    if (by_leader)
      for (const int index : t.here()) copy(target_of(t, target, index), origin(), bytes);
  });
  if (by_leader) return;
  copy(target, origin(), bytes);
  t.node_barrier(doing, [] {});  // the origin must stay until all have read it
}

void gather_all(team& t, void* target, const void* source, std::size_t bytes) {
  std::vector<std::size_t> begin(static_cast<std::size_t>(t.size()) + 1);
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] = begin[i - 1] + bytes;
  gather_blocks(t, target, source, begin, t.begin_call(collective::gather, bytes, 0, target));
}

void gather_varying(team& t, void* target, const void* source, std::size_t bytes) {
  const std::uint64_t doing = t.begin_call(collective::gather_varying, 0, 0, target);
  t.mine().word = bytes;
  std::vector<std::size_t> begin(static_cast<std::size_t>(t.size()) + 1);
  for (std::size_t i = 0; i < begin.size(); ++i) begin[i] = i * sizeof(std::uint64_t);
  gather_blocks(t, t.words(), &t.mine().word, begin, doing);
  std::partial_sum(t.words(), t.words() + t.size(), begin.begin() + 1);
  begin[0] = 0;
  gather_blocks(t, target, source, begin, doing);
}

void all_to_all(team& t, void* target, const void* source, const exchange_layout& how) {
  transfers& moving = t.ground().moving;
  const std::size_t bytes = how.element_bytes * how.elements;
  const bool dense = how.target_stride == 1 && how.source_stride == 1;
  const std::uint64_t doing =
      t.begin_call(collective::all_to_all, bytes, static_cast<std::uint64_t>(how.target_stride), target);
  const auto block = [&](std::ptrdiff_t stride, int index) {
    return static_cast<std::ptrdiff_t>(bytes) * stride * index;
  };
  const auto blocks = [&](std::ptrdiff_t stride) {
    block_descriptor s{.levels = 1};
    s.counts = {how.element_bytes, how.elements};
    s.strides = {static_cast<std::int64_t>(how.element_bytes) * stride};
    return s;
  };
  auto* const place = static_cast<std::byte*>(target) + block(how.target_stride, t.my_index());
  context traffic;
  for (int step = 0; step < t.size() && bytes != 0; ++step) {
    const int index = (t.my_index() + step) % t.size();  // different members start with different targets
    const auto* const mine = static_cast<const std::byte*>(source) + block(how.source_stride, index);
    if (dense)
      moving.put(traffic, place, mine, bytes, t.pe(index), false);
    else
      moving.put_strided(traffic, place, blocks(how.target_stride), mine, blocks(how.source_stride), t.pe(index));
  }
  moving.quiet(traffic);
  t.sync(doing);
}

void reduce(team& t, void* target, const void* source, std::size_t count, std::size_t element_bytes,
            combine_elements combine, std::uint64_t kind) {
  const std::uint64_t doing = t.begin_call(collective::reduce, count * element_bytes, kind, target);
  const std::size_t per_chunk = team::chunk_bytes / element_bytes;
  alignas(64) std::array<std::byte, team::chunk_bytes> partial;

  // Reduces the elements [first, last), chunk by chunk, for all members of this node.
  const auto reduce_range = [&](std::size_t first, std::size_t last, bool between_nodes) {
    for (std::size_t at = first; at < last; at += per_chunk) {
      const std::size_t elements = std::min(per_chunk, last - at);
      const std::size_t offset = at * element_bytes;
      const std::size_t bytes = elements * element_bytes;
      bool begun = false;
      for (const int index : t.here()) {
        const auto* const theirs = static_cast<const std::byte*>(source_of(t, source, index)) + offset;
        if (begun)
          combine(partial.data(), theirs, elements);
        else
          std::memcpy(partial.data(), theirs, bytes);
        begun = true;
      }
      if (between_nodes) combine_nodes(t, partial.data(), elements, bytes, combine, doing);
      for (const int index : t.here())
        std::memcpy(static_cast<std::byte*>(target_of(t, target, index)) + offset, partial.data(), bytes);
    }
  };
  if (t.nodes() > 1 || t.here().size() == 1 || count * element_bytes <= team::small_block) {
    t.node_barrier(doing, [&] { reduce_range(0, count, t.nodes() > 1); });
    return;
  }
  // Large and on one node: each member reduces a slice for all. Only that member reads the slice, so target and source
  // may be the same.
  t.node_barrier(doing, [] {});
  const auto me = static_cast<std::size_t>(std::ranges::find(t.here(), t.my_index()) - t.here().begin());
  const std::size_t members = t.here().size();
  reduce_range(count * me / members, count * (me + 1) / members, false);
  t.node_barrier(doing, [] {});
}

}  // namespace lull::fabric
