// State of each thread that calls MPI, and the calls that a tool sees: the outermost ones. Calls that the library makes
// inside itself, for its Fortran bindings or files, or that callbacks of the program make, are ignored.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/hash.hpp"
#include "mpi/flavour.hpp"
#include "mpi/waiting.hpp"
#include "trace/recording/recorder.hpp"

namespace lull::mpi {

enum : unsigned { records = 1, waits = 2 };  // tools: a set of these
template <unsigned tools>
inline constexpr bool recording = (tools & records) != 0;

// This process's number of a communicator, and the ranks that its messages name.
struct communicator {
  static constexpr std::uint16_t unknown = 0xffff;
  std::uint16_t number = unknown;
  bool inter = false;
  std::int32_t rank = 0;  // this process's rank in its group
  std::int32_t size = 0;  // of the group to which messages go
};

// The number of a window, from the same series as those of communicators, and the communicator of its ranks.
struct window {
  std::uint16_t number = communicator::unknown;
  std::uint16_t comm = communicator::unknown;
};

// What a handle was last found to be. Handles are reused: `forgotten` counts the ends of communicators, windows and
// types.
template <class Handle, class Value>
class handle_cache {
 public:
  [[nodiscard]] const Value* find(Handle handle) const noexcept {
    const entry& e = entries_[index(handle)];
    return e.handle == bits_of(handle) ? &e.value : nullptr;
  }
  const Value& keep(Handle handle, const Value& value) noexcept {
    entry& e = entries_[index(handle)];
    e = {bits_of(handle), value};
    return e.value;
  }
  void forget() noexcept {
    for (entry& e : entries_) e.handle = nothing;
  }

 private:
  static constexpr std::uintptr_t nothing = ~std::uintptr_t{0};
  struct entry {
    std::uintptr_t handle = nothing;
    Value value{};
  };
  static constexpr int bits = 3;
  [[nodiscard]] static std::size_t index(Handle handle) noexcept { return spread(bits_of(handle)) >> (64 - bits); }
  entry entries_[1 << bits];
};

inline constinit std::atomic<std::uint32_t> forgotten{0};

// The records of the latest unsuccessful tests and probes, one for each function, and the end of the log after the last
// of them.
struct vain_calls {
  static constexpr std::size_t most = 4;
  std::array<trace::record*, most> records{};
  std::size_t count = 0;
  const trace::record* behind = nullptr;
};

// The most time between two such calls that count as consecutive, unless one of them takes longer. Set when recording
// begins; Open MPI's calls take 20 ns, and a program's loop around them some tens more.
constexpr double most_between_vain_calls_ns = 250;
inline constinit std::uint64_t most_between_vain_calls{0};  // in ticks

struct thread_state {
  bool inside = false;  // a call is in progress
  std::uint32_t forgotten_seen = 0;
  trace::thread_log* log = nullptr;
  vain_calls asked_in_vain;
  handle_cache<MPI_Comm, communicator> communicators;
  handle_cache<MPI_Win, window> windows;
  handle_cache<MPI_Datatype, std::uint64_t> type_sizes;
  std::vector<MPI_Request> requests;  // buffer for those of a call
  std::vector<MPI_Status> statuses;

  // Called at the begin of a call: drops cached handles that have been freed since, and may have been reused.
  void keep_up() noexcept {
    if (const std::uint32_t now = forgotten.load(std::memory_order_relaxed); now != forgotten_seen) [[unlikely]]
      forget_handles(now);
  }
  [[gnu::cold]] void forget_handles(std::uint32_t now) noexcept;
};

extern constinit thread_local thread_state* this_thread [[gnu::tls_model("initial-exec")]];
// Creates the state of this thread; with a log, if calls are recorded.
[[nodiscard, gnu::cold]] thread_state& first_of_this_thread(bool records_calls);

// A wrapper's call, from the program or from inside another call.
template <unsigned tools>
class outermost_call {
 public:
  outermost_call() noexcept : thread_(this_thread) {
    if (thread_ == nullptr) [[unlikely]]
      thread_ = &first_of_this_thread(recording<tools>);
    inner_ = thread_->inside;
    thread_->inside = true;
  }
  outermost_call(const outermost_call&) = delete;
  outermost_call& operator=(const outermost_call&) = delete;
  ~outermost_call() {  // also when an error handler throws
    if (!inner_) [[likely]]
      thread_->inside = false;
  }

  [[nodiscard]] bool operator!() const noexcept { return inner_; }
  [[nodiscard]] thread_state& thread() const noexcept { return *thread_; }

 private:
  thread_state* thread_;
  bool inner_;
};

// Without recording, the waiting tool knows whether a call is in progress (mpi/waiting.hpp).
template <>
class outermost_call<waits> {
 public:
  [[nodiscard]] bool operator!() const noexcept { return this_call.active; }
};

}  // namespace lull::mpi
