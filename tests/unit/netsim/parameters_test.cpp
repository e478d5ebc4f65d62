#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "netsim/topology.hpp"

namespace lull::netsim {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string refusal(const std::string& topology, const parameters& given) {
  try {
    (void)find_topology(topology).build(given);
  } catch (const usage_error& e) {
    return e.what();
  }
  return "";
}

struct mistake {
  const char* topology;
  parameters given;
  const char* message;
};

TEST(parameters_of_a_topology, are_refused_in_one_line_that_names_the_key) {
  const mistake mistakes[] = {
      {"fat-tree", {{"radix", {1}}}, "topology.radix is 1; it must be a whole number, 2 to 1024"},
      {"fat-tree", {{"radix", {48, 64}}}, "topology.radix is [48, 64]; it must be a whole number, 2 to 1024"},
      {"fat-tree", {{"radix", {}}}, "topology.radix is []; it must be a whole number"},
      {"dragonfly", {{"routers", {0}}}, "topology.routers is 0; it must be a whole number, 1 to 1024"},
      {"dragonfly",
       {{"nodes_per_router", {0}}},
       "topology.nodes_per_router is 0; it must be a whole number, 1 to 1024"},
      {"dragonfly", {{"globals", {-1}}}, "topology.globals is -1; it must be a whole number, 0 to 255"},
      {"dragonfly",
       {{"routers", {4}}, {"globals", {2}}, {"groups", {10}}},
       "topology.groups must be at most routers x globals of a group + 1 = 9"},
      {"dragonfly", {{"routers", {1024}}, {"globals", {255}}}, "topology.groups must be smaller"},
      {"dragonfly",
       {{"routers", {48}}, {"nodes_per_router", {1024}}},
       "topology.groups must keep the number of nodes at or below 16777216"},
      {"dragonfly-rows", {{"rows", {0}}}, "topology.rows is 0; it must be a whole number, 1 to 256"},
      {"dragonfly-rows", {{"columns", {300}}}, "topology.columns is 300; it must be a whole number, 1 to 255"},
      {"dragonfly-rows", {{"row_cables", {0}}}, "topology.row_cables is 0; it must be a whole number, 1 to 16"},
      {"dragonfly-rows", {{"column_cables", {17}}}, "topology.column_cables is 17; it must be a whole number, 1 to 16"},
      {"dragonfly-rows",
       {{"columns", {255}}, {"row_cables", {16}}},
       "topology.nodes_per_router must keep the ports of a router at or below 4096"},
      {"hyperx",
       {{"dimensions", {8, 0}}},
       "topology.dimensions is [8, 0]; it must be a whole number or a list of them, 1 to 256"},
      {"hyperx",
       {{"dimensions", {}}},
       "topology.dimensions is []; it must be a whole number or a list of them, 1 to 256"},
      {"hyperx",
       {{"dimensions", {2, 2, 2, 2, 2, 2, 2, 2, 2}}},
       "topology.dimensions must have at most this many numbers: 8"},
      {"hyperx",
       {{"dimensions", {8, 8}}, {"cables", {1, 1, 1}}},
       "topology.cables must be one number, or one for each dimension: 2"},
      {"hyperx",
       {{"dimensions", {256}}, {"cables", {64}}},
       "topology.cables must keep the ports of a switch at or below 4096"},
      {"hyperx",
       {{"dimensions", {256, 256, 256, 256, 256, 256, 256, 256}}},
       "topology.dimensions must keep the number of nodes at or below 16777216"},
      {"hyperx", {{"nodes_per_switch", {0}}}, "topology.nodes_per_switch is 0; it must be a whole number, 1 to 1024"},
      {"leaf-spine",
       {{"leaves", {4096}}, {"cables", {2}}},
       "topology.leaves must keep the ports of a spine at or below 4096"},
      {"leaf-spine",
       {{"spines", {1024}}, {"cables", {4}}},
       "topology.spines must keep the ports of a leaf at or below 4096"},
      {"torus",
       {{"dimensions", {257}}},
       "topology.dimensions is [257]; it must be a whole number or a list of them, 1 to 256"},
      {"torus",
       {{"dimensions", {2, 2, 2, 2, 2, 2, 2, 2, 2}}},
       "topology.dimensions must have at most this many numbers: 8"},
      {"torus",
       {{"dimensions", {256, 256, 256, 2}}},
       "topology.dimensions must keep the number of nodes at or below 16777216"},
      {"torus",
       {{"nodes_per_switch", {2000}}},
       "topology.nodes_per_switch is 2000; it must be a whole number, 1 to 1024"},
  };
  for (const mistake& m : mistakes) {
    EXPECT_THAT(refusal(m.topology, m.given), AllOf(StartsWith("build the " + std::string(m.topology) + ": "),
                                                    HasSubstr(m.message), Not(HasSubstr("\n"))));
  }
}

TEST(parameters_of_a_topology, have_defaults_that_build) {
  for (const topology_entry& e : all_topologies()) EXPECT_GT(e.build({})->nodes(), 0U) << e.name;
}

TEST(parameters_of_a_topology, repeat_a_single_number_of_cables_for_every_dimension) {
  const auto network =
      find_topology("hyperx").build({{"dimensions", {3, 4}}, {"cables", {2}}, {"nodes_per_switch", {1}}});
  EXPECT_EQ(network->ports(0), 1U + 2 * 2 + 2 * 3);
}

TEST(parameters_of_a_topology, of_an_unknown_name_are_refused_with_the_names_there_are) {
  EXPECT_THAT([] { (void)find_topology("dragonfly-raws"); },
              testing::ThrowsMessage<usage_error>(HasSubstr("did you mean dragonfly-rows?")));
  EXPECT_THAT([] { (void)find_topology("ethernet"); },
              testing::ThrowsMessage<usage_error>(HasSubstr("there are fat-tree, dragonfly")));
}

}  // namespace
}  // namespace lull::netsim
