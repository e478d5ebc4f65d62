// The collectives of a trace: which calls of which processes belong together, and what they are as one operation of all.
//
// MPI matches the collectives of a communicator by their order. So the k-th of each process is one; blocking ones,
// non-blocking ones and those of windows are counted apart, as none of the one kind matches one of another. What all of
// them do is known, and written, when the last has come. Memory grows with collectives that are not yet complete.
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

  // They must outlive this. `asked` begins the errors. `partners_counted`: the archive's bytes of a reduction for all, or a
  // scan, are those of messages to each partner, as Score-P counts, not those of the process's buffer.
  traced_collectives(const traced_ranks& ranks, encoded_operations& to, std::string asked, bool partners_counted)
      : ranks_(ranks), to_(to), asked_(std::move(asked)), partners_counted_(partners_counted) {}

  // What a process has done in a collective. `which`, beside the sequence: the communicator or window.
  struct part {
    std::uint32_t rank;
    sequence of;
    std::uint32_t which;
    std::uint32_t group;
    collective operation;
    std::uint32_t root;  // rank in the job; trace::no_one: none, or another process knows
    std::uint64_t sent, received;
  };
  // Whether there are others, and they need to know of it.
  [[nodiscard]] bool involves_others(const part& p) const;
  // The operation it is; none where it does not involve others.
  // Throws lull::error where processes disagree about what they do.
  std::optional<encoded_operations::shared> join(const part& p);

  // Throws lull::error where some have come and others never.
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
    std::uint64_t first = 0;                                // number of the first that is not complete
    std::deque<instance> open;                              // from there on
    std::unordered_map<std::uint32_t, std::uint64_t> done;  // by rank
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
