// The PMIx server inside lull-launch, through which its PEs find each other as under mpirun.
//
// One host, one job. PMIx calls back on its own thread; events reach the launcher through a descriptor (event_fd) and
// two queries. The server runs until the process ends with _exit, because PMIx's finalisation may wait without end for
// a thread that was accepting a PE when that PE ended.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lull::launch {

class pmix_server {
 public:
  // PMIx's socket is in `folder`, which must exist.
  pmix_server(int pes, const std::filesystem::path& folder);
  pmix_server(const pmix_server&) = delete;
  pmix_server& operator=(const pmix_server&) = delete;

  // `environment` plus the variables with which PE `rank` finds this server.
  [[nodiscard]] std::vector<std::string> environment_for(int rank, std::vector<std::string> environment) const;

  [[nodiscard]] int event_fd() const;                        // readable when a PE requests an abort, or joins
  void clear_event();                                        // event_fd() is no longer readable
  [[nodiscard]] std::optional<int> abort_requested() const;  // the requested exit code
  // The message of the first PE that cannot reach another. It waits until it is ended.
  [[nodiscard]] std::optional<std::string> peer_lost() const;
  // Handles what PEs have sent before they ended: PMIx's thread may be late, and a PE waits only 2 s for its answer. Gives
  // up after 10 s, and from then on returns at once.
  void catch_up();
  [[nodiscard]] bool ever_joined(int rank) const;
  [[nodiscard]] bool left_in_order(int rank) const;  // finalized, or never joined

  // Keeps PMIx from writing to stderr from now on: the job is being ended, and PMIx would report consequences of that.
  static void silence();

 private:
  bool unresponsive_ = false;  // PMIx's thread
};

}  // namespace lull::launch
