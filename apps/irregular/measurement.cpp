#include "irregular/measurement.hpp"

#include "../timing/clocks.hpp"

#include <fmt/format.h>
#include <lull/meter.h>
#include <shmem.h>
#include <shmemx.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace irregular {
namespace {

shmemx_wait_stats_t wait_stats() {
  shmemx_wait_stats_t now;
  shmemx_wait_stats(&now);
  return now;
}

std::string counted(std::uint64_t count, const std::string& thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

}  // namespace

void stopwatch::start() {
  shmem_barrier_all();
  const auto waited = wait_stats();
  ns_asleep_ -= waited.ns_asleep;
  missed_ -= waited.missed;
  if (!region_.empty()) {
    lull_region_begin("items");
    lull_region_begin(region_.c_str());
  }
  seconds_ -= timing::wall();
  cpu_seconds_ -= timing::cpu();
}

void stopwatch::stop() {
  shmem_barrier_all();
  seconds_ += timing::wall();
  cpu_seconds_ += timing::cpu();
  if (!region_.empty()) {
    lull_region_end(region_.c_str());
    lull_region_end("items");
  }
  const auto waited = wait_stats();
  ns_asleep_ += waited.ns_asleep;
  missed_ += waited.missed;
}

std::string told(const lull::aggregate_statistics& before, const lull::aggregate_statistics& after, reduction& all) {
  const std::uint64_t items = all.sum(after.items - before.items);
  const std::uint64_t alone = all.sum(after.direct_items - before.direct_items);
  const std::uint64_t hops = all.sum(after.hops - before.hops);
  const std::uint64_t buffers = all.sum(after.buffers - before.buffers);
  const std::uint64_t bytes = all.sum(after.bytes - before.bytes);
  const std::uint64_t remote = all.sum(after.remote_buffers - before.remote_buffers);
  const auto filled = [](const lull::aggregate_statistics& s) { return s.fill * static_cast<double>(s.buffers); };
  const std::uint64_t filled_ppm =
      all.sum(static_cast<std::uint64_t>(std::max(0.0, filled(after) - filled(before)) * 1e6));
  std::string line =
      fmt::format("aggregation: buffers of {} bytes per {}, {}", after.buffer_bytes, after.per_node ? "node" : "PE",
                  counted(static_cast<std::uint64_t>(after.route_hops), "hop"));
  if (buffers != 0) {
    line += fmt::format("; {} sent, {:.4g} MB, {:.3g} % full", buffers, static_cast<double>(bytes) * 1e-6,
                        static_cast<double>(filled_ppm) * 1e-4 / static_cast<double>(buffers));
    if (remote != 0) line += fmt::format(", {} of them between nodes", remote);
  }
  const double each = items > alone ? static_cast<double>(hops) / static_cast<double>(items - alone) : 0;
  if (std::abs(each - after.route_hops) > 0.005 && each != 0)
    line += fmt::format("; {:.3g} hops per item, including those within a node", each);
  if (alone != 0) line += fmt::format("; {} without aggregation", counted(alone, "item"));
  return line;
}

rates report(const outcome& done, const options& wanted, const stopwatch& watch, const std::string& aggregation,
             reduction& all) {
  const int pes = shmem_n_pes(), nodes = shmemx_n_nodes();
  const std::uint64_t items = all.sum(done.items);
  const auto asleep_ns = static_cast<double>(all.sum(static_cast<std::uint64_t>(watch.ns_asleep())));
  const std::uint64_t missed = all.sum(watch.missed());
  const auto cpu_ns = static_cast<double>(all.sum(static_cast<std::uint64_t>(watch.cpu_seconds() * 1e9)));
  const auto count = static_cast<double>(items);
  const rates seen{count, count / watch.seconds(), items == 0 ? 0 : cpu_ns / count};
  if (shmem_my_pe() != 0) return seen;

  lull_metric_sum("items", seen.items, "1");
  lull_metric_sum("items_per_second", seen.items_per_second, "1/s");
  lull_metric_mean("cpu_ns_per_item", seen.cpu_ns_per_item, "ns");
  fmt::print("{}: {} on {}{}, {}, {} {}\n", done.program, counted(static_cast<std::uint64_t>(pes), "PE"),
             counted(static_cast<std::uint64_t>(nodes), "node"),
             shmemx_oversubscribed() ? " (more PEs than cores)" : "", wanted.mode, counted(items, done.item),
             done.where);
  fmt::print("  {:.4g} M {}s/s per PE, {:.4g} ns CPU per {}, {:.3g} % of the time asleep{}\n",
             seen.items_per_second * 1e-6 / pes, done.item, seen.cpu_ns_per_item, done.item,
             100 * asleep_ns * 1e-9 / (watch.seconds() * pes),
             missed ? fmt::format(", {} missed wake-ups", missed) : "");
  if (!done.found.empty()) fmt::print("  {}\n", done.found);
  fmt::print("  result {}\n", done.result);
  if (!aggregation.empty()) fmt::print("  {}\n", aggregation);
  std::fflush(stdout);  // the job ends, this PE included, as soon as another exits with a nonzero code
  return seen;
}

}  // namespace irregular
