// The settings of who writes a simulation's output. All processes of a job have the same plan.
//
// Terms: a client is a process of the simulation; a server is a process set aside to write. A server is no PE and no
// rank that the program sees. A client hands finished output over to its server; until the server has written it, it is
// outstanding.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "model/costs/output.hpp"

namespace lull::stage {

enum class approach {
  time_partitioning,  // no servers: each client writes for itself
  dedicated_cores,    // `count` servers on each node
  dedicated_nodes,    // all processes of `count` nodes are servers
};

struct approach_name {
  approach how;
  std::string_view text;  // in LULL_STAGE
  bool has_servers;       // LULL_STAGE may set their number
};
[[nodiscard]] const approach_name& name_of(approach how);

// What a client does when its share of the buffer is used up.
enum class when_full {
  wait,
  write_yourself,
  drop,
  cheapest,  // waits or writes itself, by observed costs, even if there is room (model/choices/handing_over.hpp)
};

struct plan {
  approach how = approach::time_partitioning;
  int count = 1;
  std::size_t buffer_bytes = std::size_t{1} << 30U;  // that one server may have outstanding; each client has its share
  when_full policy = when_full::wait;
  bool close_waits = false;             // MPI_File_close, until the file is written
  bool sync_waits = true;               // MPI_File_sync, likewise
  std::string verify_in = {};           // folder with checksums of what was handed over; empty: there are none
  bool sync = true;                     // fsync a file before it gets its name
  std::size_t storage_bytes_per_s = 0;  // limit for the processes on a machine together; 0: none
  double storage_writers = 0;           // number that reaches half of it together; 0: any number reaches all
  bool by_model = false;  // the model chooses the approach (choice.hpp); until then it is time partitioning
  model::output_objective objective = model::output_objective::time;  // the model's criterion
  // Returns a socket to a new process that keeps this one's files (kept_files.hpp), or an empty one. May be null.
  descriptor (*start_keeper)() = nullptr;
  // Called first in each of Lull's threads in a process of the program, to mark their calls as Lull's.
  void (*begin_thread)() = nullptr;
};

// From LULL_STAGE (default: time partitioning; auto: by_model) and LULL_STAGE_... Throws usage_error.
[[nodiscard]] plan plan_of_settings();

// Whether servers write the files that several processes write together (shared/), for jobs on one node.
[[nodiscard]] bool shares_files(const plan& wanted);

// As in LULL_STAGE: "dedicated-cores=2".
[[nodiscard]] std::string name_of(const plan& wanted);

}  // namespace lull::stage
