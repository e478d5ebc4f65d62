// One call of an OpenSHMEM program: times it and records what it did (trace/raw.hpp). Each wrapper that
// recording.py generates has one. The wrappers are preloaded and pass calls on to the second names, pshmem_...
//
//   recorded call(mine);
//   pshmem_putmem(dest, source, nelems, pe);
//   call.returned();
//   call.one_sided(kind::put, default_context, pe, nelems);
//
// Only the outermost call of each thread is recorded, from shmem_init to shmem_finalize; calls inside the library are
// not. Symmetric memory is one window. Teams are communicators; SHMEM_TEAM_WORLD is number 0.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "base/ticks.hpp"
#include "trace/recording/recorder.hpp"

namespace lull::shmem_trace {

using trace::kind;

// The values of these handles in shmem.h.
inline void* const default_context = reinterpret_cast<void*>(1);
inline void* const world = reinterpret_cast<void*>(1);

// A function's number in the trace, defined at its first call.
class region {
 public:
  constexpr explicit region(const char* name) noexcept : name_(name) {}
  [[nodiscard]] std::uint16_t number() noexcept {
    const std::uint16_t known = number_.load(std::memory_order_acquire);
    return known != undefined ? known : define();
  }

 private:
  static constexpr std::uint16_t undefined = 0xffff;
  [[gnu::cold]] std::uint16_t define() noexcept;

  const char* name_;
  std::atomic<std::uint16_t> number_ = undefined;
};

// Whether this process is recorded: LULL_TRACE is set and the OpenSHMEM is Lull's.
[[nodiscard]] bool wanted() noexcept;

class recorded {
 public:
  explicit recorded(region& which) noexcept : outermost_(!inside && wanted()), log_(nullptr) {
    if (!outermost_) return;
    inside = true;
    log_ = &trace::recorder::of_process().log();
    region_ = which.number();
    begin_ = ticks();
  }
  recorded(const recorded&) = delete;
  recorded& operator=(const recorded&) = delete;
  ~recorded() {
    if (outermost_) inside = false;
  }

  void returned() noexcept {
    if (outermost_) took_ = ticks_since(begin_);
  }

  void plain() noexcept { put(kind::call, 0, -1, 0); }
  void one_sided(kind what, void* context, int pe, std::size_t bytes) noexcept;
  void collective(void* team, int root, std::size_t given, std::size_t got) noexcept;
  void broadcast(void* team, int root, std::size_t bytes) noexcept;
  void completed_at_targets() noexcept;
  void finalized() noexcept;  // a call that is not the last of its kind is a barrier
  void made_team(int result, void* new_team) noexcept;

 private:
  void put(kind what, std::uint16_t comm, int peer, std::size_t bytes) noexcept;
  void more(kind what, std::uint16_t comm, int peer, std::size_t bytes) noexcept;

  static constinit thread_local bool inside [[gnu::tls_model("initial-exec")]];

  bool outermost_;
  trace::thread_log* log_;
  std::uint16_t region_ = 0;
  std::uint64_t begin_ = 0, took_ = 0;
};

[[nodiscard]] std::size_t size_of(void* team) noexcept;
void forget_team(void* team) noexcept;

void after_init() noexcept;
void before_finalize() noexcept;
void after_finalize() noexcept;

}  // namespace lull::shmem_trace
