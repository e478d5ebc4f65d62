// What happened in a traced program: definitions, and events in order of time. This is the content of an OTF2 archive
// of any tool, independent of OTF2's types; archive_writer.hpp writes it and archive_reader.hpp reads it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lull::trace {

inline constexpr std::uint32_t no_one = 0xffffffff;  // no process, region or communicator; a root that does not exist

// What a function does, as far as it explains why a process is in it.
enum class role : std::uint8_t {
  code,     // of the program itself
  library,  // of a communication library, but none of the following
  setup,    // start and end of the library
  point_to_point,
  all_to_all,  // collectives: no process leaves before all have entered
  one_to_all,  // no process leaves before the root has entered
  all_to_one,  // the root does not leave before all have entered
  other_collective,
  one_sided,
  files,
};
[[nodiscard]] constexpr bool is_communication(role r) { return r != role::code; }

// Numbered as in OTF2.
enum class collective : std::uint8_t {
  barrier,
  broadcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  allreduce,
  reduce,
  reduce_scatter,
  scan,
  exscan,
  reduce_scatter_block,
  create_handle,
  destroy_handle,
  allocate,
  deallocate,
  create_handle_and_allocate,
  destroy_handle_and_deallocate,
};
inline constexpr std::size_t collectives = 23;
[[nodiscard]] std::string_view name_of(collective c);
[[nodiscard]] role role_of(collective c);

struct definitions {
  struct process {
    std::string name, host = {};
    std::string paradigm = {};  // "mpi", "shmem" or another communication paradigm; empty: none
    int rank = -1;
    int job = 0;  // a trace may contain several jobs, each with a rank 0
  };
  struct location {
    std::string name;
    std::uint32_t process = 0;
    std::uint64_t events = 0;
    bool is_thread = true;  // otherwise of metrics
  };
  struct region {
    std::string name;
    std::string paradigm;  // "mpi", "shmem", "user", …
    role what;
  };
  struct communicator {
    std::string name = {};
    std::vector<std::uint32_t> members = {};  // processes, by rank
    std::vector<std::uint32_t> remote = {};   // of an inter-communicator
  };
  struct window {
    std::string name;
    std::uint32_t communicator;
  };
  struct metric {
    std::string name, unit, host;
  };

  // The process that `rank` refers to, for `mine`, in a communicator; no_one if there is none.
  [[nodiscard]] std::uint32_t peer_of(std::uint32_t communicator, std::uint32_t mine, std::int32_t rank) const;

  std::string creator = {};  // tool that wrote the archive: "Lull", "Score-P 8.4"
  std::uint64_t begin_ns = 0, length_ns = 0;
  std::vector<process> processes;
  std::vector<location> locations;
  std::vector<region> regions;
  std::vector<communicator> communicators;
  std::vector<window> windows;
  std::vector<metric> metrics;
};

// What an event contains in addition to its time and location.
enum class happening : std::uint8_t {
  enter,                        // region
  leave,                        // region
  send,                         // communicator, peer, tag, bytes
  isend,                        // the same, request
  isend_complete,               // request
  irecv_request,                // request
  receive,                      // communicator, peer, tag, bytes
  irecv,                        // the same, request
  request_tested,               // request
  request_cancelled,            // request
  collective_begin,             // nothing
  collective_end,               // operation, communicator, peer = root, bytes, received
  icollective_request,          // request
  icollective_complete,         // as collective_end, request
  put,                          // communicator = window, peer, bytes, request = what completes it
  get,                          // the same
  atomic,                       // the same, received
  one_sided_blocking_complete,  // communicator = window, request: complete here
  one_sided_complete,           // the same: at the target, too
  window_collective_begin,      // nothing
  window_collective_end,        // operation, communicator = window
  lock_acquired,                // communicator = window, peer, tag = 1 exclusive, 0 shared
  lock_released,                // the same
  metric,                       // region = metric, value
};

struct event {
  std::uint64_t time_ns = 0;
  std::uint32_t location = 0;  // index in definitions
  happening what = happening::enter;
  collective operation = collective::barrier;
  std::uint32_t region = no_one;
  std::uint32_t communicator = no_one;
  std::int32_t peer = -1;  // rank in the communicator; for a root, -1: none
  std::uint32_t tag = 0;
  std::uint64_t bytes = 0;
  std::uint64_t received = 0;
  std::uint64_t request = 0;
  double value = 0;
};

// Receives all events, one after the other.
class event_visitor {
 public:
  virtual ~event_visitor() = default;
  virtual void on(const event& e) = 0;
};

}  // namespace lull::trace
