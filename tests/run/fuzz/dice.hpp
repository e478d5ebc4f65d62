// Random numbers that are the same on all PEs, and a check whose message says how to repeat a failure.
#pragma once
#include <cstdint>
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

#include "check.hpp"

namespace fuzz {

// SplitMix64 (Steele, Lea and Flood, 2014): any seed is a good one.
class dice {
 public:
  explicit dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : static_cast<std::size_t>(next() % bound); }
  int below(int bound) { return static_cast<int>(below(static_cast<std::size_t>(bound))); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  void shuffle(std::vector<T>& all) {
    for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[below(i)]);
  }

 private:
  std::uint64_t state_;
};

inline void fill(std::span<std::byte> bytes, std::uint64_t seed) {
  dice d(seed);
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % 8 == 0) word = d.next();
    bytes[i] = static_cast<std::byte>(word >> (i % 8 * 8));
  }
}

// The current operation, for the message of a failure.
struct situation {
  ring r;
  std::uint64_t seed = 0;
  int phase = 0;
  const char* subject = "";
};

[[noreturn]] inline void failed(const situation& s, const char* what, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: PE %d: seed %llu, phase %d, %s: not true: %s\n", file, line, s.r.me,
               static_cast<unsigned long long>(s.seed), s.phase, s.subject, what);
  shmem_global_exit(1);
  std::abort();
}

#define EXPECT(situation, condition)                                             \
  do {                                                                           \
    if (!(condition)) ::fuzz::failed(situation, #condition, __FILE__, __LINE__); \
  } while (false)

}  // namespace fuzz
