// A stream of operations with its own order and completion: OpenSHMEM's communication context.
//
// fence() and quiet() of a context concern the operations made through it. Several threads may use the default context
// at once; any other context belongs to one thread at a time.
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

  // The wait policy for operations of this context, where it differs from that of the PE.
  std::optional<wait::wait_policy> policy;
  // The rewriting of its puts, where it differs from LULL_TRANSFORM.
  std::optional<transforming> transform;

 private:
  friend class transfers;
  outstanding outstanding_;
};

}  // namespace lull::fabric
