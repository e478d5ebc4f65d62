// Memory into which a server fetches files, kept for the next ones: pages that have been touched take bytes several times as
// fast. All together it stays within a bound, but for what cannot wait.
#pragma once
#include <cstddef>
#include <vector>

#include "base/descriptor.hpp"
#include "job/segment.hpp"

namespace lull::stage {

struct receive_buffer {
  descriptor file;      // a memfd, as long as what is to be received
  job::mapping memory;  // of its beginning, and perhaps of more than there is
};

class receive_buffers {
 public:
  explicit receive_buffers(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  [[nodiscard]] receive_buffer take(std::size_t bytes);  // throws lull::error
  void give_back(receive_buffer used);

 private:
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;  // of all, also those taken
  std::vector<receive_buffer> idle_;
};

}  // namespace lull::stage
