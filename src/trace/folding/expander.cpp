#include "trace/folding/expander.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "trace/folding/requests.hpp"

namespace lull::trace::folding {
namespace {

enum token : unsigned { by_number, other_values, a_turn, as_they_are, to_the_end };

// More requests than any call completes: a damaged file has no endless loop.
constexpr std::uint64_t most_without_call = 1 << 24;

}  // namespace

expander::expander(pieces structure, pieces times, std::uint64_t records, handles given_up)
    : structure_(std::move(structure)), times_(std::move(times)), left_(records), given_up_(std::move(given_up)) {
  read_token();
}

bool expander::read_token() {
  if (structure_.at_end()) {
    matched_ = std::numeric_limits<std::uint64_t>::max();
    token_ = to_the_end;
    return true;
  }
  const std::uint64_t read = structure_.number();
  matched_ = read >> 2;
  token_ = read & 3;
  return !structure_.failed() || damage();
}

bool expander::next(std::vector<record>& to) {
  while (left_ > 0 && !damaged_) {
    if (as_they_are_ > 0) return give_as_they_are(to);
    if (matched_ > 0) {
      --matched_;
      const std::uint32_t number = history_.foreseen();
      if (number >= signatures_.size()) return damage();
      history_.follow();
      return give(number, false, to);
    }
    const unsigned what = token_;
    std::uint32_t number = history::nothing;
    if (what == as_they_are) {
      as_they_are_ = structure_.number();
      if (structure_.failed()) return damage();
      history_.cut();
      if (as_they_are_ == 0) {
        signatures_.clear();
        history_ = history();
        if (!read_token()) return false;
      }
      continue;
    }
    if (what == by_number) {
      const std::uint64_t given = structure_.number();
      const bool is_new = given == signatures_.size();
      if (given > signatures_.size() || structure_.failed() || (is_new && !read_signature())) return damage();
      number = static_cast<std::uint32_t>(given);
      history_.add(number, is_new);
    } else {
      number = what == a_turn ? history_.turn() : history_.foreseen();
      if (number >= signatures_.size()) return damage();
      if (what == a_turn)
        history_.take_turn();
      else
        history_.follow();
    }
    return give(number, true, to) && read_token();
  }
  return false;
}

bool expander::read_signature() {
  signature s;
  s.count = structure_.byte();
  if (s.count < 1 || s.count > 2) return false;
  for (std::size_t i = 0; i < s.count; ++i) {
    part& p = s.parts[i];
    p.what = static_cast<kind>(structure_.byte());
    const unsigned named = structure_.byte();
    p.named = static_cast<naming>(named & 0xfU);
    p.as_posted = static_cast<std::uint8_t>(named >> 4);
    p.varying = structure_.byte();
    p.region = static_cast<std::uint16_t>(structure_.number());
    p.comm = static_cast<std::uint16_t>(structure_.number());
    if (structure_.failed() || !is_known(p.what) || p.named > naming::handle) return false;
    if ((p.named != naming::none) != names_request(p.what) || (p.as_posted & ~unsigned{status_fields}) != 0)
      return false;
    if ((p.varying & ~unsigned{can_vary(p)}) != 0) return false;
    if (s.count == 2 && adds_to_call(p.what) != (i == 1)) return false;
    const unsigned given = can_vary(p) & ~unsigned{p.varying};
    for (std::size_t f = 0; f < fields; ++f)
      if ((given & 1U << f) != 0) p.values[f] = unzigzag(structure_.number());
  }
  if (structure_.failed()) return false;
  signatures_.emplace_back(s);
  return true;
}

// One unit: a signature with the values that are foreseen, or given.
bool expander::give(std::uint32_t number, bool with_values, std::vector<record>& to) {
  known_signature& s = signatures_[number];
  std::array<std::array<std::uint64_t, fields>, 2> values{s.means.parts[0].values, s.means.parts[1].values};
  for (varying_field& v : s.varying) {
    std::uint64_t& value = values[v.part][v.of];
    value = v.values.foreseen();
    if (with_values) value += unzigzag(structure_.number());
    v.values.add(value);
  }
  if (structure_.failed()) return damage();
  without_call_ = s.is_call ? 0 : without_call_ + 1;
  if (without_call_ > most_without_call) return damage();
  for (std::size_t i = 0; i < s.count && left_ > 0; ++i, --left_) {
    record r;
    if (!make(s.means.parts[i], values[i], r)) return damage();
    to.push_back(r);
  }
  return true;
}

bool expander::make(const part& p, const std::array<std::uint64_t, fields>& values, record& r) {
  r = {.region = p.region,
       .comm = p.comm,
       .peer = static_cast<std::int32_t>(values[peer]),
       .tag = static_cast<std::int32_t>(values[tag]),
       .bytes = values[bytes_field] & ~std::uint64_t{0} >> 8,
       .what = p.what};
  if (begins_call(p.what)) {
    if (times_.at_end()) return false;
    const auto [gap, duration] = read_times(times_);
    r.begin = last_end_ + gap;
    r.duration = duration;
    last_end_ = r.begin + r.duration;
    return !times_.failed();
  }
  const posted* of = nullptr;
  switch (p.named) {
    case naming::none:
      return true;
    case naming::handle:
      r.begin = values[name];
      return true;
    case naming::post:
      r.begin = library_handle(life_of_post | posted_);
      post(r);
      return true;
    case naming::age:
      if (values[name] >= posted_ || values[name] >= ring_.size()) return false;
      of = &ring_[(posted_ - 1 - values[name]) & (ring_.size() - 1)];
      break;
    case naming::prepared:
      if (values[name] >= most_slots) return false;
      if (prepares(p.what)) {
        r.begin = library_handle(life_of_prepared | values[name] << 32 | (prepared_ & 0xffffffffU));
        prepare(r, values[name]);
        return true;
      }
      if (values[name] >= slots_.size()) return false;
      of = &slots_[values[name]];
      break;
  }
  r.begin = of->handle;
  if ((p.as_posted & 1U << peer) != 0) r.peer = of->peer;
  if ((p.as_posted & 1U << tag) != 0) r.tag = of->tag;
  if ((p.as_posted & 1U << bytes_field) != 0) r.bytes = of->bytes & ~std::uint64_t{0} >> 8;
  return true;
}

bool expander::give_as_they_are(std::vector<record>& to) {
  --as_they_are_;
  --left_;
  record r;
  structure_.copy(&r, sizeof r);
  if (structure_.failed()) return damage();
  if (begins_call(r.what)) {
    last_end_ = r.begin + r.duration;
  } else if (names_request(r.what)) {
    const std::uint64_t life = r.begin;
    r.begin = library_handle(life);
    if (posts(r.what) && (life & kind_of_life) == life_of_post) post(r);
    if (const std::uint64_t slot = life >> 32 & 0xfffU; prepares(r.what) && (life & kind_of_life) == life_of_prepared)
      prepare(r, slot);
  }
  to.push_back(r);
  return as_they_are_ > 0 || read_token();
}

void expander::post(const record& r) {
  if (posted_ == ring_.size() && ring_.size() < requests::largest)
    ring_.resize(std::max<std::size_t>(ring_.size() * 2, requests::smallest));
  ring_[posted_++ & (ring_.size() - 1)] = {r.begin, r.bytes, r.peer, r.tag};
}

void expander::prepare(const record& r, std::uint64_t slot) {
  if (slot >= slots_.size()) slots_.resize(slot + 1);
  slots_[slot] = {r.begin, r.bytes, r.peer, r.tag};
  ++prepared_;
}

std::uint64_t expander::library_handle(std::uint64_t life) const {
  if (given_up_.empty()) return life;
  const auto found = given_up_.find(life);
  return found == given_up_.end() ? life : found->second;
}

}  // namespace lull::trace::folding
