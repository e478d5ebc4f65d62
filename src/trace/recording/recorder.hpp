// Records the calls of this process into the files of raw.hpp.
//
//   static recorder& recorder::of_process();     made by the first that asks, when LULL_TRACE names a folder
//   thread_log& recorder::log();                 of the calling thread
//   log.put({...});                              some 2 ns: a store of 32 bytes and one of 8, and a comparison
//
// A record goes into a window of the file that stays mapped; one in 2048 finds it full and writes it behind. So pages are
// touched once, and not at a fault for each 128 records, which would cost ten times as much as the record; and a process
// that is killed has lost nothing.
//
// Nothing here throws into a program: when a file can be written no further (disk full, LULL_TRACE_LIMIT reached) the log
// says so once on stderr, counts what it does not keep and leaves the count in the file. A process that forks goes on in
// the parent alone: in the child every call does nothing.
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
#include "trace/recording/raw.hpp"

namespace lull::trace {

class recorder;

// Of one thread, which alone writes to it.
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
  // A call from `begin` to now; a duration over 32 bits takes a second record.
  void put_call(record r) noexcept {
    const std::uint64_t took = ticks_since(r.begin);
    r.duration = static_cast<std::uint32_t>(took);
    put(r);
    if (took >> 32 != 0) [[unlikely]]
      put({.bytes = static_cast<std::uint32_t>(took >> 32), .what = kind::longer});
  }

  // Behind the last record, which may still be changed as long as this stays what it is.
  [[nodiscard]] record* next() const noexcept { return next_; }

 private:
  friend class recorder;
  explicit thread_log(recorder& owner) : owner_(owner) {}
  void open(const std::string& path) noexcept;
  // Makes room in the window; false: this record is lost, and counted.
  [[gnu::cold]] bool save() noexcept;
  bool write_window() noexcept;  // behind what was saved before; false: it stays, and nothing more comes
  // For whoever reads the file of a process that was killed. The compiler must not do it before the record is there; the
  // kernel sees both, in this order, on any machine.
  void tell_next() noexcept {
    std::atomic_ref(header_->next).store(reinterpret_cast<std::uint64_t>(next_), std::memory_order_release);
  }
  void end() noexcept;     // nothing more will be written: the file is cut to what is used
  void forget() noexcept;  // in a forked child: the parent's file is left alone

  record* next_ = nullptr;
  record* end_ = nullptr;
  recorder& owner_;
  log_header* header_ = nullptr;  // null: ended, or never opened
  record* window_ = nullptr;
  descriptor file_;
  bool full_ = false;
};

// What a process defines, once each. Numbers are this process's own; the archive's are found when it is made. A number
// may be defined anew once what it meant has been freed: it means the new one in calls that begin from then on.
class recorder {
 public:
  [[nodiscard]] static bool wanted() noexcept;  // LULL_TRACE names a folder
  [[nodiscard]] static recorder& of_process();
  [[nodiscard]] thread_log& log() noexcept {
    thread_log* const mine = of_thread_;
    return mine != nullptr ? *mine : make_log();
  }

  // `paradigm`: "mpi", "shmem" or "user". Regions are numbered from `first` on, in the order given.
  void define_regions(std::string_view paradigm, std::uint16_t first, std::span<const std::string_view> names) noexcept;
  void define_process(int rank, int size, std::string_view paradigm, std::string_view library) noexcept;
  // Members as ranks of the world. Communicators with the same members are told apart by the order in which they
  // were made, which is the same on all members. `remote`: the other group of an inter-communicator, to which the peers
  // of messages belong.
  void define_communicator(std::uint16_t number, std::span<const int> members, std::string_view name,
                           std::span<const int> remote = {}) noexcept;
  void name_communicator(std::uint16_t number, std::string_view name) noexcept;
  void define_window(std::uint16_t number, std::uint16_t communicator, std::string_view name) noexcept;
  // Of the counter that gives times, measured since the recorder was made; waits until that is a millisecond ago.
  [[nodiscard]] double ticks_per_ns() const noexcept;
  // Takes a pair of clocks; done by itself at the begin, at the exit, and now and then while records are written.
  void take_clocks() noexcept;
  // The program has ended in order. Nothing is recorded afterwards.
  void close() noexcept;
  // This process has no part in the program: what it has recorded is removed. Nothing is recorded afterwards.
  void withdraw() noexcept;

 private:
  friend class thread_log;
  explicit recorder(const std::string& folder);
  thread_log& make_log() noexcept;
  void append(const std::string& line) noexcept;            // to the definitions
  void complain(const char* found) noexcept;                // once
  [[nodiscard]] bool may_take(std::size_t bytes) noexcept;  // of what the limit leaves
  void clocks_now_and_then() noexcept;
  void at_exit() noexcept;
  void stop_in_child() noexcept;
  void let_go_of_files() noexcept;

  static constinit thread_local thread_log* of_thread_ [[gnu::tls_model("initial-exec")]];

  const std::uint64_t began_ticks_ = ticks();
  const std::int64_t began_ns_ = now_ns();
  std::string path_;  // of the files, up to what tells them apart
  descriptor definitions_;
  std::mutex lock_;
  std::vector<std::unique_ptr<thread_log>> logs_;
  std::atomic<std::size_t> left_;
  std::atomic<std::int64_t> clocks_taken_ns_ = 0;
  std::atomic<bool> off_ = false, complained_ = false;
};

}  // namespace lull::trace
