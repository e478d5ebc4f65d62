// Waits for values in this PE's memory, and tests of them. The waiting itself is in wait/.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "shmem/current.hpp"

using lull::shmem::here;
using lull::wait::operation;

namespace {

template <class T>
bool holds(T* variable, int comparison, T value) {
  const T now = std::atomic_ref<T>(*variable).load(std::memory_order_acquire);
  switch (comparison) {
    case SHMEM_CMP_EQ:
      return now == value;
    case SHMEM_CMP_NE:
      return now != value;
    case SHMEM_CMP_GT:
      return now > value;
    case SHMEM_CMP_GE:
      return now >= value;
    case SHMEM_CMP_LT:
      return now < value;
    default:
      return now <= value;
  }
}

// The index at which the next search among `count` variables begins. Each call of this thread takes the next of a
// sequence whose subsequences are evenly spread too (multiples of the golden ratio, after Weyl). All places of every
// set therefore get their turn, in about three times `count` calls on it, whichever other sets are searched in between;
// no state is kept per set.
std::size_t next_start(std::size_t count) {
  static thread_local std::uint64_t turn = 0;
  constexpr std::uint64_t golden_ratio = 0x9E37'79B9'7F4A'7C15;                     // its fraction, times 2^64
  return static_cast<std::size_t>(((turn += golden_ratio) >> 32U) * count >> 32U);  // in a huge set only the first 2^32
}

// Several variables, some of which `status` may exclude, and one value to compare with, or one for each.
template <class T>
struct set_of {
  T* variables;
  std::size_t count;
  const int* status;  // may be null; nonzero: not in the set
  int comparison;
  const T* values;
  bool one_value;

  [[nodiscard]] std::span<const std::byte> memory() const { return std::as_bytes(std::span(variables, count)); }
  [[nodiscard]] bool contains(std::size_t i) const { return !status || status[i] == 0; }
  [[nodiscard]] bool holds_at(std::size_t i) const {
    return holds<T>(variables + i, comparison, values[one_value ? 0 : i]);
  }
  [[nodiscard]] bool empty() const {
    for (std::size_t i = 0; i < count; ++i)
      if (contains(i)) return false;
    return true;
  }
  [[nodiscard]] bool all() const {
    for (std::size_t i = 0; i < count; ++i)
      if (contains(i) && !holds_at(i)) return false;
    return true;
  }
  // The first match from `start` on, otherwise the first before it.
  [[nodiscard]] std::size_t any(std::size_t start) const {
    for (std::size_t i = start; i < count; ++i)
      if (contains(i) && holds_at(i)) return i;
    for (std::size_t i = 0; i < start; ++i)
      if (contains(i) && holds_at(i)) return i;
    return SIZE_MAX;
  }
  std::size_t some(std::size_t* indices) const {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i)
      if (contains(i) && holds_at(i)) indices[found++] = i;
    return found;
  }
};

template <class Ready>
void wait(const char* call, std::span<const std::byte> where, Ready&& ready) {
  here(call, operation::wait_until).wait().until({.what = operation::wait_until, .where = where}, ready);
}

// Checks, makes progress, and checks again.
template <class Look, class Result>
Result test(const char* call, Look&& look, Result nothing) {
  Result found = look();
  if (found == nothing) {
    here(call).transfers().drive();
    found = look();
  }
  lull::tsan_acquire();
  return found;
}

template <class T>
void wait_all(const char* call, const set_of<T>& s) {
  wait(call, s.memory(), [&] { return s.all(); });
}
template <class T>
std::size_t wait_any(const char* call, const set_of<T>& s) {
  std::size_t found = SIZE_MAX;
  const std::size_t start = next_start(s.count);
  if (!s.empty()) wait(call, s.memory(), [&] { return (found = s.any(start)) != SIZE_MAX; });
  return found;
}
template <class T>
std::size_t wait_some(const char* call, const set_of<T>& s, std::size_t* indices) {
  std::size_t found = 0;
  if (!s.empty()) wait(call, s.memory(), [&] { return (found = s.some(indices)) != 0; });
  return found;
}

}  // namespace

// clang-format off
#define LULL_SET(TYPE, ONE, VALUES) set_of<TYPE>{ivars, nelems, status, cmp, VALUES, ONE}
#define LULL_WAITS(NAME, TYPE, SUFFIX, PARAMETER, ONE, VALUES)                                                         \
  void shmem_##NAME##_wait_until_all##SUFFIX(TYPE* ivars, size_t nelems, const int* status, int cmp, PARAMETER) { \
    wait_all("shmem_" #NAME "_wait_until_all" #SUFFIX, LULL_SET(TYPE, ONE, VALUES));                                   \
  }                                                                                                                    \
  size_t shmem_##NAME##_wait_until_any##SUFFIX(TYPE* ivars, size_t nelems, const int* status, int cmp,                 \
                                               PARAMETER) {                                                       \
    return wait_any("shmem_" #NAME "_wait_until_any" #SUFFIX, LULL_SET(TYPE, ONE, VALUES));                            \
  }                                                                                                                    \
  size_t shmem_##NAME##_wait_until_some##SUFFIX(TYPE* ivars, size_t nelems, size_t* indices, const int* status,        \
                                                int cmp, PARAMETER) {                                             \
    return wait_some("shmem_" #NAME "_wait_until_some" #SUFFIX, LULL_SET(TYPE, ONE, VALUES), indices);                 \
  }                                                                                                                    \
  int shmem_##NAME##_test_all##SUFFIX(TYPE* ivars, size_t nelems, const int* status, int cmp, PARAMETER) {        \
    const auto s = LULL_SET(TYPE, ONE, VALUES);                                                                        \
    return test("shmem_" #NAME "_test_all" #SUFFIX, [&] { return s.all() ? 1 : 0; }, 0);                               \
  }                                                                                                                    \
  size_t shmem_##NAME##_test_any##SUFFIX(TYPE* ivars, size_t nelems, const int* status, int cmp, PARAMETER) {     \
    const auto s = LULL_SET(TYPE, ONE, VALUES);                                                                        \
    const std::size_t start = next_start(nelems);                                                                      \
    return test("shmem_" #NAME "_test_any" #SUFFIX, [&] { return s.any(start); }, std::size_t{SIZE_MAX});              \
  }                                                                                                                    \
  size_t shmem_##NAME##_test_some##SUFFIX(TYPE* ivars, size_t nelems, size_t* indices, const int* status, int cmp,     \
                                          PARAMETER) {                                                            \
    const auto s = LULL_SET(TYPE, ONE, VALUES);                                                                        \
    return test("shmem_" #NAME "_test_some" #SUFFIX, [&] { return s.some(indices); }, std::size_t{0});                 \
  }
#define LULL_WAIT(NAME, TYPE, A)                                                                                       \
  void shmem_##NAME##_wait_until(TYPE* ivar, int cmp, TYPE cmp_value) {                                                \
    wait("shmem_" #NAME "_wait_until", std::as_bytes(std::span(ivar, 1)),                                              \
         [&] { return holds<TYPE>(ivar, cmp, cmp_value); });                                                           \
  }                                                                                                                    \
  int shmem_##NAME##_test(TYPE* ivar, int cmp, TYPE cmp_value) {                                                       \
    return test("shmem_" #NAME "_test", [&] { return holds<TYPE>(ivar, cmp, cmp_value) ? 1 : 0; }, 0);                 \
  }                                                                                                                    \
  LULL_WAITS(NAME, TYPE, , TYPE cmp_value, true, &cmp_value)                                                                \
  LULL_WAITS(NAME, TYPE, _vector, const TYPE* cmp_values, false, cmp_values)
LULL_WAIT_TYPES(LULL_WAIT, )

#define LULL_OLD_WAIT(NAME, TYPE, A) \
  void shmem_##NAME##_wait(TYPE* ivar, TYPE cmp_value) { shmem_##NAME##_wait_until(ivar, SHMEM_CMP_NE, cmp_value); }
LULL_OLD_WAIT_TYPES(LULL_OLD_WAIT, )
// clang-format on
void shmem_wait(long* ivar, long cmp_value) { shmem_long_wait(ivar, cmp_value); }
void shmem_wait_until(long* ivar, int cmp, long cmp_value) { shmem_long_wait_until(ivar, cmp, cmp_value); }

uint64_t shmem_signal_fetch(const uint64_t* sig_addr) {
  return std::atomic_ref<uint64_t>(*const_cast<uint64_t*>(sig_addr)).load(std::memory_order_acquire);
}

uint64_t shmem_signal_wait_until(uint64_t* sig_addr, int cmp, uint64_t value) {
  std::uint64_t seen = 0;  // the value that ended the wait, even if the word changes afterwards
  wait("shmem_signal_wait_until", std::as_bytes(std::span(sig_addr, 1)), [&] {
    seen = shmem_signal_fetch(sig_addr);
    return holds<std::uint64_t>(&seen, cmp, value);
  });
  return seen;
}
