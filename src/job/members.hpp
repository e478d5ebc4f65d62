// The processes of a job, with their nodes and numbers of cores, as every process knows them.
//
// States: constructed → exchange(), once, collective → in use. The exchange also carries the other data that a process
// has for the others, its modex data, so that joining a job takes one exchange.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "job/bootstrap.hpp"
#include "job/layout.hpp"
#include "job/published.hpp"

namespace lull::job {

class members {
 public:
  // Reads LULL_NODES; throws if there are more nodes than processes.
  explicit members(bootstrap& boot);

  // Whether some processes do not share memory with this one.
  [[nodiscard]] bool several_nodes() const;
  // Whether the nodes of one host are emulated.
  [[nodiscard]] bool emulates_nodes() const { return emulated_nodes_ > 1; }

  // Sends `mine` to all others; returns the data of each process.
  [[nodiscard]] std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine);
  // Frees memory, when all others have exchanged.
  void all_have_exchanged() { exchanged_.reset(); }

  // Valid after the exchange:
  [[nodiscard]] const layout& places() const { return *layout_; }
  // This process's share of the cores of the host on which the job's processes may run; at least one.
  [[nodiscard]] int cores_of_process() const { return cores_of_process_; }
  [[nodiscard]] bool oversubscribed() const { return processes_here_ > cores_of_host_; }  // more processes than cores
  // The most processes that share a core on any host, including those of its emulated nodes; at least 1. The same in
  // all processes.
  [[nodiscard]] double most_processes_per_core() const { return most_processes_per_core_; }

 private:
  bootstrap& boot_;
  int emulated_nodes_;
  std::optional<published> exchanged_;
  std::optional<layout> layout_;
  int cores_of_host_ = 1, cores_of_process_ = 1, processes_here_ = 0;
  double most_processes_per_core_ = 1;
};

}  // namespace lull::job
