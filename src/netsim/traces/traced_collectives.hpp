// The collectives of a trace: which calls of different processes belong together, and what they are as one operation.
//
// MPI matches the collectives of a communicator by their order, so the k-th calls of all processes belong together.
// Blocking, non-blocking and window collectives are counted separately, because they do not match each other. The
// operation is known, and written, when the last process has called it. Memory grows with the number of incomplete
// collectives.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "netsim/traces/encoded_operations.hpp"
#include "netsim/traces/traced_ranks.hpp"

namespace lull::netsim {

class traced_collectives {
 public:
  enum class sequence : std::uint8_t { blocking, non_blocking, of_window, of_allocation };

  // Both must outlive this object. `asked` starts the error messages. `partners_counted`: for an allreduce or a scan,
  // the archive counts bytes of messages to each partner, as Score-P does, not those of the process's buffer.
  traced_collectives(const traced_ranks& ranks, encoded_operations& to, std::string asked, bool partners_counted)
      : ranks_(ranks), to_(to), asked_(std::move(asked)), partners_counted_(partners_counted) {}

  // One process's part in a collective. `which`: the communicator or window.
  struct part {
    std::uint32_t rank;
    sequence of;
    std::uint32_t which;
    std::uint32_t group;
    collective operation;
    std::uint32_t root;  // rank in the job; trace::no_one: none, or only another process knows it
    std::uint64_t sent, received;
  };
  // Whether there are other processes that must know of it.
  [[nodiscard]] bool involves_others(const part& p) const;
  // The operation that it is part of; none if it does not involve others.
  // Throws lull::error if processes disagree about what they do.
  std::optional<encoded_operations::shared> join(const part& p);

  // Throws lull::error if some processes have called a collective and others never did.
  void check() const;

 private:
  struct instance {
    encoded_operations::shared number;
    collective operation;
    std::uint32_t first_rank;
    std::uint32_t there = 0;
    std::uint32_t root = trace::no_one;
    std::uint64_t sent = 0, received = 0;            // sums
    std::uint64_t most_sent = 0, most_received = 0;  // of one process
  };
  struct instances {
    std::uint32_t group = 0;
    std::uint64_t first = 0;                                // number of the first incomplete one
    std::deque<instance> open;                              // from `first` on
    std::unordered_map<std::uint32_t, std::uint64_t> done;  // number completed, by rank
  };

  [[nodiscard]] operation whole(const instance& i, std::uint32_t group) const;
  [[nodiscard]] std::string name(const instances& in, std::uint64_t number) const;

  const traced_ranks& ranks_;
  encoded_operations& to_;
  const std::string asked_;
  const bool partners_counted_;
  std::unordered_map<std::uint64_t, instances> all_;
};

}  // namespace lull::netsim
