// How messages between two processes are observed for lull::model::fit_transfer(): only the procedure, for any link.
//
// A link may be a real one (shmem_link.hpp) or one in virtual time with known terms (tests/unit/calibrate). All calls
// come from one thread, one at a time.
#pragma once
#include <cstddef>
#include <vector>

#include "model/costs/transfer.hpp"

namespace lull::calibrate {

class link_under_test {
 public:
  virtual ~link_under_test() = default;
  virtual double now_ns() = 0;
  // Sends `count` messages there and back, one after the other, once the other side listens; returns the total time.
  virtual double round_trips_ns(std::size_t bytes, int count) = 0;
  virtual void post(std::size_t bytes) = 0;  // sends without waiting
  virtual void drain() = 0;                  // waits until all posted messages have arrived
  virtual double receiver_cpu_ns() = 0;      // of the receiver's process so far
};

struct effort {
  double ns_per_figure = 1.5e6;   // approximate duration of one measurement
  int fewest = 4, most = 20'000;  // messages per measurement
};

// One round over all sizes: times, or the receiver's CPU time. What is not observed is 0.
[[nodiscard]] std::vector<model::transfer_observation> observe_times(link_under_test& link,
                                                                     const std::vector<std::size_t>& sizes,
                                                                     const effort& wanted);
[[nodiscard]] std::vector<model::transfer_observation> observe_receiver(link_under_test& link,
                                                                        const std::vector<std::size_t>& sizes,
                                                                        const effort& wanted);

// 8 bytes to `largest`, doubling.
[[nodiscard]] std::vector<std::size_t> sizes_up_to(std::size_t largest);

}  // namespace lull::calibrate
