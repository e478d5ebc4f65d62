#include "stage/shared/nodes/home.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "base/pages.hpp"
#include "stage/shared/file_systems.hpp"

namespace lull::stage {
namespace {

using kind = file_entry::kind;

packet to_node(from_home what, std::uint64_t number) { return packet().put(what).put(number); }

}  // namespace

home_of_files::home_of_files(directory& of, send_function send)
    : of_(of), send_(std::move(send)), places_(of.arena(of.position()).size()) {}

home_of_files::~home_of_files() { let_writers_hurry(false); }

// The end of an entry makes the room that those before it in the inbox wait for.
void home_of_files::take(int node, packet_reader text) {
  const auto bytes = text.rest();
  if (packet_reader(bytes).take<to_home>() == to_home::done)
    (void)carry_out(node, packet_reader(bytes));
  else
    inbox_.emplace_back(node, std::vector(bytes.begin(), bytes.end()));
  look();
}

bool home_of_files::is_done() const {
  return static_cast<int>(ended_.size()) == of_.among_nodes().nodes - 1 && inbox_.empty();
}

void home_of_files::look() {
  while (!inbox_.empty()) {
    const auto& [node, bytes] = inbox_.front();
    try {
      if (!carry_out(node, packet_reader(bytes))) break;
    } catch (const error&) {  // not a message of Lull's
    }
    inbox_.pop_front();
  }
  begin_what_can();
  take_own_questions();
  answer_what_can();
  end_announcements();
  hurry();
  if (std::exchange(some_ended_, false)) of_.wake_all_for(of_.changed());
}

bool home_of_files::carry_out(int node, packet_reader text) {
  const auto what = text.take<to_home>();
  if (what == to_home::hello) return true;
  if (what == to_home::farewell) return ended_.insert(node), true;
  if (what == to_home::join) return join(node, text), true;
  const auto number = text.take<std::uint64_t>();
  if (what == to_home::done) return end({node, number}, text.take<std::int32_t>()), true;
  if (what == to_home::known) return is_known(node, number, text.take<bool>()), true;
  const int file = text.take<std::int32_t>();
  if (!has_joined(node, file)) return true;
  if (what == to_home::leave) {
    const auto hold = of_.lock();
    --of_.row(file).opened;
    if (--handles_.at({node, file}) == 0) handles_.erase({node, file});
    return true;
  }
  if (what == to_home::write) {
    file_entry one{.what = kind::write, .file = file};
    one.bytes = text.take<range>();
    return add(node, one, number, text);
  }
  if (what == to_home::set_size) {
    file_entry one{.what = kind::set_size, .file = file};
    one.size = text.take<std::int64_t>();
    return add(node, one, number, text);
  }
  const auto hold = of_.lock();
  if (what == to_home::ask_size) {
    send_(node, to_node(from_home::answer, number).put(of_.row(file).size).put(std::int32_t{of_.row(file).error}));
    return true;
  }
  question asked{.node = node,
                 .number = number,
                 .what = what == to_home::wait       ? kind::wait
                         : what == to_home::announce ? kind::announce
                                                     : kind::look_at_size,
                 .file = file,
                 .wanted = {},
                 .before = of_.next()};
  if (what == to_home::wait) asked.wanted = text.take<range>();
  questions_.push_back(asked);
  return true;
}

void home_of_files::join(int node, packet_reader& text) {
  const auto number = text.take<std::uint64_t>();
  const auto inode = text.take<std::uint64_t>();
  const std::string path = text.take_text();
  const auto found = status_of(path);
  std::optional<int> file;
  if (found && found->st_ino == inode) {
    const auto hold = of_.lock();
    file = of_.open({found->st_dev, found->st_ino}, path, found->st_size);
    if (file) of_.row(*file).several_nodes = true;
  }
  if (file) ++handles_[{node, *file}];
  send_(node, to_node(from_home::answer, number).put(std::int64_t{file.value_or(-1)}).put(std::int32_t{0}));
}

bool home_of_files::add(int node, file_entry one, std::uint64_t number, packet_reader& pieces) {
  const auto hold = of_.lock();
  if (of_.is_full()) return false;
  one.owner = of_.position();
  one.server = directory::server_elsewhere(node);
  if (one.what == kind::set_size)
    one.bytes = {.begin = std::min(of_.row(one.file).size, one.size)};
  else
    place_pieces(one, pieces);
  const std::uint64_t here = of_.add(one);
  if (one.pieces > 0) places_.belongs_to(one.place, here);
  const file_entry* const blocker = of_.delays(of_.entry(here));
  const bool may_begin = blocker == nullptr;
  entries_[here] = {.node = node, .number = number};
  if (!may_begin) blockers_[here] = blocker->number;
  numbers_[{node, number}] = here;
  send_(node, to_node(from_home::ordered, number).put(may_begin).put(std::int32_t{of_.row(one.file).error}).put(here));
  return true;
}

// Without room for them, the range of the entry has to do.
void home_of_files::place_pieces(file_entry& one, packet_reader& pieces) {
  const auto list = pieces.rest();
  places_.release([&](std::uint64_t number) { return of_.is_pending(number); });
  const auto place = places_.take(std::max<std::size_t>(list.size(), 1));
  if (!place) return;
  const std::size_t end = *place + list.size();
  if (end > allocated_) {
    constexpr std::size_t growth = std::size_t{1} << 20U;
    const std::size_t wanted = std::min(round_up(end, growth), places_.bytes());
    if (of_.allocate(wanted) != 0) return places_.give_back(*place);
    allocated_ = wanted;
  }
  std::memcpy(of_.arena(of_.position()).data() + *place, list.data(), list.size());
  one.place = *place;
  one.pieces = list.size() / sizeof(piece);
}

void home_of_files::end(const name& which, int error) {
  const auto known = numbers_.find(which);
  if (known == numbers_.end()) return;
  const auto hold = of_.lock();
  if (of_.is_pending(known->second)) of_.end(of_.entry(known->second), error);
  entries_.erase(known->second);
  blockers_.erase(known->second);
  numbers_.erase(known);
  some_ended_ = true;
}

void home_of_files::lost(int node) {
  if (!ended_.insert(node).second) return;
  std::erase_if(inbox_, [&](const auto& one) { return one.first == node; });
  std::erase_if(questions_, [&](const question& one) { return one.node == node; });
  for (announcement& one : announcements_) one.missing.erase(node), one.known.erase(node);
  std::vector<name> left;
  for (const auto& [which, here] : numbers_)
    if (which.first == node) left.push_back(which);
  for (const name& one : left) end(one, EIO);
  {
    const auto hold = of_.lock();
    for (const auto& [of, count] : handles_) {
      if (of.first != node) continue;
      file_row& row = of_.row(of.second);
      int none = 0;
      row.error.compare_exchange_strong(none, EIO);
      row.opened -= static_cast<std::uint32_t>(count);
    }
  }
  std::erase_if(handles_, [&](const auto& one) { return one.first.first == node; });
  look();
}

void home_of_files::begin_what_can() {
  const auto hold = of_.lock();
  for (auto one = blockers_.begin(); one != blockers_.end();) {
    auto& [here, blocker] = *one;
    const file_entry* const next = of_.is_pending(blocker) ? &of_.entry(blocker) : of_.delays(of_.entry(here));
    if (next != nullptr) {
      blocker = next->number;
      ++one;
      continue;
    }
    const entry_elsewhere& begins = entries_.at(here);
    send_(begins.node, to_node(from_home::begin, begins.number));
    one = blockers_.erase(one);
  }
}

void home_of_files::answer_what_can() {
  const auto hold = of_.lock();
  for (auto one = questions_.begin(); one != questions_.end();) {
    if (one->what == kind::announce) {
      one = announce(*one) ? questions_.erase(one) : std::next(one);
      continue;
    }
    file_row& row = of_.row(one->file);
    bool pending = one->blocker != 0 && of_.is_pending(one->blocker);
    if (!pending && one->what == kind::look_at_size) {
      pending = row.pending != 0;
    } else if (!pending) {
      const file_entry* const blocker = delays_read(of_, one->file, one->wanted, one->before);
      one->blocker = blocker != nullptr ? blocker->number : 0;
      pending = blocker != nullptr;
    }
    if (pending) {
      one->waited = true;
      ++one;
      continue;
    }
    if (one->what == kind::look_at_size)
      if (const auto found = status_of(row.path)) row.size = found->st_size;
    answer(*one, one->waited ? 1 : 0);
    one = questions_.erase(one);
  }
}

// The processes of the home close files, too.
void home_of_files::take_own_questions() {
  const auto hold = of_.lock();
  for (; cursor_ < of_.next(); ++cursor_) {
    const file_entry& one = of_.entry(cursor_);
    if (of_.is_pending(cursor_) && one.what == kind::announce)
      questions_.push_back(
          {.node = home_node, .number = cursor_, .what = one.what, .file = one.file, .wanted = {}, .before = cursor_});
  }
}

// One announcement of a file at a time: those who close it meanwhile share the next one.
bool home_of_files::announce(question& asked) {
  const file_entry* const last = of_.last_change_of(asked.file, asked.before);
  if (last == nullptr) return answer(asked, 1), true;
  for (const announcement& one : announcements_) {
    if (one.file != asked.file) continue;
    if (!one.missing.empty()) return false;
    if (last->number < one.before) return answer(asked, one.all_know ? 1 : 0), true;
  }
  announcement made{.number = ++announced_, .file = asked.file, .before = of_.next(), .missing = {}, .known = {}};
  const file_row& row = of_.row(asked.file);
  for (int node = 1; node < of_.among_nodes().nodes; ++node) {
    if (ended_.contains(node)) continue;
    made.missing.insert(node);
    send_(node, to_node(from_home::pending, made.number).put(std::uint64_t{row.inode}).put(std::string(row.path)));
  }
  if (made.missing.empty()) return answer(asked, 1), true;
  announcements_.push_back(std::move(made));
  return false;
}

void home_of_files::is_known(int node, std::uint64_t announced, bool known) {
  for (announcement& one : announcements_) {
    if (one.number != announced || one.missing.erase(node) == 0) continue;
    if (known) one.known.insert(node);
    one.all_know = one.all_know && known;
  }
}

// With the lock.
void home_of_files::answer(const question& asked, std::int64_t value) {
  const std::int32_t error = of_.row(asked.file).error;
  if (asked.node != home_node) return send_(asked.node, to_node(from_home::answer, asked.number).put(value).put(error));
  if (!of_.is_pending(asked.number)) return;
  const file_entry& one = of_.entry(asked.number);
  of_.answer_for(one.owner) = {value, error};
  of_.end(one, 0);
  some_ended_ = true;
}

void home_of_files::end_announcements() {
  const auto hold = of_.lock();
  std::erase_if(announcements_, [&](const announcement& one) {
    if (!one.missing.empty() || of_.last_change_of(one.file, one.before) != nullptr) return false;
    for (const int node : one.known) send_(node, to_node(from_home::written, one.number));
    return true;
  });
}

// Servers write parts of collective calls that somebody waits for.
void home_of_files::hurry() {
  let_writers_hurry(std::ranges::any_of(questions_, [](const question& one) { return one.what != kind::announce; }));
  if (of_.waiting() == 0) return;
  std::map<int, std::uint64_t> last;  // by node
  for (auto one = entries_.upper_bound(hurried_); one != entries_.end(); ++one) {
    last[one->second.node] = one->second.number;
    hurried_ = one->first;
  }
  for (const auto& [node, number] : last) send_(node, to_node(from_home::hurry, number));
}

void home_of_files::let_writers_hurry(bool some_wait) {
  if (some_wait == std::exchange(some_wait_, some_wait)) return;
  if (!some_wait) return void(--of_.waiting());
  ++of_.waiting();
  ++of_.work();
  of_.wake_all_for(of_.work());
}

}  // namespace lull::stage
