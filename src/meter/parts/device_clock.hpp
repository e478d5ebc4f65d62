// From a device's own time stamps to CLOCK_MONOTONIC.
//
// A counter that says when it was read is best believed: two files of one driver may be 100 ms apart. Its clock,
// however, is another: it may be stepped, and it runs on while the machine sleeps and CLOCK_MONOTONIC does not. So only
// differences of stamps are used, from an anchor; a stamp that went back, or that has drifted more than a second from
// this machine's clock, sets the anchor anew. Times handed out never decrease and never lie in the future.
#pragma once
#include <cstdint>
#include <optional>

namespace lull::meter {

class device_clock {
 public:
  // CLOCK_MONOTONIC at which the device stamped `stamp_ns`, seen at `now_ns`.
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
