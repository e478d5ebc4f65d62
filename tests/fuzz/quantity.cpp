// The output of a tool: a quantity, or a rejection in one line that fits an error message.
#include "meter/parts/printed_quantity.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

void check(const lull::meter::meter_answer& answer) {
  const bool said = answer.failure.find('\n') == std::string::npos && (answer.number || !answer.failure.empty());
  if (!said || (answer.number && !std::isfinite(*answer.number))) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const auto unit : {lull::meter::answer_in::watts, lull::meter::answer_in::watt_hours}) {
    check(lull::meter::quantity_of(text, unit));
    check(lull::meter::quantity_at_end_of(text, unit));
  }
  return 0;
}
