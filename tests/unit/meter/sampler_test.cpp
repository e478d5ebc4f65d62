#include "meter/sampler.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "tree.hpp"

namespace lull::meter {
namespace {

using namespace std::chrono_literals;

class sampler_test : public meter_test {
 protected:
  const fixture_tree tree_{"vm_nothing"};
};

TEST_F(sampler_test, the_first_sample_is_taken_by_start_and_the_last_by_stop) {
  sampler meter(tree_.files(), 0.1);
  const std::int64_t before = now_ns();
  meter.start();
  const std::int64_t started = now_ns();
  std::this_thread::sleep_for(20ms);
  const std::int64_t stopping = now_ns();
  const series result = meter.stop();
  ASSERT_EQ(result.time_ns.size(), 2U);
  EXPECT_TRUE(before <= result.time_ns[0] && result.time_ns[0] <= started);
  EXPECT_TRUE(stopping <= result.time_ns[1] && result.time_ns[1] <= now_ns());
  EXPECT_EQ(result.joules.size(), 2 * meter.channels().size());
  EXPECT_EQ(result.totals.size(), meter.channels().size());
}

TEST_F(sampler_test, samples_come_at_the_rate_asked_for_and_joules_never_decrease) {
  sampler meter(tree_.files(), 100);
  meter.start();
  std::this_thread::sleep_for(300ms);
  const series result = meter.stop();
  const std::size_t channels = meter.channels().size();
  ASSERT_EQ(channels, 2U);
  // On a busy machine deadlines are skipped, but none is ever early.
  EXPECT_GE(result.time_ns.size(), 10U);
  EXPECT_LE(static_cast<double>(result.time_ns.size()),
            static_cast<double>(result.time_ns.back() - result.time_ns.front()) / 10e6 + 3);
  for (std::size_t i = channels; i < result.joules.size(); ++i)
    EXPECT_GE(result.joules[i], result.joules[i - channels]);
  for (std::size_t i = 1; i < result.time_ns.size(); ++i) EXPECT_GT(result.time_ns[i], result.time_ns[i - 1]);
  EXPECT_DOUBLE_EQ(result.totals[0].joules, result.joules[result.joules.size() - channels]);
  EXPECT_GT(result.totals[0].joules, 0);
}

TEST_F(sampler_test, a_sampler_starts_again_from_zero) {
  sampler meter(tree_.files(), 50);
  for (int round = 0; round < 3; ++round) {
    meter.start();
    std::this_thread::sleep_for(30ms);
    const series result = meter.stop();
    EXPECT_EQ(result.joules[0], 0);
    EXPECT_EQ(result.totals[0].gaps, 0);
  }
}

TEST_F(sampler_test, latest_is_the_newest_sample_and_safe_from_other_threads) {
  sampler meter(tree_.files(), 100);
  EXPECT_THROW((void)meter.latest(), error);
  meter.start();
  std::vector<std::jthread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&] {
      latest_sample before = meter.latest();
      for (int j = 0; j < 200; ++j) {
        const latest_sample now = meter.latest();
        ASSERT_EQ(now.joules.size(), 2U);
        ASSERT_GE(now.time_ns, before.time_ns);
        ASSERT_GE(now.joules[0], before.joules[0]);
        before = now;
        std::this_thread::sleep_for(200us);
      }
    });
  readers.clear();
  EXPECT_GT(meter.stop().time_ns.size(), 2U);
  EXPECT_THROW((void)meter.latest(), error);
}

TEST_F(sampler_test, latest_has_the_bytes_of_channels_that_count_them_and_of_no_others) {
  const fixture_tree tree("eth");
  tree.set("/sys/class/net/eth0/statistics/tx_bytes", "1000");
  sampler meter(tree.files(), 100);
  meter.start();
  EXPECT_EQ(meter.latest().bytes.at(0), 0U);
  tree.set("/sys/class/net/eth0/statistics/tx_bytes", "5000");
  for (int i = 0; i < 200 && meter.latest().bytes.at(0) != 4000U; ++i) std::this_thread::sleep_for(10ms);
  const latest_sample newest = meter.latest();
  EXPECT_EQ(newest.bytes.at(0), 4000U);
  for (std::size_t i = 1; i < newest.bytes.size(); ++i) EXPECT_EQ(newest.bytes[i], std::nullopt);
  EXPECT_EQ(meter.stop().totals[0].bytes, 4000U);
}

TEST_F(sampler_test, failures_while_it_runs_are_gaps_and_the_series_goes_on) {
  std::atomic<int> error = 0, failed = 0;
  sampler meter(tree_.files([&](std::string_view) {
    if (error != 0) ++failed;
    return error.load();
  }),
                100);
  meter.start();
  error = EIO;
  while (failed < 20) std::this_thread::sleep_for(1ms);  // more than there are files: each has failed
  error = 0;
  const series result = meter.stop();
  EXPECT_GT(result.totals[0].gaps, 0);
  EXPECT_FALSE(result.totals[0].lower_bound);
  EXPECT_GT(result.totals[0].joules, 0);
}

TEST_F(sampler_test, misuse_is_refused) {
  for (const double hz : {0.0, 0.05, 101.0, -1.0, std::nan("")}) EXPECT_THROW(sampler(tree_.files(), hz), error) << hz;
  sampler meter(tree_.files(), 10);
  EXPECT_THROW((void)meter.stop(), error);
  meter.start();
  EXPECT_THROW(meter.start(), error);
  (void)meter.stop();
  EXPECT_THROW((void)meter.stop(), error);
}

TEST_F(sampler_test, a_running_sampler_can_be_dropped) {
  sampler meter(tree_.files(), 100);
  meter.start();
  std::this_thread::sleep_for(15ms);
}

}  // namespace
}  // namespace lull::meter
