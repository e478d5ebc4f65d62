#include "trace/folding/folder.hpp"

#include <algorithm>

namespace lull::trace::folding {
namespace {

enum token : unsigned { by_number, other_values, a_turn, as_they_are };

constexpr std::uint64_t most_plain_windows = 64;
constexpr std::size_t units_before_judging = 256;  // in a window

std::size_t records_in_unit(std::span<const record> from) {
  return from.size() > 1 && begins_call(from[0].what) && adds_to_call(from[1].what) ? 2 : 1;
}

}  // namespace

void folder::name_by_handles() {
  if (by_handles_) return;
  begin_anew();
  requests_.give_up_all();
  by_handles_ = true;
}

std::size_t folder::fold(std::span<const record> window, bool is_last) {
  // The next window may go on with the last call.
  if (!is_last && !window.empty() && !adds_to_call(window.back().what)) window = window.first(window.size() - 1);
  if (const std::size_t needed = times_used_ + window.size() * most_bytes_of_times; times_.size() < needed)
    times_.resize(needed);
  if (plain_windows_ > 0) {
    --plain_windows_;
    put_as_they_are(window);
    return window.size();
  }
  std::size_t wrong = 0;
  const std::uint64_t before = units_;
  for (std::size_t at = 0; at < window.size();) {
    at = follow(window, at);
    if (at == window.size()) break;
    const auto unit = window.subspan(at, records_in_unit(window.subspan(at)));
    if (take(unit)) ++wrong;
    at += unit.size();
  }
  judge(units_ - before, wrong);
  return window.size();
}

// All units that come as foreseen, which are nearly all: some 4 ns for each. What changes in each step is in local
// variables, because the compiler must assume that a byte stored changes any member.
std::size_t folder::follow(std::span<const record> window, std::size_t begin) {
  if (history_.foreseen() == history::nothing) return begin;
  history::run run = history_.begin_run();
  const std::uint64_t first = run.count;
  known_signature* const signatures = signatures_.data();
  std::uint8_t* times = times_.data() + times_used_;
  std::uint64_t last_end = last_end_;
  const record* at = window.data() + begin;
  const record* const end = window.data() + window.size();
  while (at != end) {
    known_signature& s = signatures[run.foreseen()];
    if (!s.records[0].fits(*at)) break;
    if (s.count == 2) {
      if (end - at < 2 || !s.records[1].fits(at[1])) break;
    } else if (s.is_call && end - at > 1 && adds_to_call(at[1].what)) {
      break;
    }
    if (s.has_name && !is_name_right(s, at[s.count - 1U])) break;
    if (!s.varying.empty()) [[unlikely]]
      if (!take_values(s, at)) break;
    if (s.is_call) {
      times += put_times(times, at->begin - last_end, at->duration);
      last_end = at->begin + at->duration;
    }
    if (s.posts)
      requests_.post(at[s.count - 1U]);
    else if (s.ends_by_age)
      requests_.end_of_age(s.means.parts[s.count - 1U].values[name]);
    else if (s.has_name)
      note_request(s, at[s.count - 1U]);
    at += s.count;
    run.follow();
  }
  history_.end_run(run);
  times_used_ = static_cast<std::size_t>(times - times_.data());
  last_end_ = last_end;
  const std::uint64_t came = run.count - first;
  const auto taken = static_cast<std::size_t>(at - window.data());
  matched_ += came;
  foreseen_ += came;
  units_ += came;
  records_ += taken - begin;
  return taken;
}

// Whether the values that vary are as foreseen; if so, they have come.
bool folder::take_values(known_signature& s, const record* unit) {
  if (!are_values_foreseen(s, unit)) return false;
  for (varying_field& v : s.varying) v.values.add(value(s.means.parts[v.part], unit[v.part], v.of));
  return true;
}

// Whether it is `s`, perhaps with other values.
bool folder::looks_like(const known_signature& s, std::span<const record> unit) {
  if (unit.size() != s.count) return false;
  for (std::size_t i = 0; i < s.count; ++i)
    if (!s.records[i].fits(unit[i])) return false;
  return !s.has_name || is_name_right(s, unit.back());
}

inline bool folder::is_name_right(const known_signature& s, const record& r) {
  const part& p = s.means.parts[s.count - 1U];
  const open_request* of = nullptr;
  if (p.named == naming::age && !s.is_name_varying) [[likely]] {
    of = requests_.of_age(p.values[name]);
  } else if (p.named == naming::handle) {  // which names a request only if nothing better does
    return by_handles_ || requests_.find(r.begin).request == nullptr;
  } else if (prepares(p.what)) {
    return s.is_name_varying || requests_.slot_for(r.begin) == p.values[name];
  } else if (s.is_name_varying) {
    const requests::found found = requests_.find(r.begin);
    of = found.named == p.named ? found.request : nullptr;
  } else {
    of = requests_.in_slot(p.values[name]);
  }
  return of != nullptr && of->handle == r.begin && as_posted(r, *of) == p.as_posted;
}

std::uint64_t folder::value(const part& p, const record& r, std::size_t of) {
  if (of != name) return value_of(r, of);
  if (p.named == naming::handle) return r.begin;
  return prepares(p.what) ? requests_.slot_for(r.begin) : requests_.find(r.begin).name;
}

bool folder::are_values_foreseen(const known_signature& s, const record* unit) {
  return std::ranges::all_of(s.varying, [&](const varying_field& v) {
    return value(s.means.parts[v.part], unit[v.part], v.of) == v.values.foreseen();
  });
}

// A request begins or ends.
inline void folder::note_request(const known_signature& s, const record& r) {
  const part& p = s.means.parts[s.count - 1U];
  if (s.posts)
    requests_.post(r);
  else if (prepares(p.what))
    requests_.prepare(r);
  else if (ends(p.what))
    requests_.apply(p.what, p.named, s.is_name_varying ? requests_.find(r.begin).name : p.values[name]);
}

void folder::put_token(unsigned what) {
  put_number(structure_, matched_ << 2 | what);
  matched_ = 0;
}

// A unit that is not foreseen; returns whether its signature is not, either.
bool folder::take(std::span<const record> unit) {
  if (const std::uint32_t next = history_.foreseen(); next != history::nothing) {
    if (!signatures_[next].varying.empty() && looks_like(signatures_[next], unit)) {
      put_token(other_values);
      history_.follow();
      came(signatures_[next], unit);
      return false;
    }
    if (const std::uint32_t turn = history_.turn(); turn != history::nothing && looks_like(signatures_[turn], unit)) {
      put_token(a_turn);
      history_.take_turn();
      came(signatures_[turn], unit);
      return true;
    }
  }
  signature made;
  if (!describe(unit, made)) {
    ++units_;
    put_as_they_are(unit);
    return true;
  }
  if (signatures_.is_full()) begin_anew();
  if (const std::uint32_t next = history_.foreseen(); next != history::nothing)
    signatures_.foreseen_wrongly(next, made, units_);
  const auto [number, is_new] = signatures_.find(made, units_);
  put_token(by_number);
  put_number(structure_, number);
  if (is_new) put_definition(made);
  history_.add(number, is_new);
  came(signatures_[number], unit);
  return true;
}

void folder::came(known_signature& s, std::span<const record> unit) {
  put_values(s, unit);
  if (s.is_call) {
    times_used_ += put_times(times_.data() + times_used_, unit[0].begin - last_end_, unit[0].duration);
    last_end_ = unit[0].begin + unit[0].duration;
  }
  if (s.posts || s.has_name) note_request(s, unit.back());
  ++units_;
  records_ += unit.size();
}

// The signature of a unit; false if it has something that no signature contains.
bool folder::describe(std::span<const record> unit, signature& made) {
  made.count = static_cast<std::uint8_t>(unit.size());
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const record& r = unit[i];
    part& p = made.parts[i];
    if (!is_known(r.what)) return false;
    p.what = r.what;
    p.region = r.region;
    p.comm = r.comm;
    for (const field f : {peer, tag, bytes_field}) p.values[f] = value_of(r, f);
    if (begins_call(r.what)) continue;
    if (r.duration != 0) return false;
    if (!names_request(r.what)) {
      if (r.begin != 0) return false;
      continue;
    }
    p.named = naming::handle;
    p.values[name] = r.begin;
    if (by_handles_) continue;
    if (posts(r.what)) {
      p.named = naming::post;
      p.values[name] = 0;
    } else if (prepares(r.what)) {
      p.named = naming::prepared;
      p.values[name] = requests_.slot_for(r.begin);
      if (p.values[name] == most_slots) return false;
    } else {
      const requests::found found = requests_.find(r.begin);
      p.named = found.named;
      p.values[name] = found.name;
      if (found.request == nullptr) continue;
      p.as_posted = as_posted(r, *found.request);
      for (const field f : {peer, tag, bytes_field})
        if ((p.as_posted & 1U << f) != 0) p.values[f] = 0;
    }
  }
  return true;
}

void folder::put_definition(const signature& s) {
  structure_.push_back(s.count);
  for (std::size_t i = 0; i < s.count; ++i) {
    const part& p = s.parts[i];
    structure_.push_back(static_cast<std::uint8_t>(p.what));
    structure_.push_back(static_cast<std::uint8_t>(static_cast<unsigned>(p.named) | unsigned{p.as_posted} << 4));
    structure_.push_back(p.varying);
    put_number(structure_, p.region);
    put_number(structure_, p.comm);
    const unsigned given = can_vary(p) & ~unsigned{p.varying};
    for (std::size_t f = 0; f < fields; ++f)
      if ((given & 1U << f) != 0) put_number(structure_, zigzag(p.values[f]));
  }
}

void folder::put_values(known_signature& s, std::span<const record> unit) {
  for (varying_field& v : s.varying) {
    const std::uint64_t came = value(s.means.parts[v.part], unit[v.part], v.of);
    put_number(structure_, zigzag(came - v.values.foreseen()));
    v.values.add(came);
  }
}

// As records that are only copied; requests in them have the names that expanded records have.
void folder::put_as_they_are(std::span<const record> records) {
  if (records.empty()) return;
  put_token(as_they_are);
  put_number(structure_, records.size());
  for (record r : records) {
    if (begins_call(r.what)) {
      last_end_ = r.begin + r.duration;
    } else if (!by_handles_ && posts(r.what)) {
      requests_.post(r);
      r.begin = life_of_post | (requests_.posted() - 1);
    } else if (!by_handles_ && prepares(r.what)) {
      if (const std::uint64_t slot = requests_.prepare(r); slot != most_slots) r.begin = requests_.life_in(slot);
    } else if (!by_handles_ && is_about_request(r.what)) {
      const requests::found found = requests_.find(r.begin);
      requests_.apply(r.what, found.named, found.name);
      if (found.named == naming::age) r.begin = life_of_post | (requests_.posted() - 1 - found.name);
      if (found.named == naming::prepared) r.begin = requests_.life_in(found.name);
    }
    const auto* const raw = reinterpret_cast<const std::uint8_t*>(&r);
    structure_.insert(structure_.end(), raw, raw + sizeof r);
  }
  records_ += records.size();
  history_.cut();
}

void folder::begin_anew() {
  put_token(as_they_are);
  put_number(structure_, 0);
  signatures_.clear();
  history_ = history();
}

void folder::judge(std::size_t units, std::size_t wrong) {
  if (units < units_before_judging) return;
  if (wrong * 2 <= units) {
    next_plain_windows_ = 4;
  } else if (units_ > 4096) {
    plain_windows_ = next_plain_windows_;
    next_plain_windows_ = std::min(next_plain_windows_ * 2, most_plain_windows);
  }
}

std::size_t folder::memory() const {
  return sizeof *this + signatures_.memory() + history_.memory() + requests_.memory() + structure_.capacity() +
         times_.capacity();
}

}  // namespace lull::trace::folding
