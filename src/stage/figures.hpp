// What a run's output has cost, by role, and the table of it.
#pragma once
#include <cstdint>
#include <string>

#include "stage/plan.hpp"

namespace lull::stage {

struct amount {
  std::uint64_t files = 0, bytes = 0;
  void add(std::uint64_t of_bytes) { ++files, bytes += of_bytes; }
  amount& operator+=(const amount& other);
};

// Of one client, or of several together.
struct client_figures {
  int processes = 0;
  std::int64_t wall_ns = 0;     // from join() to the end of leave()
  std::int64_t stalled_ns = 0;  // in calls of the client
  std::int64_t writing_ns = 0;  // by the program itself, as far as it was told
  std::int64_t cpu_ns = 0;
  amount handed_over;
  amount wrote_itself;  // files for which begin_file() gave nothing, or that their server did not write
  amount dropped;
  std::uint64_t too_large = 0;  // files among those it wrote itself: larger than its share of the buffer
  client_figures& operator+=(const client_figures& other);
};

// Of one server, or of several together.
struct server_figures {
  int processes = 0;
  std::int64_t wall_ns = 0;
  std::int64_t writing_ns = 0;
  std::int64_t cpu_ns = 0;
  amount written;
  std::uint64_t failed = 0;  // files
  server_figures& operator+=(const server_figures& other);
};

// Some lines, the last without its end.
[[nodiscard]] std::string table_of(const plan& how, const client_figures& clients, const server_figures& server);
// Of a run without servers.
[[nodiscard]] std::string table_of(const plan& how, const client_figures& clients);

}  // namespace lull::stage
