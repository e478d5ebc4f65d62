#include "transport/crashes.hpp"

#include <dlfcn.h>
#include <signal.h>
#include <ucs/debug/debug.h>

#include <array>
#include <cstdlib>

namespace lull::transport {
namespace {

void* library_of(const void* address) {
  Dl_info found{};
  return dladdr(address, &found) != 0 ? found.dli_fbase : nullptr;
}

}  // namespace

void leave_crashes_to_the_program() {
  if (std::getenv("UCX_HANDLE_ERRORS")) return;  // NOLINT(concurrency-mt-unsafe): before any thread starts
  void* const ucx = library_of(reinterpret_cast<const void*>(&ucs_debug_disable_signal));
  for (const int number : std::array{SIGILL, SIGBUS, SIGFPE, SIGSEGV}) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler != SIG_DFL &&
        library_of(reinterpret_cast<const void*>(now.sa_handler)) == ucx)
      ucs_debug_disable_signal(number);
  }
}

}  // namespace lull::transport
