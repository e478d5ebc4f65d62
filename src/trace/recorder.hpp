// Records the calls of this process into the files of raw.hpp.
//
//   static recorder& recorder::of_process();     made by the first that asks, when LULL_TRACE names a folder
//   thread_log& recorder::log();                 of the calling thread
//   log.put({...});                              some 2 ns: a store of 32 bytes and a comparison
//
// Nothing here throws into a program: when a file can be written no further (disk full, LULL_TRACE_LIMIT reached) the log
// says so once on stderr, counts what it does not keep and leaves the count in the file. A process that forks goes on in
// the parent alone.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/ticks.hpp"
#include "trace/raw.hpp"

namespace lull::trace {

// Of one thread, which alone writes to it.
class thread_log {
 public:
  thread_log(const thread_log&) = delete;
  thread_log& operator=(const thread_log&) = delete;

  void put(const record& r) noexcept {
    if (next_ == end_) [[unlikely]]
      if (!grow()) return;
    *next_++ = r;
  }
  // A call from `begin` to now; a duration over 32 bits takes a second record.
  void put_call(record r) noexcept {
    const std::uint64_t took = ticks() - r.begin;
    r.duration = static_cast<std::uint32_t>(took);
    put(r);
    if (took >> 32 != 0) [[unlikely]]
      put({.bytes = took >> 32, .what = kind::longer});
  }

 private:
  friend class recorder;
  thread_log() = default;
  bool grow() noexcept;  // maps the next chunk; false: this record is lost, and counted

  record* next_ = nullptr;
  record* end_ = nullptr;
  // and what grow() needs
};

// What a process defines, once each. Numbers are this process's own; the archive's are found when it is made.
class recorder {
 public:
  [[nodiscard]] static bool wanted() noexcept;  // LULL_TRACE names a folder
  [[nodiscard]] static recorder& of_process();
  [[nodiscard]] thread_log& log() noexcept;

  // `paradigm`: "mpi", "shmem" or "user". Regions are numbered from `first` on, in the order given.
  void define_regions(std::string_view paradigm, std::uint16_t first, std::span<const std::string_view> names);
  void define_process(int rank, int size, std::string_view paradigm, std::string_view library);
  // Members as ranks of the world. Communicators with the same members are told apart by the order in which they
  // were made, which is the same on all members.
  void define_communicator(std::uint16_t number, std::span<const int> members, std::string_view name);
  void name_communicator(std::uint16_t number, std::string_view name);
  void define_window(std::uint16_t number, std::uint16_t communicator, std::string_view name);
  // Takes a pair of clocks; to be called again at the end, and now and then.
  void take_clocks();
  // The program has ended in order.
  void close() noexcept;
};

}  // namespace lull::trace
