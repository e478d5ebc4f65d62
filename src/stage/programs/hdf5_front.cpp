// The front of HDF5: liblull-hdf5.so, which LD_PRELOAD brings into every program that a command starts. It throws nothing,
// and links no C++ library.
//
// Beside HDF5's functions it has some of the C library: those by which programs rename and remove files that they have just
// closed, and realpath, which HDF5 asks for the name of each file that it opens by a link.
#include "stage/programs/hdf5_front.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

using lull::stage::hdf5_hooks;
using lull::stage::hdf5_id;
using lull::stage::hdf5_library;

namespace {

const hdf5_hooks* hooks = nullptr;

const hdf5_hooks* in_use() { return __atomic_load_n(&hooks, __ATOMIC_ACQUIRE); }

struct {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  struct {
    void* base = nullptr;
    hdf5_library library;
  } rows[8];
  unsigned count = 0;
} known;

// As if we were not there: what all of the program sees comes first, then what the caller has for itself alone, as a
// module of Python has.
void* meant_by(const void* caller, const char* name) {
  if (void* const seen_by_all = dlsym(RTLD_NEXT, name)) return seen_by_all;
  Dl_info info;
  if (dladdr(caller, &info) == 0) return nullptr;
  void* const handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return handle != nullptr ? dlsym(handle, name) : nullptr;
}

template <class Function>
void take(Function*& function, void* handle, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(handle, name));
}

bool fill(hdf5_library& of, const char* path) {
  of.handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (of.handle == nullptr) of.handle = dlopen(nullptr, RTLD_LAZY);  // it is the program itself
  take(of.create, of.handle, "H5Fcreate");
  take(of.open, of.handle, "H5Fopen");
  take(of.close, of.handle, "H5Fclose");
  take(of.get_name, of.handle, "H5Fget_name");
  take(of.is_hdf5, of.handle, "H5Fis_hdf5");
  take(of.is_accessible, of.handle, "H5Fis_accessible");
  return of.create != nullptr;
}

const hdf5_library& library_of(const void* caller, const char* name) {
  Dl_info info;
  void* const meant = meant_by(caller, name);
  if (meant == nullptr || dladdr(meant, &info) == 0) {
    fprintf(stderr, "lull: call %s: nothing that is loaded has such a function\n", name);
    abort();
  }
  pthread_mutex_lock(&known.mutex);
  unsigned i = 0;
  while (i < known.count && known.rows[i].base != info.dli_fbase) ++i;
  if (i == known.count) {
    if (i == sizeof known.rows / sizeof known.rows[0] || !fill(known.rows[i].library, info.dli_fname)) {
      fprintf(stderr, "lull: call %s: %s is no HDF5 library that Lull can stand before\n", name, info.dli_fname);
      abort();
    }
    known.rows[i].base = info.dli_fbase;
    ++known.count;
  }
  const hdf5_library& found = known.rows[i].library;
  pthread_mutex_unlock(&known.mutex);
  return found;
}

// Of the C library.
template <class Function>
Function* next(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void about_to_use(const char* name) {
  const hdf5_hooks* const used = in_use();
  if (used == nullptr || name == nullptr) return;
  const int before = errno;
  used->about_to_use(name);
  errno = before;
}

bool is_in_memory(const char* name) { return name != nullptr && strncmp(name, "/proc/self/fd/", 14) == 0; }

// As realpath; null where it is the C library's business.
char* path_of_staged(const char* name, char* into) {
  const hdf5_hooks* const used = in_use();
  const char* const path = used != nullptr && is_in_memory(name) ? used->real_path(name) : nullptr;
  if (path == nullptr) return nullptr;
  if (into == nullptr) return strdup(path);
  const size_t length = strlen(path);
  if (length >= PATH_MAX) return nullptr;
  return static_cast<char*>(memcpy(into, path, length + 1));
}

}  // namespace

void lull_hdf5_use(const hdf5_hooks* by) noexcept { __atomic_store_n(&hooks, by, __ATOMIC_RELEASE); }

extern "C" {
#pragma GCC visibility push(default)
char* __realpath_chk(const char* name, char* into, std::size_t size) noexcept;

hdf5_id H5Fcreate(const char* name, unsigned flags, hdf5_id creation, hdf5_id access) {
  const hdf5_library& library = library_of(__builtin_return_address(0), "H5Fcreate");
  const hdf5_hooks* const used = in_use();
  return used != nullptr ? used->create(library, name, flags, creation, access)
                         : library.create(name, flags, creation, access);
}

hdf5_id H5Fopen(const char* name, unsigned flags, hdf5_id access) {
  const hdf5_library& library = library_of(__builtin_return_address(0), "H5Fopen");
  const hdf5_hooks* const used = in_use();
  return used != nullptr ? used->open(library, name, flags, access) : library.open(name, flags, access);
}

int H5Fclose(hdf5_id file) {
  const hdf5_library& library = library_of(__builtin_return_address(0), "H5Fclose");
  const hdf5_hooks* const used = in_use();
  return used != nullptr ? used->close(library, file) : library.close(file);
}

long H5Fget_name(hdf5_id object, char* name, std::size_t size) {
  const hdf5_library& library = library_of(__builtin_return_address(0), "H5Fget_name");
  const hdf5_hooks* const used = in_use();
  return used != nullptr ? used->get_name(library, object, name, size) : library.get_name(object, name, size);
}

int H5Fis_hdf5(const char* name) {
  const hdf5_library& library = library_of(__builtin_return_address(0), "H5Fis_hdf5");
  about_to_use(name);
  return library.is_hdf5(name);
}

int H5Fis_accessible(const char* name, hdf5_id access) {
  const hdf5_library& library = library_of(__builtin_return_address(0), "H5Fis_accessible");
  about_to_use(name);
  return library.is_accessible(name, access);
}

int rename(const char* from, const char* to) noexcept {
  static const auto real = next(&::rename, "rename");
  about_to_use(from);
  about_to_use(to);
  return real(from, to);
}

int remove(const char* name) noexcept {
  static const auto real = next(&::remove, "remove");
  about_to_use(name);
  return real(name);
}

int unlink(const char* name) noexcept {
  static const auto real = next(&::unlink, "unlink");
  about_to_use(name);
  return real(name);
}

char* realpath(const char* name, char* into) noexcept {
  static const auto real = next(&::realpath, "realpath");
  char* const path = path_of_staged(name, into);
  return path != nullptr ? path : real(name, into);
}

// The same where it is compiled with -D_FORTIFY_SOURCE.
char* __realpath_chk(const char* name, char* into, std::size_t size) noexcept {
  static const auto real = next(&::__realpath_chk, "__realpath_chk");
  char* const path = path_of_staged(name, into);
  return path != nullptr ? path : real(name, into, size);
}

#pragma GCC visibility pop
}
