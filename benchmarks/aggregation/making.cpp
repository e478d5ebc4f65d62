// The cost for one PE of finding where the buffers of an aggregator are, from the layout alone: no processes, no
// buffers. For each route: time, and memory allocated on the way.
//
//     cmake --build build/venv --target aggregation_making && build/venv/tests/unit/aggregation_making 65536 64
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

#include "aggregate/channels/route.hpp"

namespace {
std::size_t allocated = 0;
}
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // both are replaced
void* operator new(std::size_t bytes) {
  allocated += bytes;
  if (void* const p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

using namespace lull;
using namespace lull::aggregate;

namespace {

// Asks what plan.cpp asks for each route, and computes the hops of the chosen one.
void make(const job::layout& places, int pes, scheme how) {
  const route way(places, pes, how);
  const pe_id me{pes / 2};
  const node_id here = places.node_of(me);
  std::size_t places_found = 0;
  for (int hop = 0; hop < way.hops(); ++hop) {
    places_found += way.most_channels(hop).targets;
    if (way.between_nodes(hop)) {
      for (const node_id to : way.targets(hop, here))
        places_found += way.index_at_source(hop, here, to) + way.index_at_target(hop, here, to);
      for (const node_id from : way.sources(hop, here))
        places_found += way.index_at_source(hop, from, here) + way.index_at_target(hop, from, here);
    } else {
      const auto targets = way.targets(hop, me), sources = way.sources(hop, me);
      places_found += way.indices_of_targets(hop, me, targets).size();
      places_found += way.indices_at_sources(hop, sources, me).size();
      for (const pe_id to : targets) places_found += way.index_at_target(hop, me, to);
    }
  }
  if (places_found == 0 && pes > 1) std::abort();  // it is used
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || std::atoi(argv[1]) < 1 || std::atoi(argv[2]) < 1) {
    std::fputs("usage: aggregation_making PES PES-OF-A-NODE\n", stderr);
    return 2;
  }
  const int pes = std::atoi(argv[1]), of_a_node = std::atoi(argv[2]);
  std::vector<job::place> where;
  for (int pe = 0; pe < pes; ++pe) where.push_back({pe / of_a_node, 0});
  const job::layout places(where, pe_id{0});
  std::printf("%d PEs on %d nodes\n", pes, places.nodes());
  for (const buffering kind : {buffering::per_pe, buffering::per_node})
    for (int hops = 1; hops <= 3; ++hops) {
      using clock = std::chrono::steady_clock;
      const std::size_t before = allocated;
      const auto begin = clock::now();
      make(places, pes, {kind, hops});
      const std::chrono::duration<double, std::milli> took = clock::now() - begin;
      std::printf("  %s, %d hops: %10.3f ms %12.1f KiB allocated\n",
                  kind == buffering::per_pe ? "per PE  " : "per node", hops, took.count(),
                  static_cast<double>(allocated - before) / 1024);
    }
  return 0;
}
