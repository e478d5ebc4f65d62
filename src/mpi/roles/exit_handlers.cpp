#include "mpi/roles/exit_handlers.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstddef>

namespace lull::mpi {

// As the loader does at exit(): the array of the library's last functions, backwards. The first of them, which every
// compiler puts there, calls the functions that the library has passed to atexit().
void run_exit_handlers_of(void* handle) noexcept {
  link_map* library = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &library) != 0 || library == nullptr) return;
  using last_function = void (*)();
  last_function* functions = nullptr;
  std::size_t count = 0;
  for (const ElfW(Dyn)* one = library->l_ld; one->d_tag != DT_NULL; ++one) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader's tables contain addresses as numbers
    if (one->d_tag == DT_FINI_ARRAY) functions = reinterpret_cast<last_function*>(library->l_addr + one->d_un.d_ptr);
    if (one->d_tag == DT_FINI_ARRAYSZ) count = one->d_un.d_val / sizeof(last_function);
  }
  if (functions == nullptr) return;
  while (count != 0) functions[--count]();
}

}  // namespace lull::mpi
