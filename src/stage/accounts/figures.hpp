// The cost of a run's output, by role: the table at its end, and the same as JSON, for the record of the run
// (LULL_RECORD) and the files named by LULL_STAGE_FIGURES. python/lull/record/schema.py defines the fields:
//
//   {"schema": 1, "approach": "dedicated-cores=1", "nodes": 1, "outputs": 20,
//    "clients": {"processes": 3, "wall_s":, "compute_s":, "stall_s":, "write_s":, "cpu_s":,
//                "handed_over": {"files":, "bytes":}, "wrote_itself": {…}, "dropped": {…}, "too_large":,
//                "declined":, "late":, "appended":},
//    "servers": {"processes": 1, "wall_s":, "idle_s":, "write_s":, "cpu_s":, "written": {…}, "failed":}}
//
// Seconds are sums over the processes of a role; outputs are files per client. Without servers "servers" has 0
// processes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

#include "model/choices/handing_over.hpp"
#include "stage/accounts/plan.hpp"

namespace lull::stage {

[[nodiscard]] inline double seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

struct amount {
  std::uint64_t files = 0, bytes = 0;
  void add(std::uint64_t of_bytes) { ++files, bytes += of_bytes; }
  amount& operator+=(const amount& other);
};

// Files of an unmodified program that are not staged.
struct other_files {
  std::uint64_t declined = 0;  // of kinds that are not staged
  std::uint64_t late = 0;      // still open when MPI ended
  std::uint64_t appended = 0;  // opened again for changes
  other_files& operator+=(const other_files& other);
};

// Files that several processes write together (shared/shared_files.hpp), of one client.
struct shared_figures {
  std::uint64_t calls = 0;         // writes of the program
  std::uint64_t pieces = 0;        // of these
  std::uint64_t bytes = 0;         // of these
  std::uint64_t reads = 0;         // of the program
  std::uint64_t reads_waited = 0;  // of these, for pieces that were not written yet
  std::uint64_t declined = 0;      // calls that the program's library carried out, after everything before was written
  shared_figures& operator+=(const shared_figures& other);
};

// Figures of one client, or the sum over several.
struct client_figures {
  int processes = 0;
  std::int64_t wall_ns = 0;     // from join() to the end of leave()
  std::int64_t stalled_ns = 0;  // in calls of the client
  std::int64_t writing_ns = 0;  // by the program itself, as far as the client knows
  std::int64_t cpu_ns = 0;
  amount handed_over;
  amount wrote_itself;  // files for which begin_file() returned nothing, or that the server did not write
  amount dropped;
  std::uint64_t too_large = 0;        // files among these that are larger than the client's share of the buffer
  other_files others;                 // also among these
  shared_figures shared;              // its bytes are also among those handed over
  model::output_turns_by_room turns;  // if they were the client's choice (when_full::cheapest)
  client_figures& operator+=(const client_figures& other);
  [[nodiscard]] std::int64_t computing_ns() const { return wall_ns - stalled_ns - writing_ns; }
  [[nodiscard]] double outputs() const {  // files per client
    const std::uint64_t files = handed_over.files + wrote_itself.files + dropped.files;
    return static_cast<double>(files) / std::max(processes, 1);
  }
};

// Figures of one server, or the sum over several.
struct server_figures {
  int processes = 0;
  std::int64_t wall_ns = 0;
  std::int64_t writing_ns = 0;
  std::int64_t cpu_ns = 0;
  amount written;
  std::uint64_t failed = 0;         // files
  std::uint64_t shared_writes = 0;  // calls of the system for files that several processes write together
  server_figures& operator+=(const server_figures& other);
};

// Figures of a job, or of a part of it.
struct job_figures {
  client_figures clients;
  server_figures servers;  // without servers: no processes
  int nodes = 1;           // of the job
  job_figures& operator+=(const job_figures& other) {
    clients += other.clients;
    servers += other.servers;
    nodes = std::max(nodes, other.nodes);
    return *this;
  }
};

// Several lines; the last one has no line break.
[[nodiscard]] std::string table_of(const plan& how, const job_figures& all);
[[nodiscard]] std::string json_of(const plan& how, const job_figures& all);

// Called by one process at the end: prints the table on stderr and writes the JSON into its files, each atomically.
// Prints a line for each file that cannot be written.
void report(const plan& how, const job_figures& all);

}  // namespace lull::stage
