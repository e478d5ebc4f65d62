#include "stage/link/exchange.hpp"

namespace lull::stage {

std::vector<std::string> nodes_by_rank(exchange& others) {
  const std::string mine = others.node();
  std::vector<std::string> nodes;
  for (const auto& message : others.all(std::as_bytes(std::span(mine))))
    nodes.emplace_back(reinterpret_cast<const char*>(message.data()), message.size());
  return nodes;
}

}  // namespace lull::stage
