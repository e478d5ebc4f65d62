#include "mpi/waiting/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/settings.hpp"
#include "regions/record_folder.hpp"

namespace lull::mpi {
namespace {

struct head {
  rank_times times;
  std::int32_t rank;
};

struct node_sums {
  rank_times times;  // the longest wall time, the sum of the others
  std::vector<site_row> rows;
  std::string lines;  // one for each rank
};

double in_s(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

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

std::string table_of(const node_sums& sums, std::string_view policy, int ranks) {
  std::string text = fmt::format("lull: waiting of {} on {} in {:.3f} s, policy {}; CPU time of the ranks {:.3f} s\n",
                                 counted(ranks, "rank"), regions::host_name(), in_s(sums.times.ns_wall), policy,
                                 in_s(sums.times.ns_cpu));
  text += fmt::format("{:<20} {:<44} {:>10} {:>9} {:>9} {:>9} {:>8} {:>8} {:>9} {:>6}\n", "operation", "called from",
                      "count", "waits", "waited s", "asleep s", "CPU s", "sleeps", "time-outs", "missed");
  for (const site_row& row : sums.rows)
    if (row.counts.waits > 0) text += fmt::format("{:<20} {:<44} {}\n", row.function, row.site, in_words(row.counts));
  text += fmt::format("{:<20} {:<44} {}\n", "all", "", in_words(total_of(sums.rows)));
  return text;
}

void leave_in_record(const node_sums& sums, std::string_view policy, int ranks) {
  const std::string folder = setting_text("LULL_RECORD");
  if (folder.empty()) return;
  nlohmann::ordered_json rows = nlohmann::json::array();
  for (const site_row& row : sums.rows) {
    const wait::wait_counts& c = row.counts;
    rows.push_back({{"operation", row.function},
                    {"site", row.site},
                    {"up_to_bytes", 0},
                    {"count", c.operations},
                    {"bytes", 0},
                    {"waits", c.waits},
                    {"waited_s", in_s(c.ns_waited)},
                    {"asleep_s", in_s(c.ns_asleep)},
                    {"cpu_s", in_s(c.ns_cpu)},
                    {"sleeps", c.sleeps},
                    {"timeouts", c.timeouts},
                    {"missed", c.missed}});
  }
  const nlohmann::ordered_json file{{"schema", 1},
                                    {"policy", policy},
                                    {"pes", ranks},
                                    {"nodes", 1},
                                    {"wall_s", in_s(sums.times.ns_wall)},
                                    {"cpu_s", in_s(sums.times.ns_cpu)},
                                    {"progress_cpu_s", 0.0},
                                    {"frequency_changes", sums.times.frequency_changes},
                                    {"changing_frequency_s", in_s(sums.times.ns_changing_frequency)},
                                    {"rows", rows}};
  if (const int error = regions::leave(folder, "waiting", file.dump() + "\n"))
    fmt::print(stderr, "lull: write what waiting has cost into {}: {}; set LULL_RECORD to a folder that exists\n",
               folder, describe_errno(error));
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
  leave_in_record(sums, policy, node.ranks_of_node());
} catch (const std::exception& error) {
  std::fprintf(stderr, "lull: report what waiting has cost: %s\n", error.what());
}

}  // namespace lull::mpi
