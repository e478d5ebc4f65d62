// The pauses of one run without waits give what every power mode saves in a run of its own without waits, exactly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "netsim/power/link_power.hpp"
#include "netsim/power/pauses.hpp"
#include "netsim/random_simulations.hpp"
#include "netsim/runs.hpp"
#include "netsim/simulation.hpp"

namespace lull::netsim {
namespace {

power_parameters mode_of(const char* name, picoseconds hold, picoseconds hybrid_hold = 0) {
  return {name,
          {{"hold", hold},
           {"hybrid_hold", hybrid_hold},
           {"sleep_time", 1'100'000},
           {"quiet_time", 20'000'000},
           {"refresh_time", 1'100'000},
           {"wake_delays", false}}};
}

// The holds of some modes end where other states of other modes begin.
std::vector<power_parameters> several_modes() {
  std::vector<power_parameters> all;
  for (const picoseconds hold : {0, 700'000, 1'100'000, 2'200'000, 40'000'000}) {
    all.push_back(mode_of("deep-sleep", hold));
    all.push_back(mode_of("fast-wake", hold));
    all.push_back(mode_of("hybrid", hold, 1'100'000));
  }
  return all;
}

std::string as_text(const rest_by_group& r) {
  std::string text;
  for (const auto* group : {&r.used, &r.unused})
    for (const rest_of_links& of : *group)
      text += fmt::format("{} {} {}\n", static_cast<double>(of.deep), static_cast<double>(of.fast), of.wakes);
  return text;
}

// Sums over the links of a run of its own.
rest_by_group summed(const result& r) {
  rest_by_group found;
  for (const link_result& l : r.links) {
    rest_of_links& to = (l.packets > 0 ? found.used : found.unused)[static_cast<std::size_t>(l.kind)];
    to.deep += static_cast<std::uint64_t>(l.deep_sleep);
    to.fast += static_cast<std::uint64_t>(l.fast_wake);
    to.wakes += l.wakes;
  }
  return found;
}

TEST(pauses, give_every_mode_what_it_saves_in_each_of_them) {
  generator random(7);
  std::vector<link_policy> policies;
  for (const power_parameters& p : several_modes()) policies.push_back(policy_of(p));
  pauses counted(policies), others(policies);
  std::vector<rest_by_group> expected(policies.size());
  for (int i = 0; i < 20'000; ++i) {
    // Of every order of magnitude up to 60 refreshes, and often at an edge.
    picoseconds length = static_cast<picoseconds>(random() >> (33 + random.below(31)));
    if (random.below(4) == 0) length = one_of<picoseconds>({0, 1, 700'000, 1'100'000, 1'100'001, 21'100'000}, random);
    const std::size_t kind = random.below(link_kinds);
    const bool at_the_end = random.below(10) == 0;
    const bool used = !at_the_end || random.below(2) == 0;
    pauses& to = random.below(2) == 0 ? counted : others;
    at_the_end ? to.close(kind, used, length) : to.add(kind, length);
    for (std::size_t p = 0; p < policies.size(); ++p) {
      link_power alone(policies[p], 1);
      link_rest rest;
      if (at_the_end)
        alone.close(rest, 0, 5, 5 + length);
      else
        (void)alone.wake(rest, 0, 5, 5 + length, 0);
      rest_of_links& sum = (used ? expected[p].used : expected[p].unused)[kind];
      sum.deep += static_cast<std::uint64_t>(rest.deep);
      sum.fast += static_cast<std::uint64_t>(rest.other);
      sum.wakes += rest.wakes;
    }
  }
  counted.add(others);
  for (std::size_t p = 0; p < policies.size(); ++p) {
    const rest_by_group found = counted.of(p);
    ASSERT_TRUE(found.used == expected[p].used && found.unused == expected[p].unused)
        << p << "\n"
        << as_text(found) << as_text(expected[p]);
  }
}

class savings : public testing::TestWithParam<std::uint64_t> {};

TEST_P(savings, of_one_run_are_those_of_a_run_for_each_mode) {
  simulation s = some_simulation(9000 + GetParam());
  if (s.routing.algorithm == algorithm::power_aware) s.routing.algorithm = algorithm::adaptive;
  if (GetParam() % 4 == 3) s.end = 30'000'000;  // cut off
  s.power = {};
  SCOPED_TRACE(described(s));
  simulation all = s;
  all.savings = several_modes();
  const result active = simulate(all, {});
  EXPECT_EQ(as_text(active), as_text(simulate(s, {})));  // counting changes nothing
  ASSERT_EQ(active.savings.size(), all.savings.size());
  for (std::size_t i = 0; i < all.savings.size(); ++i) {
    s.power = all.savings[i];
    const rest_by_group alone = summed(simulate(s, {}));
    const rest_by_group& found = active.savings[i].rest;
    ASSERT_TRUE(found.used == alone.used && found.unused == alone.unused) << s.power.mode << "\n"
                                                                          << as_text(found) << as_text(alone);
  }
  all.threads = 3;
  all.power = all.savings.front();  // nor does it matter which mode without waits runs
  const result together = simulate(all, {});
  for (std::size_t i = 0; i < all.savings.size(); ++i)
    ASSERT_EQ(as_text(together.savings[i].rest), as_text(active.savings[i].rest));
}
INSTANTIATE_TEST_SUITE_P(netsim, savings, testing::Range<std::uint64_t>(0, 24));

std::string refusal(const simulation& s) {
  try {
    (void)simulate(s, {});
  } catch (const usage_error& e) {
    return e.what();
  }
  return "";
}

TEST(savings, are_refused_where_they_do_not_follow_from_the_pauses_of_the_run) {
  simulation s = some_simulation(9000);
  s.routing.algorithm = algorithm::minimal;
  s.power = {};
  s.savings = {mode_of("deep-sleep", 0)};
  EXPECT_EQ(refusal(s), "");
  s.power = mode_of("deep-sleep", 0);
  s.power.own["wake_delays"] = true;
  EXPECT_THAT(refusal(s), testing::HasSubstr("power.mode is deep-sleep"));
  s.power = {"adaptive-rate", {}};
  EXPECT_THAT(refusal(s), testing::HasSubstr("power.mode is adaptive-rate"));
  s.power = {};
  s.savings = {{"adaptive-rate", {}}};
  EXPECT_THAT(refusal(s), testing::HasSubstr("does not let links sleep"));
  s.savings = {mode_of("deep-sleep", 0)};
  s.savings[0].own["bound"] = 0.01;
  EXPECT_THAT(refusal(s), testing::HasSubstr("fixed hold"));
  s.savings.clear();
  for (picoseconds hold = 0; hold < 40; ++hold) s.savings.push_back(mode_of("hybrid", hold * 1'000'000, 250'000));
  EXPECT_THAT(refusal(s), testing::HasSubstr("at most 21"));
  s.savings = {mode_of("deep-sleep", 0)};
  s.routing.algorithm = algorithm::power_aware;
  EXPECT_THAT(refusal(s), testing::HasSubstr("paths depend on the power mode"));
}

}  // namespace
}  // namespace lull::netsim
