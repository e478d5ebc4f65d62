#include "netsim/extrapolation/step_kinds.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "netsim/extrapolation/regular_pattern.hpp"

namespace lull::netsim {
namespace {

using kind = operation::kind;

[[noreturn]] void refuse(std::uint32_t rank, std::uint64_t number, const std::string& what) {
  throw std::invalid_argument(fmt::format("operation {} of rank {} {}", number, rank, what));
}

const char* name_of(kind k) {
  switch (k) {
    case kind::compute:
      return "its end";
    case kind::send:
      return "send";
    case kind::synchronous_send:
      return "synchronous send";
    case kind::receive:
      return "receive";
    case kind::wait:
      return "wait";
    case kind::put:
      return "put";
    case kind::get:
      return "get";
    case kind::atomic:
      return "atomic";
    case kind::await_put:
      return "wait for a put";
    case kind::iteration:
      return "end of an iteration";
    default:
      return "operation";
  }
}

}  // namespace

step_reader::step_reader(const program& of, std::uint32_t rank, const rank_grid& grid,
                         const std::vector<grid_offset>& offsets, step_kinds& kinds, const completions& none)
    : of_(of), rank_(rank), grid_(grid), offsets_(offsets), kinds_(kinds), from_(of.of(rank, none)) {}

const operation* step_reader::take() {
  const operation* o = nullptr;
  if (ahead_) {
    in_hand_ = *std::exchange(ahead_, std::nullopt);
    o = &in_hand_;
  } else {
    o = from_.next();
  }
  number_ += o != nullptr ? 1 : 0;
  return o;
}

void step_reader::add_wait(const operation& o, picoseconds before) {
  const auto posted = posted_.find(o.request);
  if (posted == posted_.end()) {  // there is nothing to wait for
    before_ahead_ += before;
    return;
  }
  const step_kind k{.what = kind::wait, .awaited = posted->second.kind + 1};
  waits_.push_back(
      {posted->second.order,
       {.kind = kinds_.number_of(k), .before = before + std::exchange(before_ahead_, 0), .number = number_}});
  posted_.erase(posted);
}

// Computing times keep their order among the reordered waits.
void step_reader::take_waits(const operation& first, picoseconds before) {
  waits_.clear();
  waits_used_ = 0;
  add_wait(first, before);
  before = 0;
  while (const operation* o = take()) {
    if (o->what == kind::compute) {
      before += o->duration;
    } else if (o->what == kind::wait) {
      add_wait(*o, std::exchange(before, 0));
    } else {
      ahead_ = *o;
      --number_;
      break;
    }
  }
  before_ahead_ += before;
  std::vector<picoseconds> computing;
  for (const waited& w : waits_) computing.push_back(w.as.before);
  std::ranges::stable_sort(waits_, {}, &waited::order);
  for (std::size_t i = 0; i < waits_.size(); ++i) waits_[i].as.before = computing[i];
}

bool step_reader::next(step& s) {
  last_request_ = no_request;
  if (waits_used_ < waits_.size()) {
    s = waits_[waits_used_++].as;
    return true;
  }
  s = {.before = std::exchange(before_ahead_, 0)};
  for (;;) {
    const operation* const o = take();
    s.number = number_;
    if (o == nullptr) {
      s.kind = kinds_.number_of({});
      return !std::exchange(ended_, true);
    }
    step_kind k{.what = o->what, .request = o->request != no_request};
    s.bytes = o->bytes;
    s.peer = o->peer;
    switch (o->what) {
      case kind::compute:
        s.before += o->duration;
        continue;
      case kind::iteration:
      case kind::unit:
        break;
      case kind::wait:
        take_waits(*o, s.before);
        if (!waits_.empty()) return next(s);
        s.before = std::exchange(before_ahead_, 0);
        continue;
      case kind::wait_any:
        refuse(rank_, number_, "waits for any request, which cannot be extrapolated to more processes");
      case kind::collective:
        k.which = o->which;
        find_group(*o, k);
        break;
      case kind::await_put:
        k.awaited = static_cast<std::uint32_t>(o->bytes);
        k.offset = offset_to(o->peer);
        s.bytes = 0;
        break;
      default:
        if (o->peer == any)
          refuse(rank_, number_, "receives from any rank, which cannot be extrapolated to more processes");
        k.tag = o->tag;
        k.offset = offset_to(o->peer);
        if (o->group != everybody) find_group(*o, k);
        k.root = 0;
    }
    s.kind = kinds_.number_of(k);
    if (k.request) posted_[last_request_ = o->request] = {s.kind, number_};
    return true;
  }
}

std::int32_t step_reader::offset_to(std::uint32_t peer) const {
  const auto at = std::ranges::lower_bound(offsets_, grid_.between(rank_, peer));
  // A pattern explains every pair; if a short ring has several routes, any of them will do.
  if (at != offsets_.end() && *at == grid_.between(rank_, peer))
    return static_cast<std::int32_t>(at - offsets_.begin());
  for (std::size_t i = 0; i < offsets_.size(); ++i)
    if (grid_.neighbour(rank_, offsets_[i]) == peer) return static_cast<std::int32_t>(i);
  refuse(rank_, number_, fmt::format("goes to rank {}, which fits no rule", peer));
}

void step_reader::find_group(const operation& o, step_kind& k) {
  std::uint32_t place = o.peer;
  if (o.group != everybody) {
    const auto group = of_.group(o.group);
    auto known = groups_.find(o.group);
    if (known == groups_.end()) {
      const auto extent = extent_of(group, grid_, rank_);
      if (!extent) refuse(rank_, number_, "is of a group that is not a row, column or plane of the grid of ranks");
      const auto alike = std::ranges::count_if(groups_, [&](const auto& g) { return g.second.extent == *extent; });
      known = groups_.try_emplace(o.group, use{*extent, static_cast<std::uint32_t>(alike)}).first;
    }
    k.extent = known->second.extent;
    k.ordinal = known->second.ordinal;
    const auto root = std::ranges::find(group, o.peer);
    place = root == group.end() ? 0 : static_cast<std::uint32_t>(root - group.begin());
  }
  k.root = place;
}

std::string in_words(const step_kind& k, const std::vector<grid_offset>& offsets) {
  if (k.what == kind::collective) return fmt::format("{}", trace::name_of(k.which));
  std::string text = name_of(k.what);
  if (k.offset >= 0) {
    const grid_offset& by = offsets[static_cast<std::size_t>(k.offset)];
    text += fmt::format(" at offset ({}, {}, {}) with tag {}", by[0], by[1], by[2], k.tag);
  }
  return text;
}

}  // namespace lull::netsim
