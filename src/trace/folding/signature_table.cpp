#include "trace/folding/signature_table.hpp"

#include <algorithm>
#include <set>

namespace lull::trace::folding {
namespace {

constexpr std::uint32_t wrong_before_judging = 16;
constexpr std::uint64_t wrong_one_in = 64;  // units: more often than that, a field becomes varying
constexpr std::size_t members_before_judging = 48, most_members = 256;
constexpr std::uint64_t new_one_in = 1024;  // units

pattern pattern_of(const part& p) {
  record r{.region = p.region,
           .comm = p.comm,
           .peer = static_cast<std::int32_t>(p.values[peer]),
           .tag = static_cast<std::int32_t>(p.values[tag]),
           .bytes = p.values[bytes_field] & ~std::uint64_t{0} >> 8,
           .what = p.what};
  if (p.named == naming::handle) r.begin = p.values[name];
  pattern made{words_of(r), {}};
  const bool begins = begins_call(p.what);
  constexpr std::uint64_t all = ~std::uint64_t{0}, upper_half = all << 32, lower_half = all >> 32;
  const unsigned ignored = p.as_posted | p.varying;
  const bool by_name = p.named != naming::none && (p.named != naming::handle || (p.varying & 1U << name) != 0);
  made.counts = {begins || by_name ? 0 : all, begins ? upper_half : all, all, all};
  if ((ignored & 1U << peer) != 0) made.counts[2] &= upper_half;
  if ((ignored & 1U << tag) != 0) made.counts[2] &= lower_half;
  if ((ignored & 1U << bytes_field) != 0) made.counts[3] = all << 56;
  return made;
}

// What the members of a group have in common.
signature group_key(signature s) {
  for (part& p : s.parts) {
    p.values = {};
    p.varying = 0;
  }
  return s;
}

void make_varying(signature& s, const std::array<std::uint8_t, 2>& varying) {
  for (std::size_t i = 0; i < s.count; ++i) {
    part& p = s.parts[i];
    p.varying = varying[i] & can_vary(p);
    for (std::size_t f = 0; f < fields; ++f)
      if ((p.varying & 1U << f) != 0) p.values[f] = 0;
  }
}

}  // namespace

std::uint8_t can_vary(const part& p) {
  const bool has_name = p.named != naming::none && p.named != naming::post;
  return static_cast<std::uint8_t>((status_fields | (has_name ? 1U << name : 0U)) & ~unsigned{p.as_posted});
}

known_signature::known_signature(const signature& s)
    : records{pattern_of(s.parts[0]), pattern_of(s.parts[1])},
      count(s.count),
      is_call(begins_call(s.parts[0].what)),
      means(s) {
  const part& last = s.parts[s.count - 1U];
  posts = last.named == naming::post;
  has_name = is_about_request(last.what) || last.named == naming::prepared;
  is_name_varying = (last.varying & 1U << name) != 0;
  ends_by_age = last.named == naming::age && ends(last.what) && !is_name_varying;
  for (std::uint8_t i = 0; i < s.count; ++i)
    for (std::uint8_t f = 0; f < fields; ++f)
      if ((s.parts[i].varying & 1U << f) != 0) varying.push_back({i, f});
}

std::size_t signature_table::hash_of::operator()(const signature& s) const {
  std::uint64_t h = s.count;
  const auto mix = [&h](std::uint64_t v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15U;
    h ^= h >> 29;
  };
  for (std::size_t i = 0; i < s.count; ++i) {
    const part& p = s.parts[i];
    mix(static_cast<std::uint64_t>(p.what) | static_cast<std::uint64_t>(p.named) << 8 |
        std::uint64_t{p.as_posted} << 16 | std::uint64_t{p.varying} << 24 | std::uint64_t{p.region} << 32 |
        std::uint64_t{p.comm} << 48);
    for (const std::uint64_t v : p.values) mix(v);
  }
  return h;
}

std::uint32_t signature_table::group_of(const signature& s) {
  const auto [at, is_new] = group_numbers_.try_emplace(group_key(s), static_cast<std::uint32_t>(groups_.size()));
  if (is_new) groups_.emplace_back();
  return at->second;
}

signature_table::found signature_table::find(signature& s, std::uint64_t now) {
  const std::uint32_t group_number = group_of(s);
  group& g = groups_[group_number];
  make_varying(s, g.varying);
  const auto [at, is_new] = numbers_.try_emplace(s, static_cast<std::uint32_t>(all_.size()));
  if (!is_new) return {at->second, false};
  all_.emplace_back(s);
  all_.back().group = group_number;
  columns_ += all_.back().varying.size();
  g.members.push_back(at->second);
  if (g.members.size() % members_before_judging == 0) {
    if (g.members.size() >= most_members || now - g.made_since < new_one_in * members_before_judging)
      widen_most_different(g);
    g.made_since = now;
  }
  return {at->second, true};
}

void signature_table::foreseen_wrongly(std::uint32_t foreseen, const signature& s, std::uint64_t now) {
  const signature& wrong = all_[foreseen].means;
  if (wrong.count != s.count || group_of(s) != all_[foreseen].group) return;
  group& g = groups_[all_[foreseen].group];
  for (std::size_t i = 0; i < s.count; ++i)
    for (std::size_t f = 0; f < fields; ++f) {
      if (((g.varying[i] | wrong.parts[i].varying) & 1U << f) != 0) continue;
      if (wrong.parts[i].values[f] == s.parts[i].values[f] || ++g.wrong[i][f] < wrong_before_judging) continue;
      if (now - g.wrong_since < wrong_one_in * wrong_before_judging) g.varying[i] |= static_cast<std::uint8_t>(1U << f);
      g.wrong = {};
      g.wrong_since = now;
      return;
    }
}

void signature_table::widen_most_different(group& g) {
  std::size_t most_values = 1, of_part = 0, of_field = 0;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t f = 0; f < fields; ++f) {
      if ((g.varying[i] & 1U << f) != 0) continue;
      std::set<std::uint64_t> values;
      for (const std::uint32_t member : g.members) values.insert(all_[member].means.parts[i].values[f]);
      if (values.size() <= most_values) continue;
      most_values = values.size();
      of_part = i;
      of_field = f;
    }
  if (most_values > 1) g.varying[of_part] |= static_cast<std::uint8_t>(1U << of_field);
  g.members.clear();
}

void signature_table::clear() {
  all_.clear();
  columns_ = 0;
  numbers_.clear();
  group_numbers_.clear();
  groups_.clear();
}

std::size_t signature_table::memory() const {
  std::size_t sum = all_.capacity() * sizeof(known_signature);
  sum += (numbers_.size() + group_numbers_.size()) * (sizeof(signature) + 24) + numbers_.bucket_count() * 8;
  sum += columns_ * sizeof(varying_field);
  for (const group& g : groups_) sum += sizeof g + g.members.capacity() * 4;
  return sum;
}

}  // namespace lull::trace::folding
