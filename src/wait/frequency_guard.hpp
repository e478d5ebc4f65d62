// The guard of a lowered frequency: a process that restores the files of cpufreq when its maker has ended.
//
// The guard has the files open, and one end of a socket pair whose other end only the maker has, so it notices every
// kind of end of the maker. It has a separate session, ignores the signals that end a job, closes the maker's other
// descriptors, and is not a child of the maker.
#pragma once
#include <span>
#include <string>

#include "base/descriptor.hpp"

namespace lull::wait {

struct restored_file {
  int fd;
  std::string content;
};

// Returns the maker's end of the socket pair; none, with errno, if no guard could be started. The guard makes only
// system calls after the fork, so the process may have threads.
[[nodiscard]] descriptor start_frequency_guard(std::span<const restored_file> files);
// Ends the guard without a write, after the maker has restored the files itself.
void dismiss_frequency_guard(descriptor line);

}  // namespace lull::wait
