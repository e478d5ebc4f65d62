#include "stage/approaches/roles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace lull::stage {
namespace {

using testing::ElementsAre;

// `per_node` processes on each of `nodes` nodes, node by node.
std::vector<std::string> places(int nodes, int per_node) {
  std::vector<std::string> by_rank;
  for (int node = 0; node < nodes; ++node)
    for (int i = 0; i < per_node; ++i) by_rank.push_back("node" + std::to_string(node));
  return by_rank;
}

TEST(roles, time_partitioning_has_no_servers) {
  const roles all({.how = approach::time_partitioning}, places(2, 2));
  EXPECT_THAT(all.clients(), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(all.server_of(3), no_server);
}

TEST(roles, dedicated_cores_are_the_last_of_each_node) {
  const roles all({.how = approach::dedicated_cores, .count = 1}, places(2, 3));
  EXPECT_THAT(all.clients(), ElementsAre(0, 1, 3, 4));
  EXPECT_TRUE(all.is_server(2));
  EXPECT_THAT(all.clients_of(2), ElementsAre(0, 1));
  EXPECT_THAT(all.clients_of(5), ElementsAre(3, 4));
}

TEST(roles, a_node_is_found_however_its_ranks_are_numbered) {
  const std::vector<std::string> in_turn{"a", "b", "a", "b", "a", "b"};
  const roles all({.how = approach::dedicated_cores, .count = 1}, in_turn);
  EXPECT_THAT(all.clients_of(4), ElementsAre(0, 2));
  EXPECT_THAT(all.clients_of(5), ElementsAre(1, 3));
}

TEST(roles, any_count_of_clients_is_shared_by_any_count_of_servers) {
  for (const int clients : {1, 2, 3, 5, 7})
    for (const int servers : {1, 2, 3}) {
      const roles all({.how = approach::dedicated_cores, .count = servers}, places(1, clients + servers));
      EXPECT_EQ(static_cast<int>(all.clients().size()), clients);
      std::size_t served = 0;
      for (int server = clients; server < clients + servers; ++server) {
        EXPECT_TRUE(all.is_server(server));
        const auto mine = all.clients_of(server);
        EXPECT_LE(static_cast<int>(mine.size()), (clients + servers - 1) / servers);
        served += mine.size();
      }
      EXPECT_EQ(static_cast<int>(served), clients);
    }
}

TEST(roles, a_node_keeps_a_client) {
  const roles alone({.how = approach::dedicated_cores, .count = 1}, places(1, 1));
  EXPECT_THAT(alone.clients(), ElementsAre(0));
  EXPECT_EQ(alone.server_of(0), no_server);
  const roles two({.how = approach::dedicated_cores, .count = 4}, places(1, 2));
  EXPECT_THAT(two.clients(), ElementsAre(0));
  EXPECT_EQ(two.server_of(0), 1);
}

TEST(roles, dedicated_nodes_are_the_last_nodes_with_all_their_processes) {
  const roles all({.how = approach::dedicated_nodes, .count = 1}, places(3, 2));
  EXPECT_THAT(all.clients(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(all.clients_of(4), ElementsAre(0, 1));
  EXPECT_THAT(all.clients_of(5), ElementsAre(2, 3));
}

TEST(roles, one_node_at_least_computes) {
  EXPECT_THROW(roles({.how = approach::dedicated_nodes, .count = 2}, places(2, 2)), usage_error);
}

}  // namespace
}  // namespace lull::stage
