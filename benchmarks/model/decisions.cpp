// The cost of a decision of each chooser of src/model: decisions ROUNDS. Inputs change from call to call and results
// are used, so that the compiler can hoist nothing. Prints a line of JSON for each chooser: its name, how often it
// decides ("again": repeatedly while a program runs; "once": once per aggregator, or per run), and nanoseconds per
// decision by round.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/clock.hpp"
#include "model/choices/choice.hpp"
#include "model/choices/handing_over.hpp"
#include "model/costs/aggregation.hpp"
#include "model/costs/output.hpp"
#include "model/costs/rdma.hpp"
#include "model/costs/transforming.hpp"
#include "model/costs/waiting.hpp"
#include "model/machine/correction.hpp"

namespace {

using namespace lull::model;

constexpr int decisions_again = 200'000, decisions_once = 2'000;

double sum = 0;  // of all results; printed

void time(const char* name, const char* when, int decisions, int rounds, auto&& decide) {
  std::printf(R"({"chooser": "%s", "when": "%s", "ns": [)", name, when);
  for (int round = 0; round < rounds; ++round) {
    const std::int64_t begin = lull::thread_cpu_ns();
    for (int i = 0; i < decisions; ++i) sum += static_cast<double>(decide(i));
    const auto took = static_cast<double>(lull::thread_cpu_ns() - begin);
    std::printf("%s%.2f", round == 0 ? "" : ", ", took / decisions);
  }
  std::puts("]}");
}

}  // namespace

int main(int count, char** words) {
  const int rounds = count == 2 ? std::atoi(words[1]) : 0;
  if (rounds < 1) {
    std::fputs("usage: model_decisions ROUNDS\n", stderr);
    return 2;
  }
  const machine known;

  std::array<std::int64_t, most_durations> durations{};
  std::array<std::int64_t, most_wake_up_latencies> latencies{};
  time("wait", "again", decisions_again, rounds, [&](int i) {
    durations[static_cast<std::size_t>(i) % durations.size()] = 100'000 + std::int64_t{i} * 7919 % 500'000;
    latencies[static_cast<std::size_t>(i) % latencies.size()] = 40'000 + std::int64_t{i} * 104'729 % 30'000;
    const auto slack = predict_slack(durations, wake_up_latency_ns(latencies));
    return slack && sleep_pays(*slack, 50'000) ? 1 : 0;
  });
  time("coalesce", "again", decisions_again, rounds, [&](int i) {
    return largest_coalesced(1 + i % 64, {.ns_per_message = 3000.0 + i % 100, .ns_per_copied_byte = 0.2},
                             {.bytes = 61'440, .beside_each = 8}, i % 2 == 0);
  });
  corrected_term waited_ns(0);
  steady_choice source;
  time("copy-source", "again", decisions_again, rounds, [&](int i) {
    waited_ns.saw(1000.0 + i % 5000);
    return source.look(std::array{waited_ns.value(), 0.2 * (64 + i % 65'536)});
  });
  time("rdma", "again", decisions_again, rounds, [&](int i) {
    const put_costs seen{.ns_per_message = 3000.0 + i % 100, .ns_per_copied_byte = 0.2};
    return least_put_by_rdma(300.0 + i % 100, seen) + (least_get_by_rdma(300.0 + i % 100, seen) == 0 ? 1U : 0U);
  });
  time("hand-over", "again", decisions_again, rounds, [&, output = handing_over{}](int i) mutable {
    const bool room = i % 8 != 0;
    const bool hands_over = output.next(room) == output_turn::hand_over;
    const double seconds = 1e-3 * (1 + i % 10);
    if (hands_over)
      output.handed_over(room, seconds, 1e6);
    else
      output.wrote_itself(2 * seconds, 1e6);
    return hands_over ? 1 : 0;
  });

  machine linked = known;
  linked.link = {.ns_per_message = 3000, .ns_per_byte = 0.5};
  time("route", "once", decisions_once, rounds, [&](int i) {
    std::array<item_route, 6> routes{};
    for (std::size_t r = 0; r < routes.size(); ++r) {
      const int hops = 1 + static_cast<int>(r % 3);
      const auto channels = static_cast<std::size_t>(4096 >> (4 * hops)) + static_cast<std::size_t>(i % 7);
      routes[r] = {.hops = hops,
                   .inter_node_hops = hops,
                   .item_bytes = 12,
                   .demand = {.intra_node_channels = 8, .inter_node_channels = channels, .fixed_bytes = 0}};
    }
    const auto found = choose(linked, routes, {.memory_bytes = 64U << 20U, .least_bytes = 64, .per_channel = 8});
    return found ? found->ns_per_item : 0;
  });
  time("direct", "again", decisions_again, rounds, [&](int i) {
    return budget_of_direct_phase({.empty_phase_ns = 10'000.0 + i % 1000, .barrier_ns = 2000, .ns_per_near_item = 100},
                                  20)
        .whole;
  });
  const output_machine nodes{.nodes = 14, .cores = 24, .costs = known.output};
  const std::vector<output_way> ways = ways_of(nodes);
  time("approach", "once", decisions_once, rounds, [&](int i) {
    const simulation what{
        .core_seconds_per_step = 300.0 + i % 50, .steps = 100, .steps_per_output = 10, .bytes_per_output = 2e9};
    return choose_output(nodes, what, ways, output_objective::time).front().predicted.seconds;
  });
  std::fprintf(stderr, "%g\n", sum);
  return 0;
}
