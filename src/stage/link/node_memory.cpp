#include "stage/link/node_memory.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "stage/link/node_socket.hpp"

namespace lull::stage {
namespace {

// The PID namespace: process ids are comparable only within one; 0: unknown.
std::uint64_t namespace_of_processes() {
  struct stat found {};
  return stat("/proc/self/ns/pid", &found) == 0 ? found.st_ino : 0;
}

}  // namespace

node_memory share_with_node(exchange& others, const std::function<descriptor(std::size_t)>& make) {
  const std::vector<std::string> nodes = nodes_by_rank(others);
  node_memory made{};
  for (std::size_t rank = 0; rank < nodes.size(); ++rank)
    if (nodes[rank] == others.node()) made.ranks.push_back(static_cast<int>(rank));
  const int first = made.ranks.front();
  const bool is_first = first == others.rank();
  listening_socket listening;
  if (is_first) listening = listen_on_node(static_cast<int>(made.ranks.size()));
  const auto messages = others.all(std::as_bytes(std::span(listening.name)));
  descriptor to_first;
  if (!is_first) {
    const std::vector<std::byte>& name = messages[static_cast<std::size_t>(first)];
    to_first = connect_to({reinterpret_cast<const char*>(name.data()), name.size()});
  }
  const std::uint64_t namespace_here = namespace_of_processes();
  // all live processes have connected
  const auto namespaces = others.all(std::as_bytes(std::span(&namespace_here, 1)));
  made.one_pid_namespace = namespace_here != 0 && std::ranges::all_of(made.ranks, [&](int rank) {
                             return std::ranges::equal(namespaces[static_cast<std::size_t>(rank)],
                                                       std::as_bytes(std::span(&namespace_here, 1)));
                           });
  try {
    constexpr std::byte pages{1};
    if (is_first) {
      made.pages = make(made.ranks.size());
      std::size_t reached = 1;
      for (; const descriptor other = accept_from(listening.socket); ++reached)
        (void)send_message(other, {&pages, 1}, {{made.pages.get()}}, true);
      if (reached < made.ranks.size())
        throw error("share memory with the processes of the node",
                    std::to_string(made.ranks.size() - reached) + " of them could not be connected",
                    "raise the limit of descriptors (ulimit -n)");
    } else {
      std::array<std::byte, 1> text;
      socket_message got = receive_message(to_first, text, true);
      if (got.state == transfer::done) made.pages = std::move(got.passed[0]);
      if (!made.pages) throw error("share memory with the processes of the node", "no descriptor of it has arrived");
    }
  } catch (const error& why) {
    made.problem = why.what();
    made.pages = {};
  }
  return made;
}

}  // namespace lull::stage
