// What a process that is set aside does: it receives what its clients hand over and writes it, in their order, one thread
// for each. It sleeps while there is nothing to do.
#pragma once
#include "stage/accounts/plan.hpp"
#include "stage/approaches/roles.hpp"
#include "stage/link/exchange.hpp"

namespace lull::stage {

// Collective over all processes: clients join(). Returns when all its clients have left or died and all is written: the
// exit code of the process, not 0 when a file could not be written. The first server
// reports the figures of all (figures.hpp).
[[nodiscard]] int serve(const plan& wanted, const roles& all, exchange& others);

}  // namespace lull::stage
