// libfabric, which a library polls by fi_cq_read: MPICH's device ch4:ofi, also Cray's, pml cm of Open MPI, Intel MPI.
//
// Wake-up: the descriptor of each completion queue, after fi_trywait. A queue has one if it is opened with FI_WAIT_FD;
// the library opens it before MPI_Init has returned. If a provider has no descriptors, the queue is opened as the library
// has requested, and a thread sleeps on the sockets that the provider polls, if it does.
//
// Objects of libfabric have tables of functions. Those of the fabric, the domain and the queue that the library opens are
// replaced by copies in which one function is another; providers that open such objects for themselves keep theirs.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>

#include "base/redirect.hpp"
#include "mpi/waiting/networks/libfabric.hpp"
#include "mpi/waiting/networks/network.hpp"

namespace lull::mpi {
namespace {

using namespace libfabric;

constexpr std::size_t most_queues = 64;

struct queue {
  std::atomic<queue_object*> object{nullptr};
  fabric_object* fabric = nullptr;
  int descriptor = -1;  // -1: none
};
std::array<queue, most_queues> queues;
std::atomic<int> queues_too_many{0};
bool lacks_descriptors = false;

// The name of the version of its first release, which all have.
constexpr const char* version_of_fabric = "FABRIC_1.1";
int (*open_fabric)(void*, fabric_object**, void*) = nullptr;
void* (*find_version)(void*, const char*, const char*) = nullptr;

// The header of a copied table, in front of it.
template <class Functions>
struct copied_from {
  Functions* original;
  fabric_object* fabric;
};

template <class Functions>
copied_from<Functions>& origin_of(Functions* copy) {
  return reinterpret_cast<copied_from<Functions>*>(copy)[-1];
}

// A copy of the object's table, which the object uses from now on. It is never freed: the provider may use it as long as
// the object exists.
template <class Functions>
Functions& replace_table(object<Functions>& of, fabric_object* fabric) {
  Functions* const original = of.functions;
  auto* const memory = static_cast<std::byte*>(operator new(sizeof(copied_from<Functions>) + original->size));
  auto* const copy = reinterpret_cast<Functions*>(memory + sizeof(copied_from<Functions>));
  std::memcpy(copy, original, original->size);
  origin_of(copy) = {original, fabric};
  return *(of.functions = copy);
}

template <class Functions, class Function>
bool has(const Functions* table, const Function& member) {
  const auto offset = reinterpret_cast<const std::byte*>(&member) - reinterpret_cast<const std::byte*>(table);
  return table->size >= static_cast<std::size_t>(offset) + sizeof member && member != nullptr;
}

ssize_t noted(ssize_t result) {
  // An error entry is something that has come, too.
  if (duty_of_polls != poll_duty::nothing) network_was_polled(result != no_entry);
  return result;
}

ssize_t read_instead(queue_object* of, void* to, std::size_t count) {
  return noted(origin_of(of->functions).original->read(of, to, count));
}

ssize_t readfrom_instead(queue_object* of, void* to, std::size_t count, std::uint64_t* sources) {
  return noted(origin_of(of->functions).original->readfrom(of, to, count, sources));
}

// A queue that is in use cannot be closed, and the library may try again. Otherwise its memory is free afterwards.
int close_instead(identity* of) {
  const auto close = origin_of(of->functions).original->close;
  for (queue& one : queues) {
    queue_object* const object = one.object.load();
    if (object == nullptr || &object->id != of) continue;
    one.object = nullptr;
    const int result = close(of);
    if (result != 0) one.object = object;
    return result;
  }
  return close(of);
}

// Returns whether there is room for the queue.
bool keep(queue_object* made, fabric_object* fabric, int descriptor) {
  for (queue& one : queues) {
    queue_object* none = nullptr;
    if (one.object.load() != nullptr) continue;
    one.fabric = fabric;
    one.descriptor = descriptor;
    if (one.object.compare_exchange_strong(none, made)) return true;
  }
  return false;
}

// -1: it has none.
int descriptor_of(queue_object& of) {
  int descriptor = -1;
  const common_functions* const table = of.id.functions;
  return has(table, table->control) && table->control(&of.id, get_wait_object, &descriptor) == 0 ? descriptor : -1;
}

void follow(queue_object& made, fabric_object* fabric, int descriptor) {
  queue_functions& table = replace_table(made, fabric);
  table.read = read_instead;
  table.readfrom = readfrom_instead;
  if (keep(&made, fabric, descriptor)) {
    object<common_functions> id{{}, made.id.functions};
    replace_table(id, fabric).close = close_instead;
    made.id.functions = id.functions;
  } else {
    ++queues_too_many;
  }
}

int open_queue_instead(domain_object* domain, queue_attributes* wanted, queue_object** made, void* context) {
  const copied_from<domain_functions>& origin = origin_of(domain->functions);
  if (wanted != nullptr && wanted->wait_object == wait_none) {
    queue_attributes with_descriptor = *wanted;
    with_descriptor.wait_object = wait_descriptor;
    if (origin.original->open_queue(domain, &with_descriptor, made, context) == 0) {
      if (const int descriptor = descriptor_of(**made); descriptor >= 0) {
        follow(**made, origin.fabric, descriptor);
        return 0;
      }
      (*made)->id.functions->close(&(*made)->id);
    }
  }
  const int result = origin.original->open_queue(domain, wanted, made, context);
  if (result == 0) follow(**made, origin.fabric, -1);
  return result;
}

void look_at_queues_of(domain_object& made, fabric_object* fabric) {
  if (has(made.functions, made.functions->open_queue)) replace_table(made, fabric).open_queue = open_queue_instead;
}

int open_domain_instead(fabric_object* fabric, void* info, domain_object** made, void* context) {
  const int result = origin_of(fabric->functions).original->open_domain(fabric, info, made, context);
  if (result == 0) look_at_queues_of(**made, fabric);
  return result;
}

int open_domain2_instead(fabric_object* fabric, void* info, domain_object** made, std::uint64_t flags, void* context) {
  const int result = origin_of(fabric->functions).original->open_domain2(fabric, info, made, flags, context);
  if (result == 0) look_at_queues_of(**made, fabric);
  return result;
}

int open_fabric_instead(void* attributes, fabric_object** made, void* context) {
  const int result = open_fabric(attributes, made, context);
  if (result != 0 || !has((*made)->functions, (*made)->functions->trywait)) return result;
  fabric_functions& table = replace_table(**made, *made);
  table.open_domain = open_domain_instead;
  if (has(&table, table.open_domain2)) table.open_domain2 = open_domain2_instead;
  return result;
}

// Intel MPI opens libfabric and looks for its functions.
void* find_version_instead(void* library, const char* name, const char* version) {
  void* const found = find_version(library, name, version);
  if (found == nullptr || std::strcmp(name, "fi_fabric") != 0 || std::strcmp(version, version_of_fabric) != 0)
    return found;
  open_fabric = reinterpret_cast<decltype(open_fabric)>(found);
  return reinterpret_cast<void*>(&open_fabric_instead);
}

// Only the MPI library's calls, and those of its plugins.
bool is_of_mpi(const loaded_object& object) {
  const char* const name = object.soname();
  for (const char* const beginning : {"libmpi", "libopen-pal", "libmca_", "mca_"})
    if (std::strncmp(name, beginning, std::strlen(beginning)) == 0) return true;
  return false;
}

void redirect_all() {
  if (auto* const found = redirect_calls("fi_fabric", &open_fabric_instead, is_of_mpi)) open_fabric = found;
  if (auto* const found = redirect_calls("dlvsym", &find_version_instead, is_of_mpi)) find_version = found;
}

}  // namespace

void ofi::prepare(const library_of_waiting& of) { now_and_after_plugin(of, "mca_mtl_ofi", redirect_all); }

bool ofi::is_used() {
  return std::ranges::any_of(queues, [](const queue& one) { return one.object.load() != nullptr; });
}

void ofi::open() {
  lacks_descriptors = queues_too_many > 0 || std::ranges::any_of(queues, [](const queue& one) {
                        return one.object.load() != nullptr && one.descriptor < 0;
                      });
  if (lacks_descriptors) sockets::open(true);
}

arming ofi::arm(std::vector<pollfd>& to) {
  if (lacks_descriptors) return sockets::arm(to);
  for (queue& one : queues) {
    queue_object* const object = one.object.load();
    if (object == nullptr) continue;
    if (one.descriptor < 0) return arming::none;  // opened later
    identity* id = &object->id;
    if (one.fabric->functions->trywait(one.fabric, &id, 1) != 0) return arming::not_now;
    to.push_back({.fd = one.descriptor, .events = POLLIN, .revents = 0});
  }
  return to.empty() ? arming::none : arming::armed;
}

}  // namespace lull::mpi
