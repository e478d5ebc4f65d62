#include <sched.h>

#include <barrier>
#include <cstring>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/topology.hpp"
#include "calibrate/parts.hpp"

namespace lull::calibrate {
namespace {

constexpr std::size_t warm_bytes = std::size_t{128} << 10U;  // with its copy fits into any L2
constexpr std::size_t cold_bytes = std::size_t{64} << 20U;   // per thread, in consecutive blocks
constexpr std::size_t block_bytes = std::size_t{256} << 10U;

void bind_to(int core) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(core, &only);
  sched_setaffinity(0, sizeof only, &only);  // if this is not allowed, the kernel chooses the core
}

// Bytes per second that `cores` copy at the same time, in total.
double copied_per_s(const std::vector<int>& cores, bool warm) {
  const std::size_t bytes = warm ? warm_bytes : cold_bytes;
  const int times = warm ? 2000 : 2;
  std::barrier together(static_cast<std::ptrdiff_t>(cores.size()));
  std::vector<double> rates(cores.size());
  std::vector<std::thread> threads;
  threads.reserve(cores.size());
  for (std::size_t i = 0; i < cores.size(); ++i)
    threads.emplace_back([&, i] {
      bind_to(cores[i]);
      std::vector<std::byte> from(bytes, std::byte{1}), to(bytes, std::byte{2});
      together.arrive_and_wait();
      const std::int64_t begin = now_ns();
      for (int time = 0; time < times; ++time)
        for (std::size_t at = 0; at < bytes; at += std::min(block_bytes, bytes)) {
          std::memcpy(to.data() + at, from.data() + at, std::min(block_bytes, bytes));
          asm volatile("" ::: "memory");
        }
      rates[i] = static_cast<double>(bytes) * times / (static_cast<double>(now_ns() - begin) * 1e-9);
    });
  for (std::thread& one : threads) one.join();
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

}  // namespace

nlohmann::json memory(int rounds) {
  const std::vector<int> all = allowed_cores();
  const std::vector<int> one{all.front()};
  nlohmann::json found;
  for (const char* const name : {"copy_warm", "copy_cold", "copy_cold_all_cores"})
    found[name] = nlohmann::json::array();
  for (int round = 0; round < rounds; ++round) {
    found["copy_warm"].push_back(copied_per_s(one, true));
    found["copy_cold"].push_back(copied_per_s(one, false));
    found["copy_cold_all_cores"].push_back(copied_per_s(all, false));
  }
  found["cores"] = all.size();
  return found;
}

}  // namespace lull::calibrate
