// Dedicated cores: on each node some processes write what the others hand over.
#include <algorithm>
#include <map>

#include "job/layout.hpp"
#include "stage/approach.hpp"
#include "stage/roles.hpp"

namespace lull::stage {
namespace {

std::vector<int> assign(int count, std::span<const std::string> nodes) {
  std::map<std::string_view, std::vector<int>> ranks_of;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) ranks_of[nodes[rank]].push_back(static_cast<int>(rank));
  std::vector<int> server_of(nodes.size(), no_server);
  for (const auto& [node, ranks] : ranks_of) {
    const int servers = std::min(count, static_cast<int>(ranks.size()) - 1);
    const int clients = static_cast<int>(ranks.size()) - servers;
    for (int position = 0; position < static_cast<int>(ranks.size()) && servers > 0; ++position) {
      const int server =
          position < clients ? clients + job::block_of(position, clients, std::min(servers, clients)) : position;
      server_of[static_cast<std::size_t>(ranks[static_cast<std::size_t>(position)])] =
          ranks[static_cast<std::size_t>(server)];
    }
  }
  return server_of;
}

}  // namespace

const approach_row dedicated_cores{
    .how = approach::dedicated_cores, .name = "dedicated-cores", .has_servers = true, .assign = assign};

}  // namespace lull::stage
