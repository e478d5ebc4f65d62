// The choice for puts under a machine file, counted after the job has had time to observe the machine: `coalesced` or
// `alone`, according to the argument.
#include <cstdlib>
#include <string_view>
#include <vector>

#include "check.hpp"

namespace {

constexpr std::size_t put_bytes = 512, puts_of_a_run = 30;

void runs(const ring& r, std::byte* area, const std::vector<std::byte>& mine, int count) {
  for (int run = 0; run < count; ++run) {
    for (std::size_t i = 0; i < puts_of_a_run; ++i)
      shmem_putmem_nbi(area + i * put_bytes, mine.data(), put_bytes, r.next);
    shmem_quiet();
  }
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc == 2);
  shmem_init();
  const ring r;
  auto* const area = symmetric<std::byte>(puts_of_a_run * put_bytes);
  const std::vector<std::byte> mine(put_bytes);
  runs(r, area, mine, 100);
  shmemx_transform_stats_t before, after;
  shmemx_transform_stats(&before);
  runs(r, area, mine, 20);
  shmemx_transform_stats(&after);
  const bool coalesced = std::string_view(argv[1]) == "coalesced";
  CHECK(after.coalesced_puts - before.coalesced_puts == (coalesced ? 20 * puts_of_a_run : 0));
  shmem_barrier_all();
  shmem_free(area);
  shmem_finalize();
  return 0;
}
