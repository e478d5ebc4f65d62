// Which message a receive takes, as MPI says it: the first that fits, of those that have come in the order in which
// their sender sent them; and a message goes to the first receive that fits.
//
// Messages and receives of different contexts do not meet: a context is a group, and in it the messages of the program,
// or those of one of its collectives. Most processes have one or two entries in a list, so they are searched from the
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

// Of one process.
class matching {
 public:
  struct receive {
    std::uint32_t from;  // or `any`
    std::uint32_t tag;   // or `any`
    std::uint64_t context;
    std::uint64_t room;            // bytes
    std::uint32_t activity, slot;  // whose request it completes
  };
  struct arrival {
    std::uint32_t from, tag;
    std::uint64_t context;
    std::uint32_t transfer;
  };

  // The transfer that the receive takes; it waits for one otherwise.
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
  // The receive that takes the message; it waits for one otherwise.
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

  // The receive that will take a message which is to arrive, whatever else happens until then; none where that is not
  // known: where nobody waits for it yet, or the first who does would take another too.
  std::optional<receive> foretell(const arrival& a) {
    const auto found = std::ranges::find_if(posted_, [&](const receive& r) { return fits(r, a); });
    if (found == posted_.end() || found->from == any || found->tag == any) return std::nullopt;
    const receive r = *found;
    posted_.erase(found);
    return r;
  }

  // Messages that nobody has received, in the order in which they came.
  [[nodiscard]] const std::vector<arrival>& unexpected() const { return arrived_; }
  [[nodiscard]] std::size_t unmatched_receives() const { return posted_.size(); }

 private:
  static bool fits(const receive& r, const arrival& a) {
    return r.context == a.context && (r.from == a.from || r.from == any) && (r.tag == a.tag || r.tag == any);
  }

  std::vector<receive> posted_;
  std::vector<arrival> arrived_;
};

// The messages of one process to another, so that they are let in in the order in which they were sent, whichever way
// each took through the network.
struct alignas(32) message_order {
  std::uint32_t to = nowhere;    // rank
  std::uint32_t then = nowhere;  // the number of the one to whom the sender sent after it last time
  std::uint32_t sent = 0;
  std::uint32_t let_in = 0;
  std::uint32_t due = 0;  // that will be let in when they arrive
  picoseconds last = 0;   // when the last will have been let in of those of which that was known ahead
};

// To whom a process has sent, and a number for each: a table by the number of the other process. Most have few
// neighbours, some have all.
class receivers {
 public:
  // The number of `other`; `fresh` is its number if it has none.
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

  std::vector<entry> table_;  // a power of two long
  std::size_t used_ = 0;
};

}  // namespace lull::netsim
