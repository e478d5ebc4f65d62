#include "aggregate/channels/route.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace lull::aggregate {
namespace {

int ceil_div(int a, int b) { return a <= 0 ? 0 : (a + b - 1) / b; }

// The count of numbers in a range that have the remainder `rest` modulo `by`.
int with_rest(node_range r, int rest, int by) { return ceil_div(r.end - rest, by) - ceil_div(r.begin - rest, by); }

bool holds(node_range r, int node) { return r.begin <= node && node < r.end; }

// The count of nodes before `node`, in the ranges that `visit_ranges` visits, with the same channel owner as `node` on
// a node of `pes` PEs. Excludes `self`.
template <class VisitRanges>
std::size_t index_in(const VisitRanges& visit_ranges, int self, int node, int pes) {
  int index = 0;
  visit_ranges([&](node_range r) {
    const bool there = holds(r, node);
    if (there) r.end = node;
    index += with_rest(r, node % pes, pes);
    if (holds(r, self) && self % pes == node % pes) --index;
    return !there;
  });
  return static_cast<std::size_t>(index);
}

// Counts nodes by the PE that owns the channel to them, on a node with a given number of PEs.
class by_owner {
 public:
  explicit by_owner(int pes) : counts_(static_cast<std::size_t>(pes)) {}
  void add(node_range r) {
    const auto pes = static_cast<int>(counts_.size());
    all_ += static_cast<std::size_t>(r.end - r.begin);
    to_each_ += static_cast<std::size_t>((r.end - r.begin) / pes);
    for (int node = r.begin, left = (r.end - r.begin) % pes; left > 0; ++node, --left)
      ++counts_[static_cast<std::size_t>(node % pes)];
  }
  void close() {
    top_ = *std::ranges::max_element(counts_);
    tops_ = std::ranges::count(counts_, top_);
  }
  // The largest count of one owner when `self`, which has been added, is excluded. Call after close().
  [[nodiscard]] std::size_t most_without(int self) const {
    const std::size_t own = counts_[static_cast<std::size_t>(self) % counts_.size()];
    return to_each_ + top_ - (own == top_ && tops_ == 1 ? 1 : 0);
  }
  [[nodiscard]] std::size_t all_without_self() const { return all_ - 1; }

 private:
  std::vector<std::size_t> counts_;  // in addition to to_each_
  std::size_t to_each_ = 0, all_ = 0, top_ = 0;
  std::ptrdiff_t tops_ = 0;
};

}  // namespace

route::route(const job::layout& layout, int pes, scheme how)
    : layout_(layout),
      pes_(pes),
      how_(how),
      kinds_(model::hop_kinds_of(how)),
      local_(static_cast<std::size_t>(pes)),
      before_(static_cast<std::size_t>(layout.nodes())),
      grid_(layout.nodes(), how.hops) {
  for (int node = 0, before = 0; node < layout.nodes(); ++node) {
    before_[static_cast<std::size_t>(node)] = before;
    before += pes_on(node_id{node});
    int rank = 0;
    for (const pe_id pe : layout.members(node_id{node})) local_[static_cast<std::size_t>(pe.index())] = rank++;
  }
}

pe_id route::owner(node_id at, node_id peer) const {
  return layout_.members(at)[static_cast<std::size_t>(model::channel_owner(pes_on(at), peer.index()))];
}

bool route::has_channel(int hop, pe_id from, pe_id to) const {
  return model::has_channel(kinds_[static_cast<std::size_t>(hop)], place_of(from), place_of(to),
                            [this](int node) { return pes_on(node_id{node}); });
}

pe_id route::towards(int hop, pe_id at, pe_id to) const {
  const model::item_place here = place_of(at);
  const model::item_place next = model::item_towards(how_, kinds_[static_cast<std::size_t>(hop)], hop, grid_, here,
                                                     place_of(to), [this](int node) { return pes_on(node_id{node}); });
  return next == here ? at : layout_.members(node_id{next.node})[static_cast<std::size_t>(next.local)];
}

route::step route::next(int hop, pe_id at, pe_id to) const {
  for (; hop + 1 < hops(); ++hop) {
    const pe_id way = towards(hop, at, to);
    if (way != at) return {hop, way};
  }
  return {hop, towards(hop, at, to)};
}

std::vector<pe_id> route::targets(int hop, pe_id from) const {
  const node_id here = layout_.node_of(from);
  std::vector<pe_id> result;
  switch (kinds_[static_cast<std::size_t>(hop)]) {
    case kind::all:
      for (int pe = 0; pe < pes_; ++pe) result.emplace_back(pe);
      break;
    case kind::inside: {
      const auto members = layout_.members(here);
      result.assign(members.begin(), members.end());
      break;
    }
    case kind::across:
      for (int pe = 0; pe < pes_; ++pe)
        if (has_channel(hop, from, pe_id{pe})) result.emplace_back(pe);
      break;
    case kind::across_shared:
      for (int node = 0; node < layout_.nodes(); ++node) {
        const node_id there{node};
        if (there != here && owner(here, there) == from) result.push_back(owner(there, here));
      }
      std::ranges::sort(result);
      break;
    case kind::nodes:
      break;
  }
  return result;
}

std::vector<node_id> route::targets(int hop, node_id from) const {
  std::vector<node_id> result;
  grid_.visit_targets(hop, from.index(), [&](node_range r) {
    for (int node = r.begin; node < r.end; ++node)
      if (node_id{node} != from) result.emplace_back(node);
    return true;
  });
  std::ranges::sort(result);
  return result;
}

std::vector<pe_id> route::sources(int hop, pe_id to) const {
  std::vector<pe_id> result;
  const kind what = kinds_[static_cast<std::size_t>(hop)];
  if (what == kind::all || what == kind::inside) return targets(hop, to);  // symmetric
  for (int pe = 0; pe < pes_; ++pe)
    if (has_channel(hop, pe_id{pe}, to)) result.emplace_back(pe);
  return result;
}

std::vector<node_id> route::sources(int hop, node_id to) const {
  std::vector<node_id> result;
  grid_.visit_sources(hop, to.index(), [&](node_range r) {
    for (int node = r.begin; node < r.end; ++node)
      if (node_id{node} != to) result.emplace_back(node);
    return true;
  });
  std::ranges::sort(result);
  return result;
}

channel_counts route::most_channels(int hop) const {
  const int nodes = layout_.nodes();
  int most = 0, least = pes_;  // of one node
  for (int node = 0; node < nodes; ++node) {
    most = std::max(most, pes_on(node_id{node}));
    least = std::min(least, pes_on(node_id{node}));
  }
  const auto size = [](int count) { return static_cast<std::size_t>(count); };
  channel_counts all;
  switch (kinds_[static_cast<std::size_t>(hop)]) {
    case kind::all:
      all.intra_node_sources = size(most);
      all.inter_node_sources = all.inter_node_targets = size(pes_ - least);
      all.targets = size(pes_);
      break;
    case kind::inside:
      all.intra_node_sources = all.targets = size(most);
      break;
    case kind::across: {
      // The first PE of the smallest node has the most channels. A PE has a channel to itself too.
      int channels = 0;
      for (int node = 0; node < nodes; ++node) channels += ceil_div(pes_on(node_id{node}), least);
      all.intra_node_sources = 1;
      all.inter_node_sources = size(nodes - 1);
      all.targets = size(channels);
      all.inter_node_targets = size(channels - 1);
      break;
    }
    case kind::across_shared:
      for (int pe = 0; pe < pes_; ++pe) {
        const node_id here = layout_.node_of(pe_id{pe});
        const int owners = pes_on(here), mine = local_rank(pe_id{pe});
        const int channels = with_rest({0, nodes}, mine, owners) - (here.index() % owners == mine ? 1 : 0);
        all.inter_node_sources = std::max(all.inter_node_sources, size(channels));
      }
      all.targets = all.inter_node_targets = all.inter_node_sources;
      break;
    case kind::nodes:
      return most_channels_between_nodes(hop);
  }
  return all;
}

// The nodes of a column have channels to and from the same nodes, except for themselves and for the nodes of an
// incomplete row, which have more sources. Therefore one count serves a column and a number of PEs.
channel_counts route::most_channels_between_nodes(int hop) const {
  const auto counted = [](int pes, const auto& visit_ranges) {
    by_owner found(pes);
    visit_ranges([&](node_range r) {
      found.add(r);
      return true;
    });
    found.close();
    return found;
  };
  std::map<std::pair<int, int>, by_owner> targets, sources;  // by column and PEs of a node
  channel_counts all;
  for (int node = 0; node < layout_.nodes(); ++node) {
    const int pes = pes_on(node_id{node});
    const std::pair key{grid_.column_of(hop, node), pes};
    const auto visit_targets = [&](auto&& visit) { grid_.visit_targets(hop, node, visit); };
    const auto visit_sources = [&](auto&& visit) { grid_.visit_sources(hop, node, visit); };
    if (!targets.contains(key)) targets.emplace(key, counted(pes, visit_targets));
    const by_owner& to = targets.at(key);
    all.owned = std::max(all.owned, to.most_without(node));
    all.of_node = std::max(all.of_node, to.all_without_self());
    if (grid_.in_incomplete_row(hop, node)) {
      all.received = std::max(all.received, counted(pes, visit_sources).most_without(node));
      continue;
    }
    if (!sources.contains(key)) sources.emplace(key, counted(pes, visit_sources));
    all.received = std::max(all.received, sources.at(key).most_without(node));
  }
  return all;
}

std::size_t route::index_of_pair(node_id here, node_id there) const {
  const int owners = pes_on(here), mine = there.index() % owners;
  return static_cast<std::size_t>(there.index() / owners - (here.index() % owners == mine && here < there ? 1 : 0));
}

std::size_t route::index_at_target(int hop, pe_id from, pe_id to) const {
  const node_id there = layout_.node_of(from), here = layout_.node_of(to);
  const auto size = [](int count) { return static_cast<std::size_t>(count); };
  switch (kinds_[static_cast<std::size_t>(hop)]) {
    case kind::all:
      if (there == here) return size(local_rank(from));
      return size(before_[size(there.index())] + local_rank(from) - (here < there ? pes_on(here) : 0));
    case kind::inside:
      return size(local_rank(from));
    case kind::across:
      return there == here ? 0 : size(there.index() - (here < there ? 1 : 0));
    case kind::across_shared:
      return index_of_pair(here, there);
    case kind::nodes:
      break;
  }
  return 0;
}

std::size_t route::index_at_source(int hop, pe_id from, pe_id to) const {
  switch (kinds_[static_cast<std::size_t>(hop)]) {
    case kind::inside:
      return static_cast<std::size_t>(local_rank(to));
    case kind::across_shared:
      return index_of_pair(layout_.node_of(from), layout_.node_of(to));
    default:
      return static_cast<std::size_t>(to.index());
  }
}

// For kind::across, a PE has one channel to itself, and then, node by node, one to each PE whose rank in its node has
// the remainder `first` modulo the number of PEs of the source's own node.
std::vector<std::size_t> route::indices_of_targets(int hop, pe_id from, std::span<const pe_id> targets) const {
  std::vector<std::size_t> result;
  result.reserve(targets.size());
  if (kinds_[static_cast<std::size_t>(hop)] != kind::across) {
    for (const pe_id to : targets) result.push_back(index_at_source(hop, from, to));
    return result;
  }
  const node_id here = layout_.node_of(from);
  const int step = pes_on(here), first = local_rank(from);
  std::vector<int> channels_before(before_.size());  // by node
  for (int node = 0, channels = 1; node < layout_.nodes(); ++node) {
    channels_before[static_cast<std::size_t>(node)] = channels;
    if (node_id{node} != here) channels += ceil_div(pes_on(node_id{node}) - first, step);
  }
  for (const pe_id to : targets)
    result.push_back(
        to == from ? 0
                   : static_cast<std::size_t>(channels_before[static_cast<std::size_t>(layout_.node_of(to).index())] +
                                              (local_rank(to) - first) / step));
  return result;
}

std::vector<std::size_t> route::indices_at_sources(int hop, std::span<const pe_id> sources, pe_id to) const {
  std::vector<std::size_t> result;
  result.reserve(sources.size());
  if (kinds_[static_cast<std::size_t>(hop)] != kind::across) {
    for (const pe_id from : sources) result.push_back(index_at_source(hop, from, to));
    return result;
  }
  const node_id here = layout_.node_of(to);
  std::map<int, int> nodes_before;  // nodes before this one, by their number of PEs: there are few different sizes
  for (int node = 0; node < here.index(); ++node) ++nodes_before[pes_on(node_id{node})];
  std::unordered_map<int, int> channels_before;  // channels of a source, by the number of PEs of its node
  for (const pe_id from : sources) {
    if (from == to) {
      result.push_back(0);
      continue;
    }
    const node_id there = layout_.node_of(from);
    const int step = pes_on(there), first = local_rank(from);
    const auto [known, is_new] = channels_before.try_emplace(step, 1);
    if (is_new)
      for (const auto& [pes, nodes] : nodes_before) known->second += nodes * ceil_div(pes - first, step);
    // The source's own node is counted among those before, but the only channel to it is the one to itself.
    const int own = there < here ? ceil_div(step - first, step) : 0;
    result.push_back(static_cast<std::size_t>(known->second - own + (local_rank(to) - first) / step));
  }
  return result;
}

std::size_t route::index_at_target(int hop, node_id from, node_id to) const {
  return index_in([&](auto&& visit) { grid_.visit_sources(hop, to.index(), visit); }, to.index(), from.index(),
                  pes_on(to));
}

std::size_t route::index_at_source(int hop, node_id from, node_id to) const {
  return index_in([&](auto&& visit) { grid_.visit_targets(hop, from.index(), visit); }, from.index(), to.index(),
                  pes_on(from));
}

}  // namespace lull::aggregate
