// Waiting with a library whose idle loop Lull does not know: the library's own, and a line that says so.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "mpi/waiting.hpp"

namespace lull::mpi {

constinit thread_local call_under_way this_call;
scope_duty duty_of_scopes = scope_duty::nothing;

void wait_scope::begin_counted(call_under_way&) noexcept {}
void wait_scope::end_waited(call_under_way&) noexcept {}
void poll_scope::count(bool) const noexcept {}

namespace {

std::string_view value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? value : "";
}
bool by_a_policy() { return !value_of("LULL_WAIT").empty() && value_of("LULL_WAIT") != "poll"; }

}  // namespace

bool waiting_wanted() {
  const std::string_view counted = value_of("LULL_STATS");
  return by_a_policy() || (!value_of("LULL_WAIT").empty() && !counted.empty() && counted != "0");
}

void start_waiting(void*, replace_function) noexcept {
  for (const char* const variable : {"PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
    if (const char* const rank = std::getenv(variable))
      if (std::string_view(rank) != "0") return;
  if (by_a_policy())
    std::fprintf(
        stderr,
        "lull: wait by LULL_WAIT=%s: Lull knows the idle loop of Open MPI only; going on with the library's own "
        "waiting\n",
        std::getenv("LULL_WAIT"));
  else
    std::fputs("lull: count waits by LULL_STATS: Lull knows the idle loop of Open MPI only; nothing is counted\n",
               stderr);
}
void end_waiting() noexcept {}

}  // namespace lull::mpi
