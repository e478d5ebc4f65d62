// The front of HDF5: one half of liblull-hdf5.so, which LD_PRELOAD loads into every program that a command starts. It
// throws nothing and links no C++ library. The other half is path_front.c.
#include "stage/programs/hdf5_front.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <iterator>

#include "base/loaded_object.hpp"
#include "stage/programs/path_front.h"

using lull::stage::hdf5_hooks;
using lull::stage::hdf5_id;
using lull::stage::hdf5_library;

namespace {

const hdf5_hooks* hooks = nullptr;

const hdf5_hooks* in_use() { return __atomic_load_n(&hooks, __ATOMIC_ACQUIRE); }

constexpr unsigned most_libraries = 8, most_callers = 64;

// Rows are filled before they are counted, and never change afterwards.
struct {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  struct {
    const void* base = nullptr;
    lull::loaded_object object;
    hdf5_library library;
  } libraries[most_libraries];
  struct {
    const void* base = nullptr;
    const hdf5_library* library = nullptr;
  } callers[most_callers];
  unsigned library_count = 0, caller_count = 0;
} known;

// ---- which library a caller uses ----

struct dynamic_section {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Half) * versions = nullptr;
  const ElfW(Verneed) * needed = nullptr;
  std::size_t needed_count = 0, symbol_count = 0;
};

dynamic_section section_of(const link_map* object) {
  dynamic_section found;
  for (const ElfW(Dyn)* entry = object->l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    // glibc has relocated most of these addresses, other C libraries none.
    const ElfW(Addr) value = entry->d_un.d_ptr;
    const ElfW(Addr) address = value < object->l_addr ? object->l_addr + value : value;
    const void* const at = reinterpret_cast<const void*>(address);  // NOLINT(performance-no-int-to-ptr): a number there
    const auto* const words = static_cast<const std::uint32_t*>(at);
    if (entry->d_tag == DT_SYMTAB) found.symbols = static_cast<const ElfW(Sym)*>(at);
    if (entry->d_tag == DT_STRTAB) found.names = static_cast<const char*>(at);
    if (entry->d_tag == DT_VERSYM) found.versions = static_cast<const ElfW(Half)*>(at);
    if (entry->d_tag == DT_VERNEED) found.needed = static_cast<const ElfW(Verneed)*>(at);
    if (entry->d_tag == DT_VERNEEDNUM) found.needed_count = entry->d_un.d_val;
    if (entry->d_tag == DT_HASH) found.symbol_count = words[1];
    // the symbols that the hash table omits
    if (entry->d_tag == DT_GNU_HASH && found.symbol_count == 0) found.symbol_count = words[1];
  }
  return found;
}

const char* version_of(const dynamic_section& of, unsigned index) {
  const ElfW(Verneed)* library = of.needed;
  for (std::size_t i = 0; i < of.needed_count; ++i) {
    const auto* version =
        reinterpret_cast<const ElfW(Vernaux)*>(reinterpret_cast<const char*>(library) + library->vn_aux);
    for (unsigned k = 0; k < library->vn_cnt; ++k) {
      if ((version->vna_other & 0x7fffU) == index) return of.names + version->vna_name;
      version = reinterpret_cast<const ElfW(Vernaux)*>(reinterpret_cast<const char*>(version) + version->vna_next);
    }
    library = reinterpret_cast<const ElfW(Verneed)*>(reinterpret_cast<const char*>(library) + library->vn_next);
  }
  return nullptr;
}

// Debian's serial and parallel HDF5 have the same names with different versions: returns the one linked by the caller.
const char* version_wanted(const link_map* caller, const char* name) {
  const dynamic_section of = section_of(caller);
  if (of.symbols == nullptr || of.names == nullptr || of.versions == nullptr || of.needed == nullptr) return nullptr;
  for (std::size_t i = 1; i < of.symbol_count; ++i)
    if (of.symbols[i].st_shndx == SHN_UNDEF && strcmp(of.names + of.symbols[i].st_name, name) == 0)
      return version_of(of, of.versions[i] & 0x7fffU);
  return nullptr;
}

// Resolves a name as without this library: first the symbols that the whole program sees, then those of the caller's
// own scope, which a Python module has, for example.
void* meant_by(const Dl_info& caller, const link_map* object, const char* name) {
  if (const char* const version = object != nullptr ? version_wanted(object, name) : nullptr)
    if (void* const found = dlvsym(RTLD_NEXT, name, version)) return found;
  if (void* const seen_by_all = dlsym(RTLD_NEXT, name)) return seen_by_all;
  void* const handle = dlopen(caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
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
  take(of.flush, of.handle, "H5Fflush");
  take(of.is_hdf5, of.handle, "H5Fis_hdf5");
  take(of.is_accessible, of.handle, "H5Fis_accessible");
  return of.create != nullptr && of.open != nullptr && of.close != nullptr && of.flush != nullptr;
}

lull::loaded_object object_with(const void* code) {
  struct {
    const void* code;
    lull::loaded_object found;
  } search{code, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* context) {
        auto& wanted = *static_cast<decltype(search)*>(context);
        const lull::loaded_object object(*info);
        if (!object.contains(wanted.code)) return 0;
        wanted.found = object;
        return 1;
      },
      &search);
  return search.found;
}

const hdf5_library* library_at(const Dl_info& info) {
  unsigned i = 0;
  while (i < known.library_count && known.libraries[i].base != info.dli_fbase) ++i;
  if (i < known.library_count) return &known.libraries[i].library;
  if (i == most_libraries || !fill(known.libraries[i].library, info.dli_fname)) return nullptr;
  known.libraries[i].base = info.dli_fbase;
  known.libraries[i].object = object_with(reinterpret_cast<const void*>(known.libraries[i].library.create));
  __atomic_store_n(&known.library_count, i + 1, __ATOMIC_RELEASE);
  return &known.libraries[i].library;
}

// Null: no loaded library has such a function; prints a line.
const hdf5_library* library_of(const void* code, const char* name) {
  Dl_info caller, found;
  link_map* object = nullptr;
  if (dladdr1(code, &caller, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) == 0) caller = {};
  const unsigned callers = __atomic_load_n(&known.caller_count, __ATOMIC_ACQUIRE);
  for (unsigned i = 0; i < callers; ++i)
    if (known.callers[i].base == caller.dli_fbase) return known.callers[i].library;
  pthread_mutex_lock(&known.mutex);
  void* const meant = meant_by(caller, object, name);
  const hdf5_library* const library = meant != nullptr && dladdr(meant, &found) != 0 ? library_at(found) : nullptr;
  if (library != nullptr && caller.dli_fbase != nullptr && known.caller_count < most_callers) {
    known.callers[known.caller_count] = {caller.dli_fbase, library};
    __atomic_store_n(&known.caller_count, known.caller_count + 1, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&known.mutex);
  if (library == nullptr)
    fprintf(stderr, "lull: call %s: no loaded HDF5 library has this function; the call fails\n", name);
  return library;
}

#define LIBRARY(name)                                                                \
  const hdf5_library* const library = library_of(__builtin_return_address(0), name); \
  if (library == nullptr) return -1

}  // namespace

// Called from stat() and open(), also in signal handlers and inside the loader, whose lock dladdr() would wait for.
int lull_is_hdf5(const void* code) {
  const unsigned libraries = __atomic_load_n(&known.library_count, __ATOMIC_ACQUIRE);
  for (unsigned i = 0; i < libraries; ++i)
    if (known.libraries[i].object.contains(code)) return 1;
  return 0;
}

void lull_hdf5_use(const hdf5_hooks* by) noexcept { __atomic_store_n(&hooks, by, __ATOMIC_RELEASE); }

extern "C" {
#pragma GCC visibility push(default)

hdf5_id H5Fcreate(const char* name, unsigned flags, hdf5_id creation, hdf5_id access) {
  LIBRARY("H5Fcreate");
  const hdf5_hooks* const used = in_use();
  return used != nullptr ? used->create(*library, name, flags, creation, access)
                         : library->create(name, flags, creation, access);
}

hdf5_id H5Fopen(const char* name, unsigned flags, hdf5_id access) {
  LIBRARY("H5Fopen");
  const hdf5_hooks* const used = in_use();
  return used != nullptr ? used->open(*library, name, flags, access) : library->open(name, flags, access);
}

int H5Fclose(hdf5_id file) {
  LIBRARY("H5Fclose");
  const hdf5_hooks* const used = in_use();
  return used != nullptr ? used->close(*library, file) : library->close(file);
}

int H5Fflush(hdf5_id object, int scope) {
  LIBRARY("H5Fflush");
  const hdf5_hooks* const used = in_use();
  return used != nullptr ? used->flush(*library, object, scope) : library->flush(object, scope);
}

int H5Fis_hdf5(const char* name) {
  LIBRARY("H5Fis_hdf5");
  if (const hdf5_hooks* const used = in_use()) used->about_to_read(name);
  return library->is_hdf5 != nullptr ? library->is_hdf5(name) : -1;
}

int H5Fis_accessible(const char* name, hdf5_id access) {
  LIBRARY("H5Fis_accessible");
  if (const hdf5_hooks* const used = in_use()) used->about_to_read(name);
  return library->is_accessible != nullptr ? library->is_accessible(name, access) : -1;
}

#pragma GCC visibility pop
}

// ---- names: a program without HDF5 that tests for it must not find it ----

namespace {

bool is_front(const lull::loaded_object& object) { return object.contains(&known); }

bool is_there(const char* name) {
  return lull::each_loaded([name](const lull::loaded_object& object) {
    return !is_front(object) && (object.defines(name) || object.needs(name));
  });
}

using any_function = void (*)();

// Called by the loader when it binds a name, if there was no HDF5 at the start.
#define RESOLVER(name) \
  any_function resolve_##name() { return is_there(#name) ? reinterpret_cast<any_function>(name) : nullptr; }
RESOLVER(H5Fcreate)
RESOLVER(H5Fopen)
RESOLVER(H5Fclose)
RESOLVER(H5Fflush)
RESOLVER(H5Fis_hdf5)
RESOLVER(H5Fis_accessible)

struct row {
  const char* name;
  any_function function;
  any_function (*resolve)();
};
#define ROW(name) \
  { #name, reinterpret_cast < any_function>(name), resolve_##name }

[[gnu::constructor]] void hide_names() {
  const row rows[] = {ROW(H5Fcreate), ROW(H5Fopen),    ROW(H5Fclose),
                      ROW(H5Fflush),  ROW(H5Fis_hdf5), ROW(H5Fis_accessible)};
  lull::loaded_object front;
  lull::each_loaded([&](const lull::loaded_object& object) {
    if (is_front(object)) front = object;
    return is_front(object);
  });
  bool hidden[std::size(rows)];
  for (bool& one : hidden) one = true;
  const auto show = [&](const char* name) {
    for (std::size_t i = 0; i < std::size(rows); ++i)
      if (strcmp(rows[i].name, name) == 0) hidden[i] = false;
  };
  lull::each_loaded([&](const lull::loaded_object& object) {
    if (is_front(object)) return false;
    for (const row& one : rows)
      if (object.defines(one.name)) show(one.name);
    object.each_reference([&](const ElfW(Sym) & symbol, const char* name, uintptr_t*) {
      if (ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL && strncmp(name, "H5F", 3) == 0) show(name);
    });
    return false;
  });
  lull::change_definitions(front, [&](ElfW(Sym) & symbol, const char* name) {
    for (std::size_t i = 0; i < std::size(rows); ++i)
      if (hidden[i] && strcmp(rows[i].name, name) == 0)
        lull::redefine(symbol, reinterpret_cast<uintptr_t>(rows[i].resolve) - front.base(), STT_GNU_IFUNC);
  });
  lull::unbind_weak_references(front, [&](uintptr_t address) {
    for (std::size_t i = 0; i < std::size(rows); ++i)
      if (hidden[i] && reinterpret_cast<uintptr_t>(rows[i].function) == address) return true;
    return false;
  });
}

}  // namespace
