#include "model/machine/constants.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <type_traits>

namespace {

using namespace lull::model;

// The number of members of an aggregate: with one more initialiser there is no such initialisation.
struct anything {
  template <class Type>
  operator Type() const;
};
template <class Type, class... Given>
consteval std::size_t members() {
  if constexpr (requires { Type{Given{}..., anything{}}; })
    return members<Type, Given..., anything>();
  else
    return sizeof...(Given);
}

std::map<std::string, std::size_t> rows_by_group() {
  std::map<std::string, std::size_t> found;
  for (const constant& one : all_constants()) {
    const std::string name = one.name;
    ++found[name.substr(0, name.find('.'))];
  }
  return found;
}

TEST(constants, every_numeric_member_of_a_machine_has_its_row) {
  const std::map<std::string, std::size_t> expected{
      {"correction", members<correction_rules>() - 1},  // without `off`
      {"network", members<link_costs>()},
      {"aggregation", members<aggregation_costs>() - 1},  // without `l2_bytes`, which the topology provides
      {"thread_blocks", members<thread_block_sizes>()},
      {"waiting", members<waiting_costs>() - 1},  // without `reconsider`
      {"waiting_of_mpi", members<waiting_costs>() - 1},
      {"waiting_of_mpi_streams", members<waiting_costs>() - 1},
      {"waiting_of_mpi_handshakes", members<waiting_costs>() - 1},
      {"progress", members<progress_costs>()},
      {"messages", members<message_costs>()},
      {"transforming", members<transforming_costs>()},
      {"rdma", members<rdma_costs>()},
      {"output", members<output_costs>()},
      {"recording", members<recording_costs>()}};
  EXPECT_EQ(rows_by_group(), expected);
  EXPECT_EQ(members<machine>(), expected.size() + 1);  // and `link`, which a job measures
}

TEST(constants, each_row_has_a_member_of_its_own) {
  machine known;
  double next = 1;
  for (const constant& one : all_constants()) one.set(known, next++);
  next = 1;
  for (const constant& one : all_constants()) EXPECT_EQ(one.get(known), next++) << one.name;
}

TEST(constants, defaults_are_in_their_ranges_and_do_not_contradict_each_other) {
  for (const constant& one : all_constants()) {
    if (std::string(one.name) == "output.writers_at_half_speed") continue;  // no number of writers does
    EXPECT_EQ(problem_of_constant(one.name, one.get({})), "");
  }
  EXPECT_EQ(contradiction_in({}), "");
}

TEST(constants, each_row_says_where_it_is_from_and_what_measures_it) {
  std::set<std::string> names;
  for (const constant& one : all_constants()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_THAT(one.meaning, testing::EndsWith(".")) << one.name;
    EXPECT_STRNE(one.because, "") << one.name;
    EXPECT_NE(*one.by.figure == '\0', *one.by.unmeasured == '\0') << one.name;
  }
}

}  // namespace
