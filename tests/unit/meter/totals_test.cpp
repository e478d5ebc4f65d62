// Which channels of a machine count, so that nothing counts twice: on the fake trees, with all readable sources.
#include "meter/totals.hpp"

#include <gmock/gmock.h>

#include "meter/choice.hpp"
#include "tree.hpp"

namespace lull::meter {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class totals_test : public meter_test {
 protected:
  // The channels of all sources that the default selects on this tree.
  static std::vector<channel> channels_of(const fixture_tree& tree) {
    std::vector<channel> all;
    for (const auto& s : sources_to_read(tree.files()))
      all.insert(all.end(), s->description().channels.begin(), s->description().channels.end());
    return all;
  }
  static std::vector<channel_label> labels_of(const std::vector<channel>& channels) {
    std::vector<channel_label> labels;
    for (const channel& c : channels) labels.push_back({c.name, c.covers, c.kind});
    return labels;
  }
  static std::vector<std::string> names(std::span<const channel_label> labels, const std::vector<std::size_t>& found) {
    std::vector<std::string> result;
    for (const std::size_t i : found) result.emplace_back(labels[i].name);
    return result;
  }
  static std::vector<std::string> total(const std::vector<channel_label>& labels) {
    return names(labels, counted(labels));
  }
  static std::vector<std::string> of(const std::vector<channel_label>& labels, domain d) {
    return names(labels, counted_of(labels, d));
  }
};

TEST_F(totals_test, a_cray_with_readable_rapl_counts_each_domain_once) {
  const fixture_tree tree("cray_ex");
  for (const char* zone : {"intel-rapl:0", "intel-rapl:0:0"}) {
    const std::string folder = std::string("/sys/class/powercap/") + zone;
    tree.set(folder + "/name", zone == std::string("intel-rapl:0") ? "package-0" : "dram");
    tree.set(folder + "/energy_uj", "1000");
    tree.set(folder + "/max_energy_range_uj", "262143328850");
  }
  const auto channels = channels_of(tree);
  const auto labels = labels_of(channels);
  ASSERT_THAT(of(labels, domain::package), ElementsAre("pm_counters:cpu"));
  EXPECT_THAT(of(labels, domain::dram), ElementsAre("pm_counters:memory"));
  EXPECT_THAT(total(labels), ElementsAre("pm_counters:node"));
  EXPECT_EQ(std::ranges::count(channels, domain::package, &channel::covers), 2) << "rapl is readable beside it";
}

TEST_F(totals_test, the_platform_counter_is_the_total_and_not_added_to_the_package) {
  const fixture_tree tree("intel_client_psys_mmio");
  const auto channels = channels_of(tree);
  const auto labels = labels_of(channels);
  EXPECT_THAT(total(labels), ElementsAre("powercap:psys"));
  EXPECT_THAT(of(labels, domain::package), ElementsAre("powercap:package-0"));
}

TEST_F(totals_test, packages_and_memory_are_added_where_nothing_meters_the_node) {
  const fixture_tree tree("intel_2s_server");
  const auto channels = channels_of(tree);
  EXPECT_THAT(total(labels_of(channels)),
              UnorderedElementsAre("powercap:package-0", "powercap:package-1", "powercap:dram-0", "powercap:dram-1"));
}

TEST_F(totals_test, of_several_meters_of_the_node_one_counts) {
  const std::vector<channel_label> labels{{"powercap:psys", domain::node, kind::vendor_model},
                                          {"ipmi:node", domain::node, kind::measured},
                                          {"redfish:node", domain::node, kind::measured},
                                          {"powercap:package-0", domain::package, kind::vendor_model}};
  EXPECT_THAT(of(labels, domain::node), ElementsAre("ipmi:node"));
  EXPECT_THAT(total(labels), ElementsAre("ipmi:node"));
}

TEST_F(totals_test, a_meter_of_the_node_that_counts_less_than_what_is_inside_it_does_not_count) {
  const auto labels = [](double psys, double ipmi) {
    return std::vector<channel_label>{
        {"powercap:psys", domain::node, kind::vendor_model, joules_between{psys * 0.95, psys * 1.05}},
        {"powercap:package-0", domain::package, kind::vendor_model, joules_between{95, 105}},
        {"powercap:dram-0", domain::dram, kind::vendor_model, joules_between{9, 11}},
        {"ipmi:node", domain::node, kind::measured, joules_between{ipmi * 0.9, ipmi * 1.1}}};
  };
  EXPECT_THAT(total(labels(40, 400)), ElementsAre("ipmi:node"));
  EXPECT_THAT(total(labels(150, 400)), ElementsAre("ipmi:node"));
  EXPECT_THAT(total(labels(150, 43)), ElementsAre("powercap:psys"));
  EXPECT_THAT(total(labels(400, 150)), ElementsAre("powercap:psys")) << "a node is no less than its platform";
  EXPECT_THAT(total(labels(40, 80)), ElementsAre("ipmi:node")) << "it may lag behind";
  EXPECT_THAT(total(labels(40, 43)), ElementsAre("powercap:package-0", "powercap:dram-0"));
}

TEST_F(totals_test, an_estimate_of_the_inside_contradicts_no_meter) {
  const std::vector<channel_label> labels{
      {"ipmi:node", domain::node, kind::measured, joules_between{40, 44}},
      {"estimate:package", domain::package, kind::estimated, joules_between{80, 90}}};
  EXPECT_THAT(total(labels), ElementsAre("ipmi:node"));
}

TEST_F(totals_test, accelerators_alone_are_what_there_is) {
  const std::vector<channel_label> labels{{"nvml:gpu0", domain::gpu, kind::measured},
                                          {"nvml:gpu1", domain::gpu, kind::measured},
                                          {"net:eth0", domain::wire, kind::derived}};
  EXPECT_THAT(total(labels), ElementsAre("nvml:gpu0", "nvml:gpu1"));
}

TEST_F(totals_test, an_accelerator_that_two_sources_show_counts_once) {
  const std::vector<channel_label> amd{{"powercap:package-0", domain::package, kind::vendor_model},
                                       {"hwmon:amdgpu-0", domain::gpu, kind::measured},
                                       {"nvml:0", domain::gpu, kind::measured},
                                       {"rocm:0", domain::gpu, kind::measured}};
  EXPECT_THAT(total(amd), ElementsAre("powercap:package-0", "nvml:0", "rocm:0"));
  const std::vector<channel_label> cray{{"pm_counters:accel0", domain::gpu, kind::measured},
                                        {"pm_counters:accel1", domain::gpu, kind::measured},
                                        {"nvml:0", domain::gpu, kind::measured}};
  EXPECT_THAT(of(cray, domain::gpu), ElementsAre("pm_counters:accel0", "pm_counters:accel1"));
  const std::vector<channel_label> grace{{"grace:module-0", domain::package, kind::measured},
                                         {"nvml:0", domain::gpu, kind::measured}};
  EXPECT_THAT(total(grace), ElementsAre("grace:module-0"));
}

TEST_F(totals_test, without_a_package_there_is_no_total) {
  const std::vector<channel_label> labels{{"net:eth0", domain::wire, kind::derived},
                                          {"powercap:dram-0", domain::dram, kind::vendor_model}};
  EXPECT_THAT(total(labels), IsEmpty());
  EXPECT_THAT(of(labels, domain::wire), ElementsAre("net:eth0"));
}

}  // namespace
}  // namespace lull::meter
