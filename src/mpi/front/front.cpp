// The front: liblull-mpi.so, which LD_PRELOAD brings into every program that a command starts. It knows no MPI library
// and needs none; what it costs a program that calls no MPI is to be loaded. It throws nothing, and links no C++ library.
//
// It has the names that the program's MPI library has, and no other (names.hpp). At the first call of MPI it looks which
// library the process has, by whatever way that has come in, and asks the flavour of that library for wrappers where a tool
// is wanted (LULL_TRACE, LULL_WAIT, LULL_STAGE). What dlsym finds in the library, as ctypes, cffi or MPI.jl ask for it by a
// handle, leads here as well. It tells a user in one line what stands in the way; the program then runs as without it.
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
extern "C" [[gnu::visibility("hidden")]] const any_function lull_mpi_others_at_first[];
extern "C" [[gnu::visibility("hidden")]] any_function lull_mpi_resolve(unsigned slot);
// What a dlsym called from `caller` is to answer; null: what that of the C library answers.
extern "C" [[gnu::visibility("hidden")]] void* lull_mpi_dlsym(void* handle, const char* name, const void* caller);

namespace {

constexpr const char* others[] = {"opal_progress", "sched_yield", "poll", "dlsym"};
constexpr unsigned other_dlsym = 3;
constexpr unsigned first_other = 2 * function_count;

// The C library's own: the front's asks the front.
void* (*real_dlsym)(void*, const char*) = nullptr;

// With which the loader ends a program, too.
constexpr int code_of_a_missing_symbol = 127;

struct {
  pthread_once_t found = PTHREAD_ONCE_INIT;
  const void* asked_for = nullptr;  // a function of MPI that dlsym has found last
  bool looked = false;
  bool is_stub = false;
  pid_t process = 0;
  void* library = nullptr;     // of MPI, as dlopen gives it
  const void* base = nullptr;  // where it is loaded
  char path[4096] = "", soname[256] = "";
  char version[8192] = "";  // as long as MPICH's may be
  front_offers offers{};
  const flavour_offers* flavour = nullptr;
  const void* flavour_base = nullptr;  // of its library, which finds the MPI library's own functions
} state;

// Where calls of the functions that are not MPI's go. What a tool has put there stays. Sanitizers ask for functions before
// they are ready for a program that does anything: no function of the C library is called here.
any_function found_other(unsigned index, any_function target) {
  any_function& slot = lull_mpi_slots[first_other + index];
  any_function before = lull_mpi_others_at_first[index];
  if (__atomic_compare_exchange_n(&slot, &before, target, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return target;
  return before;
}

void replace(const char* name, any_function by) {
  for (unsigned i = 0; i < sizeof others / sizeof others[0]; ++i)
    if (strcmp(name, others[i]) == 0) __atomic_store_n(&lull_mpi_slots[first_other + i], by, __ATOMIC_RELEASE);
}

any_function as_function(void* symbol) { return reinterpret_cast<any_function>(symbol); }

// As settings.hpp would say: it needs the C++ library.
bool tool_is_wanted() {
  for (const char* const setting : {"LULL_TRACE", "LULL_WAIT", "LULL_STAGE"})
    if (text_of_environment(setting) != nullptr) return true;
  return false;
}

void say_why_not(const char* found, const char* fix) {
  if (is_reporter()) fprintf(stderr, "lull: stand between the program and MPI: %s; %s\n", found, fix);
}

// The library whose functions are called: the one that all see, else the one that was asked for by a handle, else any that
// is loaded, also for the eyes of one library only, as Python loads its modules.
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
  char* where = strstr(folder, "/lull/preload/");  // one of the copies that loaders choose from
  if (where != nullptr)
    *where = '\0';
  else
    where = dirname(folder);
  char path[4200];
  snprintf(path, sizeof path, "%s/liblull-mpi-%s.so", *where == '\0' ? folder : where, flavour);
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return say_why_not(dlerror(), access(path, F_OK) == 0
                                      ? "the program goes on without Lull"
                                      : "build Lull where this MPI library's headers are installed");
  const auto offer = reinterpret_cast<decltype(&::lull_mpi_attach)>(real_dlsym(handle, "lull_mpi_attach"));
  if (offer == nullptr) return say_why_not(path, "it is not Lull's; install Lull again");
  Dl_info of_flavour;
  if (dladdr(reinterpret_cast<const void*>(offer), &of_flavour) != 0) state.flavour_base = of_flavour.dli_fbase;
  state.offers = {function_count, state.library, state.version, replace};
  state.flavour = offer(&state.offers);
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
    return say_why_not(state.path,
                       "it has no second names, PMPI_...: it is a stub, and its program goes on without Lull");
  int length = 0;
  const auto version = reinterpret_cast<int (*)(char*, int*)>(real_dlsym(state.library, "PMPI_Get_library_version"));
  if (version != nullptr) version(state.version, &length);
  if (real_dlsym(state.library, "ompi_mpi_comm_world") != nullptr && strncmp(name, "libmpi.so.40", 12) == 0)
    attach("openmpi");
  else if (strncmp(name, "libmpich.so.12", 14) == 0 || strncmp(name, "libmpi.so.12", 12) == 0)
    attach("mpich");  // also of its relatives, which agree on types and constants
  else
    say_why_not(state.path, "Lull knows Open MPI (libmpi.so.40) and MPICH (libmpich.so.12 or libmpi.so.12)");
}

// Where calls of MPI_X or PMPI_X go.
any_function target_of(unsigned number, bool second_name) {
  char name[96];
  snprintf(name, sizeof name, "P%s", function_names[number]);
  // Another tool that is linked to the program, or preloaded behind us, has MPI_X: it comes first, and calls PMPI_X.
  if (!second_name)
    if (void* next = real_dlsym(RTLD_NEXT, name + 1)) {
      Dl_info info;
      if (dladdr(next, &info) != 0 && info.dli_fbase != state.base) return as_function(next);
    }
  void* real = real_dlsym(state.library, name);
  if (real == nullptr && !second_name) real = real_dlsym(state.library, name + 1);  // of a stub
  if (real == nullptr) {
    fprintf(stderr, "lull: call %s: this MPI library (%s) has no such function\n", name + !second_name, state.soname);
    _exit(code_of_a_missing_symbol);
  }
  const any_function wrapper = state.flavour != nullptr ? state.flavour->wrapper(number, as_function(real)) : nullptr;
  return wrapper != nullptr ? wrapper : as_function(real);
}

any_function target_of_other(unsigned index) {
  if (index == other_dlsym) return reinterpret_cast<any_function>(real_dlsym);
  void* real = real_dlsym(RTLD_NEXT, others[index]);
  if (real == nullptr && index == 0) {  // opal_progress of a library that only some see
    pthread_once(&state.found, find_out);
    real = real_dlsym(state.library, others[index]);
  }
  if (real == nullptr) {
    fprintf(stderr, "lull: call %s: nothing that is loaded has such a function\n", others[index]);
    _exit(code_of_a_missing_symbol);
  }
  return as_function(real);
}

// By dlvsym, which is the C library's; the versions are those of its first release for a machine, and of 2.34.
void find_dlsym() {
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"}) {
    if (real_dlsym != nullptr) return;
    real_dlsym = reinterpret_cast<decltype(real_dlsym)>(dlvsym(RTLD_NEXT, "dlsym", version));
  }
  if (real_dlsym == nullptr) real_dlsym = reinterpret_cast<decltype(real_dlsym)>(in_tables_behind_the_front("dlsym"));
}

// Those of the C library are called by everybody, after fork(), too, when nothing may be looked up.
[[gnu::constructor]] void resolve_early() {
  for (unsigned i = 1; i < sizeof others / sizeof others[0]; ++i) lull_mpi_resolve(first_other + i);
  resolve_names();
  state.process = getpid();
}

// A library whose functions have been called by a way that is not seen: nothing of the program was recorded.
[[gnu::destructor]] void say_what_was_not_seen() {
  if (state.looked || state.process != getpid() || !tool_is_wanted()) return;
  static mpi_object found;
  if (!find_mpi_object(nullptr, found) || found.is_stub) return;
  void* const library = dlopen(found.path, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return;
  const auto initialized = reinterpret_cast<int (*)(int*)>(real_dlsym(library, "PMPI_Initialized"));
  int was = 0;
  if (initialized != nullptr && initialized(&was) == 0 && was != 0)
    say_why_not("the program has called its library by addresses, not by names", "none of its calls was seen");
}

int number_of(const char* name) {
  for (unsigned i = 0; i < function_count; ++i)
    if (strcmp(name, function_names[i]) == 0) return static_cast<int>(i);
  return -1;
}

// What the C library's dlsym finds. A handle for what one object sees (RTLD_DEFAULT) means other libraries for each caller.
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
    return nullptr;  // of another MPI library than the one that is called
  }
  return reinterpret_cast<void*>(trampoline_of(2 * static_cast<unsigned>(number) + second_name));
}

any_function lull_mpi_resolve(unsigned slot) {
  const int before = errno;
  if (real_dlsym == nullptr) find_dlsym();
  any_function target;
  if (slot >= first_other) {
    target = found_other(slot - first_other, target_of_other(slot - first_other));
  } else {
    pthread_once(&state.found, find_out);
    target = target_of(slot / 2, slot % 2 != 0);
    __atomic_store_n(&lull_mpi_slots[slot], target, __ATOMIC_RELEASE);
  }
  errno = before;
  return target;
}
