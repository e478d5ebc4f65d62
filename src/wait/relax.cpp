#include "wait/relax.hpp"

#include <array>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace lull::wait {
namespace {

#if defined(__x86_64__)

// In cycles of the time stamp counter: about a quarter of a microsecond at 2 to 4 GHz.
constexpr std::uint32_t rest_cycles = 700;

bool has_tpause() {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ecx & 1U << 5U) != 0;
}

// The lighter of the two states of TPAUSE, C0.1, which ends faster.
__attribute__((target("waitpkg"))) void tpause() { _tpause(1, __rdtsc() + rest_cycles); }

bool has_mwaitx() {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) != 0 && (ecx & 1U << 29U) != 0;
}

// MWAITX needs an address to watch; here only its timer ends it.
__attribute__((target("mwaitx"))) void mwaitx() {
  alignas(64) static const std::uint64_t unchanging = 0;
  constexpr std::uint32_t timer_enabled = 2, shallowest = 0xf0;
  _mm_monitorx(const_cast<std::uint64_t*>(&unchanging), 0, 0);
  _mm_mwaitx(timer_enabled, shallowest, rest_cycles);
}

#elif defined(__aarch64__)

bool has_wfet() {
  constexpr unsigned long hwcap2_wfxt = 1UL << 31U;  // HWCAP2_WFXT
  return (getauxval(AT_HWCAP2) & hwcap2_wfxt) != 0;
}

// WFET X0 as its encoding, because current assemblers may not know its name. The counter's frequency determines the
// length of a quarter of a microsecond.
void wfet() {
  std::uint64_t now = 0, frequency = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(now));
  asm volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
  register std::uint64_t until asm("x0") = now + frequency / 4'000'000;
  asm volatile(".inst 0xd5031000" ::"r"(until) : "memory");
}

#endif

bool always() { return true; }

constexpr std::array table {
#if defined(__x86_64__)
  spin_rest{"tpause", has_tpause, tpause}, spin_rest{"mwaitx", has_mwaitx, mwaitx},
#elif defined(__aarch64__)
  spin_rest{"wfet", has_wfet, wfet},
#endif
      spin_rest{"pause", always, [] { plain_pause(); }},
};

}  // namespace

std::span<const spin_rest> spin_rests() { return table; }

const spin_rest& best_spin_rest() {
  static const spin_rest& best = []() -> const spin_rest& {
    for (const spin_rest& candidate : table)
      if (candidate.supported()) return candidate;
    return table.back();
  }();
  return best;
}

}  // namespace lull::wait
