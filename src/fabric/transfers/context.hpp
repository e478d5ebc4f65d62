// A stream of operations with its own order and completion: OpenSHMEM's communication context.
//
// fence() and quiet() of a context concern the operations made through it. Several threads may use the default context
// at once; any other context belongs to one thread at a time.
#pragma once
#include <atomic>
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
  // Whether the program tolerates the delay of single operations: then everything that can be coalesced is, where the
  // rewriting is automatic. Threads may set it while others use the context.
  std::atomic<bool> batch{false};

 private:
  friend class transfers;
  outstanding outstanding_;
};

}  // namespace lull::fabric
