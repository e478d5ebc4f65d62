#include "meter/site.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "meter/tally.hpp"
#include "tree.hpp"

namespace lull::meter {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class site_test : public meter_test {
 protected:
  void site(const std::string& toml) const {
    folder_.write("site.toml", toml);
    set("LULL_SITE", (folder_.path() / "site.toml").c_str());
  }
  [[nodiscard]] std::string refusal(const std::string& toml) const {
    site(toml);
    try {
      (void)components_in_force();
    } catch (const usage_error& e) {
      return e.what();
    }
    return "";
  }

  const temporary_folder folder_;
  const fixture_tree vm_{"vm_nothing"};
};

TEST_F(site_test, figures_of_the_site_replace_the_built_in_ones) {
  site(
      "[processor]\nidle_watts = 1\nbusy_watts = [2, 3, 4]\nsource = 'our plug meter'\n"
      "[dram]\nwatts_per_gb = 0.5\naccess_pj_per_bit = 20\nfull_load_gb_per_s = 100\nsource = 'data sheet'\n"
      "[nic]\nwatts = 25\nsource = 'data sheet'\n[switch]\nwatts_per_port = 4\nports = 2\nsource = 'ours'\n");
  const auto estimate = make("estimate", vm_.files());
  const auto& channels = estimate->description().channels;
  EXPECT_THAT(channel_names(*estimate), ElementsAre("estimate:package", "estimate:dram", "estimate:switch"));
  EXPECT_DOUBLE_EQ(channels[0].watts.mid, 4 * 1);
  EXPECT_NEAR(channels[0].joules_per_unit.high, (4 - 1) / 100.0, 1e-12);
  EXPECT_THAT(channels[0].basis, HasSubstr("our plug meter"));
  EXPECT_NEAR(channels[1].joules_per_unit.mid * 100 * 4, 16, 1e-9);  // 100 GB/s at 160 pJ/B, all four CPUs busy
  EXPECT_DOUBLE_EQ(channels[2].watts.mid, 8);
  EXPECT_EQ(channels[2].covers, domain::nic);

  const fixture_tree eth("eth");
  EXPECT_DOUBLE_EQ(make("net", eth.files())->description().channels[1].watts.mid, 25);
  set("LULL_WIRE_WATTS", "20");
  EXPECT_DOUBLE_EQ(make("net", eth.files())->description().channels[1].watts.mid, 20);
}

TEST_F(site_test, a_key_that_is_not_known_is_refused_with_the_nearest) {
  EXPECT_THAT(refusal("[nic]\nwats = 3\nsource = 'x'\n"), HasSubstr("did you mean 'watts'?"));
  EXPECT_THAT(refusal("[nick]\nwatts = 3\n"), HasSubstr("did you mean 'nic'?"));
  EXPECT_THAT(refusal("[nic]\nwats = 3\n"), HasSubstr("line 2"));
}

TEST_F(site_test, a_figure_needs_a_source_and_a_possible_value) {
  EXPECT_THAT(refusal("[nic]\nwatts = 3\n"), HasSubstr("source"));
  EXPECT_THAT(refusal("[nic]\nwatts = -3\nsource = 'x'\n"), HasSubstr("not a number in the allowed range"));
  EXPECT_THAT(refusal("[nic]\nwatts = 'much'\nsource = 'x'\n"), HasSubstr("not a number in the allowed range"));
  EXPECT_THAT(refusal("[nic]\nwatts = [3, 2, 1]\nsource = 'x'\n"), HasSubstr("does not rise"));
  EXPECT_THAT(refusal("[nic]\nwatts = [1, 2]\nsource = 'x'\n"), HasSubstr("[low, middle, high]"));
  EXPECT_THAT(refusal("[processor]\nidle_watts = 2\nbusy_watts = 1\nsource = 'x'\n"), HasSubstr("less than idle"));
  EXPECT_THAT(refusal("[dram]\naccess_pj_per_bit = 2\nsource = 'x'\n"), HasSubstr("full_load_gb_per_s"));
  EXPECT_THAT(refusal("[calibration]\nidle_watts = 2\nfull_watts = 1\nwhen = 'x'\nmeter = 'ipmi'\n"),
              HasSubstr("less than idle"));
  EXPECT_THAT(refusal("nic = 3\n"), HasSubstr("'nic' is not a table"));
  EXPECT_THAT(refusal("[nic\n"), HasSubstr("line 1"));
}

TEST_F(site_test, a_file_that_is_not_there_is_refused) {
  set("LULL_SITE", "/nowhere/site.toml");
  EXPECT_THROW((void)components_in_force(), usage_error);
}

TEST_F(site_test, two_points_of_a_meter_make_the_estimate_a_fit) {
  const calibration c = fit({0.1, 120}, {0.9, 280}, "ipmi", "2026-11-20");
  EXPECT_NEAR(c.idle_watts, 100, 1e-9);
  EXPECT_NEAR(c.full_watts, 300, 1e-9);
  site(as_toml(c));
  const auto estimate = make("estimate", vm_.files());
  EXPECT_THAT(channel_names(*estimate), ElementsAre("estimate:node"));
  const channel& node = estimate->description().channels[0];
  EXPECT_EQ(node.kind, kind::estimated);
  EXPECT_EQ(node.covers, domain::node);
  EXPECT_THAT(node.basis, HasSubstr("calibrated with ipmi on 2026-11-20"));
  // Four CPUs at half load for ten seconds: 2000 ticks of 10 ms.
  tally total(node);
  total.add({.value = 0, .time_ns = 0});
  total.add({.value = 2000, .time_ns = 10'000'000'000});
  EXPECT_NEAR(total.total().joules, 2000, 1e-6);
  EXPECT_NEAR(total.total().low_j, 1800, 1e-6);
  EXPECT_NEAR(total.total().high_j, 2200, 1e-6);
}

TEST_F(site_test, a_calibration_with_a_processor_meter_leaves_memory_to_its_own_figure) {
  site(as_toml(fit({0, 50}, {1, 150}, "powercap", "2026-11-20")));
  EXPECT_THAT(channel_names(*make("estimate", vm_.files())), ElementsAre("estimate:package", "estimate:dram"));
}

TEST_F(site_test, two_points_that_make_no_line_are_refused) {
  EXPECT_THROW((void)fit({0.1, 100}, {0.15, 110}, "ipmi", "x"), error);
  EXPECT_THROW((void)fit({0.1, 100}, {0.9, 90}, "ipmi", "x"), error);
  EXPECT_THROW((void)fit({0.5, 10}, {0.9, 300}, "ipmi", "x"), error);
  EXPECT_THROW((void)fit({-0.5, 10}, {0.9, 300}, "ipmi", "x"), error);
}

}  // namespace
}  // namespace lull::meter
