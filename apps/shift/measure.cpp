#include "measure.hpp"

#include "../timing/clocks.hpp"

#include <shmem.h>
#include <time.h>
#ifdef LULL_API  // shmem.h is that of Lull
#define SHIFT_HAS_REGIONS 1
#include <lull/meter.h>
#endif

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>

namespace shift {
namespace {

constexpr double batch_s = 2e-6;  // a timed batch takes at least this long: the clock itself takes some 0.05 us
constexpr double least_warm_up_s = 1e-3;
constexpr std::uint64_t least_warm_up = 8;

using timing::cpu;
using timing::quantile;
using timing::wall;

std::vector<int> partners(const options& wanted) {
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  if (wanted.from == "first" && me != 0) return {};
  std::vector<int> result;
  for (int distance = 1; distance < pes && (distance == 1 || wanted.to == "all"); ++distance)
    result.push_back((me + distance) % pes);
  if (result.empty()) result.push_back(me);  // the only PE
  return result;
}

std::uint64_t up_to_multiple(std::uint64_t value, std::uint64_t of) { return (value + of - 1) / of * of; }

void begin_region() {
#ifdef SHIFT_HAS_REGIONS
  lull_region_begin("transfers");
#endif
}

void end_region() {
#ifdef SHIFT_HAS_REGIONS
  lull_region_end("transfers");
#endif
}

}  // namespace

bench::bench(const options& wanted, transfer& moves)
    : wanted_(wanted),
      moves_(moves),
      partners_(partners(wanted)),
      cells_(sizeof(account)),
      number_(sizeof(std::uint64_t)) {}

result bench::measure(std::size_t bytes) {
  // Warm-ups double until one fills a tenth of the time: the first transfers run with cold caches, and a policy that
  // predicts needs some first. The fastest gives the duration of a transfer, because others may have been disturbed.
  const double enough = std::max(wanted_.seconds / 10, least_warm_up_s);
  const std::uint64_t turns = std::max<std::uint64_t>(partners_.size(), 1);
  double each = std::numeric_limits<double>::infinity();
  for (std::uint64_t count = turns;; count *= 2) {
    auto seen = std::make_unique<account>();
    shmem_barrier_all();
    const double begin = wall();
    run(bytes, count, 1, *seen);
    shmem_barrier_all();
    const double took = wall() - begin;
    each = std::min(each, took / static_cast<double>(count));
    const bool last =
        (took >= enough && count >= least_warm_up) || (wanted_.iterations != 0 && count >= wanted_.iterations);
    if (from_first(last ? 1 : 0) != 0) break;
  }
  const auto needed =
      wanted_.iterations != 0 ? wanted_.iterations : static_cast<std::uint64_t>(std::ceil(wanted_.seconds / each));
  const std::uint64_t count = from_first(up_to_multiple(std::max<std::uint64_t>(needed, 1), turns));
  const std::uint64_t batch =
      wanted_.gap_us > 0 ? 1 : from_first(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(batch_s / each)));

  if (wanted_.verify) moves_.prepare(bytes);
  auto* const mine = reinterpret_cast<account*>(cells_.data());
  *mine = account{};
  shmem_barrier_all();
  begin_region();
  run(bytes, count, batch, *mine);
  shmem_barrier_all();
  end_region();
  if (wanted_.verify) mine->wrong = verify(bytes, count);
  shmem_barrier_all();
  return gather(bytes);
}

void bench::run(std::size_t bytes, std::uint64_t count, std::uint64_t batch, account& seen) {
  if (partners_.empty()) return;
  std::minstd_rand draw(1);
  std::size_t turn = 0;
  std::uint64_t timed = 0;
  const bool pausing = wanted_.gap_us > 0;
  double cpu_begin = cpu();
  for (std::uint64_t done = 0; done < count;) {
    if (pausing) {
      pause();
      cpu_begin = cpu();
    }
    const std::uint64_t now = std::min(batch, count - done);
    const double begin = wall();
    for (std::uint64_t i = 0; i < now; ++i) {
      moves_.move(bytes, partners_[turn]);
      if (++turn == partners_.size()) turn = 0;
    }
    const double took = wall() - begin;
    const double worked = pausing ? cpu() - cpu_begin : 0;
    seen.cpu_s += worked;
    seen.transferring_s += took;
    done += now;
    const std::size_t index = timed < seen.latency_us.size() ? timed : draw() % (timed + 1);
    if (index < seen.latency_us.size()) {
      seen.latency_us[index] = took / static_cast<double>(now) * 1e6;
      seen.cpu_us[index] = worked * 1e6;
    }
    ++timed;
  }
  if (!pausing) seen.cpu_s = cpu() - cpu_begin;
  seen.samples = std::min<std::uint64_t>(timed, seen.latency_us.size());
  seen.transfers = count;
}

void bench::pause() const {
  const double end = wall() + wanted_.gap_us * 1e-6;
  if (wanted_.gap == "sleep") {
    const auto ns = static_cast<long>(wanted_.gap_us * 1e3);
    const timespec span{.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
    nanosleep(&span, nullptr);
  } else {
    while (wall() < end) {
    }
  }
}

std::uint64_t bench::from_first(std::uint64_t mine) {
  auto* const cell = reinterpret_cast<std::uint64_t*>(number_.data());
  if (shmem_my_pe() == 0) *cell = mine;
  shmem_barrier_all();
  std::uint64_t said = 0;
  shmem_getmem(&said, cell, sizeof said, 0);
  shmem_barrier_all();
  return said;
}

std::uint64_t bench::verify(std::size_t bytes, std::uint64_t count) const {
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  std::vector<int> others;
  if (moves_.fetches()) {
    others = partners_;
  } else {  // the PEs whose partner this PE is
    for (int distance = 1; distance < pes && (distance == 1 || wanted_.to == "all"); ++distance) {
      const int sender = (me - distance + pes) % pes;
      if (wanted_.from == "all" || sender == 0) others.push_back(sender);
    }
    if (pes == 1) others.push_back(me);
  }
  const std::uint64_t each = count / (wanted_.to == "all" && pes > 1 ? static_cast<unsigned>(pes - 1) : 1U);
  return static_cast<std::uint64_t>(
      std::ranges::count_if(others, [&](int other) { return !moves_.holds(other, bytes, each); }));
}

result bench::gather(std::size_t bytes) {
  result total{.bytes = bytes};
  std::vector<double> latencies, cpu_times;
  auto seen = std::make_unique<account>();
  std::uint64_t wrong = 0;
  double rates = 0;
  int transferring = 0;
  if (shmem_my_pe() == 0) {
    for (int pe = 0; pe < shmem_n_pes(); ++pe) {
      shmem_getmem(seen.get(), cells_.data(), sizeof(account), pe);
      wrong += seen->wrong;
      if (seen->transfers == 0) continue;
      ++transferring;
      total.transfers += seen->transfers;
      total.cpu_s += seen->cpu_s;
      rates += static_cast<double>(seen->transfers * bytes) * 1e-6 / seen->transferring_s;
      const auto samples = static_cast<std::ptrdiff_t>(seen->samples);
      latencies.insert(latencies.end(), seen->latency_us.begin(), seen->latency_us.begin() + samples);
      cpu_times.insert(cpu_times.end(), seen->cpu_us.begin(), seen->cpu_us.begin() + samples);
    }
    std::ranges::sort(latencies);
    std::ranges::sort(cpu_times);
    total.latency_us = quantile(latencies, 0.5);
    total.p10_us = quantile(latencies, 0.1);
    total.p90_us = quantile(latencies, 0.9);
    total.cpu_us =
        wanted_.gap_us > 0 ? quantile(cpu_times, 0.5) : total.cpu_s * 1e6 / static_cast<double>(total.transfers);
    total.mb_per_s = rates / transferring;
  }
  total.right = from_first(wrong) == 0;
  return total;
}

}  // namespace shift
