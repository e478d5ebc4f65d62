#include "netsim/traces/calls.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "trace/functions.hpp"

namespace lull::netsim {
namespace {

using kind = call_rule::kind;
using trace::role;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::ranges::find(names, name) != names.end();
}

bool is_begin(std::string_view name) { return name == "init" || name == "init_thread" || name == "start_pes"; }

// They synchronise with processes that the trace does not name.
constexpr std::array<std::string_view, 10> unknown_partners{
    "comm_spawn", "comm_spawn_multiple", "comm_accept", "comm_connect", "comm_join", "win_start",
    "win_post",   "win_complete",        "win_wait",    "win_test"};

// They need no events.
constexpr std::array<std::string_view, 3> local_ends{"comm_free", "comm_disconnect", "win_free"};

call_rule rule_in_mpi(std::string_view name, role what) {
  call_rule r{.communicates = true};
  r.asks = contains(name, "test") || contains(name, "probe");
  r.polls = r.asks || contains(name, "wait");
  r.synchronous = contains(name, "ssend");
  r.buffered = contains(name, "bsend");
  r.neighbours = name.starts_with("neighbor_") || name.starts_with("ineighbor_");
  r.counted = r.neighbours || what == role::files || is_one_of(name, unknown_partners);
  switch (what) {
    case role::setup:  // including MPI_Initialized, which is only a query
      r.is = name == "finalize" ? kind::ends : is_begin(name) ? kind::begins : kind::computes;
      break;
    case role::files:
      r.is = kind::files;
      break;
    case role::point_to_point:
      r.is = kind::waits;
      break;
    case role::one_sided:
      r.is = is_one_of(name, unknown_partners) ? kind::not_replayed : kind::waits;
      break;
    case role::library:
    case role::code:
      r.is = name == "buffer_detach" || name == "buffer_flush" ? kind::waits
             : name == "abort"                                 ? kind::ends
                                                               : kind::computes;
      if (r.counted) r.is = kind::not_replayed;
      break;
    default:  // collectives
      r.is = is_one_of(name, local_ends) ? kind::waits : kind::not_replayed;
      break;
  }
  return r;
}

// Allocating and freeing symmetric memory is collective (OpenSHMEM 1.6, 9.3).
constexpr std::array<std::string_view, 10> allocations{"malloc", "calloc",   "align",    "malloc_with_hints",
                                                       "free",   "realloc",  "shmalloc", "shmemalign",
                                                       "shfree", "shrealloc"};

call_rule rule_in_shmem(std::string_view name, role what) {
  call_rule r{.communicates = true, .shmem = true};
  r.returns_value =
      !contains(name, "nbi") && (contains(name, "get") || name.ends_with("_g") || contains(name, "fetch") ||
                                 contains(name, "swap") || name.ends_with("_fadd") || name.ends_with("_finc"));
  r.completes_puts = contains(name, "quiet") || name == "barrier" || name == "barrier_all" || name == "finalize";
  const bool of_lock = name.ends_with("_lock");
  if (name == "finalize") {
    r.is = kind::ends;
  } else if (is_begin(name)) {
    r.is = kind::begins;
  } else if (of_lock || name.starts_with("team_split") || name.starts_with("team_destroy")) {
    r.is = kind::not_replayed;
  } else if (contains(name, "wait")) {
    r.is = kind::memory_wait;
    r.polls = true;
  } else if (contains(name, "test")) {
    r.is = kind::not_replayed;
    r.polls = true;
  } else if (is_one_of(name, allocations)) {
    r.is = kind::allocates;
    r.completes_puts = true;
  } else if (what == role::library) {
    r.is = kind::computes;
  } else {
    r.is = kind::waits;
  }
  return r;
}

}  // namespace

call_rule rule_of(const trace::definitions::region& of) {
  const std::string name = trace::bare_name(of.name);
  if (of.paradigm == "mpi") return rule_in_mpi(name, of.what);
  if (of.paradigm == "shmem") return rule_in_shmem(name, of.what);
  return {};
}

}  // namespace lull::netsim
