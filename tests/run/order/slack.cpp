// A measurement, not a test: latency and CPU time of a blocking put with quiet to another node, with idle time in
// between.
//
//   run_slack [BYTES...] on 2 PEs of 2 nodes; PE 0 prints, for each size, the median latency and the median
//   CPU time of its process in a put with quiet, in microseconds.
#include <shmem.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/clock.hpp"

namespace {

void nap(long ns) {
  const timespec pause{.tv_sec = 0, .tv_nsec = ns};
  nanosleep(&pause, nullptr);
}

void measure(void* area, std::size_t bytes) {
  constexpr long idle_ns = 2'000'000;
  const std::vector<char> source(bytes, 'x');
  const int rounds = bytes >= (1 << 20) ? 30 : 200;
  std::vector<double> latency, cpu;
  for (int round = -10; round < rounds; ++round) {
    nap(idle_ns);
    const auto begin = lull::now_ns(), cpu_begin = lull::process_cpu_ns();
    shmem_putmem(area, source.data(), bytes, 1);
    shmem_quiet();
    const auto end = lull::now_ns(), cpu_end = lull::process_cpu_ns();
    if (round < 0) continue;
    latency.push_back(static_cast<double>(end - begin) / 1e3);
    cpu.push_back(static_cast<double>(cpu_end - cpu_begin) / 1e3);
  }
  std::ranges::sort(latency);
  std::ranges::sort(cpu);
  std::printf("%zu %.1f %.1f\n", bytes, latency[latency.size() / 2], cpu[cpu.size() / 2]);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  shmem_init();
  std::vector<std::size_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::strtoul(argv[i], nullptr, 10));
  if (sizes.empty()) sizes = {65536, 262144, 1048576};
  auto* const area = shmem_malloc(*std::ranges::max_element(sizes));
  auto* const over = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  if (shmem_my_pe() == 0) {
    for (const std::size_t bytes : sizes) measure(area, bytes);
    shmem_long_p(over, 1, 1);
  } else {
    shmem_long_wait_until(over, SHMEM_CMP_EQ, 1);
  }
  shmem_finalize();
}
