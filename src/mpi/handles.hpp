// What MPI's handles refer to: numbers and members of communicators and windows, sizes of types, messages from
// MPI_Mprobe. Each thread looks them up in a small cache (thread.hpp), then in the tables of the process.
//
// Any thread may call every function. All members of a communicator define it in the same order, because its creation
// is collective; one that was created by an unknown call is defined at its first use.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "mpi/flavour.hpp"
#include "mpi/reals.hpp"
#include "mpi/thread.hpp"

namespace lull::mpi {

// Call after MPI_Init: the world is number 0.
void define_world();

// Both libraries use one handle for all requests that are complete when they are created, such as sends of few bytes.
// It is found by posting two messages to MPI_PROC_NULL.
inline MPI_Request shared_request = predefined.request_null;
void find_shared_request();

[[nodiscard]] communicator look_up_communicator(MPI_Comm comm);
void made_communicator(MPI_Comm comm);
// For a duplicate that is not ready: its members are those of the original.
void duplicates_communicator(MPI_Comm comm, MPI_Comm original);
void name_communicator(MPI_Comm comm, std::string_view name);
void forget_communicator(MPI_Comm comm);

[[nodiscard, gnu::always_inline]] inline const communicator& communicator_of(thread_state& thread, MPI_Comm comm) {
  if (const communicator* known = thread.communicators.find(comm)) [[likely]]
    return *known;
  return thread.communicators.keep(comm, look_up_communicator(comm));
}

[[nodiscard]] window look_up_window(MPI_Win win);
void made_window(MPI_Win win, MPI_Comm comm);
void forget_window(MPI_Win win);

[[nodiscard]] inline const window& window_of(thread_state& thread, MPI_Win win) {
  if (const window* known = thread.windows.find(win)) [[likely]]
    return *known;
  return thread.windows.keep(win, look_up_window(win));
}

inline void forget_types() noexcept { forgotten.fetch_add(1, std::memory_order_relaxed); }

[[nodiscard, gnu::cold]] std::uint64_t ask_size_of(MPI_Datatype type) noexcept;

[[nodiscard, gnu::always_inline]] inline std::uint64_t size_of(MPI_Datatype type) noexcept {
  if (const std::uint64_t bytes = bytes_in_handle(type)) return bytes;
  thread_state& thread = *this_thread;
  if (const std::uint64_t* known = thread.type_sizes.find(type)) [[likely]]
    return *known;
  return thread.type_sizes.keep(type, ask_size_of(type));
}

// A message from MPI_Mprobe, until it is received.
struct envelope {
  MPI_Comm comm = predefined.comm_null;
  int source = -1;
  int tag = -1;
};
struct matched_messages {
  static void remember(MPI_Message message, const envelope& what);
  static envelope take(bool wanted, const MPI_Message* message);
};

// The numbers of processes from which a neighbourhood call receives and to which it sends.
struct neighbours {
  explicit neighbours(MPI_Comm comm) noexcept;
  int sources = 0;
  int targets = 0;
};

}  // namespace lull::mpi
