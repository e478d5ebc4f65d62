// access_patterns: a payload in fragments, from half of the PEs to the other half, by different access patterns.
//
// The benchmark of "Analysis of Energy and Performance of Code Transformations for PGAS-based Data Access Patterns".
// pattern.hpp describes the patterns, which are words. For each number of fragments: latency, bandwidth, rate of puts,
// CPU time of senders and receivers. Time and energy are those of the region "pattern". The buffers are used in turn,
// so that no payload is in a cache; everything that arrives is checked.
//
// Plain OpenSHMEM: any library's C++ compiler builds it, then without regions.
#include <shmem.h>
#ifdef LULL_API  // shmem.h is that of Lull
#include <lull/meter.h>
#include <shmemx.h>
#define ACCESS_PATTERNS_ON_LULL 1
#endif

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench.hpp"
#include "buffers.hpp"
#include "options.hpp"
#include "pattern.hpp"

namespace {

using namespace access_patterns;

// PE 0 prints one line and the job ends. All PEs find the same mistake, so the others only wait for the end.
[[noreturn]] void refuse(const std::string& line, int code) {
  if (shmem_my_pe() == 0) {
    std::fprintf(stderr, "access_patterns: %s\n", line.c_str());
    shmem_global_exit(code);
  }
  shmem_barrier_all();
  std::exit(code);
}

int nodes() {
#ifdef ACCESS_PATTERNS_ON_LULL
  return shmemx_n_nodes();
#else
  return 0;  // OpenSHMEM does not provide it
#endif
}

const char* name_of(layout l) { return l == layout::contiguous ? "contiguous" : "scattered"; }

void print_head(const options& wanted, const buffers& memory) {
  const int pairs = shmem_n_pes() / 2;
  std::printf("access_patterns: %" PRIu64 " bytes, %s, from %d PE%s to %d, %zu sets of buffers used in rotation\n",
              wanted.payload, name_of(wanted.place), pairs, pairs == 1 ? "" : "s", pairs, memory.sets());
  std::printf("%-10s %10s %12s %10s %10s %10s %12s %14s %14s\n", "pattern", "fragments", "latency us", "p10", "p90",
              "MB/s", "puts/s", "CPU us sender", "CPU us receiver");
}

void print(const options& wanted, const pattern& of, const buffers& memory, const result& seen) {
  if (wanted.json) {
    std::printf(
        "{\"pattern\": \"%s\", \"fragments\": %zu, \"fragment_bytes\": %zu, \"payload\": %zu, \"layout\": \"%s\", "
        "\"pairs\": %d, \"nodes\": %d, \"payloads\": %" PRIu64
        ", \"latency_us\": %.9g, \"p10_us\": %.9g, \"p90_us\": %.9g, \"sender_us\": %.9g, \"mb_per_s\": %.9g, "
        "\"puts_per_s\": %.9g, \"sender_cpu_us\": %.9g, \"receiver_cpu_us\": %.9g, \"verified\": %s}\n",
        of.word.c_str(), memory.fragments(), memory.fragment_bytes(), memory.payload(), name_of(wanted.place),
        shmem_n_pes() / 2, nodes(), seen.payloads, seen.latency_us, seen.p10_us, seen.p90_us, seen.sender_us,
        seen.mb_per_s, seen.puts_per_s, seen.sender_cpu_us, seen.receiver_cpu_us, seen.right ? "true" : "false");
  } else {
    std::printf("%-10s %10zu %12.4g %10.4g %10.4g %10.4g %12.4g %14.4g %14.4g%s\n", of.word.c_str(), memory.fragments(),
                seen.latency_us, seen.p10_us, seen.p90_us, seen.mb_per_s, seen.puts_per_s, seen.sender_cpu_us,
                seen.receiver_cpu_us, seen.right ? "" : "  WRONG");
  }
  std::fflush(stdout);
}

void report([[maybe_unused]] const result& last, [[maybe_unused]] double payloads, [[maybe_unused]] double megabytes) {
#ifdef ACCESS_PATTERNS_ON_LULL
  if (shmem_my_pe() != 0) return;
  lull_metric_sum("MB", megabytes, "MB");
  lull_metric_sum("payloads", payloads, "1");
  lull_metric_mean("latency_us", last.latency_us, "us");
  lull_metric_mean("mb_per_s", last.mb_per_s, "MB/s");
  lull_metric_mean("puts_per_s", last.puts_per_s, "1/s");
  lull_metric_mean("sender_cpu_us", last.sender_cpu_us, "us");
  lull_metric_mean("receiver_cpu_us", last.receiver_cpu_us, "us");
#endif
}

int run(const options& wanted) {
  std::vector<pattern> patterns;
  for (const std::string& word : wanted.patterns) patterns.push_back(parse_pattern(word, wanted.place));
  if (shmem_n_pes() % 2 != 0)
    throw usage_error(std::to_string(shmem_n_pes()) +
                      " PEs: half of them send to the other half; start an even number of PEs");
  buffers memory(wanted);
  bench measured(wanted, memory);
  if (shmem_my_pe() == 0 && !wanted.json) print_head(wanted, memory);
  bool right = true;
  double payloads = 0;
  result last;
  for (const std::uint64_t fragments : wanted.fragments) {
    memory.split(fragments);
    for (const pattern& of : patterns) {
      last = measured.measure(of);
      if (shmem_my_pe() == 0) print(wanted, of, memory, last);
      right = right && last.right;
      payloads += static_cast<double>(last.payloads);
    }
  }
  report(last, payloads, payloads * static_cast<double>(wanted.payload) * 1e-6);
  if (shmem_my_pe() == 0 && !wanted.json) std::printf("result %s\n", right ? "verified" : "WRONG");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  shmem_init();
  int code = 0;
  try {
    code = run(parse(argc, argv));
  } catch (const help_wanted& help) {
    if (shmem_my_pe() == 0) std::printf("%s", help.what());
  } catch (const usage_error& mistake) {
    refuse(mistake.what(), 2);
  } catch (const no_room& missing) {
    refuse(missing.what(), 1);
  }
  shmem_finalize();
  return code;
}
