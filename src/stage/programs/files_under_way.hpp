// The whole files of this process that are open in memory or handed over, by file identity, whatever their names.
//
// The owner changes it under a lock; find() needs none, so signal handlers may call it.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "stage/files/claim.hpp"

namespace lull::stage {

class files_under_way {
 public:
  static constexpr std::size_t most = 1024;
  enum class state : std::uint32_t { absent, open, given, handed_over };
  struct found {
    state what = state::absent;
    int descriptor = -1;      // open: the memory, whose descriptor HDF5 has; given: another one of the place
    std::uint32_t count = 0;  // handed over: written once this many are (client::wait_for)
  };

  [[nodiscard]] found find(const file_identity& which) const noexcept;

  // Empty: there is no room for one more.
  [[nodiscard]] std::optional<std::size_t> add(const file_identity& which, int descriptor);
  void give(std::size_t place, int descriptor);  // the program continues to write it by itself
  void hand_over(std::size_t place, std::uint32_t count);
  void remove(std::size_t place);
  // Removes those that are written according to `is_written(count)`.
  template <class Predicate>
  void forget(const Predicate& is_written) {
    for (std::size_t i = 0; i < used_; ++i)
      if (places_[i].what == state::handed_over && is_written(places_[i].count.load())) remove(i);
  }

 private:
  struct place {
    std::atomic<dev_t> device = 0;
    std::atomic<ino_t> inode = 0;
    std::atomic<state> what = state::absent;
    std::atomic<int> descriptor = -1;
    std::atomic<std::uint32_t> count = 0;
  };
  std::array<place, most> places_;
  std::atomic<std::size_t> used_ = 0;  // number of places, from the first, that may be in use
};

}  // namespace lull::stage
