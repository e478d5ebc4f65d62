// The assignment of servers to clients: a pure function of the plan and of the places of the processes, the same on
// every process, for any number of clients and servers.
//
//   dedicated cores   the last `count` processes of each node serve those before them in equal blocks. A node keeps at
//                     least one client: with too few processes it has fewer servers, and a single process has none.
//   dedicated nodes   all processes of the last `count` nodes serve all others in equal blocks.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "stage/accounts/plan.hpp"

namespace lull::stage {

inline constexpr int no_server = -1;

class roles {
 public:
  // Throws usage_error if no client would be left.
  roles(const plan& wanted, std::span<const std::string> nodes_by_rank);

  [[nodiscard]] int processes() const { return static_cast<int>(server_of_.size()); }
  [[nodiscard]] bool is_server(int rank) const { return server_of_[static_cast<std::size_t>(rank)] == rank; }
  // no_server: this client writes for itself.
  [[nodiscard]] int server_of(int client) const { return server_of_[static_cast<std::size_t>(client)]; }
  [[nodiscard]] std::vector<int> clients() const;               // ascending
  [[nodiscard]] std::vector<int> clients_of(int server) const;  // ascending
  [[nodiscard]] bool is_first_server(int rank) const;
  [[nodiscard]] int served_clients() const;  // number of those that have a server

 private:
  std::vector<int> server_of_;  // by rank; a server's is itself
};

}  // namespace lull::stage
