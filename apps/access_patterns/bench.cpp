#include "bench.hpp"

#include "../timing/clocks.hpp"

#include <shmem.h>
#include <time.h>
#ifdef LULL_API  // shmem.h is that of Lull
#define ACCESS_PATTERNS_HAS_REGIONS 1
#include <lull/meter.h>
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace access_patterns {
namespace {

constexpr std::size_t most_samples = 1024;
constexpr double share_to_warm_up = 0.1;
constexpr std::uint64_t fewest_payloads = 3;

using timing::cpu;
using timing::quantile;
using timing::wall;

void begin_region() {
#ifdef ACCESS_PATTERNS_HAS_REGIONS
  lull_region_begin("pattern");
#endif
}

void end_region() {
#ifdef ACCESS_PATTERNS_HAS_REGIONS
  lull_region_end("pattern");
#endif
}

}  // namespace

// The counts of one PE; copied from PE to PE as bytes.
struct bench::seen {
  std::array<double, most_samples> latency_us{};  // a random selection of all
  std::array<double, most_samples> own_us{};      // of the same payloads
  std::uint64_t timed = 0, payloads = 0, wrong = 0;
  double cpu_s = 0;
};

struct bench::cells {
  unsigned long told;    // by the sender: payloads that are there
  unsigned long copied;  // by the receiver: payloads copied to their place
  std::uint64_t number;
  seen counted;
};

bench::bench(const options& wanted, buffers& memory)
    : wanted_(wanted),
      memory_(memory),
      sends_(shmem_my_pe() < shmem_n_pes() / 2),
      partner_(shmem_my_pe() + (sends_ ? 1 : -1) * shmem_n_pes() / 2),
      cells_(static_cast<cells*>(shmem_calloc(1, sizeof(cells)))) {
  if (cells_ == nullptr)
    throw no_room("cells of " + std::to_string(sizeof(cells)) +
                  " bytes: the symmetric heap is full; raise SHMEM_SYMMETRIC_SIZE");
}

bench::~bench() { shmem_free(cells_); }

result bench::measure(const pattern& of) {
  // Warm-ups double until one fills a tenth of the time; the last one gives the duration of a payload.
  const double enough = wanted_.seconds * share_to_warm_up;
  double each = 0;
  for (std::uint64_t payloads = 1;; payloads *= 2) {
    const double begin = wall();
    go_through(of, payloads, nullptr);
    each = (wall() - begin) / static_cast<double>(payloads);
    const bool last = each * static_cast<double>(payloads) >= enough || wanted_.iterations != 0;
    if (from_first(last ? 1 : 0) != 0) break;
  }
  const std::uint64_t payloads =
      wanted_.iterations != 0
          ? wanted_.iterations
          : from_first(std::max(fewest_payloads, static_cast<std::uint64_t>(std::ceil(wanted_.seconds / each))));
  auto counted = std::make_unique<seen>();
  go_through(of, payloads, counted.get());
  return gather(of, *counted);
}

// Transfers `payloads` payloads, in rounds that use each set at most once.
void bench::go_through(const pattern& of, std::uint64_t payloads, seen* counted) {
  while (payloads != 0) {
    const std::uint64_t now = std::min<std::uint64_t>(payloads, memory_.sets());
    round(of, now, counted);
    payloads -= now;
  }
}

// Uses `sets` sets, beginning with the one unused for longest. The preparation and the checks are not timed.
void bench::round(const pattern& of, std::size_t sets, seen* counted) {
  const std::size_t first = std::exchange(next_, (next_ + sets) % memory_.sets());
  memory_.prepare(first, sets, sends_ ? shmem_my_pe() : partner_, ++rounds_);
  shmem_barrier_all();
  begin_region();
  const double cpu_begin = cpu();
  for (std::size_t i = 0; i < sets; ++i) {
    const std::size_t set = (first + i) % memory_.sets();
    if (sends_)
      send(of, set, counted);
    else if (of.tells)
      receive(of, set);
  }
  shmem_barrier_all();
  const double cpu_s = cpu() - cpu_begin;
  end_region();
  if (counted != nullptr) {
    counted->cpu_s += cpu_s;
    counted->payloads += sets;
    counted->wrong += sends_ ? 0 : memory_.wrong(first, sets);
  }
  shmem_barrier_all();
}

// Sources and destinations of one payload.
struct bench::places {
  bool copies, unpacks;
  std::byte *user, *staging, *source, *landing, *place;
};

void bench::send(const pattern& of, std::size_t set, seen* counted) {
  const places at{of.copies(),         !of.receiver.empty(), memory_.user(set), memory_.staging(set),
                  memory_.source(set), memory_.landing(set), memory_.place(set)};
  const double begin = wall();
  for (const part& p : of.sender) {
    if (p.each_fragment)
      for (std::size_t k = 0, bytes = memory_.fragment_bytes(); k < memory_.fragments(); ++k)
        carry_out(p, at, k, bytes);
    else
      carry_out(p, at, 0, memory_.payload());
  }
  if (of.tells) (void)shmem_ulong_atomic_swap(&cells_->told, ++told_, partner_);
  const double own_s = wall() - begin;
  if (of.tells) shmem_ulong_wait_until(&cells_->copied, SHMEM_CMP_GE, told_);
  const double took = wall() - begin;
  if (counted == nullptr) return;
  const std::uint64_t n = counted->timed++;
  const std::size_t index = n < most_samples ? n : draw_() % (n + 1);
  if (index >= most_samples) return;
  counted->latency_us[index] = took * 1e6;
  counted->own_us[index] = own_s * 1e6;
}

// Carries out one part for fragment `k`, or for the whole payload, of `bytes` bytes.
void bench::carry_out(const part& p, const places& at, std::size_t k, std::size_t bytes) {
  const std::size_t packed = k * bytes;
  for (const element e : p.elements) {
    switch (e) {
      case element::copy:
        std::memcpy(at.staging + packed, at.user + memory_.offset(k), bytes);
        break;
      case element::put: {
        const std::byte* const from = at.copies ? at.staging + packed : at.source + memory_.offset(k);
        std::byte* const to = at.unpacks ? at.landing + packed : at.place + memory_.offset(k);
        if (wanted_.non_blocking)
          shmem_putmem_nbi(to, from, bytes, partner_);
        else
          shmem_putmem(to, from, bytes, partner_);
        break;
      }
      default:
        shmem_quiet();
    }
  }
}

void bench::receive(const pattern& of, std::size_t set) {
  shmem_ulong_wait_until(&cells_->told, SHMEM_CMP_GE, ++told_);
  for (const part& p : of.receiver) {
    const std::size_t times = p.each_fragment ? memory_.fragments() : 1;
    const std::size_t bytes = p.each_fragment ? memory_.fragment_bytes() : memory_.payload();
    for (std::size_t k = 0; k < times; ++k)
      std::memcpy(memory_.place(set) + memory_.offset(k), memory_.landing(set) + k * bytes, bytes);
  }
  shmem_ulong_atomic_set(&cells_->copied, told_, partner_);
}

std::uint64_t bench::from_first(std::uint64_t mine) {
  if (shmem_my_pe() == 0) cells_->number = mine;
  shmem_barrier_all();
  std::uint64_t said = 0;
  shmem_getmem(&said, &cells_->number, sizeof said, 0);
  shmem_barrier_all();
  return said;
}

result bench::gather(const pattern& of, const seen& mine) {
  cells_->counted = mine;
  shmem_barrier_all();
  result total;
  std::uint64_t wrong = 0;
  if (shmem_my_pe() == 0) {
    auto one = std::make_unique<seen>();
    std::vector<double> latencies, own;
    std::uint64_t received = 0;
    for (int pe = 0; pe < shmem_n_pes(); ++pe) {
      shmem_getmem(one.get(), &cells_->counted, sizeof(seen), pe);
      wrong += one->wrong;
      const bool sent = pe < shmem_n_pes() / 2;
      (sent ? total.sender_cpu_us : total.receiver_cpu_us) += one->cpu_s * 1e6;
      (sent ? total.payloads : received) += one->payloads;
      const auto samples = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(one->timed, most_samples));
      latencies.insert(latencies.end(), one->latency_us.begin(), one->latency_us.begin() + samples);
      own.insert(own.end(), one->own_us.begin(), one->own_us.begin() + samples);
    }
    std::ranges::sort(latencies);
    std::ranges::sort(own);
    total.latency_us = quantile(latencies, 0.5);
    total.p10_us = quantile(latencies, 0.1);
    total.p90_us = quantile(latencies, 0.9);
    total.sender_us = quantile(own, 0.5);
    total.mb_per_s = static_cast<double>(memory_.payload()) / total.latency_us;
    total.puts_per_s =
        (of.puts_each_fragment() ? static_cast<double>(memory_.fragments()) : 1) / total.latency_us * 1e6;
    total.sender_cpu_us /= static_cast<double>(total.payloads);
    total.receiver_cpu_us /= static_cast<double>(received);
  }
  total.right = from_first(wrong) == 0;
  return total;
}

}  // namespace access_patterns
