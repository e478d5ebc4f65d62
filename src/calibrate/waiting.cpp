#include <shmem.h>

#include <chrono>
#include <thread>

#include "base/clock.hpp"
#include "calibrate/parts.hpp"

namespace lull::calibrate {

nlohmann::json waiting(double seconds) {
  auto* const over = static_cast<std::int64_t*>(shmem_calloc(1, sizeof(std::int64_t)));
  shmem_barrier_all();
  const std::int64_t begin = now_ns(), cpu = process_cpu_ns();
  // A thread releases each PE, so that no PE stays awake for the others.
  std::thread releasing([&] {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    shmem_int64_p(over, 1, shmem_my_pe());
  });
  shmem_int64_wait_until(over, SHMEM_CMP_EQ, 1);
  const std::int64_t end = now_ns();
  releasing.join();
  const double use = static_cast<double>(process_cpu_ns() - cpu) / static_cast<double>(end - begin);
  shmem_barrier_all();
  shmem_free(over);
  return {{"begin_ns", begin}, {"end_ns", end}, {"use", use}};
}

}  // namespace lull::calibrate
