// The process that calls a plug-in of a shared library: a child of this one, forked when the plug-in is first needed, so that a
// plug-in that crashes or exits ends that process alone. It maps the blocks where they are.
#pragma once
#include <sys/types.h>

#include "base/descriptor.hpp"
#include "stage/blocks/iteration.hpp"

namespace lull::stage::blocks {

class library_host {
 public:
  explicit library_host(
      const plugin& which);  // throws lull::error: the library cannot be opened, or has no such function
  ~library_host();
  library_host(const library_host&) = delete;
  library_host& operator=(const library_host&) = delete;

  // Throws lull::error: the function has given another number than 0, or the process has ended.
  void call(const plugin& which, const iteration& with);

 private:
  void hear_answer();
  [[noreturn]] void has_ended();

  descriptor socket_;
  pid_t process_ = -1;
};

}  // namespace lull::stage::blocks
