#include "shmem/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/counted.hpp"
#include "base/received_bytes.hpp"
#include "base/settings.hpp"
#include "fabric/teams/team.hpp"
#include "model/choices/account.hpp"
#include "regions/record_folder.hpp"
#include "wait/cost.hpp"

namespace lull::shmem {
namespace {

using wait::in_s;
using wait::wait_counts;

// What a PE tells PE 0, as bytes: this, then `rows` rows, then what its choices have come to, as text.
struct pe_report {
  std::int64_t ns, ns_cpu, ns_progress_cpu, ns_changing_frequency;
  std::uint64_t frequency_changes;
  fabric::transforming_counts transformed;
  fabric::rdma_counts by_rdma;
  std::uint32_t rows;
};
struct reported_row {
  std::uint32_t what, size_class;
  wait_counts counts;
};

template <class T>
void append(std::vector<std::byte>& bytes, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto* const first = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof value);
}

struct job_sums {
  wait::wait_table table;
  std::int64_t ns_wall = 0;
  std::int64_t ns_cpu = 0;  // of the PEs, their progress threads included
  fabric::transforming_counts transformed;
  fabric::rdma_counts by_rdma;
};

std::string row_words(std::string_view what, std::string_view size, const wait_counts& c) {
  return fmt::format("{:<11} {:>8} {:>10} {:>12} {:>9} {:>9.3f} {:>9.3f} {:>8.3f} {:>8} {:>9} {:>6}\n", what, size,
                     c.operations, c.bytes, c.waits, in_s(c.ns_waited), in_s(c.ns_asleep), in_s(c.ns_cpu), c.sleeps,
                     c.timeouts, c.missed);
}

// Calls visit(operation, size class, counts) for each row with nonzero counts.
template <class Visit>
void for_rows(const wait::wait_table& table, Visit&& visit) {
  for (std::size_t what = 0; what < table.rows.size(); ++what)
    for (std::size_t size = 0; size < wait::size_classes; ++size) {
      const wait_counts& c = table.rows[what][size];
      if (c.operations != 0 || c.waits != 0) visit(what, size, c);
    }
}

std::string table_words(const job_sums& sums, fabric::world& world) {
  const auto policy = wait::wait_policy_names[static_cast<std::size_t>(world.wait().policy())];
  std::string text = fmt::format(
      "lull: waiting of {} on {} in {:.3f} s, policy {}; CPU time of the PEs {:.3f} s, including {:.3f} s of their "
      "progress threads\n",
      counted(world.pes(), "PE"), counted(world.places().nodes(), "node"), in_s(sums.ns_wall), policy,
      in_s(sums.ns_cpu), in_s(sums.table.ns_progress_cpu));
  text += fmt::format("{:<11} {:>8} {:>10} {:>12} {:>9} {:>9} {:>9} {:>8} {:>8} {:>9} {:>6}\n", "operation", "up to",
                      "count", "bytes", "waits", "waited s", "asleep s", "CPU s", "sleeps", "time-outs", "missed");
  wait_counts all;
  for_rows(sums.table, [&](std::size_t what, std::size_t size, const wait_counts& c) {
    text += row_words(wait::operation_names[what], size == 0 ? "" : size_in_words(wait::largest_of_class(size)), c);
    all += c;
  });
  text += row_words("all", "", all);
  if (sums.table.frequency_changes > 0)
    text += fmt::format("frequency: {} changes of {:.1f} us\n", sums.table.frequency_changes,
                        static_cast<double>(sums.table.ns_changing_frequency) * 1e-3 /
                            static_cast<double>(sums.table.frequency_changes));
  if (const auto& t = sums.transformed; t.coalesced_puts + t.copied_puts + t.coalesced_atomics > 0)
    text += fmt::format("puts to other nodes: {} coalesced{} into {}, {} of these late; {} copied\n", t.coalesced_puts,
                        t.coalesced_atomics == 0 ? "" : fmt::format(", and {}", counted(t.coalesced_atomics, "atomic")),
                        counted(t.messages, "message"), t.late, t.copied_puts);
  if (const auto& r = sums.by_rdma; world.has_rdma())
    text +=
        fmt::format("by RDMA: {} of {} bytes, {} of {} bytes, {}; {} of them woke their PE\n", counted(r.puts, "put"),
                    r.put_bytes, counted(r.gets, "get"), r.got_bytes, counted(r.atomics, "atomic"), r.rings);
  if (const std::string why = world.why_no_rdma(); !why.empty())
    text += fmt::format("no RDMA{}: {}\n", world.has_rdma() ? " to some PEs" : "", why);
  return text;
}

std::string json_of(const job_sums& sums, fabric::world& world) {
  wait::cost_of_waiting cost{.policy = wait::wait_policy_names[static_cast<std::size_t>(world.wait().policy())],
                             .processes = world.pes(),
                             .nodes = world.places().nodes(),
                             .ns_wall = sums.ns_wall,
                             .ns_cpu = sums.ns_cpu,
                             .ns_progress_cpu = sums.table.ns_progress_cpu,
                             .frequency_changes = sums.table.frequency_changes,
                             .ns_changing_frequency = sums.table.ns_changing_frequency,
                             .rows = {},
                             .rewritten = {},
                             .by_rdma = {}};
  if (const auto& t = sums.transformed; world.places().nodes() > 1)
    cost.rewritten = {t.coalesced_puts, t.coalesced_bytes, t.messages, t.late, t.copied_puts, t.copied_bytes};
  if (const auto& r = sums.by_rdma; world.has_rdma())
    cost.by_rdma = {r.puts, r.put_bytes, r.gets, r.got_bytes, r.atomics, r.rings};
  for_rows(sums.table, [&](std::size_t what, std::size_t size, const wait_counts& c) {
    cost.rows.push_back({wait::operation_names[what], "", size == 0 ? 0 : wait::largest_of_class(size), c});
  });
  return in_json(cost);
}

// The choices of this PE.
std::vector<model::choice_account> choices_of(fabric::world& world) {
  std::vector<model::choice_account> all = world.wait().choices();
  model::add(all, world.transfers().choices());
  model::add(all, model::book_of_this_process().all());
  model::close(all);
  return all;
}

}  // namespace

job_statistics::job_statistics(fabric::world& world)
    : world_(world), begin_ns_(now_ns()), cpu_begin_ns_(process_cpu_ns()) {}

void job_statistics::report() {
  if (!world_.wait().has_table()) return;
  world_.transfers().quiet(world_.transfers().default_context());
  world_.everybody().sync();  // afterwards no PE waits: the table is complete
  const wait::wait_table table = world_.wait().table();
  pe_report mine{now_ns() - begin_ns_,         process_cpu_ns() - cpu_begin_ns_,
                 table.ns_progress_cpu,        table.ns_changing_frequency,
                 table.frequency_changes,      world_.transfers().transformed(),
                 world_.transfers().by_rdma(), 0};
  std::vector<std::byte> rows;
  for_rows(table, [&](std::size_t what, std::size_t size, const wait_counts& c) {
    append(rows, reported_row{static_cast<std::uint32_t>(what), static_cast<std::uint32_t>(size), c});
    ++mine.rows;
  });
  std::vector<std::byte> blob;
  append(blob, mine);
  blob.insert(blob.end(), rows.begin(), rows.end());
  for (const char letter : model::as_text(choices_of(world_))) append(blob, letter);

  job_sums sums;
  std::vector<model::choice_account> choices;
  std::string lines;
  const auto all = world_.tell_first_pe("lull.statistics", blob);
  for (std::size_t pe = 0; pe < all.size(); ++pe) {
    received_bytes read(all[pe], "add up the statistics of PE " + std::to_string(pe));
    const auto theirs = read.take<pe_report>();
    sums.ns_wall = std::max(sums.ns_wall, theirs.ns);
    sums.ns_cpu += theirs.ns_cpu;
    sums.table.ns_progress_cpu += theirs.ns_progress_cpu;
    sums.table.ns_changing_frequency += theirs.ns_changing_frequency;
    sums.table.frequency_changes += theirs.frequency_changes;
    sums.transformed += theirs.transformed;
    sums.by_rdma += theirs.by_rdma;
    wait_counts total;
    for (std::uint32_t i = 0; i < theirs.rows; ++i) {
      const auto row = read.take<reported_row>();
      if (row.what < sums.table.rows.size() && row.size_class < sums.table.rows[row.what].size())
        sums.table.rows[row.what][row.size_class] += row.counts;
      total += row.counts;
    }
    lines += fmt::format(
        "PE {}: {} waits, {:.3f} s waited, {:.3f} s asleep, {:.3f} s CPU of {:.3f} s, {} sleeps, {} time-outs, "
        "{} missed\n",
        pe, total.waits, in_s(total.ns_waited), in_s(total.ns_asleep), in_s(total.ns_cpu), in_s(theirs.ns_cpu),
        total.sleeps, total.timeouts, total.missed);
    const auto left = read.rest();
    const std::span text(reinterpret_cast<const char*>(left.data()), left.size());
    model::add(choices, model::from_text({text.begin(), text.end()}));
  }
  if (all.empty()) return;
  std::string text = table_words(sums, world_);
  if (setting_text("LULL_STATS") == "pe") text += lines;
  std::fputs(text.c_str(), stderr);
  regions::leave_in_record("the cost of waiting", "waiting", json_of(sums, world_));
  if (!choices.empty())
    regions::leave_in_record("the outcome of choices", "choices-pes", model::in_json(choices, sums.ns_wall));
}

}  // namespace lull::shmem
