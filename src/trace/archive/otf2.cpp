#include "trace/archive/otf2.hpp"

#include <array>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <string>

#include "base/error.hpp"

namespace lull::trace {
namespace {

thread_local std::string said;

OTF2_ErrorCode keep(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char* format,
                    va_list rest) {
  std::array<char, 256> text{};
  if (std::vsnprintf(text.data(), text.size(), format, rest) < 0) text[0] = '\0';
  said = OTF2_Error_GetDescription(code);
  if (text[0] != '\0') said += std::string(" (") + text.data() + ")";
  return code;
}

}  // namespace

void quiet_otf2() {
  static const bool done = (OTF2_Error_RegisterCallback(keep, nullptr), true);
  (void)done;
}

void failed_otf2(const std::string& action, const std::string& fix) {
  throw error(action, said.empty() ? "OTF2 failed" : said, fix);
}

}  // namespace lull::trace
