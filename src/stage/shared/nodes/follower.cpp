#include "stage/shared/nodes/follower.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "stage/shared/file_systems.hpp"

namespace lull::stage {
namespace {

using kind = file_entry::kind;

to_home name_of(kind what) {
  switch (what) {
    case kind::join:
      return to_home::join;
    case kind::leave:
      return to_home::leave;
    case kind::set_size:
      return to_home::set_size;
    case kind::wait:
      return to_home::wait;
    case kind::ask_size:
      return to_home::ask_size;
    case kind::look_at_size:
      return to_home::look_at_size;
    case kind::announce:
      return to_home::announce;
    default:
      return to_home::write;
  }
}

}  // namespace

follower_of_home::follower_of_home(directory& of, send_function send) : of_(of), send_(std::move(send)) {}

bool follower_of_home::is_idle() const {
  const auto hold = of_.lock();
  return announced_.empty() && cursor_ == of_.next();
}

packet follower_of_home::announcement(const file_entry& one) const {
  const file_row& row = of_.row(one.file);
  packet text;
  text.put(name_of(one.what)).put(one.number);
  if (one.what == kind::join) return text.put(std::uint64_t{row.inode}).put(std::string(row.path));
  text.put(row.at_home);
  if (one.what == kind::write) return text.put(one.bytes).put_bytes(std::as_bytes(of_.pieces_of(one)));
  if (one.what == kind::set_size) return text.put(one.size);
  if (one.what == kind::wait) return text.put(one.wanted);
  return text;
}

void follower_of_home::look() {
  std::vector<packet> texts;
  bool some_ended = false;
  {
    const auto hold = of_.lock();
    const bool some_changed = std::exchange(seen_, of_.changed().load()) != of_.changed();
    for (auto one = announced_.begin(); some_changed && one != announced_.end();) {
      if (of_.is_pending(one->first)) {
        ++one;
        continue;
      }
      texts.push_back(packet().put(to_home::done).put(one->first).put(std::int32_t{of_.row(one->second).error}));
      one = announced_.erase(one);
    }
    for (; cursor_ < of_.next(); ++cursor_) {
      if (!of_.is_pending(cursor_)) continue;
      const file_entry& one = of_.entry(cursor_);
      if (one.ordered && one.what != kind::leave) continue;
      texts.push_back(announcement(one));
      if (one.what == kind::leave) {
        of_.end(one, 0);
        some_ended = true;
      } else if (!one.is_request()) {
        announced_[cursor_] = one.file;
      }
    }
  }
  for (packet& one : texts) send_(home_node, std::move(one));
  if (some_ended) of_.wake_all_for(of_.changed());
}

void follower_of_home::take(packet_reader text) {
  const auto what = text.take<from_home>();
  if (what == from_home::hello) return;
  const auto number = text.take<std::uint64_t>();
  if (what == from_home::pending) {
    const auto inode = text.take<std::uint64_t>();
    const bool known = is_pending_elsewhere(number, inode, text.take_text());
    return send_(home_node, packet().put(to_home::known).put(number).put(known));
  }
  if (what == from_home::written) return is_written_elsewhere(number);
  {
    const auto hold = of_.lock();
    if (what != from_home::hurry && !of_.is_pending(number)) return;
    file_entry& one = of_.entry(number);
    if (what == from_home::answer) {
      answer_of_home& to = of_.answer_for(one.owner);
      to.value = text.take<std::int64_t>();
      to.error = text.take<std::int32_t>();
      int none = 0;
      if (to.error != 0) of_.row(one.file).error.compare_exchange_strong(none, to.error);
      of_.end(one, 0);
    } else if (what == from_home::ordered) {
      one.ordered = true;
      one.may_begin = text.take<bool>();
      int none = 0;
      if (const auto failed = text.take<std::int32_t>(); failed != 0)
        of_.row(one.file).error.compare_exchange_strong(none, failed);
      one.order = text.take<std::uint64_t>();
      ++of_.changed();
    } else if (what == from_home::begin) {
      one.may_begin = true;
      ++of_.changed();
    } else {
      for (hurried_ = std::max(hurried_, of_.oldest()); hurried_ <= number && hurried_ < of_.next(); ++hurried_)
        of_.entry(hurried_).hurries = true;
      ++of_.changed();
    }
    ++of_.work();
  }
  of_.wake_all_for(of_.work());
  of_.wake_all_for(of_.changed());
}

bool follower_of_home::is_pending_elsewhere(std::uint64_t announced, std::uint64_t inode, const std::string& path) {
  const auto found = status_of(path);
  if (!found || found->st_ino != inode) return false;
  const auto hold = of_.lock();
  if (of_.is_full() || of_.order_is_lost()) return false;
  const auto file = of_.open({found->st_dev, found->st_ino}, path, found->st_size);
  if (!file) return false;
  elsewhere_[announced] = of_.add({.what = kind::elsewhere,
                                   .file = *file,
                                   .owner = of_.position(),
                                   .server = directory::server_elsewhere(home_node)});
  --of_.row(*file).opened;
  return true;
}

void follower_of_home::is_written_elsewhere(std::uint64_t announced) {
  const auto known = elsewhere_.extract(announced);
  if (known.empty()) return;
  {
    const auto hold = of_.lock();
    if (of_.is_pending(known.mapped())) of_.end(of_.entry(known.mapped()), 0);
  }
  of_.wake_all_for(of_.changed());
}

void follower_of_home::lost_home() {
  {
    const auto hold = of_.lock();
    of_.give_up_order();
  }
  of_.wake_all_for(of_.work());
  of_.wake_all_for(of_.changed());
}

}  // namespace lull::stage
