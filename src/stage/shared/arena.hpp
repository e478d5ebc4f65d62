// The places in a process's arena: the lowest free one is taken, so that few pages are touched, and those stay warm.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "base/pages.hpp"

namespace lull::stage {

class arena {
 public:
  static constexpr std::size_t alignment = 64, most_places = 1024;

  explicit arena(std::size_t bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  // Empty: there is no room now.
  [[nodiscard]] std::optional<std::size_t> take(std::size_t bytes) {
    if (taken_.size() >= most_places) return std::nullopt;
    const std::size_t needed = round_up(bytes, alignment);
    std::size_t free = 0;
    for (const auto& [place, one] : taken_) {
      if (place - free >= needed) break;
      free = place + one.bytes;
    }
    if (free + needed > bytes_) return std::nullopt;
    taken_.emplace(free, taken{needed, 0});
    return free;
  }
  // The entry that uses the place.
  void belongs_to(std::size_t place, std::uint64_t number) { taken_.at(place).number = number; }
  void give_back(std::size_t place) { taken_.erase(place); }
  // No more than these bytes can be had; those that are taken stay.
  void limit(std::size_t bytes) { bytes_ = bytes; }
  // Frees the places of entries that have ended.
  template <class Predicate>
  void release(const Predicate& is_pending) {
    std::erase_if(taken_, [&](const auto& one) { return one.second.number != 0 && !is_pending(one.second.number); });
  }

 private:
  struct taken {
    std::size_t bytes;
    std::uint64_t number;  // 0: not handed over yet
  };
  std::size_t bytes_;
  std::map<std::size_t, taken> taken_;  // by place
};

}  // namespace lull::stage
