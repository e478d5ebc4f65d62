// lull-stage-server: a server of a program's output. A rank that is set aside starts it and communicates with it
// through descriptor 3 (server_process.hpp). `lull-stage-server keep`: a keeper of a rank's files (kept_files.hpp).
#include <fmt/core.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "stage/accounts/choice.hpp"
#include "stage/link/agreed_exchange.hpp"
#include "stage/processes/server.hpp"
#include "stage/programs/relay.hpp"
#include "stage/programs/staging.hpp"
#include "stage/writing/kept_files.hpp"

int main(int count, char** arguments) {
  using namespace lull::stage;
  constexpr int socket = 3;
  int code = cannot_serve;
  signal(SIGPIPE, SIG_IGN);  // stderr may be closed before this process ends
  // Some batch systems and service managers send these to all processes of a job some time before they kill them. This
  // process ends when its clients have ended, and what they handed over is written.
  for (const int one : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU}) signal(one, SIG_IGN);
  if (count > 1 && std::string_view(arguments[1]) == "keep")
    return keep_files(lull::descriptor(socket), plan_of_settings().sync) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  try {
    relayed_exchange all(socket);
    agreed_exchange agreed(all, writes_itself);
    const bool served = agreed.together([&](exchange& others) {
      const plan wanted = chosen(plan_of_settings(), all.nodes_by_rank());
      code = serve(wanted, roles(wanted, all.nodes_by_rank()), others);
    });
    if (!served) code = 0;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "lull: {}\n", problem.what());
  }
  std::fflush(nullptr);
  say_exit_code(socket, code);
  return code == cannot_serve ? EXIT_FAILURE : code;
}
