#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/topology.hpp"
#include "calibrate/parts.hpp"

namespace lull::calibrate {
namespace {

// An unnamed file below the folder, which disappears when it is closed, or the process is killed.
void write_and_sync(const std::string& folder, std::size_t bytes, const std::vector<char>& block) {
  std::string path = folder + "/.lull-calibrate-XXXXXX";
  const descriptor file(mkostemp(path.data(), O_CLOEXEC));
  if (file.get() < 0) throw error("write below " + folder, describe_errno(errno), "name another folder with --storage");
  unlink(path.c_str());
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t wrote = write(file.get(), block.data(), std::min(block.size(), bytes - done));
    if (wrote < 0) throw error("write below " + folder, describe_errno(errno), "name another folder with --storage");
    done += static_cast<std::size_t>(wrote);
  }
  if (fsync(file.get()) != 0) throw error("write below " + folder, describe_errno(errno));
}

// The rate of all writers together, from the first begin to the last end.
double bytes_per_s(const storage_wanted& wanted, int writers) {
  const std::vector<char> block(std::size_t{1} << 20U, 'x');
  std::barrier together(writers + 1);
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(writers));
  std::mutex lock;
  std::exception_ptr failed;
  for (int i = 0; i < writers; ++i)
    threads.emplace_back([&] {
      together.arrive_and_wait();
      try {
        write_and_sync(wanted.folder, wanted.bytes_per_writer, block);
      } catch (...) {
        const std::lock_guard hold(lock);
        failed = std::current_exception();
      }
    });
  together.arrive_and_wait();
  const std::int64_t begin = now_ns();
  for (std::thread& one : threads) one.join();
  const double seconds = static_cast<double>(now_ns() - begin) * 1e-9;
  if (failed) std::rethrow_exception(failed);
  return static_cast<double>(wanted.bytes_per_writer) * writers / seconds;
}

}  // namespace

nlohmann::json storage(const storage_wanted& wanted) {
  const int cores = static_cast<int>(allowed_cores().size());
  std::vector<int> writers{1};
  while (writers.back() < std::min(16, std::max(4, cores))) writers.push_back(2 * writers.back());
  nlohmann::json rounds = nlohmann::json::array();
  for (int round = 0; round < wanted.rounds; ++round) {
    nlohmann::json rates = nlohmann::json::array();
    for (const int count : writers) rates.push_back({{"writers", count}, {"bytes_per_s", bytes_per_s(wanted, count)}});
    rounds.push_back(rates);
  }
  return {{"rounds", rounds}, {"bytes_per_writer", wanted.bytes_per_writer}};
}

}  // namespace lull::calibrate
