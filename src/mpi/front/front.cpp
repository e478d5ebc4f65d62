// The front: liblull-mpi.so, which LD_PRELOAD loads into every program that a command starts. It does not depend on an
// MPI library; a program that does not call MPI only pays for loading it. It throws no exceptions, and does not link
// the C++ library.
//
// It has the names that the program's MPI library has, and no other (names.hpp). At the first call of MPI it looks for
// the library of the process, however that was loaded, and gets wrappers from the flavour for that library if a tool is
// requested (LULL_TRACE, LULL_WAIT, LULL_STAGE). Symbols that dlsym finds in the library, as for ctypes, cffi or
// MPI.jl, which call it with a handle, lead here as well. If something prevents this, the user gets one line, and the
// program runs as without the front.
#include "mpi/front/front.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <initializer_list>

#include "base/environment.hpp"
#include "base/launcher.hpp"
#include "mpi/front/names.hpp"
#include "mpi/functions.hpp"

using namespace lull::mpi;
using lull::is_reporter;
using lull::text_of_environment;

extern "C" [[gnu::visibility("hidden")]] any_function lull_mpi_slots[];
extern "C" [[gnu::visibility("hidden")]] any_function lull_mpi_resolve(unsigned slot);
// The result of a dlsym called from `caller`; null: that of the C library's dlsym.
extern "C" [[gnu::visibility("hidden")]] void* lull_mpi_dlsym(void* handle, const char* name, const void* caller);

namespace {

constexpr unsigned slot_of_dlsym = 2 * function_count;

// The C library's function, since the front's dlsym calls the front.
void* (*real_dlsym)(void*, const char*) = nullptr;

// The loader also exits with this code.
constexpr int code_of_a_missing_symbol = 127;

struct {
  pthread_once_t found = PTHREAD_ONCE_INIT;
  const void* asked_for = nullptr;  // the function of MPI that dlsym has found last
  bool looked = false;
  bool is_stub = false;
  pid_t process = 0;
  void* library = nullptr;     // of MPI, from dlopen
  const void* base = nullptr;  // where it is loaded
  char path[4096] = "", soname[256] = "";
  char version[8192] = "";  // the longest version of MPICH
  front_offers offers{};
  const flavour_offers* flavour = nullptr;
  const void* flavour_base = nullptr;  // of the flavour's library, which looks up the MPI library's functions
} state;

any_function as_function(void* symbol) { return reinterpret_cast<any_function>(symbol); }

// Like settings.hpp, which needs the C++ library.
bool tool_is_wanted() {
  for (const char* const setting : {"LULL_TRACE", "LULL_WAIT", "LULL_STAGE"})
    if (text_of_environment(setting) != nullptr) return true;
  return false;
}

void say_why_not(const char* found, const char* fix) {
  if (is_reporter()) fprintf(stderr, "lull: attach to the program's MPI: %s; %s\n", found, fix);
}

// Finds the library whose functions are called: the globally visible one, otherwise the one that was requested with a
// handle, otherwise any that is loaded, even if only one library sees it, as with Python's modules.
bool find_library() {
  static mpi_object found;
  const void* seen = real_dlsym(RTLD_NEXT, "PMPI_Init");
  if (!find_mpi_object(seen != nullptr ? seen : state.asked_for, found)) return false;
  state.library = dlopen(found.path, RTLD_LAZY | RTLD_NOLOAD);
  if (found.path[0] == '\0' || state.library == nullptr)
    state.library = dlopen(nullptr, RTLD_LAZY);  // the program itself
  state.is_stub = found.is_stub;
  state.base = found.base;
  snprintf(state.path, sizeof state.path, "%s", found.path);
  snprintf(state.soname, sizeof state.soname, "%s", found.soname);
  return true;
}

void attach(const char* flavour) {
  Dl_info self;
  char folder[4096];
  if (dladdr(reinterpret_cast<void*>(&lull_mpi_resolve), &self) == 0) return;
  snprintf(folder, sizeof folder, "%s", self.dli_fname);
  char* where = strstr(folder, "/lull/preload/");  // one of the copies among which loaders choose
  if (where != nullptr)
    *where = '\0';
  else
    where = dirname(folder);
  char path[4200];
  snprintf(path, sizeof path, "%s/liblull-mpi-%s.so", *where == '\0' ? folder : where, flavour);
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return say_why_not(dlerror(), access(path, F_OK) == 0
                                      ? "the program continues without Lull"
                                      : "build Lull where this MPI library's headers are installed");
  const auto offer = reinterpret_cast<decltype(&::lull_mpi_attach)>(real_dlsym(handle, "lull_mpi_attach"));
  if (offer == nullptr) return say_why_not(path, "it is not Lull's; install Lull again");
  Dl_info of_flavour;
  if (dladdr(reinterpret_cast<const void*>(offer), &of_flavour) != 0) state.flavour_base = of_flavour.dli_fbase;
  state.offers = {function_count, state.library, state.version};
  state.flavour = offer(&state.offers);
}

// libmpi.so.12, libmpich.so.12, and names with a vendor's word: libmpi_cray.so.12, libmpi_gnu_123.so.12. Libraries with
// MPI 5's standard interface are named libmpi_abi.
bool has_interface_of_mpich(const char* soname) {
  const char* const end = strstr(soname, ".so.12");
  if (end == nullptr || (end[6] != '\0' && end[6] != '.') || strncmp(soname, "libmpi", 6) != 0) return false;
  const char* rest = soname + 6;
  if (strncmp(rest, "ch", 2) == 0) rest += 2;
  return rest == end || (*rest == '_' && strncmp(rest, "_abi.", 5) != 0);
}

void find_out() {
  state.looked = true;
  if (!find_library()) {
    fprintf(stderr,
            "lull: find the program's MPI library: none is loaded; link the program with one, or unset LD_PRELOAD\n");
    _exit(code_of_a_missing_symbol);
  }
  if (!tool_is_wanted()) return;
  const char* const name = state.soname;
  if (state.is_stub)
    return say_why_not(state.path, "it is a stub without the PMPI_ functions, and the program continues without Lull");
  int length = 0;
  const auto version = reinterpret_cast<int (*)(char*, int*)>(real_dlsym(state.library, "PMPI_Get_library_version"));
  if (version != nullptr) version(state.version, &length);
  if (real_dlsym(state.library, "ompi_mpi_comm_world") != nullptr && strncmp(name, "libmpi.so.40", 12) == 0)
    attach("openmpi");
  else if (has_interface_of_mpich(name))
    attach("mpich");  // also for derived libraries, which use the same types and constants
  else if (strncmp(name, "libmpi_abi.so.1", 15) == 0 && (name[15] == '\0' || name[15] == '.'))
    attach("abi");  // the standard binary interface of MPI 5
  else
    say_why_not(
        state.path,
        "it is neither Open MPI (libmpi.so.40) nor MPICH (libmpich.so.12, libmpi.so.12), nor has it the standard "
        "interface (libmpi_abi.so.1), and the program continues without Lull");
}

// The target of calls of MPI_X or PMPI_X.
any_function target_of(unsigned number, bool second_name) {
  char name[96];
  snprintf(name, sizeof name, "P%s", function_names[number]);
  // Another tool that is linked to the program, or preloaded after the front, defines MPI_X: it is called first, and
  // calls PMPI_X.
  if (!second_name)
    if (void* next = real_dlsym(RTLD_NEXT, name + 1)) {
      Dl_info info;
      if (dladdr(next, &info) != 0 && info.dli_fbase != state.base) return as_function(next);
    }
  void* real = real_dlsym(state.library, name);
  if (real == nullptr && !second_name) real = real_dlsym(state.library, name + 1);  // a stub has no PMPI_X
  if (real == nullptr) {
    fprintf(stderr, "lull: call %s: this MPI library (%s) does not have this function\n", name + !second_name,
            state.soname);
    _exit(code_of_a_missing_symbol);
  }
  const any_function wrapper = state.flavour != nullptr ? state.flavour->wrapper(number, as_function(real)) : nullptr;
  return wrapper != nullptr ? wrapper : as_function(real);
}

// With dlvsym of the C library; the versions are those of its first release for an architecture, and 2.34.
void find_dlsym() {
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"}) {
    if (real_dlsym != nullptr) return;
    real_dlsym = reinterpret_cast<decltype(real_dlsym)>(dlvsym(RTLD_NEXT, "dlsym", version));
  }
  if (real_dlsym == nullptr) real_dlsym = reinterpret_cast<decltype(real_dlsym)>(in_tables_behind_the_front("dlsym"));
}

// Any code calls dlsym, even after fork(), when no symbols may be looked up.
[[gnu::constructor]] void resolve_early() {
  lull_mpi_resolve(slot_of_dlsym);
  resolve_names();
  state.process = getpid();
}

// If the library's functions were called without the front, nothing of the program was recorded.
[[gnu::destructor]] void say_what_was_not_seen() {
  if (state.looked || state.process != getpid() || !tool_is_wanted()) return;
  static mpi_object found;
  if (!find_mpi_object(nullptr, found) || found.is_stub) return;
  void* const library = dlopen(found.path, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return;
  const auto initialized = reinterpret_cast<int (*)(int*)>(real_dlsym(library, "PMPI_Initialized"));
  int was = 0;
  if (initialized != nullptr && initialized(&was) == 0 && was != 0)
    say_why_not("the program has called its MPI library by addresses, not by names", "none of its calls were recorded");
}

int number_of(const char* name) {
  for (unsigned i = 0; i < function_count; ++i)
    if (strcmp(name, function_names[i]) == 0) return static_cast<int>(i);
  return -1;
}

// The result of the C library's dlsym. With RTLD_DEFAULT, it depends on the libraries that the caller can see.
void* found_by(void* handle, const char* name, const void* caller) {
  void* found = real_dlsym(handle, name);  // NOLINT(clang-analyzer-core.CallAndMessage): the caller has found it
  Dl_info info;
  if (found != nullptr || handle != RTLD_DEFAULT || dladdr(caller, &info) == 0) return found;
  void* const of_caller = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (of_caller == nullptr) return nullptr;
  found = real_dlsym(of_caller, name);
  dlclose(of_caller);
  return found;
}

}  // namespace

void* lull_mpi_dlsym(void* handle, const char* name, const void* caller) {
  if (!tool_is_wanted()) return nullptr;
  const bool second_name = *name == 'P';
  const int number = number_of(name + second_name);
  if (number < 0) return nullptr;
  if (handle == RTLD_NEXT && !comes_before_the_front(caller)) return nullptr;
  Dl_info of_caller;
  if (state.flavour_base != nullptr && dladdr(caller, &of_caller) != 0 && of_caller.dli_fbase == state.flavour_base)
    return nullptr;
  const int before = errno;
  if (real_dlsym == nullptr) find_dlsym();
  void* const found = found_by(handle, name, caller);
  errno = before;
  if (found == nullptr || !is_of_an_mpi_library(found)) return nullptr;
  if (!__atomic_load_n(&state.looked, __ATOMIC_ACQUIRE)) {
    state.asked_for = found;
  } else if (Dl_info info; dladdr(found, &info) != 0 && info.dli_fbase != state.base) {
    return nullptr;  // in another MPI library than the one in use
  }
  return reinterpret_cast<void*>(trampoline_of(2 * static_cast<unsigned>(number) + second_name));
}

any_function lull_mpi_resolve(unsigned slot) {
  const int before = errno;
  if (real_dlsym == nullptr) find_dlsym();
  any_function target;
  if (slot == slot_of_dlsym) {
    target = reinterpret_cast<any_function>(real_dlsym);
  } else {
    pthread_once(&state.found, find_out);
    target = target_of(slot / 2, slot % 2 != 0);
  }
  __atomic_store_n(&lull_mpi_slots[slot], target, __ATOMIC_RELEASE);
  errno = before;
  return target;
}
