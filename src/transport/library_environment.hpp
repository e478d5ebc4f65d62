// Variables for a network's library, set while it starts. They replace none that the user has set, and the destructor
// removes them again.
#pragma once
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.hpp"

namespace lull::transport {

// NOLINTBEGIN(concurrency-mt-unsafe): only while a process joins a job, as PMIx does too
class library_environment {
 public:
  using variable = std::pair<const char*, std::string>;
  explicit library_environment(const std::vector<variable>& wanted) {
    for (const auto& [name, value] : wanted)
      if (variable_of_environment(name) == nullptr && setenv(name, value.c_str(), 1) == 0) set_.push_back(name);
  }
  ~library_environment() {
    for (const char* const name : set_) unsetenv(name);
  }
  library_environment(const library_environment&) = delete;
  library_environment& operator=(const library_environment&) = delete;

 private:
  std::vector<const char*> set_;
};
// NOLINTEND(concurrency-mt-unsafe)

}  // namespace lull::transport
