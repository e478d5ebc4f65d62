#include "stage/shared/node_files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/futex.hpp"
#include "base/pages.hpp"
#include "stage/shared/file_systems.hpp"

namespace lull::stage {
namespace {

using kind = file_entry::kind;

constexpr std::int64_t look_again_ns = 50'000'000;
// Of an arena, allocated and mapped before its first use.
constexpr std::size_t warm_bytes = std::size_t{8} << 20U;
constexpr std::size_t growth = std::size_t{4} << 20U;

std::string real_path_of(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path real = std::filesystem::canonical(path, failed);
  return failed ? path : real.string();
}

// Whether it ends, or gets its place, without that anything is written; not if the table of the home is full.
bool waits_for_answer_only(const file_entry& one) {
  constexpr std::array need_writing{kind::wait, kind::look_at_size, kind::elsewhere};
  return one.is_request() ? std::ranges::find(need_writing, one.what) == need_writing.end() : !one.ordered;
}

}  // namespace

node_files::node_files(std::shared_ptr<directory> of, settings how, storage_limit storage)
    : of_(std::move(of)), how_(std::move(how)), storage_(std::move(storage)), lost_servers_(of_, storage_) {
  if (of_ && of_->server() >= 0 && !how_.verify_in.empty()) try {
      checks_ = std::make_unique<checksum_log>(how_.verify_in);
    } catch (const lull::error& problem) {  // the server finds one log too few
      fmt::print(stderr, "lull: {}\n", problem.what());
    }
}

// Touches the first pages, of which the first writes then need no more.
void node_files::start_arena() {
  if (arena_) return;
  const auto mine = of_->arena(of_->position());
  arena_.emplace(mine.size());
  const std::size_t warm = std::min(warm_bytes, mine.size());
  if (of_->allocate(warm) != 0) return;
  allocated_ = warm;
#ifdef MADV_POPULATE_WRITE
  (void)madvise(mine.data(), warm, MADV_POPULATE_WRITE);
#endif
}

std::optional<int> node_files::open(const std::string& path, bool for_writing) {
  if (!of_ || of_->server() < 0) return std::nullopt;
  const auto found = status_of(path);
  if (!found) return std::nullopt;
  const std::string name = real_path_of(path);
  if (!shows_writes_of_other_nodes(name, of_->among_nodes())) return std::nullopt;
  std::optional<int> file;
  bool is_first_writer = false;
  {
    const auto hold = of_->lock();
    file = of_->open({found->st_dev, found->st_ino}, name, found->st_size);
    if (!file) return std::nullopt;
    is_first_writer = for_writing && !std::exchange(of_->row(*file).is_written, true);
  }
  if (for_writing) {
    const std::lock_guard hold(mutex_);
    start_arena();
  }
  if (is_first_writer) hand_over({.what = kind::open, .file = *file});
  if (of_->is_home() || join_others(*file)) return file;
  (void)close(*file);
  return std::nullopt;
}

// The home must see the same file.
bool node_files::join_others(int file) {
  const answer_of_home got = ask({.what = kind::join, .file = file});
  const auto hold = of_->lock();
  of_->row(file).at_home = static_cast<std::int32_t>(got.value);
  return got.value >= 0;
}

// The path calls of other nodes wait for what is under way here only if these nodes know of it.
bool node_files::is_announced(int file) {
  if (of_->among_nodes().nodes <= 1 || !of_->among_nodes().all_are_served) return of_->among_nodes().all_are_served;
  if (of_->is_home()) {
    const auto hold = of_->lock();
    if (of_->row(file).pending == 0) return true;
  }
  return ask({.what = kind::announce, .file = file}).value == 1;
}

int node_files::close(int file) {
  if (how_.close_waits || !is_announced(file)) (void)wait(file, {});
  bool has_joined = false;
  {
    const auto hold = of_->lock();
    has_joined = of_->row(file).at_home >= 0;
  }
  const int failed = error(file);
  if (has_joined) hand_over({.what = kind::leave, .file = file});
  bool is_last_writer = false;
  {
    const auto hold = of_->lock();
    file_row& row = of_->row(file);
    is_last_writer = row.opened == 1 && row.is_written;
    if (!is_last_writer) --row.opened;
  }
  if (is_last_writer) {
    hand_over({.what = kind::close, .file = file, .bytes = {}});
    const auto hold = of_->lock();
    --of_->row(file).opened;
    const std::lock_guard own(mutex_);
    ++figures_.handed_over.files;
  }
  return failed;
}

std::size_t node_files::most_bytes() const { return of_->arena(of_->position()).size() / 2; }
std::size_t node_files::most_pieces() const {
  constexpr std::size_t most_of_message = std::size_t{1} << 16U;
  const std::size_t fit = most_bytes() / 2 / sizeof(piece);
  return of_->is_home() ? fit : std::min(fit, most_of_message);
}

std::size_t node_files::usable_bytes() {
  const std::lock_guard hold(mutex_);
  return arena_->bytes();
}

std::byte* node_files::room(std::size_t pieces, std::size_t bytes) {
  const std::int64_t begin_ns = now_ns();
  const std::size_t needed = pieces * sizeof(piece) + bytes;
  std::optional<std::size_t> place;
  // Each look under both locks: others of this process's threads may take what has become free.
  const auto look = [&]() -> const file_entry* {
    const std::lock_guard hold(mutex_);
    if (place) return nullptr;
    arena_->release([&](std::uint64_t number) { return of_->is_pending(number); });
    if (needed > arena_->bytes()) return nullptr;  // there will never be room
    place = arena_->take(needed);
    return place ? nullptr : of_->pending_of(of_->position(), of_->next());
  };
  while (!place && needed <= usable_bytes()) (void)wait_while(look);
  const std::lock_guard hold(mutex_);
  figures_.stalled_ns += now_ns() - begin_ns;
  if (!place) return nullptr;
  const std::size_t end = *place + needed;
  if (end > allocated_) {
    const std::size_t wanted = std::min(round_up(end, growth), of_->arena(of_->position()).size());
    if (of_->allocate(wanted) != 0) {  // the caller tries again with less, in the pages that there are
      arena_->give_back(*place);
      arena_->limit(allocated_);
      return nullptr;
    }
    allocated_ = wanted;
  }
  return of_->arena(of_->position()).data() + *place + pieces * sizeof(piece);
}

void node_files::write(int file, std::span<const piece> pieces, std::byte* data, const collective_call& of) {
  std::byte* const begin = data - pieces.size_bytes();
  std::memcpy(begin, pieces.data(), pieces.size_bytes());
  std::uint64_t bytes = 0;
  for (const piece& one : pieces) bytes += static_cast<std::uint64_t>(one.length);
  std::vector<checksum_record> sums;
  if (checks_) sums = checksum_log::sums_of(pieces, data);
  const std::uint64_t number =
      hand_over({.what = kind::write,
                 .file = file,
                 .bytes = range_of(pieces),
                 .place = static_cast<std::uint64_t>(begin - of_->arena(of_->position()).data()),
                 .pieces = pieces.size(),
                 .length = bytes,
                 .of = of});
  if (of.last || checks_) wait_for_order(number);  // the parts before it have their places, too
  if (checks_) checks_->wrote(of_->row(file).path, of_->row(file).inode, order_of(number), std::move(sums));
  const std::lock_guard hold(mutex_);
  figures_.handed_over.bytes += bytes;
  figures_.shared.calls += of.last ? 1 : 0;
  figures_.shared.pieces += pieces.size();
  figures_.shared.bytes += bytes;
}

void node_files::write_nothing(int file, const collective_call& of) {
  if (of.name != 0 && of.processes > 1) hand_over({.what = kind::write, .file = file, .of = of});
}

void node_files::set_size(int file, std::int64_t bytes) {
  std::int64_t before = 0;
  {
    const auto hold = of_->lock();
    before = of_->row(file).size;
  }
  if (!of_->is_home()) before = 0;  // it may be smaller at the home
  const std::uint64_t number =
      hand_over({.what = kind::set_size, .file = file, .bytes = {.begin = std::min(before, bytes)}, .size = bytes});
  wait_for_order(number);
  if (checks_) checks_->set_size(of_->row(file).path, of_->row(file).inode, order_of(number), bytes);
}

// An entry that has ended may have left its place in the table to another one.
std::uint64_t node_files::order_of(std::uint64_t number) {
  if (of_->is_home()) return number;
  const auto hold = of_->lock();
  return of_->entry(number).number == number ? of_->entry(number).order : 0;
}

void node_files::wait_for_order(std::uint64_t number) {
  if (of_->is_home()) return;
  (void)wait_while([&]() -> const file_entry* {
    return of_->is_pending(number) && !of_->entry(number).ordered ? &of_->entry(number) : nullptr;
  });
}

answer_of_home node_files::ask(file_entry request) {
  const std::lock_guard own(asking_);
  const std::uint64_t number = hand_over(request);
  if (number == 0) return {-1, EIO};
  (void)wait_while([&] { return of_->is_pending(number) ? &of_->entry(number) : nullptr; });
  const auto hold = of_->lock();
  return of_->answer_for(of_->position());
}

std::uint64_t node_files::hand_over(file_entry one) {
  one.owner = of_->position();
  one.server = one.is_request() ? no_server : of_->server();
  const bool changes_bytes = one.what == kind::set_size || (one.what == kind::write && one.pieces > 0);
  one.ordered = one.may_begin = of_->is_home() || !(changes_bytes || one.is_request());
  std::uint64_t number = 0;
  for (;;) {
    {
      const auto hold = of_->lock();
      if (one.is_request() && of_->order_is_lost()) return 0;
      if (!of_->is_full()) {
        one.handed_over_ns = now_ns();
        number = of_->add(one);
        if (one.pieces > 0) {
          const std::lock_guard own(mutex_);
          arena_->belongs_to(one.place, number);
        }
        break;
      }
    }
    (void)wait_while([&]() -> const file_entry* { return of_->is_full() ? &of_->entry(of_->oldest()) : nullptr; });
  }
  of_->wake_all_for(of_->work());
  return number;
}

std::int64_t node_files::size(int file) {
  if (!of_->is_home())
    if (const answer_of_home got = ask({.what = kind::ask_size, .file = file}); got.value >= 0) return got.value;
  const auto hold = of_->lock();
  return of_->row(file).size;
}

void node_files::look_at_size(int file) {
  if (!of_->is_home() && ask({.what = kind::look_at_size, .file = file}).value >= 0) return;
  for (;;) {
    // For every entry: one of a collective call may have no bytes.
    (void)wait_while([&] { return of_->pending_for(file, of_->next()); });
    const auto hold = of_->lock();
    file_row& row = of_->row(file);
    if (row.pending != 0) continue;
    if (const auto found = status_of(row.path)) row.size = found->st_size;
    return;
  }
}

template <class Pending>
bool node_files::wait_while(const Pending& pending) {
  bool slept = false, timed_out = false;
  const auto is_over = [&] {
    const auto hold = of_->lock();
    return pending() == nullptr;
  };
  for (;;) {
    std::uint32_t seen = 0;
    bool needs_writing = false;
    {
      const auto hold = of_->lock();
      const file_entry* const one = pending();
      if (one == nullptr) break;
      needs_writing = timed_out || !waits_for_answer_only(*one);
      seen = of_->changed();
    }
    if (!std::exchange(slept, true)) {
      ++of_->waiting();
      ++of_->work();
      ++of_->news();
      of_->wake_all_for(of_->work());
      of_->wake_all_for(of_->changed());
    }
    if (needs_writing && lost_servers_.write(is_over)) continue;
    timed_out = !futex_wait(of_->changed(), seen, look_again_ns, futex_users::several_processes);
    if (timed_out) of_->see_to_link();
  }
  if (slept) --of_->waiting();
  return slept;
}

bool node_files::wait(int file, const range& bytes) {
  const std::int64_t begin_ns = now_ns();
  std::uint64_t before = 0;
  std::int64_t waited = -1;
  if (!of_->is_home()) waited = ask({.what = kind::wait, .file = file, .wanted = bytes}).value;
  if (waited < 0)
    waited = wait_while([&] {
      if (before == 0) before = of_->next();
      return delays_read(*of_, file, bytes, before);
    });
  if (waited == 0) return false;
  const std::lock_guard hold(mutex_);
  figures_.stalled_ns += now_ns() - begin_ns;
  return true;
}

void node_files::wait_outside(const file_identity* which) noexcept {
  const auto pending = [&] { return which != nullptr ? of_->find(*which).has_value() : of_->any_pending(); };
  if (!of_ || !pending()) return;
  ++of_->waiting();
  ++of_->work();
  ++of_->news();
  of_->wake_all_for(of_->work());
  of_->wake_all_for(of_->changed());
  while (pending()) {
    const std::uint32_t seen = of_->changed();
    if (!pending()) break;
    if (lost_servers_.write([&] { return !pending(); })) continue;
    if (!futex_wait(of_->changed(), seen, look_again_ns, futex_users::several_processes)) of_->see_to_link();
  }
  --of_->waiting();
}

void node_files::wait_for(const std::string& path) {
  if (!of_ || !of_->any_pending()) return;
  const auto found = status_of(path);
  if (!found) return;
  const auto file = of_->find({found->st_dev, found->st_ino});
  if (!file) return;
  std::uint64_t before = 0;
  (void)wait_while([&] {
    if (before == 0) before = of_->next();
    return of_->pending_for(*file, before);
  });
}

// The program may end because of it: what a server that died has left is written before.
int node_files::error(int file) {
  if (of_->row(file).error != 0)
    (void)wait_while([&] { return of_->is_away(of_->server()) ? of_->pending_at(of_->server()) : nullptr; });
  const auto hold = of_->lock();
  file_row& row = of_->row(file);
  if (row.error != 0 && !std::exchange(row.error_is_reported, true))
    fmt::print(stderr, "lull: write {}: {}\n", row.path, describe_errno(row.error));
  return row.error;
}

std::uint64_t node_files::calls() {
  const std::lock_guard hold(mutex_);
  return figures_.shared.calls + own_calls_;
}

int node_files::server() const {
  if (!of_ || of_->server() < 0) return no_server;
  return of_->among_nodes().node * static_cast<int>(directory::most_processes) + of_->server();
}

void node_files::wrote_itself(std::int64_t begin_ns, std::uint64_t bytes) {
  storage_.pass(bytes);
  const std::lock_guard hold(mutex_);
  ++own_calls_;
  figures_.writing_ns += now_ns() - begin_ns;
  figures_.wrote_itself.bytes += bytes;
}

void node_files::count_read(bool waited) {
  const std::lock_guard hold(mutex_);
  ++figures_.shared.reads;
  figures_.shared.reads_waited += waited ? 1 : 0;
}

void node_files::count_declined(int file) {
  if (checks_ && file >= 0) checks_->declined(of_->row(file).path, of_->row(file).inode);
  const std::lock_guard hold(mutex_);
  ++figures_.shared.declined;
}

void node_files::finish() {
  if (!of_) return;
  std::uint64_t before = 0;
  (void)wait_while([&] {
    if (before == 0) before = of_->next();
    return of_->pending_of(of_->position(), before);
  });
  if (checks_) checks_->end();
}

std::vector<std::string> node_files::failures() {
  std::vector<std::string> lines;
  if (!of_) return lines;
  const auto hold = of_->lock();
  for (int file = 0; file < static_cast<int>(directory::most_files); ++file) {
    file_row& row = of_->row(file);
    if (row.error == 0 || std::exchange(row.error_is_reported, true)) continue;
    lines.push_back(fmt::format("write {}: {}", row.path, describe_errno(row.error)));
  }
  return lines;
}

void node_files::add_to(client_figures& all) {
  const std::lock_guard hold(mutex_);
  all += figures_;
}

}  // namespace lull::stage
