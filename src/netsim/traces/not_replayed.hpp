// What the replay leaves out of a program: counted by name, for the result.
#pragma once
#include <cstdint>
#include <string>

namespace lull::netsim {

struct not_replayed {
  std::string name;         // of the function, or a description
  std::uint64_t times = 0;  // in all processes together
  std::string instead;      // what the replay does instead
};

}  // namespace lull::netsim
