// The exchange of data at the start between all processes of the job, clients and servers.
//
// Calls are collective and come in the same order on all processes. After the last collective call of join() and
// serve(), none follows: the later end of one process must not stop the others. A process that fails alone must not
// leave the others waiting in a call: agreed_exchange.hpp.
#pragma once
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
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
  [[nodiscard]] virtual std::string node() const = 0;  // the same for processes on one (emulated) node
  // Sends `mine` to all others and returns the contributions of all, by rank. May be called several times.
  [[nodiscard]] virtual std::vector<std::vector<std::byte>> all(std::span<const std::byte> mine) = 0;
  // A process announces that its next call of all() is the last: its end after that does not affect the others.
  virtual void one_more() {}
};

// Whether all could do it; `problem`, one line, is empty where it could be done. Collective. The first process that could
// not prints the line, with the consequence.
[[nodiscard]] inline bool all_could(exchange& others, const std::string& problem, const std::string& consequence) {
  const auto problems = others.all(std::as_bytes(std::span(problem)));
  const auto first = std::ranges::find_if(problems, [](const auto& one) { return !one.empty(); });
  if (first == problems.end()) return true;
  if (first - problems.begin() == others.rank())
    fmt::print(stderr, "lull: rank {} of {}: {}; {}\n", others.rank(), others.size(), problem, consequence);
  return false;
}

// The node of each process, for roles. Collective.
[[nodiscard]] std::vector<std::string> nodes_by_rank(exchange& others);

}  // namespace lull::stage
