// Programs that are started where the front's file does not exist: in a container, or after chroot. Without this code,
// the loader would print a line in each process that it cannot preload the front. The exec functions of the starting
// program (chroot, unshare, bwrap, a shell in a container's runtime) are therefore wrapped: if the front's file is no
// longer visible, they start the program without the front, and one line per job says so.
//
// These functions may be called in signal handlers and after vfork(), so they allocate and change nothing. Without a
// preloaded front they do nothing; with it they cost a system call.
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/launcher.hpp"
#include "mpi/front/names.hpp"

namespace {

using namespace lull::mpi;
using lull::is_reporter;

constexpr const char variable[] = "LD_PRELOAD=";
constexpr const char ours[] = "/liblull-";

char own_path[4096] = "";
using exec_function = int (*)(const char*, char* const*, char* const*);
exec_function real_execve = nullptr, real_execvpe = nullptr;

void find_real_ones() {
  if (real_execve == nullptr) real_execve = reinterpret_cast<exec_function>(dlsym(RTLD_NEXT, "execve"));
  if (real_execvpe == nullptr) real_execvpe = reinterpret_cast<exec_function>(dlsym(RTLD_NEXT, "execvpe"));
}

const char* preloads_in(char* const* environment) {
  for (; environment != nullptr && *environment != nullptr; ++environment)
    if (strncmp(*environment, variable, sizeof variable - 1) == 0) return *environment + sizeof variable - 1;
  return nullptr;
}

bool is_lost(char* const* environment) {
  const int before = errno;
  const char* const preloads = preloads_in(environment);
  const bool lost =
      preloads != nullptr && strstr(preloads, ours) != nullptr && own_path[0] != '\0' && access(own_path, F_OK) != 0;
  errno = before;
  return lost;
}

size_t length_of(char* const* environment) {
  size_t length = 0;
  while (environment[length] != nullptr) ++length;
  return length;
}

// `made` and `text` are on the caller's stack, with as many entries as `environment` and as many bytes as its preloads.
void without_ours(char* const* environment, char** made, char* text) {
  size_t written = sizeof variable - 1;
  memcpy(text, variable, written);
  for (const char* at = preloads_in(environment); *at != '\0';) {
    const size_t bytes = strcspn(at, ": ");
    const char* const found = strstr(at, ours);
    if (bytes > 0 && (found == nullptr || found >= at + bytes)) {
      if (text[written - 1] != '=') text[written++] = ':';
      memcpy(text + written, at, bytes);
      written += bytes;
    }
    at += bytes + (at[bytes] != '\0' ? 1 : 0);
  }
  text[written] = '\0';
  for (; *environment != nullptr; ++environment)
    if (strncmp(*environment, variable, sizeof variable - 1) != 0)
      *made++ = *environment;
    else if (written > sizeof variable - 1)
      *made++ = text;
  *made = nullptr;
}

void say_that_it_is_lost(const char* program) {
  if (!is_reporter()) return;
  char line[4096 + 512];
  const int length = snprintf(line, sizeof line,
                              "lull: attach to the program's MPI: %.300s starts where %s does not exist; mount that "
                              "folder in the container, or run the program without Lull\n",
                              program, own_path);
  if (length > 0 && write(STDERR_FILENO, line, strnlen(line, sizeof line)) < 0) errno = 0;
}

int start(const exec_function& exec, const char* program, char* const* arguments, char* const* environment) {
  if (exec == nullptr) find_real_ones();  // constructors have not run yet
  if (!is_lost(environment)) return exec(program, arguments, environment);
  // NOLINTBEGIN(clang-analyzer-optin.portability.UnixAPI): there is no other memory that may be taken here
  auto** const made = static_cast<char**>(__builtin_alloca((length_of(environment) + 1) * sizeof(char*)));
  auto* const text = static_cast<char*>(__builtin_alloca(sizeof variable + strlen(preloads_in(environment))));
  // NOLINTEND(clang-analyzer-optin.portability.UnixAPI)
  without_ours(environment, made, text);
  say_that_it_is_lost(program);
  return exec(program, arguments, made);
}

[[gnu::constructor]] void know_oneself() {
  find_real_ones();
  Dl_info self;
  if (dladdr(own_path, &self) != 0 && self.dli_fname[0] == '/')
    snprintf(own_path, sizeof own_path, "%s", self.dli_fname);
}

}  // namespace

#define LULL_EXEC extern "C" [[gnu::visibility("default")]] int

LULL_EXEC execve(const char* program, char* const arguments[], char* const environment[]) {
  return start(real_execve, program, arguments, environment);
}
LULL_EXEC execv(const char* program, char* const arguments[]) {
  return start(real_execve, program, arguments, environ);
}
LULL_EXEC execvp(const char* program, char* const arguments[]) {
  return start(real_execvpe, program, arguments, environ);
}
LULL_EXEC execvpe(const char* program, char* const arguments[], char* const environment[]) {
  return start(real_execvpe, program, arguments, environment);
}
