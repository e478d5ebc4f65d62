#include "bench.hpp"

#include "../timing/clocks.hpp"

#include <lull/meter.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gpu_patterns {
namespace {

using access_patterns::element;
using access_patterns::part;
using access_patterns::pattern;

constexpr std::size_t most_samples = 4096;
constexpr double share_to_warm_up = 0.1;
constexpr std::uint64_t fewest_payloads = 3;

using timing::cpu;
using timing::quantile;
using timing::wall;

}  // namespace

bench::bench(const library& cuda, const options& wanted)
    : wanted_(wanted),
      copies_(cuda),
      user_(wanted.payload),
      expected_(wanted.payload),
      gpu_(cuda, wanted.payload),
      pinned_(cuda, wanted.payload),
      stream_(cuda) {}

result bench::measure(const pattern& of, std::uint64_t fragments) {
  prepare(of);
  const double warm = wall() + wanted_.seconds * share_to_warm_up;
  do go_through(of, fragments);
  while (wanted_.iterations == 0 && wall() < warm);
  prepare(of);

  result seen;
  std::vector<double> latencies;
  latencies.reserve(most_samples);
  const double cpu_begin = cpu();
  const double begin = wall();
  double now = begin;
  {
    const lull::region timed("pattern");
    do {
      go_through(of, fragments);
      const double before = now;
      now = wall();
      const std::uint64_t n = seen.payloads++;
      if (n < most_samples)
        latencies.push_back((now - before) * 1e6);
      else if (const std::uint64_t index = draw_() % (n + 1); index < most_samples)
        latencies[index] = (now - before) * 1e6;
    } while (wanted_.iterations != 0 ? seen.payloads < wanted_.iterations
                                     : seen.payloads < fewest_payloads || now - begin < wanted_.seconds);
  }
  const auto payloads = static_cast<double>(seen.payloads);
  seen.cpu_us = (cpu() - cpu_begin) * 1e6 / payloads;
  seen.gb_per_s = payloads * static_cast<double>(wanted_.payload) * 1e-9 / (now - begin);
  seen.copies_per_s = payloads * static_cast<double>(of.puts_each_fragment() ? fragments : 1) / (now - begin);
  std::ranges::sort(latencies);
  seen.latency_us = quantile(latencies, 0.5);
  seen.p10_us = quantile(latencies, 0.1);
  seen.p90_us = quantile(latencies, 0.9);
  seen.right = arrived();
  return seen;
}

// Fills the source with new bytes, and clears all other memory.
void bench::prepare(const pattern& of) {
  std::ranges::generate(expected_, [this] { return static_cast<std::byte>(draw_()); });
  std::ranges::fill(user_, std::byte{0});
  std::memset(pinned_.begin(), 0, wanted_.payload);
  if (wanted_.from_gpu) {
    copies_.to_gpu(gpu_.begin(), expected_.data(), wanted_.payload);
  } else {
    copies_.to_gpu(gpu_.begin(), user_.data(), wanted_.payload);
    std::memcpy(of.copies() || wanted_.pageable ? user_.data() : pinned_.begin(), expected_.data(), wanted_.payload);
  }
  copies_.synchronise(nullptr);
}

void bench::go_through(const pattern& of, std::uint64_t fragments) {
  for (const part& p : of.sender) {
    const std::uint64_t times = p.each_fragment ? fragments : 1;
    const std::size_t bytes = wanted_.payload / times;
    for (std::uint64_t k = 0; k < times; ++k)
      for (const element e : p.elements) carry_out(e, k * bytes, bytes);
  }
}

void bench::carry_out(element e, std::size_t at, std::size_t bytes) {
  if (e == element::copy) {
    std::memcpy(pinned_.begin() + at, user_.data() + at, bytes);
  } else if (e == element::quiet) {
    copies_.synchronise(wanted_.pageable ? nullptr : stream_.handle());
  } else if (wanted_.pageable) {
    if (wanted_.from_gpu)
      copies_.from_gpu(user_.data() + at, gpu_.begin() + at, bytes);
    else
      copies_.to_gpu(gpu_.begin() + at, user_.data() + at, bytes);
  } else {
    if (wanted_.from_gpu)
      copies_.from_gpu(pinned_.begin() + at, gpu_.begin() + at, bytes, stream_.handle());
    else
      copies_.to_gpu(gpu_.begin() + at, pinned_.begin() + at, bytes, stream_.handle());
  }
}

bool bench::arrived() {
  const std::byte* target = wanted_.pageable ? user_.data() : pinned_.begin();
  std::vector<std::byte> read;
  if (!wanted_.from_gpu) {
    read.resize(wanted_.payload);
    copies_.from_gpu(read.data(), gpu_.begin(), wanted_.payload);
    target = read.data();
  }
  return std::memcmp(target, expected_.data(), wanted_.payload) == 0;
}

}  // namespace gpu_patterns
