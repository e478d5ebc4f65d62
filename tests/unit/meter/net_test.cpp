#include <gmock/gmock.h>

#include "base/error.hpp"
#include "meter/tally.hpp"
#include "tree.hpp"

namespace lull::meter {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class net_test : public meter_test {
 protected:
  // Moves a megabyte in each direction and returns the cost that the channel reports.
  static channel_total two_megabytes(const fixture_tree& tree) {
    const auto net = make("net", tree.files());
    tally wire(net->description().channels.at(0));
    tree.set("/sys/class/net/eth0/statistics/tx_bytes", "1000");
    tree.set("/sys/class/net/eth0/statistics/rx_bytes", "2000");
    wire.add(read_all(*net)[0]);
    tree.set("/sys/class/net/eth0/statistics/tx_bytes", "1001000");
    tree.set("/sys/class/net/eth0/statistics/rx_bytes", "1002000");
    wire.add(read_all(*net)[0]);
    return wire.total();
  }
};

TEST_F(net_test, only_physical_interfaces_are_read) {
  const fixture_tree tree("eth");
  const auto net = make("net", tree.files());
  EXPECT_THAT(channel_names(*net), ElementsAre("net:eth0", "net:eth0-nic"));
  EXPECT_EQ(net->description().channels[0].covers, domain::wire);
  EXPECT_EQ(net->description().channels[0].kind, kind::derived);
}

TEST_F(net_test, named_interfaces_replace_the_physical_ones) {
  const fixture_tree tree("eth");
  set("LULL_WIRE_INTERFACES", "lo, bond0,lo");
  EXPECT_THAT(channel_names(*make("net", tree.files())),
              ElementsAre("net:lo", "net:lo-nic", "net:bond0", "net:bond0-nic"));
}

constexpr auto table_of_a_container =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier "
    "compressed\n"
    "    lo:      10       1    0    0    0     0          0         0       10       1    0    0    0     0       0   "
    " "
    "      0\n"
    "  eth0: 2000000       7    0    0    0     0          0         0  3000000      12    0    0    0     0       0   "
    " "
    "      0\n";

TEST_F(net_test, an_interface_of_another_namespace_is_read_through_a_process_there) {
  const fixture_tree tree("eth");
  tree.set("/proc/4711/net/dev", table_of_a_container);
  set("LULL_WIRE_INTERFACES", "eth0@4711,eth0@4711=box,eth0");
  const auto net = make("net", tree.files());
  EXPECT_THAT(channel_names(*net),
              ElementsAre("net:eth0@4711", "net:eth0@4711-nic", "net:box", "net:box-nic", "net:eth0", "net:eth0-nic"));
  EXPECT_TRUE(net->description().state.readable) << net->description().state.reason;
  EXPECT_EQ(read_all(*net)[0].value, 5'000'000U);
}

TEST_F(net_test, the_end_of_that_process_is_an_error_of_the_reading) {
  const fixture_tree tree("eth");
  tree.set("/proc/4711/net/dev", table_of_a_container);
  set("LULL_WIRE_INTERFACES", "eth0@4711");
  const auto net = make("net", tree.files());
  tree.set("/proc/4711/net/dev", "");
  EXPECT_EQ(read_all(*net)[0].error, ENODEV);
}

TEST_F(net_test, an_interface_that_is_not_in_the_namespace_of_the_process_is_refused) {
  const fixture_tree tree("eth");
  tree.set("/proc/4711/net/dev", table_of_a_container);
  for (const char* name : {"eth1@4711", "eth0@4712"}) {
    set("LULL_WIRE_INTERFACES", name);
    EXPECT_THROW((void)make("net", tree.files()), usage_error) << name;
  }
}

TEST_F(net_test, a_named_interface_that_is_not_there_is_refused_with_those_that_are) {
  const fixture_tree tree("eth");
  set("LULL_WIRE_INTERFACES", "eth1");
  try {
    (void)make("net", tree.files());
    FAIL();
  } catch (const error& e) {
    EXPECT_THAT(e.what(),
                AllOf(HasSubstr("LULL_WIRE_INTERFACES"), HasSubstr("'eth1'"), HasSubstr("bond0, docker0, eth0, lo")));
  }
}

TEST_F(net_test, the_papers_four_nics_cost_0_60_millijoules_per_megabyte) {
  const fixture_tree tree("eth");
  set("LULL_WIRE_WATTS", "60");
  set("LULL_WIRE_GBPS", "800");  // 4 x 25 GB/s
  const channel_total total = two_megabytes(tree);
  EXPECT_EQ(total.bytes, 2'000'000U);
  EXPECT_NEAR(total.joules, 2 * 0.60e-3, 1e-12);
  EXPECT_NEAR(total.high_j, 2 * 0.60e-3, 1e-12);
  EXPECT_NEAR(total.low_j, 2 * 0.30e-3, 1e-12);
  EXPECT_FALSE(total.lower_bound);
}

TEST_F(net_test, the_default_is_one_of_those_nics) {
  EXPECT_NEAR(two_megabytes(fixture_tree("eth")).joules, 2 * 0.60e-3, 1e-12);
}

TEST_F(net_test, the_full_duplex_convention_charges_half_in_the_same_band) {
  const fixture_tree tree("eth");
  set("LULL_WIRE_CONVENTION", "full-duplex");
  const channel_total total = two_megabytes(tree);
  EXPECT_NEAR(total.joules, 2 * 0.30e-3, 1e-12);
  EXPECT_NEAR(total.low_j, 2 * 0.30e-3, 1e-12);
  EXPECT_NEAR(total.high_j, 2 * 0.60e-3, 1e-12);
}

TEST_F(net_test, the_clamped_convention_never_charges_more_than_power_times_time) {
  const fixture_tree tree("eth");
  set("LULL_WIRE_CONVENTION", "clamped");
  const auto net = make("net", tree.files());
  tally wire(net->description().channels.at(0));
  // 25 GB in each direction in a second: the paper charges twice the card's maximum power.
  wire.add({.value = 0, .time_ns = 0});
  wire.add({.value = 50'000'000'000, .time_ns = 1'000'000'000});
  EXPECT_NEAR(wire.total().joules, 15, 1e-9);
  EXPECT_NEAR(wire.total().low_j, 15, 1e-9);
  EXPECT_NEAR(wire.total().high_j, 30, 1e-9);
  // After a later silence the same bytes cost what the paper says.
  wire.add({.value = 50'000'000'000, .time_ns = 10'000'000'000});
  EXPECT_NEAR(wire.total().joules, 30, 1e-9);
}

TEST_F(net_test, per_delivered_byte_only_what_is_received_counts_with_the_cost_of_both_ends) {
  const fixture_tree tree("eth");
  set("LULL_WIRE_PER", "delivered");
  const channel_total total = two_megabytes(tree);
  EXPECT_EQ(total.bytes, 1'000'000U);
  EXPECT_NEAR(total.joules, 1.20e-3, 1e-12);
}

TEST_F(net_test, beside_the_wire_stands_what_the_card_draws_in_any_case) {
  const fixture_tree tree("eth");
  const auto net = make("net", tree.files());
  const channel& card = net->description().channels.at(1);
  EXPECT_EQ(card.covers, domain::nic);
  EXPECT_EQ(card.kind, kind::estimated);
  tally drawn(card);
  drawn.add({.value = 5, .time_ns = 0});
  drawn.add({.value = 7, .time_ns = 2'000'000'000});
  EXPECT_NEAR(drawn.total().joules, 30, 1e-9);
  EXPECT_FALSE(drawn.total().bytes);
}

TEST_F(net_test, the_basis_says_formula_numbers_and_settings) {
  const fixture_tree tree("eth");
  EXPECT_THAT(make("net", tree.files())->description().channels[0].basis,
              AllOf(HasSubstr("15 W"), HasSubstr("25 GB/s"), HasSubstr("0.6 mJ/MB"), HasSubstr("convention paper"),
                    HasSubstr("eth0/statistics")));
}

TEST_F(net_test, an_interface_that_is_made_anew_is_a_reset_and_silence_is_not_stale) {
  const fixture_tree tree("eth");
  const auto net = make("net", tree.files());
  tally wire(net->description().channels[0]);
  for (int i = 0; i < 3; ++i) wire.add(read_all(*net)[0]);
  EXPECT_EQ(wire.total().stale, 0);
  tree.set("/sys/class/net/eth0/statistics/rx_bytes", "0");
  wire.add(read_all(*net)[0]);
  EXPECT_EQ(wire.total().resets, 1);
  EXPECT_TRUE(wire.total().lower_bound);
  EXPECT_EQ(wire.total().bytes, 0U);
}

TEST_F(net_test, without_a_physical_interface_it_says_how_to_name_another) {
  const fixture_tree tree("vm_nothing");
  const auto net = make("net", tree.files());
  EXPECT_FALSE(net->description().state.readable);
  EXPECT_THAT(net->description().state.reason, HasSubstr("none of the interfaces lo is physical"));
  EXPECT_EQ(net->description().state.fix, "export LULL_WIRE_INTERFACES=lo");
}

}  // namespace
}  // namespace lull::meter
