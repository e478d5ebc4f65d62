#include "wait/frequency.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

#include "meter/tree.hpp"

namespace lull::wait {
namespace {

using meter::fixture_tree;

std::vector<int> cores(std::initializer_list<int> cpus) { return cpus; }

std::string value(const fixture_tree& tree, int cpu, const std::string& file) {
  std::ifstream stream(tree.root() + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/" + file);
  std::string line;
  std::getline(stream, line);
  return line;
}

TEST(core_frequency, is_set_outright_under_the_governor_userspace) {
  const fixture_tree tree("cpufreq_userspace");
  const auto [frequency, problem] = core_frequency::make(tree.root(), cores({1}));
  ASSERT_TRUE(frequency) << problem;
  EXPECT_EQ(frequency->method(), "scaling_setspeed");
  frequency->lower();
  EXPECT_EQ(value(tree, 1, "scaling_setspeed"), "800000");
  EXPECT_EQ(value(tree, 0, "scaling_setspeed"), "2600000") << "another PE's core";
  frequency->raise();
  EXPECT_EQ(value(tree, 1, "scaling_setspeed"), "2600000");
  EXPECT_EQ(frequency->changes(), 2U);
  EXPECT_GT(frequency->ns_changing(), 0);
}

TEST(core_frequency, is_limited_on_both_threads_of_the_core) {
  const fixture_tree tree("cpufreq_limit");
  const auto [frequency, problem] = core_frequency::make(tree.root(), cores({2}));
  ASSERT_TRUE(frequency) << problem;
  EXPECT_EQ(frequency->method(), "scaling_max_freq");
  frequency->lower();
  for (const int cpu : {0, 2}) EXPECT_EQ(value(tree, cpu, "scaling_max_freq"), "1200000");
  frequency->raise();
  for (const int cpu : {0, 2}) EXPECT_EQ(value(tree, cpu, "scaling_max_freq"), "3500000");
}

TEST(core_frequency, is_a_preference_where_the_processor_chooses) {
  const fixture_tree tree("cpufreq_preference");
  const auto [frequency, problem] = core_frequency::make(tree.root(), cores({0}));
  ASSERT_TRUE(frequency) << problem;
  frequency->lower();
  EXPECT_EQ(value(tree, 0, "energy_performance_preference"), "power");
  frequency->raise();
  EXPECT_EQ(value(tree, 0, "energy_performance_preference"), "balance_performance");
}

TEST(core_frequency, stays_lowered_until_the_last_waiter_and_is_full_while_the_agent_works) {
  const fixture_tree tree("cpufreq_userspace");
  const auto [frequency, problem] = core_frequency::make(tree.root(), cores({0}));
  ASSERT_TRUE(frequency) << problem;
  const auto now = [&] { return value(tree, 0, "scaling_setspeed"); };
  frequency->work_begin();
  frequency->work_end();
  EXPECT_EQ(frequency->changes(), 0U) << "nobody waits: nothing to change";
  frequency->lower();
  frequency->lower();
  frequency->raise();
  EXPECT_EQ(now(), "800000");
  frequency->work_begin();
  EXPECT_EQ(now(), "2600000");
  frequency->work_end();
  EXPECT_EQ(now(), "800000");
  frequency->raise();
  EXPECT_EQ(now(), "2600000");
}

TEST(core_frequency, is_restored_when_it_goes_away_lowered) {
  const fixture_tree tree("cpufreq_userspace");
  auto attempt = core_frequency::make(tree.root(), cores({0}));
  ASSERT_TRUE(attempt.frequency) << attempt.problem;
  attempt.frequency->lower();
  attempt.frequency.reset();
  EXPECT_EQ(value(tree, 0, "scaling_setspeed"), "2600000");
}

// A separate process lowers the frequency and then ends by `how`; the frequency must be restored within two seconds.
void ends_lowered(int how) {
  const fixture_tree tree("cpufreq_userspace");
  const pid_t child = fork();
  if (child == 0) {
    signal(how, SIG_DFL);  // UCX would print its own report of a crash
    const auto attempt = core_frequency::make(tree.root(), cores({0}));
    if (!attempt.frequency) _exit(1);
    attempt.frequency->lower();
    for (;;) pause();
  }
  const auto becomes = [&](const char* wanted) {
    for (int i = 0; i < 200 && value(tree, 0, "scaling_setspeed") != wanted; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return value(tree, 0, "scaling_setspeed");
  };
  EXPECT_EQ(becomes("800000"), "800000");
  kill(child, how);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == how);
  EXPECT_EQ(becomes("2600000"), "2600000");
}

TEST(core_frequency, is_restored_after_kill_9) { ends_lowered(SIGKILL); }
TEST(core_frequency, is_restored_after_a_signal) { ends_lowered(SIGTERM); }
TEST(core_frequency, is_restored_after_a_crash) { ends_lowered(SIGSEGV); }

TEST(core_frequency, says_why_it_cannot_be_changed) {
  const auto problem = [](const char* name, std::initializer_list<int> cpus) {
    const fixture_tree tree(name);
    const auto attempt = core_frequency::make(tree.root(), cores(cpus));
    EXPECT_FALSE(attempt.frequency);
    return attempt.problem;
  };
  using testing::HasSubstr;
  EXPECT_THAT(problem("cpufreq_userspace", {0, 1}), HasSubstr("not bound to one core"));
  EXPECT_THAT(problem("cpufreq_shared", {0}), HasSubstr("cores 0,1 share one frequency"));
  EXPECT_THAT(problem("cpufreq_closed", {0}), HasSubstr("the governor is performance"));
  EXPECT_THAT(problem("vm_nothing", {0}), HasSubstr("does not scale frequencies"));
}

}  // namespace
}  // namespace lull::wait
