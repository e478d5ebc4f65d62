// The front: liblull-mpi.so, which LD_PRELOAD brings into every program that a command starts. It knows no MPI library
// and needs none; what it costs a program that calls no MPI is to be loaded. It throws nothing, and links no C++ library.
//
// At the first call of MPI it looks which library the process has, by whatever way that has come in, and asks the flavour
// of that library for wrappers where a tool is wanted (LULL_TRACE, LULL_WAIT, LULL_STAGE). It tells a user in one line
// what stands in the way; the program then runs as without it.
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

#include "mpi/functions.hpp"

using lull::mpi::any_function;

extern "C" [[gnu::visibility("hidden")]] any_function lull_mpi_slots[];
extern "C" [[gnu::visibility("hidden")]] any_function lull_mpi_resolve(unsigned slot);

namespace {

constexpr const char* others[] = {"opal_progress", "sched_yield", "poll"};
constexpr unsigned first_other = 2 * lull::mpi::function_count;

struct {
  pthread_once_t found = PTHREAD_ONCE_INIT;
  void* library = nullptr;     // of MPI, as dlopen gives it
  const void* base = nullptr;  // where it is loaded
  char path[4096] = "";
  char version[8192] = "";  // as long as MPICH's may be
  lull::mpi::front_offers offers{};
  const lull::mpi::flavour_offers* flavour = nullptr;
} state;

// Where calls of the functions that are not MPI's go. What a tool has put there stays.
struct {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  bool replaced[sizeof others / sizeof others[0]] = {};
} slots_of_others;

any_function put_other(unsigned index, any_function target, bool by_a_tool) {
  pthread_mutex_lock(&slots_of_others.mutex);
  any_function& slot = lull_mpi_slots[first_other + index];
  if (slots_of_others.replaced[index] && !by_a_tool)
    target = slot;
  else
    __atomic_store_n(&slot, target, __ATOMIC_RELEASE);
  slots_of_others.replaced[index] |= by_a_tool;
  pthread_mutex_unlock(&slots_of_others.mutex);
  return target;
}

void replace(const char* name, any_function by) {
  for (unsigned i = 0; i < sizeof others / sizeof others[0]; ++i)
    if (strcmp(name, others[i]) == 0) put_other(i, by, true);
}

any_function as_function(void* symbol) { return reinterpret_cast<any_function>(symbol); }

const char* file_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

// Of many processes that have the same to say, the first; which is that, launchers say.
bool is_reporter() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* rank = getenv(variable)) return strcmp(rank, "0") == 0;
  return true;
}

bool wanted(const char* variable) {
  const char* value = getenv(variable);
  return value != nullptr && *value != '\0';
}

void say_why_not(const char* found, const char* fix) {
  if (is_reporter()) fprintf(stderr, "lull: stand between the program and MPI: %s; %s\n", found, fix);
}

// The library that holds `symbol`, if it is there.
bool take_library(void* symbol) {
  Dl_info info;
  if (symbol == nullptr || dladdr(symbol, &info) == 0) return false;
  void* handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) handle = dlopen(nullptr, RTLD_LAZY);  // it is the program itself
  state.library = handle;
  state.base = info.dli_fbase;
  snprintf(state.path, sizeof state.path, "%s", info.dli_fname);
  return true;
}

// Among what is loaded, also for the eyes of one library only, as Python loads its modules.
struct loaded_names {
  char names[16][4096];
  unsigned count;
};

int collect(dl_phdr_info* info, size_t, void* into) {
  auto* found = static_cast<loaded_names*>(into);
  const char* name = file_name(info->dlpi_name);
  if ((strncmp(name, "libmpi.", 7) == 0 || strncmp(name, "libmpich.", 9) == 0) && found->count < 16)
    snprintf(found->names[found->count++], sizeof found->names[0], "%s", info->dlpi_name);
  return 0;
}

bool find_library() {
  if (take_library(dlsym(RTLD_NEXT, "PMPI_Init"))) return true;
  static loaded_names loaded;
  dl_iterate_phdr(collect, &loaded);
  for (unsigned i = 0; i < loaded.count; ++i) {
    void* handle = dlopen(loaded.names[i], RTLD_LAZY | RTLD_NOLOAD);
    if (handle != nullptr && take_library(dlsym(handle, "PMPI_Init"))) return true;
  }
  return false;
}

void attach(const char* flavour) {
  Dl_info self;
  char folder[4096];
  if (dladdr(reinterpret_cast<void*>(&lull_mpi_resolve), &self) == 0) return;
  snprintf(folder, sizeof folder, "%s", self.dli_fname);
  char path[4200];
  snprintf(path, sizeof path, "%s/liblull-mpi-%s.so", dirname(folder), flavour);
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return say_why_not(dlerror(), access(path, F_OK) == 0
                                      ? "the program goes on without Lull"
                                      : "build Lull where this MPI library's headers are installed");
  const auto offer = reinterpret_cast<decltype(&lull_mpi_attach)>(dlsym(handle, "lull_mpi_attach"));
  if (offer == nullptr) return say_why_not(path, "it is not Lull's; install Lull again");
  state.offers = {lull::mpi::function_count, state.library, state.version, replace};
  state.flavour = offer(&state.offers);
}

void find_out() {
  if (!find_library()) {
    fprintf(stderr,
            "lull: find the program's MPI library: none is loaded; link the program with one, or unset LD_PRELOAD\n");
    abort();
  }
  if (!wanted("LULL_TRACE") && !wanted("LULL_WAIT") && !wanted("LULL_STAGE")) return;
  int length = 0;
  const auto version = reinterpret_cast<int (*)(char*, int*)>(dlsym(state.library, "PMPI_Get_library_version"));
  if (version != nullptr) version(state.version, &length);
  const char* name = file_name(state.path);
  if (dlsym(state.library, "ompi_mpi_comm_world") != nullptr && strncmp(name, "libmpi.so.40", 12) == 0)
    attach("openmpi");
  else if (strncmp(name, "libmpich.so.12", 14) == 0 || strncmp(name, "libmpi.so.12", 12) == 0)
    attach("mpich");  // also of its relatives, which agree on types and constants
  else
    say_why_not(state.path, "Lull knows Open MPI (libmpi.so.40) and MPICH (libmpich.so.12 or libmpi.so.12)");
}

// Where calls of MPI_X or PMPI_X go.
any_function target_of(unsigned number, bool second_name) {
  char name[96];
  snprintf(name, sizeof name, "P%s", lull::mpi::function_names[number]);
  // Another tool that is linked to the program, or preloaded behind us, has MPI_X: it comes first, and calls PMPI_X.
  if (!second_name)
    if (void* next = dlsym(RTLD_NEXT, name + 1)) {
      Dl_info info;
      if (dladdr(next, &info) != 0 && info.dli_fbase != state.base) return as_function(next);
    }
  void* real = dlsym(state.library, name);
  if (real == nullptr) {
    fprintf(stderr, "lull: call %s: this MPI library (%s) has no such function\n", name + !second_name,
            file_name(state.path));
    abort();
  }
  const any_function wrapper = state.flavour != nullptr ? state.flavour->wrapper(number, as_function(real)) : nullptr;
  return wrapper != nullptr ? wrapper : as_function(real);
}

any_function target_of_other(unsigned index) {
  void* real = dlsym(RTLD_NEXT, others[index]);
  if (real == nullptr && index == 0) {  // opal_progress of a library that only some see
    pthread_once(&state.found, find_out);
    real = dlsym(state.library, others[index]);
  }
  if (real == nullptr) {
    fprintf(stderr, "lull: call %s: nothing that is loaded has such a function\n", others[index]);
    abort();
  }
  return as_function(real);
}

// Those of the C library are called by everybody, after fork(), too, when nothing may be looked up.
[[gnu::constructor]] void resolve_early() {
  lull_mpi_resolve(first_other + 1);
  lull_mpi_resolve(first_other + 2);
}

}  // namespace

any_function lull_mpi_resolve(unsigned slot) {
  const int before = errno;
  any_function target;
  if (slot >= first_other) {
    target = target_of_other(slot - first_other);
    target = put_other(slot - first_other, target, false);
  } else {
    pthread_once(&state.found, find_out);
    target = target_of(slot / 2, slot % 2 != 0);
    __atomic_store_n(&lull_mpi_slots[slot], target, __ATOMIC_RELEASE);
  }
  errno = before;
  return target;
}
