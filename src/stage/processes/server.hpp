// A server process: it receives what its clients hand over and writes it, in their order, with one thread for each of
// the two. It sleeps while there is nothing to do.
#pragma once
#include "stage/accounts/plan.hpp"
#include "stage/approaches/roles.hpp"
#include "stage/link/exchange.hpp"

namespace lull::stage {

// Collective over all processes: clients join(). Returns when all its clients have left or died and everything is
// written. The result is the exit code of the process, nonzero if a file could not be written. The first server reports
// the figures of all (figures.hpp).
[[nodiscard]] int serve(const plan& wanted, const roles& all, exchange& others);

}  // namespace lull::stage
