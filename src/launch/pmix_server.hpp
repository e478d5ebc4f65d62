// The PMIx server inside lull-launch: what lets PEs started by it find each other as under mpirun.
//
// One host, one job. PMIx calls back on a thread of its own; what the launcher must know reaches it through a
// descriptor (event_fd) and two queries. It serves until the process ends, by _exit: PMIx's own end waits without end for
// a thread that was greeting a PE when that PE ended.
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
  // `folder` receives PMIx's socket and must exist.
  pmix_server(int pes, const std::filesystem::path& folder);
  pmix_server(const pmix_server&) = delete;
  pmix_server& operator=(const pmix_server&) = delete;

  // `environment` plus what PE `rank` needs to find this server.
  [[nodiscard]] std::vector<std::string> environment_for(int rank, std::vector<std::string> environment) const;

  [[nodiscard]] int event_fd() const;                        // readable when a PE asked to abort the job, or joined it
  void clear_event();                                        // event_fd() is no longer readable
  [[nodiscard]] std::optional<int> abort_requested() const;  // the exit code it asked for
  // What the first PE has said that cannot reach another. It waits to be ended.
  [[nodiscard]] std::optional<std::string> peer_lost() const;
  [[nodiscard]] bool ever_joined(int rank) const;
  [[nodiscard]] bool left_in_order(int rank) const;  // finalized, or never joined

  // Keeps PMIx from writing to stderr from here on: the job is being ended, and its reports would be about that.
  static void silence();
};

}  // namespace lull::launch
