// A stream of operations that is ordered and completed by itself: what OpenSHMEM calls a communication context.
//
// fence() and quiet() of a context concern the operations made through it. The default context may be used by several
// threads at once; any other by one thread at a time.
#pragma once
#include <optional>

#include "fabric/operations/completion.hpp"
#include "fabric/protocol/transforming.hpp"
#include "wait/awaited.hpp"

namespace lull::fabric {

class context {
 public:
  context() = default;
  context(const context&) = delete;
  context& operator=(const context&) = delete;

  // How waits on operations of this context are spent, where that differs from the PE's own policy.
  std::optional<wait::wait_policy> policy;
  // What is rewritten in its puts, where that differs from LULL_TRANSFORM.
  std::optional<transforming> transform;

 private:
  friend class transfers;
  outstanding outstanding_;
};

}  // namespace lull::fabric
