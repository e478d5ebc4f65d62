#include "stage/shared/piece_writer.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <mutex>
#include <utility>

#include "base/blocked_signals.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/futex.hpp"

namespace lull::stage {
namespace {

using kind = file_entry::kind;

constexpr std::size_t most_together = 4096;  // entries
constexpr std::int64_t no_work_ns = 100'000'000, part_missing_ns = 2'000'000;

struct run {
  std::int64_t offset, length;
  std::byte* data;
};

// The pieces of all entries, by offset; in their own order if any two of them overlap, so that the last one wins.
std::vector<run> runs_of(const directory& of, const std::vector<file_entry>& batch) {
  std::vector<run> runs;
  for (const file_entry& one : batch) {
    std::byte* data = of.arena(one.owner).data() + one.place + one.pieces * sizeof(piece);
    for (const piece& each : of.pieces_of(one)) {
      runs.push_back({each.offset, each.length, data});
      data += each.length;
    }
  }
  std::vector<run> sorted = runs;
  std::ranges::stable_sort(sorted, {}, &run::offset);
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i - 1].offset + sorted[i - 1].length > sorted[i].offset) return runs;
  return sorted;
}

// Writes all at `offset`, also in several calls. Returns 0 or errno.
int write_all(int file, std::vector<iovec>& parts, std::int64_t offset) {
  std::size_t first = 0;
  while (first < parts.size()) {
    const ssize_t written = pwritev(file, &parts[first], static_cast<int>(parts.size() - first), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    offset += written;
    auto left = static_cast<std::size_t>(written);
    while (first < parts.size() && left >= parts[first].iov_len) left -= parts[first++].iov_len;
    if (first == parts.size()) break;
    parts[first].iov_base = static_cast<std::byte*>(parts[first].iov_base) + left;
    parts[first].iov_len -= left;
  }
  return 0;
}

}  // namespace

piece_writer::piece_writer(directory& of, int server, storage_limit storage)
    : of_(of), server_(server), storage_(std::move(storage)) {}

piece_writer::outcome piece_writer::write_next(bool wait) {
  bool has_some = false;
  const std::uint32_t work = of_.work();
  const std::uint32_t changed = of_.changed();
  const std::vector<file_entry> batch = next_batch(has_some);
  if (batch.empty()) {
    if (has_some && wait) {
      if (!futex_wait(of_.changed(), changed, part_missing_ns, futex_users::several_processes)) of_.see_to_link();
    } else if (wait) {
      futex_wait(of_.work(), work, no_work_ns, futex_users::several_processes);
    }
    return has_some ? outcome::waits : outcome::nothing;
  }
  const std::int64_t begin_ns = now_ns();
  figures_ = {};
  const int error = carry_out(batch);
  if (of_.position() == server_) figures_.writing_ns = now_ns() - begin_ns;
  {
    const auto hold = of_.lock();
    if (error != 0 && of_.row(batch.front().file).error == 0) ++figures_.failed;
    of_.figures_of(server_) += figures_;
    for (const file_entry& one : batch) of_.end(one, error);
  }
  of_.wake_all_for(of_.changed());
  return outcome::wrote;
}

std::vector<file_entry> piece_writer::next_batch(bool& has_some) {
  std::vector<file_entry> batch;
  const auto hold = of_.lock();
  for (cursor_ = std::max(cursor_, of_.oldest()); cursor_ < of_.next(); ++cursor_)
    if (of_.is_pending(cursor_) && of_.entry(cursor_).server == server_) break;
  has_some = cursor_ < of_.next();
  if (!has_some) return batch;
  look_at(of_.entry(cursor_).file);
  if (!can_begin(of_.entry(cursor_)) || !is_complete(of_.entry(cursor_))) return batch;
  for (std::uint64_t number = cursor_; number < of_.next() && batch.size() < most_together; ++number) {
    const file_entry& one = of_.entry(number);
    if (!of_.is_pending(number) || one.server != server_) continue;
    const bool joins = batch.empty() || (one.file == batch.front().file && one.what == kind::write && can_begin(one) &&
                                         is_complete(one));
    if (!joins) break;
    batch.push_back(one);
    if (one.what != kind::write) break;
  }
  return batch;
}

// With the lock. Once for all entries of a batch: there may be thousands of them, and of others.
void piece_writer::look_at(int file) {
  others_.clear();
  there_.clear();
  for (std::uint64_t number = of_.row(file).first; number != 0; number = of_.entry(number).next) {
    const file_entry& one = of_.entry(number);
    if (!one.pending || one.is_request()) continue;
    if (one.server != server_)
      others_.push_back(&one);
    else if (one.of.name != 0 && one.of.last)
      ++there_[one.of.name];
  }
}

// With the lock.
bool piece_writer::can_begin(const file_entry& one) const {
  if (!one.may_begin) return false;
  for (const file_entry* const other : others_) {
    if (other->number > one.number) break;
    if (of_.delays(*other, one)) return false;
  }
  return true;
}

// With the lock.
bool piece_writer::is_complete(const file_entry& one) const {
  if (one.hurries || one.what != kind::write || one.of.name == 0 || one.of.processes <= 1) return true;
  if (of_.waiting() != 0 || of_.is_full() || now_ns() - one.handed_over_ns > gathering_ns) return true;
  const auto there = there_.find(one.of.name);
  return there != there_.end() && there->second >= one.of.processes;
}

int piece_writer::carry_out(const std::vector<file_entry>& batch) {
  const file_entry& first = batch.front();
  opened& file = open_[static_cast<std::size_t>(first.file)];
  if (first.what == kind::close) {
    ++figures_.written.files;
    return file.file.close();
  }
  const int failed = open(first.file);
  if (first.what == kind::open) return 0;  // its first write tries again
  if (failed != 0) return failed;
  if (first.what == kind::set_size) return ftruncate(file.file.get(), first.size) == 0 ? 0 : errno;
  return write(file.file.get(), batch);
}

// The file that had this path when it was opened. In a process of the program, open() would wait for this writer.
int piece_writer::open(int file) {
  const file_row& row = of_.row(file);
  opened& known = open_[static_cast<std::size_t>(file)];
  if (known.file && known.generation == row.generation) return 0;
  known.file = descriptor(static_cast<int>(syscall(SYS_openat, AT_FDCWD, row.path, O_WRONLY | O_CLOEXEC)));
  known.generation = row.generation;
  if (!known.file) return errno;
  struct stat found {};
  if (fstat(known.file.get(), &found) != 0) return errno;
  if (found.st_ino == row.inode && found.st_dev == row.device) return 0;
  known.file = {};
  return ESTALE;
}

int piece_writer::write(int file, const std::vector<file_entry>& batch) {
  const std::vector<run> runs = runs_of(of_, batch);
  std::vector<iovec> parts;
  for (std::size_t i = 0; i < runs.size();) {
    parts.clear();
    const std::int64_t begin = runs[i].offset;
    std::int64_t end = begin;
    for (; i < runs.size() && runs[i].offset == end && parts.size() < IOV_MAX; end += runs[i++].length)
      parts.push_back({runs[i].data, static_cast<std::size_t>(runs[i].length)});
    storage_.pass(static_cast<std::uint64_t>(end - begin));
    ++figures_.shared_writes;
    if (const int failed = write_all(file, parts, begin); failed != 0) return failed;
    figures_.written.bytes += static_cast<std::uint64_t>(end - begin);
  }
  return 0;
}

bool stand_in::write(const std::function<bool()>& enough) {
  const std::unique_lock own(mutex_, std::try_to_lock);
  if (!own) return false;  // another thread does it, or this one, below a signal's handler
  bool wrote = false;
  for (bool again = true; again;) {
    again = false;
    for (int server = 0; server < static_cast<int>(of_->processes()); ++server)
      again |= of_->serves(server) && write_for(server, enough);
    wrote |= again;
    if (again && enough()) break;
  }
  return wrote;
}

bool stand_in::write_for(int server, const std::function<bool()>& enough) {
  if (!of_->writing(server).try_lock()) return false;
  std::unique_ptr<piece_writer>& writer = writers_[server];
  if (!writer) writer = std::make_unique<piece_writer>(*of_, server, storage_);
  bool wrote = false;
  while (writer->write_next(false) == piece_writer::outcome::wrote) {
    wrote = true;
    if (enough()) break;
  }
  of_->writing(server).unlock();
  return wrote;
}

server_thread::server_thread(std::shared_ptr<directory> of, int server, const storage_limit& storage)
    : of_(std::move(of)), server_(server), writer_(*of_, server, storage) {
  const blocked_signals in_the_thread;
  thread_ = std::jthread([this](const std::stop_token& end) { work(end); });
}

void server_thread::work(const std::stop_token& end) {
  const std::lock_guard lives(of_->writing(server_));
  of_->begin_serving(server_);
  while (writer_.write_next(true) != piece_writer::outcome::nothing || !end.stop_requested()) continue;
}

server_figures server_thread::finish() {
  thread_.request_stop();
  thread_.join();
  const auto hold = of_->lock();
  for (int file = 0; file < static_cast<int>(directory::most_files); ++file) {
    file_row& row = of_->row(file);
    if (row.error != 0 && !std::exchange(row.error_is_reported, true))
      fmt::print(stderr, "lull: write {}: {}\n", row.path, describe_errno(row.error));
  }
  return of_->figures_of(server_);
}

}  // namespace lull::stage
