// The pause of a spin between two tests, which should cost the core and its sibling hardware thread as little as
// possible.
//
// Between the first tests of a spin there is a plain pause of some ten nanoseconds; most short waits end there. After
// them the processor rests for a fraction of a microsecond with its user-mode wait instruction, if it has one: TPAUSE
// (Intel WAITPKG), MWAITX with its timer (AMD), WFET (Arm). This is detected at run time. Other processors continue
// with the pause.
#pragma once
#include <span>
#include <string_view>

namespace lull::wait {

struct spin_rest {
  std::string_view name;  // "tpause", "mwaitx", "wfet", or "pause"
  bool (*supported)();    // whether this processor supports it
  void (*rest)();         // takes about a quarter of a microsecond; call it only where supported
};

// All rests of this build, the most economical first. Every processor supports the last one.
[[nodiscard]] std::span<const spin_rest> spin_rests();
// The first one that this processor supports.
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
