// shift: every PE transfers to the next one and waits until each transfer has arrived.
//
// The benchmark of "Designing energy efficient communication runtime systems: a view from PGAS models": put, get,
// accumulate and strided put over a range of sizes. With `--to all` a PE transfers to all other PEs in turn, as there.
// For each size: latency, rate and CPU time. Time and energy are those of the region "transfers"; metrics go into the
// record of the run (`lull measure -- lull run -n 2 shift`).
//
// The transfers are plain OpenSHMEM: any library's C++ compiler builds it, then without accumulate and regions.
#include <shmem.h>
#ifdef LULL_API  // shmem.h is that of Lull
#include <lull/meter.h>
#include <shmemx.h>
#define SHIFT_ON_LULL 1
#endif

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "measure.hpp"
#include "options.hpp"
#include "transfer.hpp"

namespace {

// PE 0 prints one line and the job ends. All PEs find the same mistake, so the others only wait for the end.
[[noreturn]] void refuse(const std::string& line, int code) {
  if (shmem_my_pe() == 0) {
    std::fprintf(stderr, "shift: %s\n", line.c_str());
    shmem_global_exit(code);
  }
  shmem_barrier_all();
  std::exit(code);
}

int nodes() {
#ifdef SHIFT_ON_LULL
  return shmemx_n_nodes();
#else
  return 0;  // OpenSHMEM does not provide it
#endif
}

void print_head(const shift::options& wanted) {
  const int pes = shmem_n_pes();
  const std::string on = nodes() == 0 ? "" : " on " + std::to_string(nodes()) + (nodes() == 1 ? " node" : " nodes");
  std::printf("shift: %s, %d PE%s%s, %s to %s\n", wanted.op.c_str(), pes, pes == 1 ? "" : "s", on.c_str(),
              wanted.from == "all" ? "each" : "the first", wanted.to == "all" ? "all others in rotation" : "the next");
  std::printf("%10s %11s %12s %10s %10s %10s %12s %9s\n", "bytes", "transfers", "latency us", "p10", "p90", "MB/s",
              "CPU us each", "CPU s");
}

void print(const shift::options& wanted, const shift::result& seen) {
  if (wanted.json) {
    std::printf("{\"op\": \"%s\", \"bytes\": %zu, \"pes\": %d, \"nodes\": %d, \"transfers\": %" PRIu64
                ", \"latency_us\": %.9g, \"p10_us\": %.9g, \"p90_us\": %.9g, \"mb_per_s\": %.9g, \"cpu_us\": %.9g, "
                "\"cpu_s\": %.9g, \"verified\": %s}\n",
                wanted.op.c_str(), seen.bytes, shmem_n_pes(), nodes(), seen.transfers, seen.latency_us, seen.p10_us,
                seen.p90_us, seen.mb_per_s, seen.cpu_us, seen.cpu_s,
                wanted.verify ? seen.right ? "true" : "false" : "null");
  } else {
    std::printf("%10zu %11" PRIu64 " %12.4g %10.4g %10.4g %10.4g %12.4g %9.3g%s\n", seen.bytes, seen.transfers,
                seen.latency_us, seen.p10_us, seen.p90_us, seen.mb_per_s, seen.cpu_us, seen.cpu_s,
                seen.right ? "" : "  WRONG");
  }
  std::fflush(stdout);
}

void report([[maybe_unused]] const shift::result& last, [[maybe_unused]] double megabytes) {
#ifdef SHIFT_ON_LULL
  lull_metric_sum("MB", megabytes, "MB");
  lull_metric_mean("latency_us", last.latency_us, "us");
  lull_metric_mean("cpu_us_per_transfer", last.cpu_us, "us");
#endif
}

int run(const shift::options& wanted) {
  const auto sizes = wanted.sizes();
  const auto moves = shift::transfer::make(wanted, sizes.back());
  shift::bench bench(wanted, *moves);
  const bool first = shmem_my_pe() == 0;
  if (first && !wanted.json) print_head(wanted);
  bool right = true;
  double megabytes = 0;
  shift::result seen;
  for (const std::size_t bytes : sizes) {
    seen = bench.measure(bytes);
    right = right && seen.right;
    megabytes += static_cast<double>(seen.transfers * bytes) * 1e-6;
    if (first) print(wanted, seen);
  }
  if (first) {
    report(seen, megabytes);
    if (wanted.verify && !wanted.json) std::printf("result %s\n", right ? "verified" : "WRONG");
  }
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  shmem_init();
  int code = 1;
  try {
    code = run(shift::parse(argc, argv));
  } catch (const shift::help_wanted& help) {
    if (shmem_my_pe() == 0) std::printf("%s", help.what());
    code = 0;
  } catch (const shift::usage_error& mistake) {
    refuse(mistake.what(), 2);
  } catch (const std::exception& failure) {
    refuse(failure.what(), 1);
  }
  shmem_finalize();
  return code;
}
