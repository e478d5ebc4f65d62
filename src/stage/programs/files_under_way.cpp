#include "stage/programs/files_under_way.hpp"

namespace lull::stage {

files_under_way::found files_under_way::find(const file_identity& which) const noexcept {
  found latest;
  for (std::size_t i = 0; i < used_; ++i) {
    const place& at = places_[i];
    if (at.inode != which.inode || at.device != which.device) continue;
    const found here{at.what, at.descriptor, at.count};
    if (here.what == state::absent) continue;
    if (here.what != state::handed_over) return here;  // the latest for this file
    if (latest.what == state::absent || static_cast<std::int32_t>(here.count - latest.count) > 0) latest = here;
  }
  return latest;
}

std::optional<std::size_t> files_under_way::add(const file_identity& which, int descriptor) {
  std::size_t free = 0;
  while (free < used_ && places_[free].what != state::absent) ++free;
  if (free == most) return std::nullopt;
  place& at = places_[free];
  at.device = which.device;
  at.inode = which.inode;
  at.descriptor = descriptor;
  at.what = state::open;  // from here on find() sees it
  if (free == used_) ++used_;
  return free;
}

void files_under_way::give(std::size_t place, int descriptor) {
  places_[place].descriptor = descriptor;
  places_[place].what = state::given;
}

void files_under_way::hand_over(std::size_t place, std::uint32_t count) {
  places_[place].count = count;
  places_[place].what = state::handed_over;
}

void files_under_way::remove(std::size_t place) { places_[place].what = state::absent; }

}  // namespace lull::stage
