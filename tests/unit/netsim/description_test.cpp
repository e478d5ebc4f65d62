// What a file may contain: quantities and back, defaults that their own keys allow, keys shared by rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/error.hpp"
#include "netsim/description/description.hpp"
#include "netsim/description/sections.hpp"
#include "netsim/topology.hpp"
#include "netsim/workload/workload.hpp"

namespace lull::netsim {
namespace {

using testing::HasSubstr;

TEST(quantities, in_plain_numbers_are_si_and_units_are_exact) {
  const struct {
    const quantity& of;
    value one, other, amount;
  } same[] = {{time_quantity, "1.1 us", 1.1e-6, std::int64_t{1'100'000}},
              {time_quantity, "340ns", "0.34 µs", std::int64_t{340'000}},
              {time_quantity, "1_000.5 ns", "1.0005e3 ns", std::int64_t{1'000'500}},
              {time_quantity, "2.5 ps", " +2 ps ", std::int64_t{2}},
              {time_quantity, "1e-400 s", 0, std::int64_t{0}},
              {size_quantity, "4 KiB", 4096, std::int64_t{4096}},
              {size_quantity, "1.5 kB", "1500", std::int64_t{1500}},
              {rate_quantity, "100 Gbit/s", 12.5e9, 12.5e9},
              {rate_quantity, "12.5 GB/s", "100 Gbps", 12.5e9},
              {rate_quantity, "0.3 Gbit/s", "37.5 MB/s", 37.5e6},
              {share_quantity, "1 %", 0.01, 0.01},
              {power_quantity, "1500 mW", 1.5, 1.5}};
  for (const auto& s : same) {
    EXPECT_EQ(parse(s.of, s.one), s.amount) << plain(s.one);
    EXPECT_EQ(parse(s.of, s.other), s.amount) << plain(s.other);
  }
}

TEST(quantities, beyond_64_bits_are_the_end_of_them_and_not_their_remainder) {
  EXPECT_EQ(parse(time_quantity, "1e300 s"), value(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(parse(time_quantity, "-1e30 s"), value(-std::numeric_limits<std::int64_t>::max()));
}

TEST(quantities, say_what_they_must_be) {
  const auto refusal = [](const quantity& of, const value& given) -> std::string {
    try {
      (void)parse(of, given);
    } catch (const not_a_quantity& must) {
      return must.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(time_quantity, "soon"), "must be a time such as \"1.1 us\"");
  EXPECT_EQ(refusal(time_quantity, "3 parsec"), "must be a time such as \"1.1 us\", in s, ms, us, ns, ps");
  for (const value& given : {value(true), value(), value(list{1}), value(""), value("."), value("- 3 s"),
                             value(std::numeric_limits<double>::infinity())})
    EXPECT_EQ(refusal(size_quantity, given), "must be a size such as \"4 KiB\"") << plain(given);
}

TEST(quantities, shown_read_as_the_same) {
  generator random(3);
  for (int i = 0; i < 20'000; ++i) {
    const value time = static_cast<std::int64_t>(random() >> (4 + random.below(60)));
    ASSERT_EQ(parse(time_quantity, show(time_quantity, time)), time);
    ASSERT_EQ(parse(size_quantity, show(size_quantity, time)), time);
    const value rate = std::ldexp(1 + random.uniform(), static_cast<int>(random.below(49)));
    ASSERT_EQ(parse(rate_quantity, show(rate_quantity, rate)), rate);
  }
  EXPECT_EQ(show(time_quantity, std::int64_t{1'100'000}), "1.1 us");
  EXPECT_EQ(show(time_quantity, 0), "0 s");
  EXPECT_EQ(show(size_quantity, 16384), "16 KiB");
  EXPECT_EQ(show(rate_quantity, 12.5e9), "100 Gbit/s");
}

TEST(names, that_are_mistyped_are_answered_with_the_one_that_was_meant) {
  const std::vector<std::string> known{"mode", "hold", "radix", "sleep_time", "deep-sleep"};
  const std::pair<const char*, const char*> meant[] = {
      {"hodl", "hold"}, {"mod", "mode"}, {"rdx", "radix"}, {"sleep-time", "sleep_time"}, {"deepsleep", "deep-sleep"}};
  for (const auto& [wrong, right] : meant) EXPECT_EQ(nearest(wrong, known), "did you mean " + std::string(right) + "?");
  for (const char* wrong : {"", "x", "banana"})
    EXPECT_EQ(nearest(wrong, known), "there are mode, hold, radix, sleep_time, deep-sleep");
}

TEST(keys, have_defaults_that_they_allow) {
  const auto expect_valid = [](std::span<const key> keys) {
    for (const key& k : keys) {
      EXPECT_NE(k.meaning, "") << k.name;
      if (k.by_default.none()) {
        EXPECT_NE(k.otherwise + k.same_as, "") << k.name;
      } else {
        EXPECT_NO_THROW((void)checked(k, k.by_default, {"read"})) << k.name;
      }
      if (!k.same_as.empty()) {
        EXPECT_NE(find(keys, k.same_as), nullptr) << k.name;
      }
    }
  };
  for (const section& s : all_sections()) expect_valid(s.keys);
  for (const topology_entry& t : all_topologies()) expect_valid(t.keys);
}

// Shared keys are listed once: what one row says about them must hold for all.
template <class Rows>
void expect_same_keys_of_one_name(const Rows& rows) {
  std::map<std::string, key> known;
  for (const auto& row : rows)
    for (const key& k : row.keys) EXPECT_EQ(known.try_emplace(k.name, k).first->second, k) << row.name << " " << k.name;
}

TEST(keys, that_several_power_modes_or_workloads_have_are_the_same) {
  expect_same_keys_of_one_name(all_power_modes());
  expect_same_keys_of_one_name(all_workloads());
}

description small(table power, table job) {
  return read_description(table{{"topology", table{{"name", "fat-tree"}, {"radix", 4}}},
                                {"power", std::move(power)},
                                {"jobs", list{value(std::move(job))}}},
                          "read x");
}

TEST(keys, say_when_they_apply_in_the_fewest_words) {
  const key selector{.name = "pattern",
                     .words = {"uniform", "incast", "trace", "amg"},
                     .groups = {{"traffic patterns", {"uniform", "incast"}}, {"programs", {"trace", "amg"}}}};
  const auto when = [&](std::vector<std::string> at) {
    const key k{.name = "k", .only = {{"pattern", std::move(at)}}};
    const std::vector<key> section{selector, k};
    return when_in_words(k, section);
  };
  EXPECT_EQ(when({"amg"}), "only with pattern amg");
  EXPECT_EQ(when({"uniform", "incast"}), "only with traffic patterns");
  EXPECT_EQ(when({"uniform", "incast", "amg"}), "not with pattern trace");
  EXPECT_EQ(when({"uniform", "incast", "trace", "amg"}), "");
}

TEST(descriptions, know_every_power_mode_with_each_of_its_presets) {
  for (const power_mode& m : all_power_modes()) {
    EXPECT_EQ(small({{"mode", m.name}}, {}).asked.power.mode, m.name);
    for (const power_preset& p : m.presets) {
      table power{{"mode", m.name}, {"preset", p.name}};
      for (const std::string& needed : p.must_be_given) power.emplace_back(needed, 0.5);
      EXPECT_NO_THROW((void)policy_of(small(power, {}).asked.power)) << m.name << " " << p.name;
    }
  }
}

TEST(descriptions, know_every_workload) {
  for (const workload_entry& w : all_workloads()) {
    if (w.name == std::string_view("trace") || w.name == std::string_view("goal")) continue;  // which must be named
    const description d = small({}, {{"pattern", w.name}});
    EXPECT_NO_THROW((void)placed(d, {{0, 1, 2, 3}})) << w.name;
  }
}

TEST(descriptions, read_as_the_same_when_they_are_written_with_all_defaults) {
  for (const power_mode& m : all_power_modes()) {
    const description once = small({{"mode", m.name}}, {{"pattern", "incast"}, {"arrivals", "closed"}});
    EXPECT_EQ(read_description(once.content, "again").content, once.content) << m.name;
  }
  for (const workload_entry& w : all_workloads()) {
    const description once = small({}, {{"pattern", w.name}});
    EXPECT_EQ(read_description(once.content, "again").content, once.content) << w.name;
  }
}

TEST(jobs, that_cannot_run_on_their_nodes_are_refused_by_key) {
  const auto refusal = [](const table& job, std::vector<std::uint32_t> nodes) -> std::string {
    try {
      (void)placed(small({}, job), {std::move(nodes)});
    } catch (const usage_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(refusal({}, {3}), HasSubstr("read x: jobs.0.processes is 1; it must be at least 2"));
  EXPECT_THAT(refusal({}, {3, 3}), HasSubstr("jobs.0.mapping names node 3, which another process has"));
  EXPECT_THAT(refusal({}, {3, 16}), HasSubstr("jobs.0.mapping names node 16; the network has nodes 0 to 15"));
  EXPECT_THAT(refusal({{"pattern", "incast"}, {"targets", 2}}, {0, 1}),
              HasSubstr("jobs.0.targets is 2, of 2 processes"));
  EXPECT_THAT(refusal({{"pattern", "hot-spot"}, {"arrivals", "closed"}}, {0, 1}),
              HasSubstr("jobs.0.arrivals is closed"));
  EXPECT_THAT(refusal({{"pattern", "neighbours-2d"}, {"grid", list{2, 2, 2}}}, {0, 1}),
              HasSubstr("jobs.0.grid has 3 dimensions; neighbours-2d has 2"));
  EXPECT_THAT(refusal({{"pattern", "trace"}}, {0, 1}),
              HasSubstr("jobs.0.trace is missing; name the folder of a trace, or its file .otf2"));
  EXPECT_THAT(refusal({{"pattern", "neighbours-2d"}, {"grid", list{1, 1}}}, {0, 1}),
              HasSubstr("jobs.0.grid has 1 process, but the job has 2; make the two agree"));
}

}  // namespace
}  // namespace lull::netsim
