// Skeletons of many small messages: the number of buffers, their content, and that every route takes them to their
// destination. aggregate/skeleton_channels_test.cpp checks that their channels are those of the aggregator.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "netsim/skeletons/item_paths.hpp"
#include "netsim/skeletons/rehearsal.hpp"

namespace lull::netsim {
namespace {

using given_keys = std::map<std::string, value>;

counts all_of(const rehearsed_job& job) { return rehearsal(job).all; }

TEST(small_items, go_in_full_buffers_and_a_last_one_for_each_channel) {
  // 124 items of 8 bytes and a header of 32 in 1 KiB; 2,500 for each of 8 processes.
  const counts one = counts_of({"histogram", 8, {{"buffer_bytes", "1 KiB"}}}, 3);
  EXPECT_EQ(one.messages, 7 * (20 + 1));
  EXPECT_EQ(one.bytes, 7 * (20 * 1024 + 32 + (2500 - 20 * 124) * 8));
  EXPECT_EQ(one.neighbours.size(), 7);
}

TEST(small_items, have_an_address_where_they_are_passed_on) {
  // Two nodes of two processes: items go to the process of the same local rank here or there; 12 bytes each.
  const rehearsed_job job("histogram", 4, {{"buffer_bytes", "1 KiB"}, {"hops", 2}}, 2);
  const counts one = counts_of(job, 0);
  EXPECT_EQ(one.neighbours, (std::set<std::uint32_t>{1, 2}));
  const std::uint64_t in_buffer = (1024 - 32) / 12, full = 10'000 / in_buffer;
  EXPECT_EQ(one.messages, 2 * (full + 1));
  EXPECT_EQ(one.bytes, 2 * (full * (32 + 12 * in_buffer) + 32 + 12 * (10'000 - full * in_buffer)));
}

// Buffers of a node: one channel between each two, owned by one process on either side.
TEST(small_items, of_a_node_share_its_channels) {
  const rehearsed_job job("histogram", 16, {{"mode", "per-node"}, {"buffer_bytes", "4 KiB"}}, 4);
  std::uint64_t between_nodes = 0;
  for (std::uint32_t rank = 0; rank < 16; ++rank)
    for (const std::uint32_t to : counts_of(job, rank).neighbours) between_nodes += to / 4 != rank / 4 ? 1 : 0;
  EXPECT_EQ(between_nodes, 4 * 3);
}

TEST(small_items, come_back_as_answers_in_an_index_gather) {
  const counts updates = counts_of({"histogram", 8}, 0), reads = counts_of({"index-gather", 8}, 0);
  EXPECT_EQ(reads.messages, 2 * updates.messages);
  EXPECT_EQ(reads.bytes - 2 * updates.messages * 32, (updates.bytes - updates.messages * 32) / 8 * (16 + 12));
}

TEST(small_items, by_themselves_are_one_operation_each) {
  const std::uint32_t processes = 8;
  for (const char* name : {"histogram", "index-gather"}) {
    const counts one = counts_of({name, processes, {{"mode", "direct"}}}, 2);
    EXPECT_EQ(one.messages, 0) << name;
    EXPECT_NEAR(static_cast<double>(one.one_sided), 20'000.0 * 7 / 8, 300) << name;  // except for its own
    EXPECT_EQ(one.all_of(collective::barrier), 1) << name;
  }
  const counts sort = counts_of({"radix-sort", processes, {{"mode", "direct"}, {"items", 1000}}}, 2);
  EXPECT_NEAR(static_cast<double>(sort.one_sided), 4 * 1000.0 * 7 / 8, 150);
}

TEST(small_items, of_a_sort_travel_once_for_each_digit) {
  const rehearsed_job job("radix-sort", 8, {{"key_bytes", 12}, {"payload", 20}, {"digit_bits", 10}, {"items", 8000}});
  const counts one = counts_of(job, 0);
  EXPECT_EQ(one.all_of(collective::alltoall), 2 * 10);  // 96 bits
  EXPECT_EQ((one.collectives.at({collective::alltoall, 1024 / 8 * 8})), 2 * 10);
  EXPECT_EQ((one.collectives.at({collective::allgather, 16})), 10);
  EXPECT_EQ(one.bytes - 32 * one.messages, 10 * 7 * 1000 * (4 + 12 + 20));
}

class every_route : public testing::TestWithParam<std::tuple<std::string, std::string, int, std::uint32_t>> {};

TEST_P(every_route, brings_all_buffers_to_their_ends) {
  const auto& [name, mode, hops, per_node] = GetParam();
  const given_keys keys{{"mode", mode}, {"hops", hops}, {"buffer_bytes", "2 KiB"}, {"items", 5000}, {"steps", 2}};
  const rehearsed_job job(name, 24, keys, per_node);
  const counts all = all_of(job);
  EXPECT_EQ(all.iterations, 2 * 24);
  EXPECT_GT(all.messages, 0);
}

INSTANTIATE_TEST_SUITE_P(layouts, every_route,
                         testing::Combine(testing::Values("histogram", "index-gather", "radix-sort"),
                                          testing::Values("per-pe", "per-node"), testing::Values(1, 2, 3),
                                          testing::Values(1U, 2U, 3U, 4U, 8U, 24U)),
                         [](const auto& of) {
                           std::string name = std::get<0>(of.param) + "_" + std::get<1>(of.param) + "_" +
                                              std::to_string(std::get<2>(of.param)) + "_hops_" +
                                              std::to_string(std::get<3>(of.param)) + "_on_a_node";
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

// What a process sends on its channels is what arrives at their other ends.
TEST(item_paths, are_known_alike_at_both_ends) {
  for (const model::buffering buffers : {model::buffering::per_pe, model::buffering::per_node})
    for (int hops = 1; hops <= 3; ++hops)
      for (const std::uint32_t on_node : {1U, 2U, 3U, 4U}) {
        std::vector<std::uint32_t> nodes;
        for (std::uint32_t rank = 0; rank < 11 * on_node; ++rank) nodes.push_back(rank / on_node);
        const item_paths paths(nodes, {buffers, hops});
        for (std::uint32_t hop = 0; hop < paths.hops(); ++hop) {
          std::map<std::pair<std::uint32_t, std::uint32_t>, double> left, came;
          for (std::uint32_t rank = 0; rank < nodes.size(); ++rank) {
            for (const auto& c : paths.leaving(hop, rank)) left[{rank, c.other}] = c.share;
            for (const auto& c : paths.arriving(hop, rank)) came[{c.other, rank}] = c.share;
          }
          EXPECT_EQ(left, came) << static_cast<int>(buffers) << " " << hops << " " << on_node << " " << hop;
        }
      }
}

// Items for processes of other nodes cross between nodes as often as the scheme says, if nodes fill their grid.
TEST(item_paths, carry_between_nodes_what_is_pushed_to_other_nodes) {
  for (const std::uint32_t on_node : {1U, 2U, 4U}) {
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t rank = 0; rank < 64 * on_node; ++rank) nodes.push_back(rank / on_node);
    const auto crossings = [&](model::item_scheme how) {
      const item_paths paths(nodes, how);
      double sum = 0;
      for (std::uint32_t hop = 0; hop < paths.hops(); ++hop)
        for (std::uint32_t rank = 0; rank < nodes.size(); ++rank)
          for (const auto& c : paths.leaving(hop, rank)) sum += nodes[c.other] != nodes[rank] ? c.share : 0;
      return sum / static_cast<double>(nodes.size());
    };
    for (int hops = 1; hops <= 3; ++hops) EXPECT_NEAR(crossings({model::buffering::per_pe, hops}), 63.0 / 64, 1e-12);
    EXPECT_NEAR(crossings({model::buffering::per_node, 1}), 63.0 / 64, 1e-12);
    EXPECT_NEAR(crossings({model::buffering::per_node, 2}), 2 * 7.0 / 8, 1e-12);
    EXPECT_NEAR(crossings({model::buffering::per_node, 3}), 3 * 3.0 / 4, 1e-12);
  }
}

}  // namespace
}  // namespace lull::netsim
