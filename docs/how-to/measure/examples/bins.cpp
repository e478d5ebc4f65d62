#include <shmem.h>
#include <shmemx.h>

#include <lull/aggregate.hpp>

#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

int main() {
  shmem_init();
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  constexpr std::uint64_t bins_per_pe = 1000, updates = 1'000'000;
  std::uint64_t arrived = 0;
  {
    std::vector<std::uint64_t> bins(bins_per_pe);
    lull::aggregator histogram{lull::items_of<std::uint64_t>{}, [&](std::uint64_t bin) { ++bins[bin]; }};

    std::mt19937_64 random(static_cast<std::uint64_t>(me));
    for (std::uint64_t i = 0; i < updates; ++i) {
      const std::uint64_t index = random() % (bins_per_pe * static_cast<std::uint64_t>(pes));
      histogram.push(index % bins_per_pe, static_cast<int>(index / bins_per_pe));
    }
    histogram.done();

    for (const std::uint64_t count : bins) arrived += count;
    const lull::aggregate_statistics sent = histogram.statistics();
    std::printf("PE %d on node %d: %lu updates arrived, %lu buffers sent\n", me, shmemx_node_of(me), arrived,
                sent.buffers);
  }  // the aggregator ends before shmem_finalize()
  shmem_finalize();
}
