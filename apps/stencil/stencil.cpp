// stencil: an example of a program whose output is to be managed: it computes, and at intervals each process writes a
// file.
//
// An atmosphere-like code in three dimensions, distributed over processes in two: `--cells` per process, some
// microseconds per cell and step, 101 bytes per cell and output. It calls MPI and HDF5 and is independent of who writes
// its files (`lull stage`). Prints the time spent computing, exchanging borders and writing.
#include <mpi.h>
#if __has_include(<lull/meter.h>)
#include <lull/meter.h>
#else
#define lull_region_begin(name)
#define lull_region_end(name)
#endif

#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "air.hpp"
#include "grid.hpp"
#include "options.hpp"
#include "output.hpp"

namespace {

enum phase { computing, exchanging, writing, phases };
constexpr std::array<const char*, phases> phase_names{"compute", "exchange", "output"};

class stopwatch {
 public:
  template <class Work>
  void time(phase which, Work&& work) {
    const double begin = MPI_Wtime();
    lull_region_begin(phase_names[which]);
    work();
    lull_region_end(phase_names[which]);
    seconds_[which] += MPI_Wtime() - begin;
  }
  [[nodiscard]] std::array<double, phases> seconds() const { return seconds_; }

 private:
  std::array<double, phases> seconds_{};
};

struct outcome {
  std::array<double, phases> mean_s{}, most_s{};  // over the processes
  double wall_s = 0;
  int outputs = 0;
  double bytes = 0;  // data of all files
  bool right = true;
};

outcome run(const stencil::options& wanted, stencil::grid& where) {
  stencil::air air(where, wanted.cell_ns, wanted.asleep);
  const double before = wanted.verify ? air.sum(0) : 0;
  outcome found;
  stopwatch watch;
  MPI_Barrier(where.comm());
  const double begin = MPI_Wtime();
  for (int step = 1; step <= wanted.steps; ++step) {
    watch.time(computing, [&] { air.step(); });
    watch.time(exchanging, [&] { air.exchange(); });
    if (wanted.every != 0 && step % wanted.every == 0) {
      watch.time(writing, [&] { stencil::write_output(wanted.out, step, where, air); });
      ++found.outputs;
    }
  }
  MPI_Barrier(where.comm());
  found.wall_s = MPI_Wtime() - begin;
  const auto seconds = watch.seconds();
  MPI_Reduce(seconds.data(), found.mean_s.data(), phases, MPI_DOUBLE, MPI_SUM, 0, where.comm());
  MPI_Reduce(seconds.data(), found.most_s.data(), phases, MPI_DOUBLE, MPI_MAX, 0, where.comm());
  for (double& sum : found.mean_s) sum /= where.processes();
  const auto all = where.all_cells();
  found.bytes = static_cast<double>(stencil::bytes_of_cell) * all[0] * all[1] * all[2] * found.outputs;
  if (wanted.verify) found.right = std::abs(air.sum(0) / before - 1) < 1e-4;  // quantities have single precision
  return found;
}

void print(const stencil::options& wanted, const stencil::grid& where, const outcome& found) {
  const auto cells = where.cells();
  if (wanted.json) {
    std::printf(
        "{\"processes\": %d, \"cells\": [%d, %d, %d], \"steps\": %d, \"outputs\": %d, \"bytes\": %.0f, "
        "\"wall_s\": %.6g",
        where.processes(), cells[0], cells[1], cells[2], wanted.steps, found.outputs, found.bytes, found.wall_s);
    for (std::size_t i = 0; i < phases; ++i)
      std::printf(", \"%s_s\": %.6g, \"%s_most_s\": %.6g", phase_names[i], found.mean_s[i], phase_names[i],
                  found.most_s[i]);
    std::printf(", \"verified\": %s}\n", wanted.verify ? found.right ? "true" : "false" : "null");
    return;
  }
  std::printf("stencil: %d process%s of %d x %d x %d cells, %d steps, %d outputs of %.4g MB in all, %.4g s\n",
              where.processes(), where.processes() == 1 ? "" : "es", cells[0], cells[1], cells[2], wanted.steps,
              found.outputs, found.bytes * 1e-6, found.wall_s);
  std::printf("%-10s %10s %10s %8s\n", "", "mean s", "most s", "share");
  for (std::size_t i = 0; i < phases; ++i)
    std::printf("%-10s %10.4g %10.4g %7.1f%%\n", phase_names[i], found.mean_s[i], found.most_s[i],
                100 * found.mean_s[i] / found.wall_s);
  if (wanted.verify) std::printf("result %s\n", found.right ? "verified" : "WRONG");
}

// Whether this process reports for all.
bool is_first() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 1;
  try {
    const stencil::options wanted = stencil::parse(argc, argv);
    stencil::grid where(wanted.cells, wanted.cells_of_all);
    const outcome found = run(wanted, where);
    if (where.rank() == 0) print(wanted, where, found);
    code = found.right ? 0 : 1;
  } catch (const stencil::help_wanted& help) {
    if (is_first()) std::printf("%s", help.what());
    code = 0;
  } catch (const stencil::usage_error& mistake) {
    if (is_first()) std::fprintf(stderr, "stencil: %s\n", mistake.what());
    code = 2;
  } catch (const std::exception& failure) {  // on this process alone: the others would wait for it
    std::fprintf(stderr, "stencil: %s\n", failure.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return code;
}
