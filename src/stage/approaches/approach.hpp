// The implementation of each approach, one row each. A new approach is a file, its row in approach.cpp and its name in
// plan.hpp and plan.cpp.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stage/accounts/figures.hpp"
#include "stage/accounts/plan.hpp"
#include "stage/approaches/roles.hpp"
#include "stage/files/progress.hpp"
#include "stage/files/storage_limit.hpp"
#include "stage/files/uplink.hpp"
#include "stage/link/exchange.hpp"

namespace lull::stage {

// A client's connection to its server.
struct joined {
  std::unique_ptr<uplink> up = nullptr;  // null: no server
  std::size_t most_outstanding = 0;      // files
  std::shared_ptr<progress> how_far = nullptr;
};

// What a server has done: the figures of its clients that have left in order, and its own from its writer.
struct served {
  client_figures clients;
  server_figures own;
};

struct approach_row {
  approach how;
  // The server of each process: itself for a server, no_server for a process that writes for itself.
  std::vector<int> (*assign)(int count, std::span<const std::string> nodes_by_rank);
  // Called on clients and on servers; together they are collective. Throw lull::error. See client::join() and serve().
  // `of_node`: null without servers.
  joined (*join)(const plan& wanted, const roles& all, exchange& others, const std::shared_ptr<progress>& of_node);
  served (*serve)(const plan& wanted, const roles& all, exchange& others, const std::shared_ptr<progress>& of_node,
                  const storage_limit& storage);  // null without servers
};

[[nodiscard]] const approach_row& row_of(approach how);

extern const approach_row time_partitioning, dedicated_cores, dedicated_nodes;

}  // namespace lull::stage
