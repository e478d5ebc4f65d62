#include "service/row.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace lull::service {
namespace {

account::energy_figure counted(const char* channel, meter::domain covers, std::int64_t active, std::int64_t held) {
  return {.channel = channel,
          .covers = covers,
          .kind = meter::kind::derived,
          .active_uj = active,
          .held_uj = held,
          .low_uj = static_cast<double>(active),
          .high_uj = static_cast<double>(active + 2 * held)};
}

// The second line of the examples.
account::figures example() {
  return {.opened = {.key = "slurm.4711",
                     .cluster = "blue",
                     .job = "4711",
                     .restart = 0,
                     .nodes = 2,
                     .uid = 64001,
                     .project = "physics",
                     .cgroup = "/x/job_4711",
                     .holds = {.cpus = 2, .memory_mib = 4096, .gpus = {}}},
          .begin_ns = 125'001'000,
          .end_ns = 41'402'310'999,
          .cpu_us = 75'100'000,
          .alone = false,
          .energy = {{.channel = "powercap:package-0",
                      .covers = meter::domain::package,
                      .kind = meter::kind::derived,
                      .active_uj = 1'000'000'000,
                      .held_uj = 400'000'000,
                      .low_uj = 900e6,
                      .high_uj = 1500e6},
                     {.channel = "powercap:package-1",
                      .covers = meter::domain::package,
                      .kind = meter::kind::vendor_model,
                      .active_uj = 500'000'000,
                      .held_uj = 200'000'000,
                      .low_uj = 400e6,
                      .high_uj = 1200e6},
                     {.channel = "powercap:dram-0",
                      .covers = meter::domain::dram,
                      .kind = meter::kind::derived,
                      .active_uj = 100'000'000,
                      .held_uj = 45'000'000,
                      .low_uj = 90e6,
                      .high_uj = 190e6}}};
}

account::figures of_key(const std::string& key) {
  account::figures f;
  f.opened.key = key;
  return f;
}

TEST(row, it_is_written_as_the_example) {
  std::ifstream file(LULL_TESTS "/data/service/rows.jsonl");
  std::string first, second;
  ASSERT_TRUE(std::getline(file, first) && std::getline(file, second));
  EXPECT_EQ(row_of(example(), "n2", 1'795'888'000'000'000'000), second);
}

TEST(row, a_job_without_another_name_has_its_key) {
  EXPECT_NE(row_of(of_key("k"), "n", 0).find(R"("job":"k")"), std::string::npos);
}

TEST(row, each_flag_has_its_name) {
  account::figures f = of_key("k");
  f.alone = false;
  f.unsure = f.gap = f.unclosed = true;
  EXPECT_NE(row_of(f, "n", 0).find(R"("flags":["shared","unsure","gap","unclosed"])"), std::string::npos);
}

TEST(row, what_a_domain_counts_is_one_sum) {
  account::figures f = of_key("k");
  f.energy = {counted("a", meter::domain::gpu, 1, 2), counted("b", meter::domain::gpu, 3, 4)};
  EXPECT_NE(row_of(f, "n", 0).find(R"("energy":{"gpu":{"kind":"derived","active_uj":4,"held_uj":6,"overhead_uj":0,)"
                                   R"("low_uj":4,"high_uj":16}})"),
            std::string::npos);
}

}  // namespace
}  // namespace lull::service
