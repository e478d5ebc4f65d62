// The interface of liblull-stage-programs, which stages the output of an unmodified program. The libraries between the
// program and its MPI open it if LULL_STAGE is set. It does not depend on MPI.
//
//   staging = lull_stage_begin(all)      after the program's MPI has begun; null: nothing to do, the reason is printed
//   staging->is_server()  →  exit code = staging->serve(all)
//   otherwise             →  staging->join(all), and when the program ends its MPI, staging->leave(clients)
//
// Between join() and leave() the files that the program writes by HDF5 are handed over (hdf5_files.hpp).
#pragma once
#include <vector>

#include "stage/link/exchange.hpp"

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
  // Collective over the clients. Returns when everything that was handed over is written or reported as a failure;
  // after a failure the process does not exit with 0.
  virtual void leave(exchange& clients) noexcept = 0;
};

}  // namespace lull::stage

// Collective.
extern "C" [[gnu::visibility("default")]] lull::stage::staging* lull_stage_begin(lull::stage::exchange& all) noexcept;
