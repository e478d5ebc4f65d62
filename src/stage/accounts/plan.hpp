// Who writes a simulation's output, as the settings ask for it. All processes of a job have the same plan.
//
// Words: a client is a process of the simulation, a server one that is set aside to write. A server is no PE and no rank
// that the program sees. What a client has finished it hands over to its server; until the server has written it, it is
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
  bool has_servers;       // then LULL_STAGE says how many
};
[[nodiscard]] const approach_name& name_of(approach how);

// What a client does when it may have no more bytes outstanding.
enum class when_full {
  wait,
  write_yourself,
  drop,
  cheapest,  // waits or writes itself, by what either has cost so far; also where there is room (model/choices/handing_over.hpp)
};

struct plan {
  approach how = approach::time_partitioning;
  int count = 1;
  std::size_t buffer_bytes = std::size_t{1} << 30U;  // that one server may have outstanding; each client has its share
  when_full policy = when_full::wait;
  bool sync = true;                     // fsync before a file gets its name
  std::size_t storage_bytes_per_s = 0;  // that the processes on a machine write at most; 0: as fast as they can
  double storage_writers = 0;           // that get half of it together; 0: any number gets all
  bool by_model = false;  // who writes is for the model to say (choice.hpp); until then it is time partitioning
  model::output_objective objective = model::output_objective::time;  // by which the model judges
  // A socket to a new process that keeps this one's files (kept_files.hpp), or none. Null: there is none.
  descriptor (*start_keeper)() = nullptr;
  // Called first in each thread of ours in a process of the program: what it calls is no business of the program's.
  void (*begin_thread)() = nullptr;
};

// LULL_STAGE (time partitioning if unset; auto: by_model) and LULL_STAGE_...; throws usage_error.
[[nodiscard]] plan plan_of_settings();

// As in LULL_STAGE: "dedicated-cores=2".
[[nodiscard]] std::string name_of(const plan& wanted);

}  // namespace lull::stage
