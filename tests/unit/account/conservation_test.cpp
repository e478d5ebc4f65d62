// 1,000 random histories of a node: jobs open, run, end seen and unseen, and close; counters wrap, fail, stand still and
// are reset; the process that reads them is restarted from its checkpoint. After every reading, what the accounts, the
// system and nobody got is what the counters counted, to the microjoule.
#include <gtest/gtest.h>

#include <random>

#include "account/attribution.hpp"
#include "account/checkpoint.hpp"
#include "account/whole_counter.hpp"

namespace lull::account {
namespace {

constexpr std::uint64_t range_uj = 262'143'328'850;  // of a RAPL counter
constexpr double most_w = 1000;

// A counter of a machine, and what a perfect reader would have seen.
struct register_of_hardware {
  std::uint64_t value = 0;
  std::int64_t unread_uj = 0;  // since the last good reading
  bool was_reset = false;
  std::int64_t expected_uj = 0;
  bool was_read = false;
  int failures = 0;

  void run(std::int64_t uj) {
    value = (value + static_cast<std::uint64_t>(uj)) % range_uj;
    unread_uj += uj;
  }
  void read() {
    if (was_read && !was_reset) expected_uj += unread_uj;
    unread_uj = 0;
    was_reset = false;
    was_read = true;
    failures = 0;
  }
};

meter::channel channel_of(const std::string& name, meter::domain covers) {
  return {.name = name,
          .covers = covers,
          .kind = meter::kind::vendor_model,
          .interval = seconds{1e-3},
          .basis = "",
          .limits = {.range = range_uj, .max_per_second = most_w * 1e6, .slack_ns = 100'000'000},
          .joules_per_unit = {1e-6, 1e-6, 1e-6},
          .watts = {}};
}

class history {
 public:
  explicit history(std::uint64_t seed) : random_(seed) {
    hardware_[0].value = below(range_uj);
    hardware_[1].value = below(range_uj);
    accounts_.set_idle_power("powercap:package-0", static_cast<double>(below(100)));
    observe();
  }

  void step() {
    pass();
    switch (below(12)) {
      case 0:
      case 1:
        return open();
      case 2:
        return close();
      case 3:
        return end_unseen();
      case 4:
        return restart();
      case 5:
        return reset();
      default:
        return observe();
    }
  }
  void check() const {
    const attribution::state& s = accounts_.now();
    for (std::size_t c = 0; c < 2; ++c) {
      std::int64_t sum = s.closed_uj[c] + s.system[c].uj() + s.unheld[c].uj();
      for (const auto& [key, a] : s.open) sum += a.shares[c].uj();
      ASSERT_EQ(sum, s.node_uj[c]);
      ASSERT_EQ(sum, counters_[c].uj());
      ASSERT_EQ(sum, hardware_[c].expected_uj);
    }
    std::int64_t cpu_us = closed_cpu_us_;
    for (const auto& [key, a] : s.open) cpu_us += a.cpu_us;
    ASSERT_LE(cpu_us, machine_us_);
  }
  [[nodiscard]] std::int64_t wraps() const { return counters_[0].now().wraps + counters_[1].now().wraps; }
  [[nodiscard]] std::int64_t resets() const { return counters_[0].now().resets + counters_[1].now().resets; }
  [[nodiscard]] int restarts() const { return restarts_; }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  // Time passes, jobs run, and counters count.
  void pass() {
    const auto ns = static_cast<std::int64_t>(below(2) == 0 ? below(2'000'000) : below(60'000'000'000));
    now_ns_ += ns;
    for (auto& h : hardware_)
      if (below(10) != 0) h.run(ns / 1000 * static_cast<std::int64_t>(below(900)));
    for (auto& [path, us] : cgroups_) {
      const auto used = static_cast<std::int64_t>(below(static_cast<std::uint64_t>(ns / 1000) + 1));
      if (path != jobs) us += used;
      cgroups_[jobs] += used;
      machine_us_ += used;
    }
  }
  void observe() {
    observation seen{.time_ns = now_ns_, .channels = {}, .node_cpu_us = machine_us_, .cpu_us = cgroups_};
    if (below(5) == 0) seen.node_cpu_us.reset();
    for (std::size_t c = 0; c < 2; ++c) {
      register_of_hardware& h = hardware_[c];
      meter::reading r{.value = h.value, .error = 0, .time_ns = now_ns_};
      if (h.failures < 2 && below(5) == 0) {
        r.value.reset();
        ++h.failures;
      } else {
        h.read();
      }
      const auto counted = counters_[c].add(r);
      seen.channels.push_back({.uj = counted.uj, .missing_uj = counted.missing_uj, .lost = counted.lost});
    }
    accounts_.add(seen);
  }
  void open() {
    observe();
    const std::string key = std::to_string(++last_);
    opening what{.key = key,
                 .cluster = "",
                 .job = "",
                 .uid = 1,
                 .project = "",
                 .cgroup = jobs + "/" + key,
                 .holds = {.cpus = static_cast<std::int64_t>(below(9)), .memory_mib = 0, .gpus = {}}};
    cgroups_.emplace(what.cgroup, 0);
    ASSERT_TRUE(accounts_.open(what, 0, cgroups_[jobs], now_ns_));
  }
  void close() {
    if (accounts_.now().open.empty()) return;
    const std::string key = random_key();
    if (below(2) == 0) cgroups_.erase(jobs + "/" + key);
    observe();
    closed_cpu_us_ += accounts_.close(key)->cpu_us;
    cgroups_.erase(jobs + "/" + key);
  }
  void end_unseen() {
    if (!accounts_.now().open.empty()) cgroups_.erase(jobs + "/" + random_key());
  }
  void restart() {
    ++restarts_;
    const auto saved = checkpoint_in(text_of({.boot_id = "boot",
                                              .rows = {},
                                              .accounts = accounts_.now(),
                                              .counters = {{"0", counters_[0].now()}, {"1", counters_[1].now()}}}));
    ASSERT_TRUE(saved);
    pass();
    accounts_ = attribution(node, shared_channels(), saved->accounts);
    for (std::size_t c = 0; c < 2; ++c)
      counters_[c] = whole_counter(counters_[c].channel(), saved->counters.at(std::to_string(c)));
    observe();
  }
  void reset() {
    register_of_hardware& h = hardware_[below(2)];
    // Elsewhere, a reset looks like a wrap or like progress.
    if (h.value < range_uj * 2 / 5 || h.value > range_uj / 2 || h.failures > 0) return;
    h.value = 0;
    h.was_reset = true;
    observe();
    while (h.was_reset) observe();
  }
  std::string random_key() {
    auto at = accounts_.now().open.begin();
    std::advance(at, below(accounts_.now().open.size()));
    return at->first;
  }

  static std::vector<shared_channel> shared_channels() { return {shared(package()), shared(dram())}; }
  static meter::channel package() { return channel_of("powercap:package-0", meter::domain::package); }
  static meter::channel dram() { return channel_of("powercap:dram-0", meter::domain::dram); }

  const std::string jobs = "/jobs";
  const resources node{.cpus = 16, .memory_mib = 64'000, .gpus = {}};
  std::mt19937_64 random_;
  std::int64_t now_ns_ = 1'000'000'000'000, machine_us_ = 0, closed_cpu_us_ = 0;
  int last_ = 0, restarts_ = 0;
  std::array<register_of_hardware, 2> hardware_;
  std::map<std::string, std::int64_t> cgroups_{{jobs, 0}};
  std::vector<whole_counter> counters_{whole_counter(package()), whole_counter(dram())};
  attribution accounts_{node, shared_channels(), now_ns_};
};

TEST(conservation, of_1000_random_histories_every_microjoule_is_attributed_once) {
  std::int64_t wraps = 0, resets = 0, restarts = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    history h(seed);
    for (int n = 0; n < 60; ++n) {
      h.step();
      h.check();
      if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << " step " << n;
    }
    wraps += h.wraps();
    resets += h.resets();
    restarts += h.restarts();
  }
  // The histories contain what they should.
  EXPECT_GT(wraps, 1000);
  EXPECT_GT(resets, 30);
  EXPECT_GT(restarts, 1000);
}

TEST(whole_counter, counts_what_the_hardware_counted_while_nobody_read) {
  const meter::channel c = channel_of("powercap:package-0", meter::domain::package);
  whole_counter before(c);
  before.add({.value = 100, .error = 0, .time_ns = 0});
  EXPECT_EQ(before.add({.value = 350, .error = 0, .time_ns = 1'000'000'000}).uj, 250);
  whole_counter after(c, before.now());
  EXPECT_EQ(after.add({.value = 1350, .error = 0, .time_ns = 4'000'000'000}).uj, 1000);
  EXPECT_EQ(after.uj(), 1250);
}

TEST(whole_counter, of_a_counter_that_starts_with_its_reader_begins_anew_and_says_that_energy_is_lost) {
  meter::channel c = channel_of("perf:package-0", meter::domain::package);
  whole_counter before(c);
  before.add({.value = 100, .error = 0, .time_ns = 0});
  before.add({.value = 350, .error = 0, .time_ns = 1'000'000'000});
  whole_counter after(c, before.now());
  const auto counted = after.add({.value = 400, .error = 0, .time_ns = 4'000'000'000});
  EXPECT_EQ(counted.uj, 0);
  EXPECT_TRUE(counted.lost);
  EXPECT_GT(counted.missing_uj, 0);
}

TEST(whole_counter, is_exact_beyond_what_a_double_holds) {
  const meter::channel c = channel_of("powercap:package-0", meter::domain::package);
  whole_counter counter(c, {.uj = std::int64_t{1} << 60, .raw = 0, .time_ns = 0});
  std::int64_t now = 0;
  for (std::uint64_t n = 1; n <= 100; ++n)
    counter.add({.value = n * 99'999'999'999 % range_uj, .error = 0, .time_ns = now += 150'000'000'000});
  EXPECT_EQ(counter.uj(), (std::int64_t{1} << 60) + 100 * 99'999'999'999);
}

TEST(whole_counter, a_failed_reading_is_never_an_amount) {
  const meter::channel c = channel_of("powercap:package-0", meter::domain::package);
  whole_counter counter(c);
  counter.add({.value = 1'000'000, .error = 0, .time_ns = 0});
  const auto failed = counter.add({.value = {}, .error = 5, .time_ns = 1'000'000'000});
  EXPECT_TRUE(failed.failed);
  EXPECT_EQ(failed.uj, 0);
  EXPECT_EQ(counter.add({.value = 3'000'000, .error = 0, .time_ns = 2'000'000'000}).uj, 2'000'000);
}

}  // namespace
}  // namespace lull::account
