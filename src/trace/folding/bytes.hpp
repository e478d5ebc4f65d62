// Numbers as bytes: LEB128, small ones in one byte, and readers that never go beyond their end. A stream lies in several
// pieces, one for each chunk of a file; no number crosses from one piece to the next.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace lull::trace::folding {

using bytes = std::vector<std::uint8_t>;

inline void put_number(bytes& to, std::uint64_t v) {
  for (; v >= 0x80; v >>= 7) to.push_back(static_cast<std::uint8_t>(v | 0x80));
  to.push_back(static_cast<std::uint8_t>(v));
}

// Signed numbers: those near zero are small.
[[nodiscard]] constexpr std::uint64_t zigzag(std::uint64_t v) { return v << 1 ^ (0 - (v >> 63)); }
[[nodiscard]] constexpr std::uint64_t unzigzag(std::uint64_t v) { return v >> 1 ^ (0 - (v & 1)); }

class byte_reader {
 public:
  explicit byte_reader(std::vector<std::span<const std::uint8_t>> pieces) : pieces_(std::move(pieces)) { next_piece(); }

  [[nodiscard]] bool at_end() const { return left_.empty(); }
  // How many bytes are left in this piece, and these.
  [[nodiscard]] std::size_t left() const { return left_.size(); }
  std::span<const std::uint8_t> rest() { return std::exchange(left_, {}); }
  // Whether something was read that is not there; all numbers are 0 from then on.
  [[nodiscard]] bool failed() const { return failed_; }

  std::uint64_t number() {
    std::uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t b = byte();
      v |= std::uint64_t{b & 0x7fU} << shift;
      if (b < 0x80) return v;
    }
    fail();
    return 0;
  }
  std::uint8_t byte() {
    std::uint8_t b = 0;
    copy(&b, 1);
    return b;
  }
  void copy(void* to, std::size_t count) {
    if (count == 0) return;
    if (left_.size() < count || failed_) {
      std::memset(to, 0, count);
      return fail();
    }
    std::memcpy(to, left_.data(), count);
    left_ = left_.subspan(count);
    if (left_.empty()) next_piece();
  }

 private:
  void fail() {
    failed_ = true;
    left_ = {};
  }
  void next_piece() {
    while (left_.empty() && at_ < pieces_.size()) left_ = pieces_[at_++];
  }

  std::vector<std::span<const std::uint8_t>> pieces_;
  std::size_t at_ = 0;
  std::span<const std::uint8_t> left_;
  bool failed_ = false;
};

// The times of one call: ticks since the previous call of the log ended, which may be negative, and its duration. One
// byte says how many bytes of each follow, so that writing them needs no branch.
inline constexpr std::size_t most_bytes_of_times = 1 + 8 + 8;

[[nodiscard]] inline unsigned bytes_of(std::uint64_t v) {
  return (71U - static_cast<unsigned>(std::countl_zero(v | 1))) >> 3;
}

// `to` has most_bytes_of_times bytes; returns how many of them are used.
inline std::size_t put_times(std::uint8_t* to, std::uint64_t gap, std::uint32_t duration) {
  const std::uint64_t g = zigzag(gap), d = duration;
  const unsigned of_gap = bytes_of(g), of_duration = bytes_of(d);
  *to = static_cast<std::uint8_t>(of_gap | of_duration << 4);
  std::memcpy(to + 1, &g, sizeof g);
  std::memcpy(to + 1 + of_gap, &d, sizeof d);
  return 1 + of_gap + of_duration;
}

inline std::pair<std::uint64_t, std::uint32_t> read_times(byte_reader& from) {
  const std::uint8_t lengths = from.byte();
  const unsigned of_gap = lengths & 0xfU, of_duration = lengths >> 4;
  std::uint64_t gap = 0, duration = 0;
  if (of_gap <= 8) from.copy(&gap, of_gap);
  if (of_duration <= 4) from.copy(&duration, of_duration);
  return {unzigzag(gap), static_cast<std::uint32_t>(duration)};
}

}  // namespace lull::trace::folding
