// The quick model of a switch compared with the full one: where it claims to be exact, every result is the same to the
// bit.
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "netsim/instances.hpp"
#include "netsim/runs.hpp"
#include "netsim/simulation.hpp"

namespace lull::netsim {
namespace {

using queue_model = network_parameters::queue_model;

simulation wide_buffers(const instance& on, algorithm a, double load, std::uint64_t seed) {
  simulation s;
  s.seed = seed;
  s.topology = on.topology;
  s.parameters = on.parameters;
  s.routing.algorithm = a;
  s.network.input_buffer = s.network.output_buffer = 1 << 29;
  job& j = s.jobs.emplace_back();
  j.nodes = first_nodes(on.build()->nodes());
  j.load = load;
  j.messages = 50;
  return s;
}

class both_models : public testing::TestWithParam<instance> {};

double mean_of(const histogram& h) { return h.sum / static_cast<double>(h.count); }

picoseconds low_power(const result& r) {
  picoseconds sum = 0;
  for (const link_result& l : r.links) sum += l.deep_sleep + l.fast_wake;
  return sum;
}

TEST_P(both_models, agree_when_buffers_are_wide) {
  std::uint64_t seed = 1;
  for (const double load : {0.1, 0.6, 1.0})
    for (const char* mode : {"active", "deep-sleep", "hybrid"})
      for (const bool cut_through : {true, false}) {
        simulation s = wide_buffers(GetParam(), algorithm::minimal, load, seed++);
        SCOPED_TRACE(fmt::format("load {} mode {} cut-through {}", load, mode, cut_through));
        s.power = {mode, {{"hybrid_hold", 1'100'000}}};
        s.network.cut_through = cut_through;
        s.network.queues = queue_model::automatic;
        const result quick = simulate(s, {});
        ASSERT_TRUE(quick.fifo) << quick.why_not_fifo;
        s.network.queues = queue_model::explicit_queues;
        const result full = simulate(s, {});
        ASSERT_FALSE(full.fifo);
        EXPECT_EQ(quick.packets, full.packets);
        EXPECT_EQ(quick.hops, full.hops);
        EXPECT_EQ(quick.packet_latency.least, full.packet_latency.least);
        for (std::size_t l = 0; l < full.links.size(); ++l) ASSERT_EQ(quick.links[l].packets, full.links[l].packets);
        EXPECT_NEAR(mean_of(quick.packet_latency) / mean_of(full.packet_latency), 1, 2e-3);
        EXPECT_NEAR(static_cast<double>(quick.ended) / static_cast<double>(full.ended), 1, 2e-3);
        EXPECT_NEAR(static_cast<double>(low_power(quick) + 1) / static_cast<double>(low_power(full) + 1), 1, 2e-3);
      }
}

// Networks that need no virtual channels, because the quick model has none.
std::vector<instance> networks_of_one_channel() {
  std::vector<instance> networks = small_instances();
  std::erase_if(networks, [](const instance& i) { return i.build()->channels(algorithm::minimal) > 1; });
  return networks;
}

INSTANTIATE_TEST_SUITE_P(netsim, both_models, testing::ValuesIn(networks_of_one_channel()),
                         [](const auto& info) { return info.param.name; });

instance small_tree() { return {"fat_tree", "fat-tree", {{"radix", {4}}}}; }

TEST(the_quick_model, gives_way_to_the_full_one_when_a_buffer_would_have_filled) {
  simulation s = wide_buffers(small_tree(), algorithm::minimal, 1.0, 1);
  s.network.output_buffer = 8192;
  s.network.queues = queue_model::automatic;
  const result r = simulate(s, {});
  EXPECT_FALSE(r.fifo);
  EXPECT_NE(r.why_not_fifo.find("waited"), std::string::npos) << r.why_not_fifo;
  s.network.queues = queue_model::explicit_queues;
  EXPECT_EQ(as_text(r), as_text(simulate(s, {})));
}

TEST(the_quick_model, is_refused_with_the_reason_when_it_would_not_be_exact) {
  simulation s = wide_buffers(small_tree(), algorithm::minimal, 1.0, 1);
  s.network.output_buffer = 8192;
  s.network.queues = queue_model::fifo;
  EXPECT_THROW((void)simulate(s, {}), error);
}

}  // namespace
}  // namespace lull::netsim
