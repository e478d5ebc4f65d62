// Converts a device's time stamps to CLOCK_MONOTONIC.
//
// A counter's own time stamp is the best time of its reading, because two files of one driver may be 100 ms apart. The
// device's clock differs, however: it may be stepped, and it continues while the machine is suspended and
// CLOCK_MONOTONIC stops. Therefore only differences of stamps from an anchor are used. A stamp that went back, or that
// has drifted more than a second from this machine's clock, sets a new anchor. The resulting times never decrease and
// are never in the future.
#pragma once
#include <cstdint>
#include <optional>

namespace lull::meter {

class device_clock {
 public:
  // The CLOCK_MONOTONIC time at which the device stamped `stamp_ns`, which was read at `now_ns`.
  [[nodiscard]] std::int64_t at(std::int64_t stamp_ns, std::int64_t now_ns);

 private:
  struct anchor {
    std::int64_t stamp_ns, now_ns;
  };
  std::optional<anchor> anchor_;
  std::int64_t latest_stamp_ns_ = 0;
  std::int64_t latest_ns_ = 0;
};

}  // namespace lull::meter
