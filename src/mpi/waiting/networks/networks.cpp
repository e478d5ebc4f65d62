#include <array>
#include <cstring>

#include "base/redirect.hpp"
#include "mpi/waiting/networks/network.hpp"

namespace lull::mpi {

constinit thread_local network_polls polls_here;
poll_duty duty_of_polls = poll_duty::nothing;

namespace {

struct plugin {
  const char* name = nullptr;
  void (*redirect)() = nullptr;
};
std::array<plugin, 4> plugins;
void* (*open_plugin)(const char*, int) = nullptr;

void* open_plugin_instead(const char* path, int flags) {
  void* const opened = open_plugin(path, flags);
  if (opened != nullptr && path != nullptr)
    for (const plugin& one : plugins)
      if (one.name != nullptr && std::strstr(path, one.name) != nullptr) one.redirect();
  return opened;
}

}  // namespace

void now_and_after_plugin(const library_of_waiting& library, const char* name, void (*redirect)()) {
  redirect();
  if (std::strncmp(library.version, "Open MPI", 8) != 0) return;
  for (plugin& one : plugins)
    if (one.name == nullptr) {
      one = {name, redirect};
      break;
    }
  const auto is_loader = [](const loaded_object& object) {
    return std::strncmp(object.soname(), "libopen-pal", 11) == 0;
  };
  if (auto* const found = redirect_calls("dlopen", &open_plugin_instead, is_loader)) open_plugin = found;
}

void prepare_networks(const library_of_waiting& library) {
  ucx::prepare(library);
  ofi::prepare(library);
}

}  // namespace lull::mpi
