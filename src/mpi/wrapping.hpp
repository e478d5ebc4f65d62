// The parts of the wrappers that are generated from the table, and the lookup by number. There is one wrapper for each
// set of tools that makes a difference according to the table.
#pragma once
#include <type_traits>

#include "mpi/reals.hpp"
#include "mpi/recorded.hpp"
#include "mpi/setup.hpp"
#include "mpi/special_calls.hpp"
#include "mpi/thread.hpp"
#include "mpi/waiting.hpp"

namespace lull::mpi {

// Around a call that may wait for others.
template <unsigned tools, bool = (tools & waits) != 0>
class waiting {
 public:
  waiting(const char*, const void*, std::uintptr_t, int, std::uint64_t) noexcept {}
};
template <unsigned tools>
class waiting<tools, true> : wait_scope {
 public:
  using wait_scope::wait_scope;
};

// Around a call that checks whether something has arrived.
template <unsigned tools, bool = (tools & waits) != 0>
class polling {
 public:
  polling(const char*, const void*) noexcept {}
  void over(bool) const noexcept {}
};
template <unsigned tools>
class polling<tools, true> : poll_scope {
 public:
  using poll_scope::over;
  using poll_scope::poll_scope;
};

// Around a call that only sends.
template <unsigned tools, bool = (tools & waits) != 0>
class ringing {};
template <unsigned tools>
class ringing<tools, true> : ring_scope {};

struct wrapper_row {
  any_function of_tools[4] = {};  // indexed by the set of tools
  bool only_rings = false;        // waiting needs this wrapper only if senders ring
};

template <auto with_records>
wrapper_row wrapped() noexcept {
  const auto recording_only = reinterpret_cast<any_function>(with_records);
  return {{nullptr, recording_only, nullptr, recording_only}};
}
template <auto with_records, auto with_waits, auto with_both>
wrapper_row wrapped(bool only_rings = false) noexcept {
  return {{nullptr, reinterpret_cast<any_function>(with_records), reinterpret_cast<any_function>(with_waits),
           reinterpret_cast<any_function>(with_both)},
          only_rings};
}

extern const wrapper_row wrappers[];

}  // namespace lull::mpi
