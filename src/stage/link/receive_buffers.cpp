#include "stage/link/receive_buffers.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/error.hpp"

namespace lull::stage {

receive_buffer receive_buffers::take(std::size_t bytes) {
  const auto large_enough = [bytes](const receive_buffer& one) { return one.memory.size() >= bytes; };
  receive_buffer found;
  if (const auto at = std::ranges::find_if(idle_, large_enough); at != idle_.end()) {
    found = std::move(*at);
    idle_.erase(at);
  } else {
    while (!idle_.empty() && bytes_ + bytes > most_bytes_) {
      bytes_ -= idle_.front().memory.size();
      idle_.erase(idle_.begin());
    }
    found.file = descriptor(memfd_create("lull-stage", MFD_CLOEXEC));
  }
  if (!found.file || ftruncate(found.file.get(), static_cast<off_t>(bytes)) != 0)
    throw error("receive " + std::to_string(bytes) + " bytes of output", describe_errno(errno));
  if (found.memory.size() < bytes) {
    found.memory = job::mapping(found.file.get(), bytes);
    bytes_ += bytes;
  }
  return found;
}

void receive_buffers::give_back(receive_buffer used) {
  if (bytes_ <= most_bytes_ && used.memory.size() > 0)
    idle_.push_back(std::move(used));
  else
    bytes_ -= used.memory.size();
}

}  // namespace lull::stage
