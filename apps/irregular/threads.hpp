// Threads of a PE that share its work.
#pragma once
#include <cstddef>
#include <thread>
#include <vector>

namespace irregular {

// work(thread, begin, end) for the consecutive shares of 0 ≤ i < count, each in a thread of its own; for one thread, in
// this one. Returns when all have ended.
template <class Work>
void in_threads(unsigned threads, std::size_t count, Work&& work) {
  if (threads == 1) return work(0U, std::size_t{0}, count);
  std::vector<std::jthread> running;
  for (unsigned t = 0; t < threads; ++t)
    running.emplace_back(
        [&work, t, begin = count * t / threads, end = count * (t + 1) / threads] { work(t, begin, end); });
}

}  // namespace irregular
