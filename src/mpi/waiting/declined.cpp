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

bool waiting_wanted() {
  const char* const policy = std::getenv("LULL_WAIT");
  return policy != nullptr && *policy != '\0' && std::string_view(policy) != "poll";
}

void start_waiting(void*, replace_function) noexcept {
  for (const char* const variable : {"PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
    if (const char* const rank = std::getenv(variable))
      if (std::string_view(rank) != "0") return;
  std::fprintf(stderr,
               "lull: wait by LULL_WAIT=%s: Lull knows the idle loop of Open MPI only; going on with the library's own "
               "waiting\n",
               std::getenv("LULL_WAIT"));
}
void end_waiting() noexcept {}

}  // namespace lull::mpi
