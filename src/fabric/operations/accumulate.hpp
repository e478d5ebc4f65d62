// y += a·x on blocks of numbers in another PE's heap, each element once and whole.
//
// Updates of one PE's memory exclude each other by a lock in that PE's segment, so accumulates from any number of PEs
// and from its own progress thread may meet in the same elements. They are not atomic towards puts, gets and atomics.
#pragma once
#include <pthread.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace lull::fabric {

enum class number : std::uint8_t { int_, long_, float_, double_, complex_float, complex_double };

[[nodiscard]] std::size_t size_of(number type);

struct axpy {  // the kind of the elements and the factor, in the elements' own type
  number type;
  alignas(8) std::array<std::byte, 16> factor;
};

// target[i] += factor · source[i] for elements that make up `bytes`. Neither needs to be aligned.
void apply_axpy(const axpy& how, void* target, const void* source, std::size_t bytes);

// A lock between processes that share memory. Its holder never waits for anything else while it holds it. Where it dies
// meanwhile, the next has the lock: the job is about to end, and must not hang.
class shared_lock {
 public:
  void open();  // once, by the owner of the memory, before anybody uses it
  void lock() {
    if (pthread_mutex_lock(&mutex_) == EOWNERDEAD) [[unlikely]]
      pthread_mutex_consistent(&mutex_);
  }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_;
};

}  // namespace lull::fabric
