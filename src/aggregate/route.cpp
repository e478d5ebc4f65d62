#include "aggregate/route.hpp"

#include <algorithm>
#include <cmath>

namespace lull::aggregate {
namespace {

// The digit of weight width^stage of `to` in place of that of `at`, highest first; a node that does not exist is
// skipped by going to the destination itself.
int replace_digit(int at, int to, int width, int digit) {
  int weight = 1;
  for (int i = 0; i < digit; ++i) weight *= width;
  const int high = at / (weight * width) * (weight * width), low = at % weight;
  return high + to / weight % width * weight + low;
}

}  // namespace

route::route(const fabric::layout& places, int pes, scheme how)
    : places_(places), pes_(pes), how_(how), local_(static_cast<std::size_t>(pes)) {
  for (int node = 0; node < places.nodes(); ++node) {
    int rank = 0;
    for (const pe_id pe : places.members(node_id{node})) local_[static_cast<std::size_t>(pe.index())] = rank++;
  }
  if (how.buffers == buffering::per_node) {
    kinds_.assign(static_cast<std::size_t>(how.hops), kind::nodes);
    kinds_.push_back(kind::inside);
    while (std::pow(width_, how.hops) < places.nodes()) ++width_;
  } else if (how.hops == 1) {
    kinds_ = {kind::all};
  } else if (how.hops == 2) {
    kinds_ = {kind::inside, kind::across};
  } else {
    kinds_ = {kind::inside, kind::across_shared, kind::inside};
  }
}

pe_id route::keeper(node_id at, node_id peer) const {
  return places_.members(at)[static_cast<std::size_t>(peer.index() % pes_on(at))];
}

node_id route::node_towards(int stage, node_id at, node_id to) const {
  if (at == to) return at;
  if (stage == how_.hops - 1) return to;
  const int via = replace_digit(at.index(), to.index(), width_, how_.hops - 1 - stage);
  return via < places_.nodes() ? node_id{via} : to;
}

pe_id route::towards(int stage, pe_id at, pe_id to) const {
  const node_id here = places_.node_of(at), there = places_.node_of(to);
  switch (kinds_[static_cast<std::size_t>(stage)]) {
    case kind::all:
      return to;
    case kind::nodes:
      if (const node_id way = node_towards(stage, here, there); way != here) return places_.leader(way);
      return at;
    case kind::inside:
      if (here == there) return to;
      return how_.hops == 2 ? places_.members(here)[static_cast<std::size_t>(local_rank(to) % pes_on(here))]
                            : keeper(here, there);
    case kind::across:
      return to;
    case kind::across_shared:
      return here == there ? at : keeper(there, here);
  }
  return to;
}

route::step route::next(int stage, pe_id at, pe_id to) const {
  for (; stage + 1 < stages(); ++stage) {
    const pe_id way = towards(stage, at, to);
    if (way != at) return {stage, way};
  }
  return {stage, towards(stage, at, to)};
}

std::vector<pe_id> route::targets(int stage, pe_id from) const {
  const node_id here = places_.node_of(from);
  std::vector<pe_id> result;
  switch (kinds_[static_cast<std::size_t>(stage)]) {
    case kind::all:
      for (int pe = 0; pe < pes_; ++pe) result.emplace_back(pe);
      break;
    case kind::inside: {
      const auto members = places_.members(here);
      result.assign(members.begin(), members.end());
      break;
    }
    case kind::across:
      for (int pe = 0; pe < pes_; ++pe) {
        const pe_id to{pe};
        if (to == from || (places_.node_of(to) != here && local_rank(to) % pes_on(here) == local_rank(from)))
          result.push_back(to);
      }
      break;
    case kind::across_shared:
      for (int node = 0; node < places_.nodes(); ++node) {
        const node_id there{node};
        if (there != here && keeper(here, there) == from) result.push_back(keeper(there, here));
      }
      std::ranges::sort(result);
      break;
    case kind::nodes:
      break;
  }
  return result;
}

std::vector<node_id> route::targets(int stage, node_id from) const {
  std::vector<bool> reached(static_cast<std::size_t>(places_.nodes()));
  // Items that are here before this stage are for nodes that agree in all higher digits.
  int same = 1;
  for (int digit = stage; digit < how_.hops; ++digit) same *= width_;
  for (int node = 0; node < places_.nodes(); ++node)
    if (node / same == from.index() / same)
      reached[static_cast<std::size_t>(node_towards(stage, from, node_id{node}).index())] = true;
  std::vector<node_id> result;
  for (int node = 0; node < places_.nodes(); ++node)
    if (reached[static_cast<std::size_t>(node)] && node_id{node} != from) result.emplace_back(node);
  return result;
}

std::vector<pe_id> route::sources(int stage, pe_id to) const {
  std::vector<pe_id> result;
  const kind what = kinds_[static_cast<std::size_t>(stage)];
  if (what == kind::all || what == kind::inside) return targets(stage, to);  // symmetric
  for (int pe = 0; pe < pes_; ++pe) {
    const pe_id from{pe};
    const node_id there = places_.node_of(from), here = places_.node_of(to);
    const bool has = what == kind::across
                         ? from == to || (there != here && local_rank(to) % pes_on(there) == local_rank(from))
                         : there != here && keeper(there, here) == from && keeper(here, there) == to;
    if (has) result.push_back(from);
  }
  return result;
}

std::vector<node_id> route::sources(int stage, node_id to) const {
  std::vector<node_id> result;
  for (int node = 0; node < places_.nodes(); ++node) {
    const auto reached = targets(stage, node_id{node});
    if (std::ranges::binary_search(reached, to)) result.emplace_back(node);
  }
  return result;
}

}  // namespace lull::aggregate
