#include "stage/server.hpp"

#include "base/error.hpp"

namespace lull::stage {

int serve(const plan& wanted, const roles&, exchange&) {
  throw usage_error("serve " + name_of(wanted), "this is not there yet");
}

}  // namespace lull::stage
