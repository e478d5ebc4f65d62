#include "netsim/workload/open_loop.hpp"

namespace lull::netsim {

void arrival_times::draw_next(drawing& d) const {
  const auto exponential = [&](double mean) {
    return static_cast<picoseconds>(std::llround(-std::log(d.random.uniform()) * mean));
  };
  switch (arrivals_) {
    case arrivals::poisson:
      d.next += exponential(mean_gap_);
      break;
    case arrivals::periodic:
      d.next += static_cast<picoseconds>(std::llround(mean_gap_));
      break;
    case arrivals::bursty: {
      // A burst of back-to-back messages of a geometric number; then a pause that gives the requested mean load.
      const double mean = std::max(1.0, burst_ / static_cast<double>(message_time_));
      d.next += message_time_;
      if (d.burst_left == 0) {
        d.next += exponential(mean * static_cast<double>(message_time_) * (1 - load_) / load_);
        d.burst_left =
            mean > 1 ? 1 + static_cast<std::uint64_t>(std::log(d.random.uniform()) / std::log1p(-1 / mean)) : 1;
      }
      --d.burst_left;
      break;
    }
    case arrivals::closed:
      break;
  }
}

}  // namespace lull::netsim
