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

void start_waiting(void*, replace_function) noexcept {
  const char* const policy = std::getenv("LULL_WAIT");
  if (policy == nullptr || std::string_view(policy).empty() || std::string_view(policy) == "poll") return;
  for (const char* const variable : {"PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
    if (const char* const rank = std::getenv(variable))
      if (std::string_view(rank) != "0") return;
  std::fprintf(stderr,
               "lull: wait by LULL_WAIT=%s: Lull knows the idle loop of Open MPI only; going on with the library's own "
               "waiting\n",
               policy);
}
void end_waiting() noexcept {}

}  // namespace lull::mpi
