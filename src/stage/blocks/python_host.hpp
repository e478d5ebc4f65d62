// The process that calls a plug-in in Python, `python -m lull.stage.plugin_host`: started when it is first needed, and ended with
// this one. They talk by a socket, its descriptor 3, in lines of JSON: a call, and when it is over an answer. The blocks stay
// where they are: it maps them.
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

  // `where`: of each block. Throws lull::error: what the function has raised, or that the process has ended.
  void call(const lull_stage_iteration& with, const std::vector<block_in_file>& where);

 private:
  void ask(const std::string& line);  // until it has answered

  descriptor socket_;
  pid_t process_ = -1;
};

}  // namespace lull::stage::blocks
