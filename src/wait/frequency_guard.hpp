// The guard of a lowered frequency: a process that outlives its maker by an instant, to write back what the maker may
// have left changed.
//
// It holds the files open and one end of a socket pair whose other end only the maker has, so it learns of the maker's
// end however that came about. It has a session of its own, ignores the signals that end a job, holds none of the
// maker's other descriptors, and is nobody's child to wait for.
#pragma once
#include <span>
#include <string>

#include "base/descriptor.hpp"

namespace lull::wait {

struct restored_file {
  int fd;
  std::string content;
};

// The maker's end; none, with errno, when no guard could be started. Call with few threads running: the guard
// makes system calls only.
[[nodiscard]] descriptor start_frequency_guard(std::span<const restored_file> files);
// The guard leaves without writing; the maker has restored the files itself.
void dismiss_frequency_guard(descriptor line);

}  // namespace lull::wait
