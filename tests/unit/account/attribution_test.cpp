// What each account gets, on a node of 4 CPUs with one package (and others where a test needs them), by the numbers.
#include "account/attribution.hpp"

#include <gtest/gtest.h>

#include "account/checkpoint.hpp"

namespace lull::account {
namespace {

constexpr std::int64_t second = 1'000'000'000;
const std::string jobs = "/slurm";

shared_channel counter(const std::string& name, meter::domain covers = meter::domain::package) {
  return {.name = name, .covers = covers, .kind = meter::kind::vendor_model, .interval_s = 0.001, .most_w = 1000};
}

class attribution_test : public testing::Test {
 protected:
  explicit attribution_test(std::vector<shared_channel> channels = {counter("powercap:package-0")})
      : node_({.cpus = 4, .memory_mib = 1000, .gpus = {}}, std::move(channels), 0) {
    observe(0, {});
  }

  static opening job(const std::string& key, std::int64_t cpus, std::int64_t uid = 1000) {
    return {.key = key,
            .cluster = "",
            .job = "",
            .uid = uid,
            .project = "",
            .cgroup = jobs + "/" + key,
            .holds = {.cpus = cpus, .memory_mib = 0, .gpus = {}}};
  }
  void open(const opening& what) {
    cgroups_[what.cgroup] = 0;
    EXPECT_TRUE(node_.open(what, 0, cgroups_[jobs], now_));
  }
  // CPU time of a job in microseconds, which its parent and the machine count too.
  void run(const std::string& key, std::int64_t us) {
    cgroups_[jobs + "/" + key] += us;
    cgroups_[jobs] += us;
    machine_us_ += us;
  }
  void observe(std::int64_t ns, const std::vector<std::int64_t>& uj) {
    observation seen{.time_ns = now_ += ns, .channels = {}, .node_cpu_us = machine_us_, .cpu_us = cgroups_};
    for (const std::int64_t one : uj) seen.channels.push_back({.uj = one});
    node_.add(seen);
  }
  const share& of(const std::string& key, std::size_t channel = 0) const {
    return node_.now().open.at(key).shares[channel];
  }

  attribution node_;
  std::map<std::string, std::int64_t> cgroups_{{jobs, 0}};
  std::int64_t machine_us_ = 0, now_ = 0;
};

TEST_F(attribution_test, idle_energy_goes_by_cpus_held_and_the_rest_by_cpu_time) {
  node_.set_idle_power("powercap:package-0", 40);
  open(job("a", 1));
  open(job("b", 2));
  run("a", 300'000);
  run("b", 100'000);
  machine_us_ += 100'000;  // the system
  observe(second, {100'000'000});
  EXPECT_EQ(of("a").active_uj, 36'000'000);
  EXPECT_EQ(of("b").active_uj, 12'000'000);
  EXPECT_EQ(of("a").held_uj, 10'000'000);
  EXPECT_EQ(of("b").held_uj, 20'000'000);
  EXPECT_EQ(node_.now().system[0].active_uj, 12'000'000);
  EXPECT_EQ(node_.now().unheld[0].held_uj, 10'000'000);
}

TEST_F(attribution_test, accounts_that_follow_each_other_between_two_readings_share_by_their_times) {
  node_.set_idle_power("powercap:package-0", 40);
  open(job("a", 4));
  observe(second, {40'000'000});
  EXPECT_TRUE(node_.end("a", now_ + second));
  EXPECT_FALSE(node_.end("x", now_));
  EXPECT_TRUE(node_.open(job("b", 4), 0, 0, now_ + second));
  machine_us_ += 1000;
  observe(4 * second, {160'000'000});
  EXPECT_EQ(of("a").held_uj, 80'000'000);
  EXPECT_EQ(of("b").held_uj, 120'000'000);
  const auto row = node_.close("a");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->end_ns - row->begin_ns, 2 * second);
  EXPECT_TRUE(row->alone);  // b began when it had ended
  EXPECT_EQ(node_.now().unheld[0].held_uj, 0);
}

TEST_F(attribution_test, what_a_second_opening_knows_is_added) {
  open(job("a", 2));
  node_.complete({.key = "a",
                  .cluster = "blue",
                  .job = "7",
                  .restart = 1,
                  .nodes = 2,
                  .uid = 5,
                  .project = "p",
                  .cgroup = "/other",
                  .holds = {.cpus = 3, .memory_mib = 9, .gpus = {}}});
  const opening& o = node_.now().open.at("a").opened;
  EXPECT_EQ(o.project, "p");
  EXPECT_EQ(o.restart, 1);
  EXPECT_EQ(o.holds.cpus, 2);
  EXPECT_EQ(o.holds.memory_mib, 9);
  EXPECT_EQ(o.uid, 1000);
  EXPECT_EQ(o.cgroup, jobs + "/a");
}

TEST_F(attribution_test, a_group_that_is_named_later_has_all_its_cpu_time_and_nothing_is_doubled) {
  opening early = job("a", 2);
  early.cgroup.clear();
  EXPECT_TRUE(node_.open(early, {}, {}, now_));
  observe(second, {10'000'000});
  run("a", 30'000);  // before its group is named
  node_.complete(job("a", 2), cgroups_[jobs + "/a"], cgroups_[jobs]);
  run("a", 70'000);
  machine_us_ += 100'000;
  observe(second, {10'000'000});
  EXPECT_EQ(node_.of("a")->cpu_us, 100'000);
  EXPECT_FALSE(node_.of("a")->unsure);
}

TEST_F(attribution_test, a_job_that_runs_nothing_still_holds) {
  node_.set_idle_power("powercap:package-0", 40);
  open(job("idle", 4));
  machine_us_ += 1000;
  observe(second, {40'000'000});
  EXPECT_EQ(of("idle").held_uj, 40'000'000);
  EXPECT_EQ(of("idle").active_uj, 0);
}

TEST_F(attribution_test, an_account_that_has_the_node_alone_has_its_energy_with_the_kind_of_the_meter) {
  open(job("a", 1));
  run("a", 500'000);
  machine_us_ += 500'000;
  observe(second, {80'000'000});
  const auto row = node_.close("a");
  ASSERT_TRUE(row);
  EXPECT_TRUE(row->alone);
  EXPECT_EQ(row->energy[0].kind, meter::kind::vendor_model);
  EXPECT_EQ(row->energy[0].active_uj, 40'000'000);
  EXPECT_EQ(row->energy[0].overhead_uj, 40'000'000);
  EXPECT_EQ(row->energy[0].uj(), 80'000'000);
}

TEST_F(attribution_test, whoever_shared_the_node_for_a_moment_has_a_derived_share) {
  open(job("a", 1));
  run("a", 1000);
  observe(second, {1'000'000});
  open(job("b", 1));
  EXPECT_TRUE(node_.close("b"));
  const auto row = node_.close("a");
  EXPECT_FALSE(row->alone);
  EXPECT_EQ(row->energy[0].kind, meter::kind::derived);
  EXPECT_EQ(row->energy[0].overhead_uj, 0);
}

TEST_F(attribution_test, an_unknown_idle_power_widens_the_interval_up_to_all_energy_being_idle) {
  open(job("a", 1));
  open(job("b", 1));
  run("a", 1'000'000);
  observe(second, {100'000'000});
  const auto a = node_.of("a")->energy[0], b = node_.of("b")->energy[0];
  // If nothing were idle, all would be a's; if all were, a and b would have a quarter each.
  EXPECT_EQ(a.uj(), 100'000'000);
  EXPECT_NEAR(a.low_uj, 25e6, 0.3e6);
  EXPECT_EQ(b.uj(), 0);
  EXPECT_NEAR(b.high_uj, 25e6, 0.3e6);
}

TEST_F(attribution_test, the_least_power_of_a_minute_is_taken_for_idle_until_the_site_says_more) {
  observe(60 * second, {600'000'000});  // 10 W
  open(job("a", 4));
  run("a", 1'000'000);
  observe(second, {100'000'000});
  EXPECT_EQ(of("a").held_uj, 10'000'000);
  EXPECT_EQ(of("a").active_uj, 90'000'000);
}

TEST_F(attribution_test, a_job_that_ends_unseen_has_what_its_parent_counted) {
  open(job("a", 1));
  open(job("b", 1));
  run("a", 200'000);
  run("b", 200'000);
  observe(second, {10'000'000});
  run("a", 123'456);
  run("b", 100'000);
  cgroups_.erase(jobs + "/a");
  observe(second, {10'000'000});
  EXPECT_EQ(node_.now().open.at("a").cpu_us, 323'456);
  EXPECT_EQ(node_.now().open.at("b").cpu_us, 300'000);
  EXPECT_FALSE(node_.close("a")->unsure);
}

TEST_F(attribution_test, of_two_that_end_unseen_the_sum_is_exact_and_the_division_unsure) {
  open(job("a", 1));
  open(job("b", 3));
  observe(second, {10'000'000});
  run("a", 90'001);
  run("b", 10'000);
  cgroups_.erase(jobs + "/a");
  cgroups_.erase(jobs + "/b");
  observe(second, {10'000'000});
  const auto a = node_.close("a"), b = node_.close("b");
  EXPECT_EQ(a->cpu_us + b->cpu_us, 100'001);
  EXPECT_TRUE(a->unsure);
  // In the first second nothing ran: 2.5 J and 7.5 J of it are held. Either may have used all of the second.
  EXPECT_GE(a->energy[0].high_uj, 12'500'000);
  EXPECT_LE(b->energy[0].low_uj, 7'500'000);
}

TEST_F(attribution_test, cpu_time_of_others_in_the_folder_of_the_jobs_is_the_systems) {
  open(job("a", 1));
  cgroups_[jobs] += 700'000;
  machine_us_ += 700'000;
  observe(second, {10'000'000});
  run("a", 50'000);
  cgroups_.erase(jobs + "/a");
  observe(second, {10'000'000});
  EXPECT_EQ(node_.close("a")->cpu_us, 50'000);
}

TEST_F(attribution_test, a_parent_that_was_read_before_its_running_children_takes_nothing_from_the_remainder) {
  open(job("a", 1));
  open(job("b", 1));
  for (int n = 0; n < 10; ++n) {
    run("a", 10'000);
    run("b", 10'000);
    cgroups_[jobs] -= 3'000;  // as it was 3 ms of CPU time ago
    observe(second, {1'000'000});
    cgroups_[jobs] += 3'000;
  }
  run("a", 5'000);
  cgroups_.erase(jobs + "/a");
  observe(second, {1'000'000});
  EXPECT_EQ(node_.now().open.at("a").cpu_us, 105'000);
  EXPECT_EQ(node_.now().open.at("b").cpu_us, 100'000);
}

TEST_F(attribution_test, a_reported_cpu_time_counts_where_the_cgroup_has_gone) {
  opening what = job("a", 1);
  what.cgroup.clear();
  EXPECT_TRUE(node_.open(what, {}, {}, now_));
  EXPECT_TRUE(node_.report_cpu("a", 400'000));
  EXPECT_FALSE(node_.report_cpu("no-such-job", 1));
  machine_us_ += 800'000;
  observe(second, {10'000'000});
  EXPECT_EQ(of("a").active_uj, 5'000'000);
}

TEST_F(attribution_test, what_was_used_before_an_account_opened_is_not_its) {
  cgroups_[jobs + "/a"] = 5'000'000;
  cgroups_[jobs] = 5'000'000;
  machine_us_ = 5'000'000;
  observe(second, {1'000'000});
  EXPECT_TRUE(node_.open(job("a", 1), 5'000'000, 5'000'000, now_));
  run("a", 10);
  observe(second, {1'000'000});
  EXPECT_EQ(node_.now().open.at("a").cpu_us, 10);
}

TEST_F(attribution_test, a_key_is_opened_once) {
  open(job("a", 1));
  EXPECT_FALSE(node_.open(job("a", 2), 0, 0, now_));
  EXPECT_EQ(node_.now().open.at("a").opened.holds.cpus, 1);
  EXPECT_FALSE(node_.close("b"));
}

TEST_F(attribution_test, energy_that_arrives_late_goes_to_those_who_ran_meanwhile) {
  open(job("a", 1));
  open(job("b", 1));
  run("a", 300'000);
  observe(second, {0});  // as when the reading fails
  run("b", 100'000);
  observe(second, {40'000'000});
  EXPECT_EQ(of("a").active_uj, 30'000'000);
  EXPECT_EQ(of("b").active_uj, 10'000'000);
}

TEST_F(attribution_test, an_account_that_closes_before_its_energy_arrives_has_a_gap_and_nothing_is_lost) {
  open(job("a", 1));
  open(job("b", 1));
  run("a", 300'000);
  observe(second, {0});
  const auto row = node_.close("a");
  EXPECT_TRUE(row->gap);
  EXPECT_GE(row->energy[0].high_uj, 1000e6);  // a second at the most that the meter counts
  run("b", 100'000);
  observe(second, {40'000'000});
  EXPECT_EQ(of("b").active_uj, 10'000'000);
  EXPECT_EQ(node_.now().system[0].active_uj, 30'000'000);
}

TEST_F(attribution_test, lost_energy_flags_exactly_the_accounts_of_that_interval) {
  open(job("before", 1));
  run("before", 1000);
  observe(second, {1'000'000});
  const auto before = node_.close("before");
  open(job("during", 1));
  node_.add({.time_ns = now_ += second,
             .channels = {{.uj = 0, .missing_uj = 5e6, .lost = true}},
             .node_cpu_us = {},
             .cpu_us = {}});
  open(job("after", 1));
  run("after", 1000);
  run("during", 1000);
  observe(second, {1'000'000});
  EXPECT_FALSE(before->gap);
  EXPECT_TRUE(node_.of("during")->gap);
  EXPECT_GE(node_.of("during")->energy[0].high_uj, 5e6);
  EXPECT_FALSE(node_.of("after")->gap);
}

TEST_F(attribution_test, a_clock_that_stands_still_or_goes_back_makes_no_share_negative) {
  open(job("a", 1));
  run("a", 10);
  observe(-5 * second, {7});
  machine_us_ -= 1'000'000;  // a CPU was removed
  observe(0, {7});
  EXPECT_GE(of("a").active_uj, 0);
  EXPECT_GE(node_.now().system[0].active_uj, 0);
  EXPECT_EQ(of("a").uj() + node_.now().system[0].active_uj + node_.now().unheld[0].held_uj, 14);
}

class two_domains : public attribution_test {
 protected:
  two_domains()
      : attribution_test({counter("powercap:package-0"), counter("powercap:dram-0", meter::domain::dram),
                          counter("nvml:gpu0", meter::domain::gpu)}) {}
};

TEST_F(two_domains, idle_dram_goes_by_memory_held) {
  node_.set_idle_power("powercap:dram-0", 10);
  opening large = job("large", 1), small = job("small", 1);
  large.holds.memory_mib = 800;
  small.holds.memory_mib = 100;
  open(large);
  open(small);
  machine_us_ += 1;
  observe(second, {0, 10'000'000, 0});
  EXPECT_EQ(of("large", 1).held_uj, 8'000'000);
  EXPECT_EQ(of("small", 1).held_uj, 1'000'000);
}

TEST_F(two_domains, a_gpu_is_its_holders_and_keeps_its_kind_on_a_shared_node) {
  opening with = job("with", 1);
  with.holds.gpus = {"nvml:gpu0"};
  open(with);
  open(job("without", 1));
  run("without", 1'000'000);
  observe(second, {0, 0, 300'000'000});
  EXPECT_EQ(of("with", 2).uj(), 300'000'000);
  EXPECT_EQ(of("without", 2).uj(), 0);
  EXPECT_EQ(node_.of("with")->energy[2].kind, meter::kind::vendor_model);
}

TEST_F(two_domains, a_checkpoint_is_read_back_as_it_was) {
  open(job("a", 1));
  run("a", 77);
  observe(second, {1, 2, 3});
  const checkpoint saved{
      .boot_id = "b", .rows = {"row"}, .accounts = node_.now(), .counters = {{"x", {.uj = 5, .raw = 7, .time_ns = 9}}}};
  const auto read = checkpoint_in(text_of(saved));
  ASSERT_TRUE(read);
  EXPECT_EQ(text_of(*read), text_of(saved));
  const std::string text = text_of(saved);
  for (std::size_t length = 0; length < text.size(); ++length)
    ASSERT_FALSE(checkpoint_in(std::string_view(text).substr(0, length)));
}

TEST_F(two_domains, a_channel_that_has_gone_keeps_its_sums_after_a_restart) {
  open(job("a", 1));
  run("a", 77);
  observe(second, {10, 20, 30});
  attribution later({.cpus = 4, .memory_mib = 1000, .gpus = {}},
                    {counter("powercap:dram-0", meter::domain::dram), counter("new")}, node_.now());
  std::vector<std::string> names;
  for (const auto& c : later.now().channels) names.push_back(c.name);
  EXPECT_EQ(names, (std::vector<std::string>{"powercap:dram-0", "new", "powercap:package-0", "nvml:gpu0"}));
  EXPECT_EQ(later.now().node_uj, (std::vector<std::int64_t>{20, 0, 10, 30}));
  EXPECT_EQ(later.now().open.at("a").shares[2].uj(), 10);
}

}  // namespace
}  // namespace lull::account
