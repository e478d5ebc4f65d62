// The interface of liblull-stage-programs, which stages the output of an unmodified program. The libraries between the
// program and its MPI open it if LULL_STAGE is set. It does not depend on MPI.
//
//   staging = lull_stage_begin(all)      after the program's MPI has begun; null: nothing to do, the reason is printed
//   staging->is_server()  →  exit code = staging->serve(all)
//   otherwise             →  staging->join(all), and when the program ends its MPI, staging->leave(clients)
//
// Between join() and leave() the files that the program writes by HDF5 are handed over (hdf5_files.hpp), and what it
// writes by MPI-IO (mpi/files/), through files().
#pragma once
#include <string>
#include <vector>

#include "stage/link/exchange.hpp"
#include "stage/shared/shared_files.hpp"

namespace lull::stage {

// Instead of an exit code: the server has not started, and its clients may wait for it without end. The reason is
// printed.
inline constexpr int cannot_serve = -1;

class staging {
 public:
  virtual ~staging() = default;
  [[nodiscard]] virtual bool sets_aside() const = 0;  // there are servers
  [[nodiscard]] virtual bool is_server() const = 0;   // this process is one
  // Collective over all processes, each calling one of the two. No exception leaves them.
  [[nodiscard]] virtual int serve(exchange& all) noexcept = 0;  // an exit code, or cannot_serve
  virtual void join(exchange& all) noexcept = 0;
  // Files that several processes write together, from join() to leave(); null: no servers write them.
  [[nodiscard]] virtual shared_files* files() noexcept = 0;
  // Waits until a file that a single process wrote, by HDF5, is in its place.
  virtual void complete_file(const std::string& path) noexcept = 0;
  // Between the two, path calls of this thread are not the program's own: they wait for no file.
  virtual void begin_own_calls() noexcept = 0;
  virtual void end_own_calls() noexcept = 0;
  // Collective over the clients. Returns when everything that was handed over is written or reported as a failure;
  // after a failure the process does not exit with 0.
  virtual void leave(exchange& clients) noexcept = 0;
};

}  // namespace lull::stage

// Collective.
extern "C" [[gnu::visibility("default")]] lull::stage::staging* lull_stage_begin(lull::stage::exchange& all) noexcept;
