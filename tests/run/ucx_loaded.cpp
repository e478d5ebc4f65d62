// UCX is loaded only if there are other nodes, and changes nothing in the program: signals, the environment and threads
// remain the program's, before shmem_init, in between and after shmem_finalize.
#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>

#include <array>
#include <string>

#include "check.hpp"
#include "shmem/current.hpp"

namespace {

bool is_loaded() { return dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD) != nullptr; }

int threads() {
  DIR* const all = opendir("/proc/self/task");
  int count = 0;
  while (const dirent* const one = readdir(all)) count += one->d_name[0] != '.' ? 1 : 0;
  closedir(all);
  return count;
}

void check_signals() {
  for (const int number : std::array{SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV}) {
    struct sigaction now {};
    sigaction(number, nullptr, &now);
    if (now.sa_handler != SIG_DFL) std::fprintf(stderr, "signal %d has a handler\n", number), std::exit(1);
  }
}

std::string environment() {
  std::string all;
  for (char** one = environ; *one != nullptr; ++one)
    if (std::string_view(*one).starts_with("UCX_")) all += std::string(*one) + "\n";
  return all;
}

}  // namespace

int main() {
  if (is_loaded()) std::fputs("UCX is there before it is needed\n", stderr), std::exit(1);
  check_signals();
  const std::string before = environment();
  shmem_init();
  const bool other_nodes = lull::shmem::current_world->places().nodes() > 1;
  CHECK(is_loaded() == other_nodes);
  CHECK(environment() == before);
  check_signals();
  auto* const word = symmetric<long>(1);
  shmem_long_p(word, 1, ring().next);
  shmem_barrier_all();
  CHECK(*word == 1);
  shmem_free(word);
  const int before_finalize = threads();
  finish();
  check_signals();
  if (other_nodes && threads() >= before_finalize) std::fputs("threads are left\n", stderr), std::exit(1);
  if (threads() != 1) std::fprintf(stderr, "%d threads are left\n", threads()), std::exit(1);
}
