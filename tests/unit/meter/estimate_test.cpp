#include <gmock/gmock.h>

#include <cerrno>

#include "base/error.hpp"
#include "meter/tally.hpp"
#include "tree.hpp"

namespace lull::meter {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class estimate_test : public meter_test {
 protected:
  // Ten seconds in which the CPUs are busy for `ticks` hundredths of a second, summed over all four.
  static std::vector<channel_total> ten_seconds(int ticks) {
    const fixture_tree tree("vm_nothing");
    const auto estimate = make("estimate", tree.files());
    std::vector<tally> tallies(estimate->description().channels.begin(), estimate->description().channels.end());
    const auto sample = [&](std::int64_t time_ns) {
      const auto readings = read_all(*estimate);
      for (std::size_t i = 0; i < readings.size(); ++i)
        tallies[i].add({.value = readings[i].value, .error = readings[i].error, .time_ns = time_ns});
    };
    sample(0);
    // user nice system idle iowait irq softirq steal: idle, waiting and stolen time move as well and must not count.
    tree.set("/proc/stat", "cpu  " + std::to_string(46430 + ticks) + " 20 29820 3974740 5550 300 580 99110 1000 0");
    sample(10'000'000'000);
    std::vector<channel_total> totals;
    for (const tally& t : tallies) totals.push_back(t.total());
    return totals;
  }
};

TEST_F(estimate_test, an_idle_machine_costs_idle_power) {
  set("LULL_ESTIMATE_CPU", "epyc3");
  const auto totals = ten_seconds(0);
  ASSERT_EQ(totals.size(), 2U);
  EXPECT_NEAR(totals[0].joules, 4 * 0.45 * 10, 1e-9);
  EXPECT_NEAR(totals[1].joules, 8 * 0.392 * 10, 1e-9);  // 8388608 kB are 8 GB
  EXPECT_EQ(totals[0].stale, 0);
}

TEST_F(estimate_test, a_busy_machine_costs_full_power_plus_or_minus_half) {
  set("LULL_ESTIMATE_CPU", "skylake");
  const auto totals = ten_seconds(4000);
  EXPECT_NEAR(totals[0].joules, 4 * 4.19 * 10, 1e-9);
  EXPECT_NEAR(totals[0].low_j, 0.5 * totals[0].joules, 1e-9);
  EXPECT_NEAR(totals[0].high_j, 1.5 * totals[0].joules, 1e-9);
  EXPECT_NEAR(totals[1].low_j, 0.5 * totals[1].joules, 1e-9);
  EXPECT_NEAR(totals[1].high_j, 1.5 * totals[1].joules, 1e-9);
}

TEST_F(estimate_test, an_unknown_processor_is_the_mean_of_the_providers_in_a_wider_band) {
  set("LULL_ESTIMATE_CPU", "unknown");
  const channel_total package = ten_seconds(4000)[0];
  EXPECT_NEAR(package.joules, 4 * 10 * 3.84, 1e-9);
  EXPECT_NEAR(package.low_j, 4 * 10 * 0.5 * 3.5, 1e-9);
  EXPECT_NEAR(package.high_j, 4 * 10 * 1.5 * 4.26, 1e-9);
}

TEST_F(estimate_test, a_machine_without_any_counter_never_yields_zero) {
  for (const channel_total& total : ten_seconds(0)) {
    EXPECT_GT(total.joules, 0);
    EXPECT_GT(total.low_j, 0);
  }
}

TEST_F(estimate_test, the_processor_is_recognised) {
  struct {
    const char* vendor;
    int family, model, stepping;
    const char* name;
  } const cases[] = {{"GenuineIntel", 6, 63, 2, "haswell"},  {"GenuineIntel", 6, 79, 1, "broadwell"},
                     {"GenuineIntel", 6, 85, 4, "skylake"},  {"GenuineIntel", 6, 85, 7, "cascade-lake"},
                     {"GenuineIntel", 6, 143, 8, "unknown"}, {"AuthenticAMD", 23, 49, 0, "epyc2"},
                     {"AuthenticAMD", 25, 1, 1, "epyc3"},    {"AuthenticAMD", 25, 17, 1, "unknown"},
                     {"AuthenticAMD", 23, 1, 2, "unknown"},  {"GenuineIntel", 6, 85, 5, "cascade-lake"},
                     {"GenuineIntel", 6, 85, 8, "unknown"},  {"GenuineIntel", 15, 63, 2, "unknown"},
                     {"AuthenticAMD", 23, 47, 0, "unknown"}, {"AuthenticAMD", 23, 48, 0, "epyc2"},
                     {"AuthenticAMD", 23, 63, 0, "epyc2"},   {"AuthenticAMD", 23, 64, 0, "unknown"},
                     {"AuthenticAMD", 25, 15, 1, "epyc3"},   {"AuthenticAMD", 25, 16, 1, "unknown"}};
  const fixture_tree tree("vm_nothing");
  for (const auto& c : cases) {
    tree.set("/proc/cpuinfo", std::string("processor\t: 0\nvendor_id\t: ") + c.vendor + "\ncpu family\t: " +
                                  std::to_string(c.family) + "\nmodel\t\t: " + std::to_string(c.model) +
                                  "\nmodel name\t: 85 things\nstepping\t: " + std::to_string(c.stepping) + "\n");
    EXPECT_THAT(make("estimate", tree.files())->description().channels[0].basis,
                HasSubstr(std::string(c.name) + " processor"));
  }
}

// Watts of a logical CPU, idle and busy, from the tables of Cloud Carbon Footprint.
TEST_F(estimate_test, each_family_has_the_coefficients_of_the_cited_table) {
  struct {
    const char* family;
    double idle, busy;
  } const rows[] = {{"skylake", 0.64, 4.19}, {"cascade-lake", 0.64, 3.97}, {"broadwell", 0.71, 3.69},
                    {"haswell", 1.90, 6.01}, {"epyc2", 0.47, 1.69},        {"epyc3", 0.45, 1.87}};
  for (const auto& row : rows) {
    set("LULL_ESTIMATE_CPU", row.family);
    EXPECT_NEAR(ten_seconds(0)[0].joules, 4 * row.idle * 10, 1e-9) << row.family;
    EXPECT_NEAR(ten_seconds(4000)[0].joules, 4 * row.busy * 10, 1e-9) << row.family;
  }
}

TEST_F(estimate_test, the_basis_says_formula_coefficients_and_citation) {
  const fixture_tree tree("vm_nothing");
  const auto estimate = make("estimate", tree.files());
  EXPECT_THAT(channel_names(*estimate), ElementsAre("estimate:package", "estimate:dram"));
  EXPECT_THAT(estimate->description().channels[0].basis, HasSubstr("AWS 0.74-3.5, Azure 0.78-3.76, GCP 0.71-4.26"));
  EXPECT_THAT(estimate->description().channels[0].basis, HasSubstr("Cloud Carbon Footprint"));
  EXPECT_THAT(estimate->description().channels[1].basis, HasSubstr("0.392 W/GB x 8.00 GB"));
}

TEST_F(estimate_test, a_family_that_is_not_in_the_table_is_refused_with_those_that_are) {
  set("LULL_ESTIMATE_CPU", "pentium");
  const fixture_tree tree("vm_nothing");
  try {
    (void)make("estimate", tree.files());
    FAIL();
  } catch (const error& e) {
    EXPECT_THAT(e.what(), HasSubstr("'pentium'"));
    EXPECT_THAT(e.what(), HasSubstr("auto, skylake"));
  }
}

TEST_F(estimate_test, without_proc_stat_it_is_not_readable) {
  const fixture_tree tree("eth");
  const auto estimate = make("estimate", tree.files());
  EXPECT_FALSE(estimate->description().state.readable);
  EXPECT_THAT(estimate->description().state.reason, HasSubstr("/proc/stat: No such file"));
}

}  // namespace
}  // namespace lull::meter
