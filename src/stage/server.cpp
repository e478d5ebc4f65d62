#include "stage/server.hpp"

#include "stage/approach.hpp"

namespace lull::stage {

int serve(const plan& wanted, const roles& all, exchange& others) {
  return row_of(wanted.how).serve(wanted, all, others);
}

}  // namespace lull::stage
