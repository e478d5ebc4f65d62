// Waiting with a library whose idle loop Lull does not know: the library waits by itself, and a line says so.
#include <cstdio>

#include "base/launcher.hpp"
#include "base/settings.hpp"
#include "mpi/waiting.hpp"

namespace lull::mpi {

constinit thread_local call_under_way this_call;
scope_duty duty_of_scopes = scope_duty::nothing;

void wait_scope::begin_counted(call_under_way&) noexcept {}
void wait_scope::end_waited(call_under_way&) noexcept {}
void poll_scope::count(bool) const noexcept {}

namespace {

bool by_a_policy() { return setting_text("LULL_WAIT") != "poll"; }

}  // namespace

bool waiting_wanted() { return setting_is_set("LULL_WAIT") && (by_a_policy() || setting_text("LULL_STATS") != "0"); }

// Called only if waiting_wanted(): the settings can be read.
void start_waiting(void*, replace_function) noexcept {
  if (!is_reporter()) return;
  if (by_a_policy())
    std::fprintf(stderr,
                 "lull: wait by LULL_WAIT=%s: Lull supports only the idle loop of Open MPI; the program continues with "
                 "the library's own waiting\n",
                 setting_text("LULL_WAIT").c_str());
  else
    std::fputs("lull: count waits by LULL_STATS: Lull supports only the idle loop of Open MPI; nothing is counted\n",
               stderr);
}
void end_waiting() noexcept {}

}  // namespace lull::mpi
