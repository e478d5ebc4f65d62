// What a spin does between two looks, so that it costs the core and its sibling thread as little as the processor
// allows.
//
// The first looks of a spin are a plain pause apart, some ten nanoseconds: most short waits end there. After them the
// processor rests for a fraction of a microsecond in its user-mode wait, where it has one (found out at run time):
// TPAUSE (Intel WAITPKG), MWAITX with its timer (AMD), WFET (Arm). Elsewhere the plain pause goes on.
#pragma once
#include <span>
#include <string_view>

namespace lull::wait {

struct spin_rest {
  std::string_view name;  // "tpause", "mwaitx", "wfet", or "pause"
  bool (*supported)();    // by this processor
  void (*rest)();         // about a quarter of a microsecond; only when supported
};

// All this build knows, the most economical first; the last is supported everywhere.
[[nodiscard]] std::span<const spin_rest> spin_rests();
// The first that this processor supports.
[[nodiscard]] const spin_rest& best_spin_rest();

inline void plain_pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

class spinner {  // one per wait
 public:
  void relax() noexcept {
    constexpr unsigned plain_looks = 64;
    if (looks_ < plain_looks) {
      ++looks_;
      plain_pause();
    } else {
      rest_();
    }
  }

 private:
  unsigned looks_ = 0;
  void (*rest_)() = best_spin_rest().rest;
};

}  // namespace lull::wait
