// The power that a channel's hardware draws when nothing runs, as far as it is known: the site's figure, or else the
// least mean power of any minute so far, of which it is certain only that the idle power does not exceed it.
#pragma once
#include <cstdint>
#include <optional>

namespace lull::account {

struct idle_power {
  static constexpr std::int64_t window_ns = 60'000'000'000;

  std::optional<double> known_w;  // the site's
  double least_w = -1;            // of any whole window; negative: there was none yet
  std::int64_t window_uj = 0, window_elapsed_ns = 0;

  // Energy counted in `elapsed_ns`.
  void add(std::int64_t uj, std::int64_t elapsed_ns) {
    window_uj += uj;
    window_elapsed_ns += elapsed_ns;
    if (window_elapsed_ns < window_ns) return;
    const double watts = so_far_w();
    least_w = least_w < 0 || watts < least_w ? watts : least_w;
    window_uj = window_elapsed_ns = 0;
  }

  // Part of this window's energy is lost.
  void forget_window() { window_uj = window_elapsed_ns = 0; }

  // What shares are computed with; 0 until it is known.
  [[nodiscard]] double used_w() const { return known_w.value_or(least_w < 0 ? 0 : least_w); }
  // Between these it may lie.
  [[nodiscard]] double low_w() const { return known_w.value_or(0); }
  [[nodiscard]] double high_w() const { return known_w.value_or(least_w < 0 ? so_far_w() : least_w); }

 private:
  [[nodiscard]] double so_far_w() const {
    return window_elapsed_ns > 0 ? static_cast<double>(window_uj) * 1e3 / static_cast<double>(window_elapsed_ns) : 0;
  }
};

}  // namespace lull::account
