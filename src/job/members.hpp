// Who is in the job, on which node, and on how many cores: what every process of it knows of all others.
//
// States: constructed → exchange(), once, collective → in use. What a process has to tell the others besides, its modex
// blob, goes the same way, so that joining a job takes one exchange.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "job/bootstrap.hpp"
#include "job/layout.hpp"

namespace lull::job {

class members {
 public:
  // Reads LULL_NODES; throws for more nodes than processes.
  explicit members(bootstrap& boot);

  // Whether some of them do not share memory with this one.
  [[nodiscard]] bool several_nodes() const;
  // Whether the nodes of one host are emulated.
  [[nodiscard]] bool emulates_nodes() const { return emulated_nodes_ > 1; }

  // Tells all others `mine`; what each of them told, by process.
  [[nodiscard]] std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine);

  // After that:
  [[nodiscard]] const layout& places() const { return *layout_; }
  // Its share of those of this host that its processes may use, taken together; at least one.
  [[nodiscard]] int cores_of_process() const { return cores_of_process_; }
  [[nodiscard]] bool oversubscribed() const { return processes_here_ > cores_of_host_; }  // more processes than cores
  // That take turns on a core, emulated nodes together, on the host where most do; at least 1. The same in all processes.
  [[nodiscard]] double most_processes_per_core() const { return most_processes_per_core_; }

 private:
  bootstrap& boot_;
  int emulated_nodes_;
  std::optional<layout> layout_;
  int cores_of_host_ = 1, cores_of_process_ = 1, processes_here_ = 0;
  double most_processes_per_core_ = 1;
};

}  // namespace lull::job
