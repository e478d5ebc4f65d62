// Dedicated nodes: the processes of some nodes write what those of all others hand over.
#include <algorithm>

#include "base/error.hpp"
#include "job/layout.hpp"
#include "stage/approach.hpp"
#include "stage/roles.hpp"

namespace lull::stage {
namespace {

std::vector<int> assign(int count, std::span<const std::string> nodes) {
  std::vector<std::string_view> in_order;  // by their lowest rank
  for (const std::string& node : nodes)
    if (std::ranges::find(in_order, node) == in_order.end()) in_order.emplace_back(node);
  if (count >= static_cast<int>(in_order.size()))
    throw usage_error("set " + std::to_string(count) + " nodes aside for output",
                      "the job has " + std::to_string(in_order.size()),
                      "start it on more nodes, or use dedicated-cores");
  const auto first_dedicated = in_order.end() - count;
  std::vector<int> clients, servers;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank)
    (std::find(first_dedicated, in_order.end(), nodes[rank]) == in_order.end() ? clients : servers)
        .push_back(static_cast<int>(rank));
  std::vector<int> server_of(nodes.size());
  for (const int server : servers) server_of[static_cast<std::size_t>(server)] = server;
  const int of_clients = static_cast<int>(clients.size());
  const int blocks = std::min(of_clients, static_cast<int>(servers.size()));
  for (int position = 0; position < of_clients; ++position)
    server_of[static_cast<std::size_t>(clients[static_cast<std::size_t>(position)])] =
        servers[static_cast<std::size_t>(job::block_of(position, of_clients, blocks))];
  return server_of;
}

}  // namespace

const approach_row dedicated_nodes{.how = approach::dedicated_nodes,
                                   .name = "dedicated-nodes",
                                   .has_servers = true,
                                   .assign = assign,
                                   .join = [](const plan&, const roles&, exchange&) -> joined {
                                     throw usage_error("write output by dedicated-nodes", "this is not there yet");
                                   },
                                   .serve = [](const plan&, const roles&, exchange&) -> int {
                                     throw usage_error("write output by dedicated-nodes", "this is not there yet");
                                   }};

}  // namespace lull::stage
