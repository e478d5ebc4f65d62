// The answer of a controller: a power or a rejection, whatever the shape of the JSON.
#include "meter/sources/redfish.hpp"

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto answer = lull::meter::power_in_redfish({reinterpret_cast<const char*>(data), size});
    if (!answer.number && answer.failure.empty()) std::abort();
  } catch (const std::exception&) {  // the caller treats it as no answer
  }
  return 0;
}
