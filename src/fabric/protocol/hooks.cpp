#include "fabric/protocol/hooks.hpp"

#include <cstdio>
#include <cstdlib>

namespace lull::fabric {

void abort_on_unreachable(pe_id me, const protocol_hooks& hooks, const char* what, const char* why) {
  const std::string found = std::string("cannot ") + what + " another node: " + why;
  if (hooks.lost) hooks.lost(found);
  std::fprintf(stderr, "lull: PE %d: %s\n", me.index(), found.c_str());
  std::_Exit(1);
}

}  // namespace lull::fabric
