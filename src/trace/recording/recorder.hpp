// Records the calls of this process into the files that raw.hpp defines.
//
//   static recorder& recorder::of_process();     created by the first call, if LULL_TRACE names a folder
//   thread_log& recorder::log();                 of the calling thread
//   log.put({...});                              some 2 ns: a store of 32 bytes and one of 8, and a comparison
//
// A record goes into a window of the file that stays mapped; one in 2048 finds the window full and appends it to the
// file. Each page is thus touched once, without a page fault for every 128 records, which would cost ten times as much
// as the record; and a process that is killed loses nothing. Under LULL_TRACE_FORM=folded, the window is folded instead
// (folded_writer.hpp), which for regular programs costs less than the kernel's work for the file.
//
// No exception reaches the program. If a file cannot be extended (disk full, LULL_TRACE_LIMIT reached), the log reports
// it once on stderr, counts the lost records, and leaves the count in the file. After a fork only the parent continues
// to record: in the child every call does nothing.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "base/ticks.hpp"
#include "trace/raw.hpp"

namespace lull::trace {

class folded_writer;
class recorder;

// The log of one thread, which is its only writer.
class thread_log {
 public:
  thread_log(const thread_log&) = delete;
  thread_log& operator=(const thread_log&) = delete;
  ~thread_log();

  void put(const record& r) noexcept {
    if (next_ == end_) [[unlikely]]
      if (!save()) return;
    *next_++ = r;  // NOLINT(clang-analyzer-core.CallAndMessage): both are null together, which save() sees
    tell_next();
  }
  // A call from `begin` to now; a duration of more than 32 bits takes a second record.
  void put_call(record r) noexcept {
    const std::uint64_t took = ticks_since(r.begin);
    r.duration = static_cast<std::uint32_t>(took);
    put(r);
    if (took >> 32 != 0) [[unlikely]]
      put({.bytes = static_cast<std::uint32_t>(took >> 32), .what = kind::longer});
  }

  // The end of the last record, which may still be changed while this does not change.
  [[nodiscard]] record* next() const noexcept { return next_; }

 private:
  friend class recorder;
  explicit thread_log(recorder& owner);
  void open(const std::string& path) noexcept;
  bool fold_into(const std::string& path) noexcept;
  // Makes space in the window; returns false if this record is lost, and counts it.
  [[gnu::cold]] bool save() noexcept;
  bool write_window() noexcept;             // appends the window to the saved records; false: it stays, and no more fit
  bool fold_window(bool is_last) noexcept;  // the same, of a folded log
  bool append(int file, const void* from, std::size_t bytes) noexcept;
  // For readers of the file of a killed process. The compiler must not move this store before the record is written;
  // the kernel sees both stores, in this order, on any machine.
  void tell_next() noexcept {
    std::atomic_ref(header_->next).store(reinterpret_cast<std::uint64_t>(next_), std::memory_order_release);
  }
  void end() noexcept;     // no more writes: the file is truncated to its used part
  void forget() noexcept;  // in a forked child: leaves the parent's file alone

  record* next_ = nullptr;
  record* end_ = nullptr;
  recorder& owner_;
  log_header* header_ = nullptr;  // null: ended, or never opened
  record* window_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  descriptor file_;
  bool full_ = false;
  std::unique_ptr<folded_writer> folded_;  // null: raw
  descriptor folded_file_;
  std::string path_;
};

// What a process defines, once each. Numbers are local to this process; the archive's numbers are assigned when it is
// made. A number may be redefined after the object that it referred to has been freed: it refers to the new one in
// calls that begin from then on.
class recorder {
 public:
  [[nodiscard]] static bool wanted() noexcept;  // LULL_TRACE names a folder
  [[nodiscard]] static recorder& of_process();
  [[nodiscard]] thread_log& log() noexcept {
    thread_log* const mine = of_thread_;
    return mine != nullptr ? *mine : make_log();
  }

  // `paradigm`: "mpi", "shmem" or "user". Regions are numbered from `first` on, in the given order.
  void define_regions(std::string_view paradigm, std::uint16_t first, std::span<const std::string_view> names) noexcept;
  void define_process(int rank, int size, std::string_view paradigm, std::string_view library) noexcept;
  // Members are ranks of the world. Communicators with the same members are distinguished by their order of creation,
  // which is the same on all members. `remote`: the other group of an inter-communicator, to which the peers of
  // messages belong.
  void define_communicator(std::uint16_t number, std::span<const int> members, std::string_view name,
                           std::span<const int> remote = {}) noexcept;
  void name_communicator(std::uint16_t number, std::string_view name) noexcept;
  void define_window(std::uint16_t number, std::uint16_t communicator, std::string_view name) noexcept;
  // The frequency of the tick counter, measured since the recorder was created; waits until that is a millisecond ago.
  [[nodiscard]] double ticks_per_ns() const noexcept;
  // Records a pair of clocks; called automatically at the begin, at the exit, and from time to time while records are
  // written.
  void take_clocks() noexcept;
  // The program has ended in order. Later calls are not recorded.
  void close() noexcept;
  // This process is not part of the program: removes its records. Later calls are not recorded.
  void withdraw() noexcept;

 private:
  friend class thread_log;
  explicit recorder(const std::string& folder);
  thread_log& make_log() noexcept;
  void append(const std::string& line) noexcept;            // to the definitions
  void complain(const char* found) noexcept;                // once
  [[nodiscard]] bool may_take(std::size_t bytes) noexcept;  // of the remaining limit
  void clocks_now_and_then() noexcept;
  void at_exit() noexcept;
  void stop_in_child() noexcept;
  void let_go_of_files() noexcept;

  static constinit thread_local thread_log* of_thread_ [[gnu::tls_model("initial-exec")]];

  const std::uint64_t began_ticks_ = ticks();
  const std::int64_t began_ns_ = now_ns();
  std::string path_;  // prefix of the files' paths
  descriptor definitions_;
  std::mutex lock_;
  std::vector<std::unique_ptr<thread_log>> logs_;
  std::atomic<std::size_t> logs_made_ = 0;  // when the first record of the last one is put, or before
  std::atomic<std::size_t> left_;
  bool folds_ = false;  // LULL_TRACE_FORM=folded
  std::atomic<std::int64_t> clocks_taken_ns_ = 0;
  std::atomic<bool> off_ = false, complained_ = false;
};

}  // namespace lull::trace
