// The process that calls the plug-in of a shared library: a child, forked at the plug-in's first use, so that a plug-in
// that crashes or exits ends only that process. It maps the blocks without copying them.
#pragma once
#include <sys/types.h>

#include "base/descriptor.hpp"
#include "stage/blocks/iteration.hpp"

namespace lull::stage::blocks {

class library_host {
 public:
  // Throws lull::error if the library cannot be opened or has no such function.
  explicit library_host(const plugin& which);
  ~library_host();
  library_host(const library_host&) = delete;
  library_host& operator=(const library_host&) = delete;

  // Throws lull::error if the function returns a number other than 0, or if the process has ended.
  void call(const plugin& which, const iteration& with);

 private:
  void hear_answer();
  [[noreturn]] void has_ended();

  descriptor socket_;
  pid_t process_ = -1;
};

}  // namespace lull::stage::blocks
