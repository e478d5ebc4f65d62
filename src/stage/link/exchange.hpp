// What all processes of the job, clients and servers, tell each other at the start.
//
// Calls are collective and come in the same order on all processes. After join() and serve() have met no call of it is
// made any more: what happens to one process later must not stop the others.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace lull::stage {

class exchange {
 public:
  exchange() = default;
  virtual ~exchange() = default;
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  [[nodiscard]] virtual std::string node() const = 0;  // equal on one (emulated) node
  // Tells all others `mine`; what each of them told, by rank. May be called several times.
  [[nodiscard]] virtual std::vector<std::vector<std::byte>> all(std::span<const std::byte> mine) = 0;
  // A server says that its next call of all() is the last: after that its end is no obstacle to the others.
  virtual void one_more() {}
};

// For roles: the node of each process. Collective.
[[nodiscard]] std::vector<std::string> nodes_by_rank(exchange& others);

}  // namespace lull::stage
