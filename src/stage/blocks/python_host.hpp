// The process that calls a Python plug-in, `python -m lull.stage.plugin_host`: started at the first use, and ended with
// this process. They communicate over a socket, its descriptor 3, in lines of JSON: a call, and an answer when it is
// over. The child maps the blocks without copying them.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "stage/blocks/iteration.hpp"

namespace lull::stage::blocks {

class python_host {
 public:
  explicit python_host(const std::string& function);  // "file.py:function"; throws lull::error
  ~python_host();
  python_host(const python_host&) = delete;
  python_host& operator=(const python_host&) = delete;

  // `where`: the location of each block. Throws lull::error for an exception of the function, or if the process has
  // ended.
  void call(const lull_stage_iteration& with, const std::vector<block_in_file>& where);

 private:
  void ask(const std::string& line);  // returns after the answer

  descriptor socket_;
  pid_t process_ = -1;
};

}  // namespace lull::stage::blocks
