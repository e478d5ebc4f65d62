// What is GOAL and what is not, in text and in binary form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "netsim/goal/goal_files.hpp"

namespace lull::netsim {
namespace {

using testing::HasSubstr;

const std::string two = "num_ranks 2\nrank 0 {\n";

TEST(a_goal_text, has_operations_with_their_dependencies) {
  const goal_file file(
      "// made by hand\n\nnum_ranks 3\n/* two\nlines */ rank 2 {\n"
      "a: calc 1500 cpu 3\nb: send 16b to 0 tag 7 cpu 1 nic 0\nrecv 8 b from -1 tag -1\n"
      "b requires a\nb irequires a\r\n}\nrank 0 { calc 5 }");
  EXPECT_TRUE(is_goal(file.path()));
  EXPECT_EQ(ranks_of_goal(file.path()), 3U);
  const auto graph = read_goal(file.path());
  ASSERT_EQ(graph->ranks.size(), 3U);
  EXPECT_EQ(graph->ranks[0].operations.size(), 1U);
  EXPECT_TRUE(graph->ranks[1].operations.empty());
  const goal_rank& rank = graph->ranks[2];
  ASSERT_EQ(rank.operations.size(), 3U);
  EXPECT_EQ(rank.operations[0].size, 1500U);
  EXPECT_EQ(rank.operations[0].cpu, 3);
  EXPECT_EQ(rank.operations[1].what, goal_kind::send);
  EXPECT_EQ(rank.operations[1].needs, 2U);
  EXPECT_EQ(rank.operations[1].tag, 7U);
  EXPECT_EQ(rank.operations[2].peer, any);
  EXPECT_EQ(rank.operations[2].tag, any);
  ASSERT_EQ(rank.edges_of(0).size(), 2U);
  EXPECT_EQ(rank.edges_of(0)[0].after(), goal_edge::when::ended);
  EXPECT_EQ(rank.edges_of(0)[1].after(), goal_edge::when::begun);
  EXPECT_EQ(rank.edges_of(0)[1].to(), 1U);
  EXPECT_TRUE(rank.edges_of(2).empty());
  EXPECT_EQ(graph->place_of(2, 1), file.path() + ":7");
  EXPECT_FALSE(graph->several_nics);
}

TEST(a_goal_text, may_be_longer_than_the_buffer) {
  std::string text = two;
  for (int i = 0; i < 40'000; ++i) text += "label_" + std::to_string(i) + ": calc " + std::to_string(i) + "\n";
  const goal_file file(text + "label_39999 requires label_0\n}\n");
  const auto graph = read_goal(file.path());
  ASSERT_EQ(graph->ranks[0].operations.size(), 40'000U);
  EXPECT_EQ(graph->ranks[0].operations[30'000].size, 30'000U);
  EXPECT_EQ(graph->ranks[0].operations[30'000].line, 30'003U);
}

TEST(a_mistake_in_a_goal_text, is_named_with_its_line) {
  EXPECT_EQ(
      goal_failure(two + "sned 8b to 1\n}"),
      "read FILE:3: '8' follows the word sned; write send, recv, calc, 'sned: OPERATION' or 'sned requires LABEL'");
  EXPECT_EQ(goal_failure(two + "a: sned 8b to 1\n}"), "read FILE:3: 'sned' is no operation; did you mean send?");
  EXPECT_EQ(goal_failure(two + "send 8b to 2\n}"), "read FILE:3: there is no rank 2; ranks are 0 to 1");
  EXPECT_EQ(goal_failure(two + "}\nrank 2 {\n}"), "read FILE:4: there is no rank 2; ranks are 0 to 1");
  EXPECT_EQ(goal_failure(two + "}\nrank 0 {\n}"), "read FILE:4: rank 0 begins again; line 2 has it");
  EXPECT_EQ(goal_failure(two + "a: calc 1\na requires b\nb: calc 1\n}"),
            "read FILE:4: the label b is not defined so far; write 'b: OPERATION' above, in the same rank");
  EXPECT_EQ(goal_failure(two + "a: calc 1\na: calc 1\n}"),
            "read FILE:4: the label a is defined twice; labels of a rank must differ");
  EXPECT_EQ(goal_failure(two + "send 8 to 1\n}"), "read FILE:3: 'to' is not 'b'; write send Nb to RANK");
  EXPECT_EQ(goal_failure(two + "send 8b from 1\n}"), "read FILE:3: 'from' is not 'to'; write send Nb to RANK");
  EXPECT_EQ(goal_failure(two + "send 8b to -1\n}"), "read FILE:3: '-1' is not a rank; write a whole number");
  EXPECT_EQ(goal_failure(two + "calc 1 tga 3\n}"), "read FILE:3: tga is not part of a calc; did you mean tag?");
  EXPECT_EQ(goal_failure(two + "calc 1 cpu 256\n}"), "read FILE:3: 256 as a cpu is too large; at most 255");
  EXPECT_EQ(goal_failure(two + "calc 1 calc 2\n}"), "read FILE:3: calc is not part of a calc; there are tag, cpu, nic");
  EXPECT_EQ(goal_failure(two + "calc 1\n"), "read FILE:4: rank 0 does not end; line 2 begins it; end it with }");
  EXPECT_EQ(goal_failure(two + "/* calc 1\n}"), "read FILE:3: the comment does not end; end it with */");
  EXPECT_EQ(goal_failure("rank 0 {\n}"), "read FILE:1: it begins with 'rank'; begin with num_ranks N");
  EXPECT_EQ(goal_failure("num_ranks 0"), "read FILE:1: num_ranks is 0; there must be a rank");
}

TEST(dependencies_in_a_circle, are_named) {
  EXPECT_EQ(
      goal_failure(two + "a: calc 1\nb: calc 1\nc: calc 1\nd: calc 1\nb requires a\nc irequires b\nb requires c\n"
                         "d requires c\n}"),
      "read FILE: 2 operations of rank 0 wait for each other: FILE:4, then FILE:5, and again the first; remove one "
      "of the dependencies");
  EXPECT_THAT(goal_failure(two + "a: calc 1\na requires a\n}"), HasSubstr("FILE:4: a requires itself"));
}

// Rank 0: a calc, then a send to rank 1, begun together with a second calc; rank 1: a receive.
std::string binary(std::uint32_t needs_of_send = 1, std::uint32_t peer = 1, std::uint64_t mark = 4223) {
  constexpr std::uint32_t first_part = 6 + 2 * 16, operations = 39;
  constexpr std::uint32_t second_part = first_part + 8 + 4 + 3 * operations + 2 * 4;
  goal_bytes b;
  b.add(mark).add(std::uint32_t{2}).add(std::uint8_t{0}).add(std::uint8_t{0});
  b.add(std::uint64_t{first_part}).add(std::uint64_t{second_part});
  b.add(std::uint64_t{second_part}).add(std::uint64_t{second_part + 8 + 4 + operations});
  b.add(std::uint32_t{3}).add(std::uint32_t{1}).add(std::uint32_t{0});
  b.operation(0, 3, 0, 1500, 0, {1, 0});
  b.operation(needs_of_send, 1, peer, 16, 7, {}, {1, 1});
  b.operation(1, 3, 0, 10, 0);
  b.add(std::uint32_t{1}).add(std::uint32_t{2});
  b.add(std::uint32_t{1}).add(std::uint32_t{1}).add(std::uint32_t{0});
  b.operation(0, 2, any, 16, any);
  return b.text();
}

TEST(a_binary_goal_file, has_the_same_graph_as_its_text) {
  const goal_file text(two +
                       "a: calc 1500\nb: send 16b to 1 tag 7\nb requires a\nc: calc 10\nc irequires b\n}\nrank 1 "
                       "{\nrecv 16b from -1 tag -1\n}");
  const goal_file file(binary());
  EXPECT_TRUE(is_goal(file.path()));
  EXPECT_EQ(ranks_of_goal(file.path()), 2U);
  const auto one = read_goal(text.path()), other = read_goal(file.path());
  ASSERT_EQ(one->ranks.size(), other->ranks.size());
  for (std::size_t rank = 0; rank < 2; ++rank) {
    ASSERT_EQ(one->ranks[rank].operations.size(), other->ranks[rank].operations.size());
    for (std::uint32_t i = 0; i < one->ranks[rank].operations.size(); ++i) {
      const goal_operation &a = one->ranks[rank].operations[i], &b = other->ranks[rank].operations[i];
      EXPECT_EQ(a.what, b.what);
      EXPECT_EQ(a.size, b.size);
      EXPECT_EQ(a.needs, b.needs);
      EXPECT_EQ(a.peer, b.peer);
      EXPECT_EQ(a.tag, b.tag);
      ASSERT_EQ(one->ranks[rank].edges_of(i).size(), other->ranks[rank].edges_of(i).size());
      for (std::size_t e = 0; e < one->ranks[rank].edges_of(i).size(); ++e) {
        EXPECT_EQ(one->ranks[rank].edges_of(i)[e].to(), other->ranks[rank].edges_of(i)[e].to());
        EXPECT_EQ(one->ranks[rank].edges_of(i)[e].after(), other->ranks[rank].edges_of(i)[e].after());
      }
    }
  }
  EXPECT_EQ(other->place_of(0, 1), file.path() + ", operation 1 of rank 0");
}

TEST(a_damaged_binary_goal_file, is_refused) {
  const std::string whole = binary();
  EXPECT_EQ(goal_failure(binary(2)),
            "read FILE: operation 1 of rank 0 has 2 dependencies, but 1 lead to it; it is damaged; make it again with "
            "txt2bin");
  EXPECT_THAT(goal_failure(binary(1, 2)), HasSubstr("operation 1 of rank 0 names rank 2 of 2"));
  EXPECT_THAT(goal_failure(binary(1, 1, 2342)), HasSubstr("a run of LogGOPSim with --save-mem has used it up"));
  for (std::size_t length = 8; length < whole.size(); ++length)
    EXPECT_THAT(goal_failure(whole.substr(0, length)), HasSubstr("it is damaged")) << length;
}

TEST(other_files, are_no_goal) {
  for (const char* text : {"", "[topology]\n", "num_ranks = 4\n", "rank 0 {\n}\n", "/* never ends"}) {
    const goal_file file(text);
    EXPECT_FALSE(is_goal(file.path())) << text;
  }
  EXPECT_FALSE(is_goal("/nonexistent"));
  EXPECT_FALSE(is_goal("/"));
}

}  // namespace
}  // namespace lull::netsim
