// What a program did and its replay does not: counted by name, for the result to say.
#pragma once
#include <cstdint>
#include <string>

namespace lull::netsim {

struct not_replayed {
  std::string name;         // of the function, or what it was
  std::uint64_t times = 0;  // in all processes together
  std::string instead;      // what the replay does in its place
};

}  // namespace lull::netsim
