#include "mpi/waiting/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/counted.hpp"
#include "regions/record_folder.hpp"
#include "wait/cost.hpp"

namespace lull::mpi {
namespace {

using wait::in_s;

struct head {
  rank_times times;
  std::int32_t rank;
};

struct node_sums {
  rank_times times;  // the longest wall time, the sum of CPU times
  std::vector<site_row> rows;
  std::string lines;  // one for each rank
};

std::string in_words(const wait::wait_counts& c) {
  return fmt::format("{:>10} {:>9} {:>9.3f} {:>9.3f} {:>8.3f} {:>8} {:>9} {:>6}", c.operations, c.waits,
                     in_s(c.ns_waited), in_s(c.ns_asleep), in_s(c.ns_cpu), c.sleeps, c.timeouts, c.missed);
}

wait::wait_counts total_of(const std::vector<site_row>& rows) {
  wait::wait_counts all;
  for (const site_row& row : rows) all += row.counts;
  return all;
}

node_sums sum_up(const node_bells& node) {
  node_sums sums;
  for (int i = 0; i < node.ranks_of_node(); ++i) {
    const std::span<const std::byte> report = node.report_of(i);
    head of_rank;
    std::memcpy(&of_rank, report.data(), sizeof of_rank);
    sums.times.ns_wall = std::max(sums.times.ns_wall, of_rank.times.ns_wall);
    sums.times.ns_cpu += of_rank.times.ns_cpu;
    sums.times.ns_changing_frequency += of_rank.times.ns_changing_frequency;
    sums.times.frequency_changes += of_rank.times.frequency_changes;
    std::vector<site_row> rows = read_rows(report.subspan(sizeof of_rank));
    const wait::wait_counts all = total_of(rows);
    sums.lines += fmt::format(
        "rank {}: {} waits, {:.3f} s waited, {:.3f} s asleep, {:.3f} s CPU of {:.3f} s, {} sleeps, {} time-outs, {} "
        "missed\n",
        of_rank.rank, all.waits, in_s(all.ns_waited), in_s(all.ns_asleep), in_s(all.ns_cpu), in_s(of_rank.times.ns_cpu),
        all.sleeps, all.timeouts, all.missed);
    sums.rows.insert(sums.rows.end(), rows.begin(), rows.end());
  }
  sums.rows = merged(std::move(sums.rows));
  return sums;
}

// Calls that do not wait have no waits, only time in which they found nothing.
bool is_of_a_poll(const site_row& row) { return row.counts.waits == 0 && row.counts.ns_waited > 0; }

constexpr std::size_t most_polls_named = 5;
constexpr double least_share_named = 0.01;

// The places where the program polls in a loop of its own, those with the most time first.
std::string own_polling_of(const node_sums& sums) {
  std::string text;
  std::size_t named = 0;
  for (const site_row& row : sums.rows) {
    const double share =
        static_cast<double>(row.counts.ns_cpu) / static_cast<double>(std::max<std::int64_t>(sums.times.ns_cpu, 1));
    if (!is_of_a_poll(row) || share < least_share_named || named == most_polls_named) continue;
    ++named;
    text += fmt::format("  {} in {}: {} calls, {:.3f} s, {:.0f} % of the ranks' CPU time\n", row.function, row.site,
                        row.counts.operations, in_s(row.counts.ns_cpu), share * 100);
  }
  return text.empty() ? text
                      : "lull: the program polls in loops of its own, to which no policy applies:\n" + std::move(text);
}

std::string table_of(const node_sums& sums, std::string_view policy, int ranks) {
  std::string text = fmt::format("lull: waiting of {} on {} in {:.3f} s, policy {}; CPU time of the ranks {:.3f} s\n",
                                 counted(ranks, "rank"), regions::host_of_record(), in_s(sums.times.ns_wall), policy,
                                 in_s(sums.times.ns_cpu));
  text += fmt::format("{:<20} {:<44} {:>10} {:>9} {:>9} {:>9} {:>8} {:>8} {:>9} {:>6}\n", "operation", "called from",
                      "count", "waits", "waited s", "asleep s", "CPU s", "sleeps", "time-outs", "missed");
  for (const site_row& row : sums.rows)
    if (row.counts.waits > 0 || row.counts.ns_waited > 0)
      text += fmt::format("{:<20} {:<44} {}\n", row.function, row.site, in_words(row.counts));
  text += fmt::format("{:<20} {:<44} {}\n", "all", "", in_words(total_of(sums.rows)));
  return text + own_polling_of(sums);
}

std::string json_of(const node_sums& sums, std::string_view policy, int ranks) {
  wait::cost_of_waiting cost{.policy = policy,
                             .processes = ranks,
                             .ns_wall = sums.times.ns_wall,
                             .ns_cpu = sums.times.ns_cpu,
                             .frequency_changes = sums.times.frequency_changes,
                             .ns_changing_frequency = sums.times.ns_changing_frequency,
                             .rows = {}};
  for (const site_row& row : sums.rows) cost.rows.push_back({row.function, row.site, 0, row.counts});
  return in_json(cost);
}

}  // namespace

void report_waiting(node_bells& node, std::string_view policy, int rank, const rank_times& times,
                    const call_sites& sites, bool by_rank) noexcept try {
  const std::span<std::byte> mine = node.report_of(node.mine());
  const head of_rank{times, rank};
  std::memcpy(mine.data(), &of_rank, sizeof of_rank);
  write_rows(sites.rows(), mine.subspan(sizeof of_rank));
  if (!node.last_to_report()) return;
  const node_sums sums = sum_up(node);
  std::string text = table_of(sums, policy, node.ranks_of_node());
  if (by_rank) text += sums.lines;
  std::fputs(text.c_str(), stderr);
  regions::leave_in_record("the cost of waiting", "waiting", json_of(sums, policy, node.ranks_of_node()));
} catch (const std::exception& error) {
  std::fprintf(stderr, "lull: report the cost of waiting: %s\n", error.what());
}

}  // namespace lull::mpi
