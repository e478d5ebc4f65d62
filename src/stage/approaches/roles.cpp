#include "stage/approaches/roles.hpp"

#include <algorithm>

#include "stage/approaches/approach.hpp"

namespace lull::stage {

roles::roles(const plan& wanted, std::span<const std::string> nodes_by_rank)
    : server_of_(row_of(wanted.how).assign(wanted.count, nodes_by_rank)) {}

std::vector<int> roles::clients() const {
  std::vector<int> found;
  for (int rank = 0; rank < processes(); ++rank)
    if (!is_server(rank)) found.push_back(rank);
  return found;
}

std::vector<int> roles::clients_of(int server) const {
  std::vector<int> found;
  for (const int rank : clients())
    if (server_of(rank) == server) found.push_back(rank);
  return found;
}

bool roles::is_first_server(int rank) const {
  for (int before = 0; before < rank; ++before)
    if (is_server(before)) return false;
  return is_server(rank);
}

int roles::served_clients() const {
  const std::vector<int> all = clients();
  return static_cast<int>(std::ranges::count_if(all, [&](int rank) { return server_of(rank) != no_server; }));
}

}  // namespace lull::stage
