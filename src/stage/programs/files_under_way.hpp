// The whole files of this process that are open in memory or handed over, by which file they are, whatever its names.
//
// Changed under a lock of the owner's; find() needs none, so that signal handlers may call it.
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
    int descriptor = -1;      // open: the memory, of which HDF5 has the descriptor; given: another one of it
    std::uint32_t count = 0;  // handed over: when so many are written, this one is (client::wait_for)
  };

  [[nodiscard]] found find(const file_identity& which) const noexcept;

  // Nothing: there is no room for one more.
  [[nodiscard]] std::optional<std::size_t> add(const file_identity& which, int descriptor);
  void give(std::size_t place, int descriptor);  // to the program: it writes on by itself
  void hand_over(std::size_t place, std::uint32_t count);
  void remove(std::size_t place);
  // Those that are written, as `is_written(count)` says.
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
  std::atomic<std::size_t> used_ = 0;  // places from the first on that may be in use
};

}  // namespace lull::stage
