#include "mpi/front/names.hpp"

#include <pthread.h>
#include <stdio.h>

#include "base/loaded_object.hpp"
#include "mpi/functions.hpp"

extern "C" {
[[gnu::visibility("hidden")]] extern const char lull_mpi_trampolines[];
[[gnu::visibility("hidden")]] extern const char lull_mpi_trampolines_end[];
// The loader calls it when it binds an object to a name that is an indirect function.
[[gnu::visibility("hidden")]] lull::mpi::any_function lull_mpi_bind(unsigned slot) noexcept;
}

// NOLINTBEGIN(performance-no-int-to-ptr): tables of the loader hold addresses as numbers
namespace lull::mpi {
namespace {

// The layout of trampolines.S: one trampoline per slot, each with the code that calls lull_mpi_bind().
#if defined(__x86_64__)
constexpr uintptr_t stride = 32, binder_behind = 16;
#else
constexpr uintptr_t stride = 64, binder_behind = 32;
#endif
constexpr unsigned named_slots = 2 * function_count;
constexpr unsigned most_libraries = 8;

struct {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  bool resolved = false;  // to a loaded library
  bool missing[named_slots] = {};
} names;

bool is_front(const loaded_object& object) { return object.contains(lull_mpi_trampolines); }
bool is_mpi(const loaded_object& object) {
  return !is_front(object) && (object.defines("PMPI_Init") || object.defines("MPI_Init"));
}

// Objects that may define one of the front's names.
struct libraries {
  loaded_object front;
  loaded_object all[most_libraries];
  unsigned count = 0;
  bool mpi = false;

  libraries() {
    each_loaded([this](const loaded_object& object) {
      if (is_front(object)) {
        front = object;
        return false;
      }
      if (!is_mpi(object)) return false;
      mpi = true;
      if (count < most_libraries) all[count++] = object;
      return false;
    });
  }
  [[nodiscard]] bool have(const char* name) const {
    const uint32_t hash = gnu_hash(name);
    for (unsigned i = 0; i < count; ++i)
      if (all[i].defines(name, hash)) return true;
    return false;
  }
};

uintptr_t address_of(unsigned slot) { return reinterpret_cast<uintptr_t>(lull_mpi_trampolines) + slot * stride; }

// The slot of a trampoline; named_slots: it is none.
unsigned slot_of(uintptr_t address) {
  if (address < address_of(0) || address >= reinterpret_cast<uintptr_t>(lull_mpi_trampolines_end)) return named_slots;
  return (address - address_of(0)) % stride == 0 ? static_cast<unsigned>((address - address_of(0)) / stride)
                                                 : named_slots;
}

enum class meaning { indirect, trampoline, nothing };

void let_mean(ElfW(Sym) & symbol, uintptr_t base, unsigned slot, meaning what) {
  const bool is_indirect = what == meaning::indirect;
  const uintptr_t value = address_of(slot) + (is_indirect ? binder_behind : 0) - base;
  redefine(symbol, what == meaning::nothing ? 0 : value, is_indirect ? STT_GNU_IFUNC : STT_FUNC);
}

void change_table(const libraries& loaded) {
  const uintptr_t base = loaded.front.base();
  change_definitions(loaded.front, [&](ElfW(Sym) & symbol, const char* name) {
    const bool is_indirect = ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC;
    const unsigned slot = slot_of(base + symbol.st_value - (is_indirect ? binder_behind : 0));
    if (slot == named_slots) return;
    names.missing[slot] = !loaded.have(name);
    const meaning what = !names.missing[slot] ? meaning::trampoline : loaded.mpi ? meaning::nothing : meaning::indirect;
    if (what != (is_indirect ? meaning::indirect : meaning::trampoline)) let_mean(symbol, base, slot, what);
  });
}

bool is_missing(uintptr_t address) {
  const unsigned slot = slot_of(address);
  return slot != named_slots && names.missing[slot];
}

const char* name_of(unsigned slot, char (&room)[96]) {
  snprintf(room, sizeof room, "%s%s", slot % 2 != 0 ? "P" : "", function_names[slot / 2]);
  return room;
}

}  // namespace

void resolve_names() noexcept {
  pthread_mutex_lock(&names.mutex);
  if (!names.resolved) {
    const libraries loaded;
    change_table(loaded);
    unbind_weak_references(loaded.front, is_missing);
    names.resolved = loaded.mpi;
  }
  pthread_mutex_unlock(&names.mutex);
}

bool find_mpi_object(const void* preferred, mpi_object& found) noexcept {
  bool any = false;
  each_loaded([&](const loaded_object& object) {
    if (!is_mpi(object)) return false;
    const bool is_stub = !object.defines("PMPI_Init");
    const bool is_preferred = preferred != nullptr && object.contains(preferred);
    if (any && !is_preferred && (is_stub || !found.is_stub)) return false;
    any = true;
    found.base = reinterpret_cast<const void*>(object.base());
    found.is_stub = is_stub;
    snprintf(found.path, sizeof found.path, "%s", object.path());
    snprintf(found.soname, sizeof found.soname, "%s", object.soname());
    return is_preferred;
  });
  return any;
}

bool is_of_an_mpi_library(const void* address) noexcept {
  return each_loaded([address](const loaded_object& object) { return object.contains(address) && is_mpi(object); });
}

bool comes_before_the_front(const void* address) noexcept {
  bool found = false;
  each_loaded([&](const loaded_object& object) {
    found = object.contains(address) && !is_front(object);
    return found || is_front(object);
  });
  return found;
}

void* in_tables_behind_the_front(const char* name) noexcept {
  uintptr_t found = 0;
  const uint32_t hash = gnu_hash(name);
  each_loaded([&](const loaded_object& object) {
    if (is_front(object) || !object.defines(name, hash)) return false;
    found = object.base() + object.symbol(name, hash)->st_value;
    return true;
  });
  return reinterpret_cast<void*>(found);
}

any_function trampoline_of(unsigned slot) noexcept { return reinterpret_cast<any_function>(address_of(slot)); }

}  // namespace lull::mpi
// NOLINTEND(performance-no-int-to-ptr)

lull::mpi::any_function lull_mpi_bind(unsigned slot) noexcept {
  using namespace lull::mpi;
  resolve_names();
  if (!names.missing[slot]) return trampoline_of(slot);
  // Behaves like a weak reference without the front: null. If the program needs the function, it gets an error when it
  // calls it.
  char room[96];
  const char* const name = name_of(slot, room);
  const bool is_needed = lull::each_loaded([name](const lull::loaded_object& object) { return object.needs(name); });
  return is_needed ? trampoline_of(slot) : nullptr;
}
