// UCX, which a library polls by ucp_worker_progress: pml ucx of Open MPI, and MPICH's device ch4:ucx.
//
// Wake-up: the descriptor of the worker, after ucp_worker_arm, also for UCX's shared memory. The worker has one if the
// feature UCP_FEATURE_WAKEUP is added where the library creates its context, which is before MPI_Init has returned. Open
// MPI loads the plugin that does so in MPI_Init.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <initializer_list>

#include "base/redirect.hpp"
#include "mpi/waiting/networks/network.hpp"

namespace lull::mpi {
namespace {

// Of UCX's interface, which is stable.
constexpr std::uint64_t params_have_features = 1U << 0U, feature_wakeup = 1U << 4U;
constexpr std::size_t known_params = 10;  // members of ucp_params_t behind field_mask, as of UCX 1.18
constexpr std::size_t most_workers = 16;
using status = int;  // ucs_status_t; 0: UCS_OK

struct {
  status (*init)(unsigned, unsigned, const std::uint64_t*, const void*, void**) = nullptr;
  status (*create)(void*, const void*, void**) = nullptr;
  void (*destroy)(void*) = nullptr;
  unsigned (*progress)(void*) = nullptr;
  status (*arm)(void*) = nullptr;
  status (*descriptor)(void*, int*) = nullptr;
} api;

struct worker {
  std::atomic<void*> handle{nullptr};
  int descriptor = -1;
  bool carries_messages = false;  // otherwise only what windows transfer
};
std::array<worker, most_workers> workers;
std::atomic<bool> asks_for_wakeup{false};
std::atomic<int> workers_without_descriptor{0};

unsigned progress_instead(void* of) {
  const unsigned came = api.progress(of);
  if (duty_of_polls != poll_duty::nothing) network_was_polled(came != 0);
  return came;
}

// Of ucp_params_t only those members may be read whose bits are set in its first one, field_mask; each takes 64 bits.
status init_instead(unsigned major, unsigned minor, const std::uint64_t* params, const void* config, void** context) {
  std::array<std::uint64_t, 1 + known_params> with_wakeup{params[0]};
  const bool known = (params[0] & params_have_features) != 0 && params[0] >> known_params == 0;
  for (std::size_t bit = 0; known && bit < known_params; ++bit)
    if ((params[0] >> bit & 1U) != 0) with_wakeup[bit + 1] = params[bit + 1];
  with_wakeup[1] |= feature_wakeup;
  if (known && api.init(major, minor, with_wakeup.data(), config, context) == 0) {
    asks_for_wakeup = true;
    return 0;
  }
  return api.init(major, minor, params, config, context);
}

template <bool carries_messages>
status create_instead(void* context, const void* params, void** made) {
  const status result = api.create(context, params, made);
  if (result != 0 || !asks_for_wakeup) return result;
  int descriptor = -1;
  if (api.descriptor != nullptr && api.descriptor(*made, &descriptor) == 0)
    for (worker& one : workers) {
      void* none = nullptr;
      if (one.handle.load() != nullptr) continue;
      one.descriptor = descriptor;
      one.carries_messages = carries_messages;
      if (one.handle.compare_exchange_strong(none, *made)) return result;
    }
  ++workers_without_descriptor;
  return result;
}

void destroy_instead(void* of) {
  for (worker& one : workers)
    if (one.handle.load() == of) one.handle = nullptr;
  api.destroy(of);
}

bool begins_with_one_of(const char* name, std::initializer_list<const char*> beginnings) {
  return std::ranges::any_of(beginnings,
                             [name](const char* one) { return std::strncmp(name, one, std::strlen(one)) == 0; });
}

// Only the MPI library's calls: the program may use UCX, too. Open MPI has a worker of its own for windows, which it
// creates with the first one.
bool is_of_messages(const loaded_object& object) {
  return begins_with_one_of(object.soname(), {"libmpi", "mca_pml_ucx"});
}
bool is_of_windows(const loaded_object& object) {
  return begins_with_one_of(object.soname(), {"mca_osc_ucx", "libmca_common_ucx", "libopen-pal"});
}
bool is_of_mpi(const loaded_object& object) { return is_of_messages(object) || is_of_windows(object); }

template <class Function, class F>
void redirect(const char* name, Function* by, Function*& real, F&& chosen) {
  if (Function* const found = redirect_calls(name, by, chosen)) real = found;
}

template <class Function>
void find(void* library, const char* name, Function*& function) {
  if (function == nullptr) function = reinterpret_cast<Function*>(dlsym(library, name));
}

void redirect_all() {
  redirect("ucp_init_version", &init_instead, api.init, is_of_mpi);
  Dl_info of_ucx;
  if (api.init == nullptr || dladdr(reinterpret_cast<const void*>(api.init), &of_ucx) == 0) return;
  void* const library = dlopen(of_ucx.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return;
  find(library, "ucp_worker_arm", api.arm);
  find(library, "ucp_worker_get_efd", api.descriptor);
  // What a redirected call calls is known before the call is redirected.
  find(library, "ucp_worker_create", api.create);
  find(library, "ucp_worker_destroy", api.destroy);
  find(library, "ucp_worker_progress", api.progress);
  if (api.arm == nullptr || api.descriptor == nullptr || api.create == nullptr || api.destroy == nullptr ||
      api.progress == nullptr)
    return;
  redirect("ucp_worker_create", &create_instead<true>, api.create, is_of_messages);
  redirect("ucp_worker_create", &create_instead<false>, api.create, is_of_windows);
  redirect("ucp_worker_destroy", &destroy_instead, api.destroy, is_of_mpi);
  redirect("ucp_worker_progress", &progress_instead, api.progress, is_of_mpi);
}

}  // namespace

void ucx::prepare(const library_of_waiting& of) {
  for (const char* const plugin : {"mca_pml_ucx", "mca_osc_ucx"}) now_and_after_plugin(of, plugin, redirect_all);
}

bool ucx::is_used() {
  return workers_without_descriptor > 0 || std::ranges::any_of(workers, [](const worker& one) {
           return one.handle.load() != nullptr && one.carries_messages;
         });
}

std::string ucx::open() {
  return workers_without_descriptor > 0 ? "a worker of this UCX has no descriptor to sleep on" : "";
}

arming ucx::arm(std::vector<pollfd>& to) {
  if (workers_without_descriptor > 0) return arming::none;
  arming result = arming::none;
  for (const worker& one : workers) {
    void* const handle = one.handle.load();
    if (handle == nullptr) continue;
    if (api.arm(handle) != 0) return arming::not_now;
    to.push_back({.fd = one.descriptor, .events = POLLIN, .revents = 0});
    result = arming::armed;
  }
  return result;
}

arming ucx::arm_windows(std::vector<pollfd>& to, arming messages) {
  if (messages == arming::not_now) return messages;
  const arming windows = ucx::arm(to);
  if (windows == arming::none) return messages;
  return windows == arming::armed && messages == arming::none ? arming::windows : windows;
}

}  // namespace lull::mpi
