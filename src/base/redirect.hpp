// Redirects the calls by which loaded objects call a function of another one: changes the addresses in their tables.
//
// Only the chosen objects are affected, so that the rest of the program, which may have another library with the same
// function, keeps its own. An object that is loaded later is not affected, and a call within one object cannot be
// redirected.
#pragma once
#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/loaded_object.hpp"

namespace lull {

namespace redirecting {

struct place {
  std::uintptr_t* address;
  bool is_protected;
  bool is_bound;  // contains the function's address; otherwise the loader's code that finds it
  std::string path;
};

// Lazily bound addresses lead into the object itself until the first call.
inline bool is_bound(const loaded_object& object, const ElfW(Sym) & symbol, std::uintptr_t address) {
  if (!object.contains(reinterpret_cast<const void*>(address))) return true;  // NOLINT(performance-no-int-to-ptr)
  return symbol.st_value != 0 && address == object.base() + symbol.st_value;
}

}  // namespace redirecting

// Lets the objects for which chosen(object) returns true call `to` in place of the function `name`. Returns the address
// of the function; null: no such object calls it, or all of them call `to` already, and nothing has changed.
template <class Function, class F>
Function* redirect_calls(const char* name, Function* to, F&& chosen) {
  std::vector<redirecting::place> places;
  const auto by = reinterpret_cast<std::uintptr_t>(to);
  each_loaded([&](const loaded_object& object) {
    if (!chosen(object)) return false;
    object.each_binding([&](const ElfW(Sym) & symbol, const char* of, std::uintptr_t* at) {
      if (std::strcmp(of, name) == 0 && *at != by)
        places.push_back({at, object.is_protected(at), redirecting::is_bound(object, symbol, *at), object.path()});
    });
    return false;
  });
  std::uintptr_t function = 0;
  for (const redirecting::place& one : places)
    if (one.is_bound && function == 0) function = *one.address;
  for (std::size_t i = 0; i < places.size() && function == 0; ++i) {  // outside the loader's lock
    void* found = dlsym(RTLD_DEFAULT, name);
    if (found == nullptr && !places[i].path.empty())
      if (void* const object = dlopen(places[i].path.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
        found = dlsym(object, name);
        dlclose(object);
      }
    function = reinterpret_cast<std::uintptr_t>(found);
  }
  if (function == 0) return nullptr;
  bool changed = false;
  for (const redirecting::place& one : places) {
    if (one.is_protected && !let_write(one.address, one.address, true)) continue;
    __atomic_store_n(one.address, by, __ATOMIC_RELEASE);
    if (one.is_protected) let_write(one.address, one.address, false);
    changed = true;
  }
  return changed ? reinterpret_cast<Function*>(function) : nullptr;  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace lull
