// Detects a waiting loop whose beats do not reach the engine. A port is chosen by the library's name and version, but the
// loop may call nothing that is redirected if the library was built or configured differently.
//
// A call of at most 4096 bytes or elements that takes a millisecond of CPU time with fewer than ten beats waits in such a
// loop. Eight such calls are the answer `silent`, one call with ten beats is the answer `beats`. After a thousand calls
// without an answer the probe closes. Any thread may count.
#pragma once
#include <atomic>
#include <cstdint>
#include <string_view>

namespace lull::mpi {

class loop_probe {
 public:
  enum class answer : std::uint8_t { open, beats, silent };

  // Whether calls are to be counted: until the answer, at most the first thousand.
  [[nodiscard]] bool is_open() const noexcept { return answer_.load(std::memory_order_relaxed) == answer::open; }

  // A call of this size is over that took this CPU time. Returns true once, when the answer is that the loop is silent.
  [[nodiscard]] bool is_silent_after(std::string_view function, std::uint64_t size, std::int64_t cpu_ns,
                                     std::uint64_t beats) noexcept {
    if (!is_open()) return false;
    if (beats >= beats_of_a_loop) return decide(answer::beats);
    if (cpu_ns >= long_ns && size <= largest_size && waits_for_messages(function) &&
        silent_calls_.fetch_add(1, std::memory_order_relaxed) + 1 >= silent_calls)
      return decide(answer::silent);
    if (calls_.fetch_add(1, std::memory_order_relaxed) + 1 >= most_calls) decide(answer::beats);
    return false;
  }

 private:
  static constexpr std::int64_t long_ns = 1'000'000;
  static constexpr std::uint64_t beats_of_a_loop = 10;
  static constexpr std::uint64_t largest_size = 4096;  // more takes time to be copied
  static constexpr std::uint32_t silent_calls = 8, most_calls = 1000;

  // Other functions also read files or allocate memory.
  static bool waits_for_messages(std::string_view function) noexcept {
    return !function.starts_with("MPI_File_") && !function.starts_with("MPI_Win_") &&
           !function.starts_with("MPI_Comm_") && !function.starts_with("MPI_Intercomm_");
  }
  bool decide(answer of) noexcept {
    answer open = answer::open;
    return answer_.compare_exchange_strong(open, of) && of == answer::silent;
  }

  std::atomic<answer> answer_{answer::open};
  std::atomic<std::uint32_t> calls_{0}, silent_calls_{0};
};

}  // namespace lull::mpi
