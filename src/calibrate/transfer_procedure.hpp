// How messages between two processes are observed, for lull::model::fit_transfer(): the procedure alone, on any link.
//
// A link may be a real one (shmem_link.hpp) or one in virtual time, whose terms are known (tests/unit/calibrate). Calls come one at a
// time, from one thread.
#pragma once
#include <cstddef>
#include <vector>

#include "model/costs/transfer.hpp"

namespace lull::calibrate {

class link_under_test {
 public:
  virtual ~link_under_test() = default;
  virtual double now_ns() = 0;
  // So many messages there and back, one after the other, once the other side listens; the time of all.
  virtual double round_trips_ns(std::size_t bytes, int count) = 0;
  virtual void post(std::size_t bytes) = 0;  // sends, and does not wait
  virtual void drain() = 0;                  // until all that was posted has come
  virtual double receiver_cpu_ns() = 0;      // of the receiver's process so far
};

struct effort {
  double ns_per_figure = 1.5e6;   // what is timed at once takes about so long
  int fewest = 4, most = 20'000;  // messages at once
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
