// Memory into which a server fetches files. It is reused, because copying into pages that have been touched is several
// times as fast. Its total size is bounded, except for files that cannot wait.
#pragma once
#include <cstddef>
#include <vector>

#include "base/descriptor.hpp"
#include "job/segment.hpp"

namespace lull::stage {

struct receive_buffer {
  descriptor file;      // a memfd with the size of the content
  job::mapping memory;  // of its beginning, perhaps larger than the content
};

class receive_buffers {
 public:
  explicit receive_buffers(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  [[nodiscard]] receive_buffer take(std::size_t bytes);  // throws lull::error
  void give_back(receive_buffer used);

 private:
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;  // of all buffers, including those taken
  std::vector<receive_buffer> idle_;
};

}  // namespace lull::stage
