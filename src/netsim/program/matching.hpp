// Which message a receive takes, by the rules of MPI: the first that matches, in the order in which messages of one
// sender were sent; and a message goes to the first receive that matches.
//
// Messages and receives match only within a context. A context is a group, and in it the messages of the program or
// those of one of its collectives. Most processes have one or two entries in a list, so lists are searched from the
// front.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "netsim/program/operation.hpp"
#include "netsim/routing.hpp"

namespace lull::netsim {

// The messages and receives of one process.
class matching {
 public:
  struct receive {
    std::uint32_t from;  // or `any`
    std::uint32_t tag;   // or `any`
    std::uint64_t context;
    std::uint64_t room;            // bytes
    std::uint32_t activity, slot;  // of the request that it completes
  };
  struct arrival {
    std::uint32_t from, tag;
    std::uint64_t context;
    std::uint32_t transfer;
  };

  // Returns the transfer that the receive takes; otherwise the receive is posted.
  std::optional<std::uint32_t> post(const receive& r) {
    const auto found = std::ranges::find_if(arrived_, [&](const arrival& a) { return fits(r, a); });
    if (found == arrived_.end()) {
      posted_.push_back(r);
      return std::nullopt;
    }
    const std::uint32_t transfer = found->transfer;
    arrived_.erase(found);
    return transfer;
  }
  // Returns the receive that takes the message; otherwise the message waits for one.
  std::optional<receive> arrive(const arrival& a) {
    const auto found = std::ranges::find_if(posted_, [&](const receive& r) { return fits(r, a); });
    if (found == posted_.end()) {
      arrived_.push_back(a);
      return std::nullopt;
    }
    const receive r = *found;
    posted_.erase(found);
    return r;
  }

  // Removes and returns the receive that will certainly take a message yet to arrive; none if that is not certain:
  // because no receive for it is posted, or the first one that matches would also take another message.
  std::optional<receive> foretell(const arrival& a) {
    const auto found = std::ranges::find_if(posted_, [&](const receive& r) { return fits(r, a); });
    if (found == posted_.end() || found->from == any || found->tag == any) return std::nullopt;
    const receive r = *found;
    posted_.erase(found);
    return r;
  }

  // Messages without a receive, in the order of their arrival.
  [[nodiscard]] const std::vector<arrival>& unexpected() const { return arrived_; }
  [[nodiscard]] std::size_t unmatched_receives() const { return posted_.size(); }

 private:
  static bool fits(const receive& r, const arrival& a) {
    return r.context == a.context && (r.from == a.from || r.from == any) && (r.tag == a.tag || r.tag == any);
  }

  std::vector<receive> posted_;
  std::vector<arrival> arrived_;
};

// The messages of one process to another, which are matched in the order in which they were sent, whatever path each
// took through the network.
struct alignas(32) message_order {
  std::uint32_t to = nowhere;    // rank
  std::uint32_t then = nowhere;  // index of the pair that the sender used after this one last time
  std::uint32_t sent = 0;
  std::uint32_t let_in = 0;
  std::uint32_t due = 0;  // messages that will be matched when they arrive
  picoseconds last = 0;   // latest time of the matches that were decided ahead
};

// The processes to which a process has sent, each with a number: a hash table by the other process. Most processes have
// few neighbours, some have all.
class receivers {
 public:
  // The number of `other`; if it has none, it gets `fresh`.
  [[nodiscard]] std::uint32_t number_of(std::uint32_t other, std::uint32_t fresh) {
    if (4 * (used_ + 1) > 3 * table_.size()) grow();
    entry& found = place(other);
    if (found.other == nowhere) {
      found = {.other = other, .number = fresh};
      ++used_;
    }
    return found.number;
  }

 private:
  struct entry {
    std::uint32_t other = nowhere;
    std::uint32_t number = 0;
  };

  [[nodiscard]] entry& place(std::uint32_t other) {
    for (std::size_t at = mixed(other);; ++at) {
      entry& e = table_[at & (table_.size() - 1)];
      if (e.other == other || e.other == nowhere) return e;
    }
  }
  void grow() {
    std::vector<entry> old(std::max<std::size_t>(8, 2 * table_.size()));
    old.swap(table_);
    for (const entry& e : old)
      if (e.other != nowhere) place(e.other) = e;
  }

  std::vector<entry> table_;  // its size is a power of two
  std::size_t used_ = 0;
};

}  // namespace lull::netsim
