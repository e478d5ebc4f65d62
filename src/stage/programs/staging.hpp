// The interface of liblull-stage-programs, which stages the output of an unmodified program. The libraries between the
// program and its MPI open it if LULL_STAGE is set. It does not depend on MPI.
//
//   staging = lull_stage_begin(all)      after the program's MPI has begun; null: nothing to do, the reason is printed
//   staging->is_server()  →  exit code = staging->serve(all)
//   otherwise             →  staging->join(all), and if true, when the program ends its MPI, staging->leave(clients)
//
// Between join() and leave() the files that the program writes by HDF5 are handed over (hdf5_files.hpp), and what it
// writes by MPI-IO (mpi/files/), through files().
#pragma once
#include <string>
#include <vector>

#include "stage/link/exchange.hpp"
#include "stage/shared/shared_files.hpp"

namespace lull::stage {

// Instead of an exit code: the server has failed while it served. The reason is printed.
inline constexpr int cannot_serve = -1;

// What follows when one of the ranks cannot take part: none does, and the program's MPI_COMM_WORLD stays as it is then.
inline constexpr auto writes_itself = "the program writes its output itself";

class staging {
 public:
  virtual ~staging() = default;
  [[nodiscard]] virtual bool sets_aside() const = 0;  // there are servers
  [[nodiscard]] virtual bool is_server() const = 0;   // this process is one
  // Collective over all processes, each calling one of the two. No exception leaves them. If one process cannot take
  // part, none does, after a line.
  [[nodiscard]] virtual int serve(exchange& all) noexcept = 0;  // an exit code, also in this case, or cannot_serve
  [[nodiscard]] virtual bool join(exchange& all) noexcept = 0;
  // Whether servers are to write the files that several processes write together.
  [[nodiscard]] virtual bool shares_files() const = 0;
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

// Collective: null on all processes, or on none. Throws what the exchange itself throws.
extern "C" [[gnu::visibility("default")]] lull::stage::staging* lull_stage_begin(lull::stage::exchange& all);
