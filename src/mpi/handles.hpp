// What stands behind MPI's handles: numbers and members of communicators and windows, sizes of types, messages that a
// probe has taken out. Looked up by each thread in a small cache of its own (thread.hpp), else in tables of the process.
//
// Every function may be called by any thread. Members of a communicator define it in the same order, since they make it
// together; what was made in a way that is not known here is defined when it is first used.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "mpi/flavour.hpp"
#include "mpi/reals.hpp"
#include "mpi/thread.hpp"

namespace lull::mpi {

// After MPI_Init: the world is number 0.
void define_world();

// Both libraries give one handle to all requests that are complete when they are made, as sends of few bytes are. It is
// found by asking twice for a message to nobody.
inline MPI_Request shared_request = predefined.request_null;
void find_shared_request();

[[nodiscard]] communicator look_up_communicator(MPI_Comm comm);
void made_communicator(MPI_Comm comm);
// Of a duplicate that is not ready: its members are those of the original.
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

// A message that MPI_Mprobe has taken out, until it is received.
struct envelope {
  MPI_Comm comm = predefined.comm_null;
  int source = -1;
  int tag = -1;
};
struct matched_messages {
  static void remember(MPI_Message message, const envelope& what);
  static envelope take(bool wanted, const MPI_Message* message);
};

// How many processes a call of a neighbourhood receives from and sends to.
struct neighbours {
  explicit neighbours(MPI_Comm comm) noexcept;
  int sources = 0;
  int targets = 0;
};

}  // namespace lull::mpi
