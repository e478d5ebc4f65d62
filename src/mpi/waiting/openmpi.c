#define _GNU_SOURCE
#include "mpi/waiting/openmpi.h"

#include <ctype.h>
#include <dlfcn.h>
#include <mpi.h>
#include <ompi/communicator/communicator.h>
#include <ompi/mca/bml/bml.h>
#include <ompi/mca/pml/base/base.h>
#include <ompi/proc/proc.h>
#include <ompi_config.h>
#include <opal/mca/btl/base/base.h>
#include <opal/mca/btl/btl.h>
#include <opal/util/proc.h>
#include <opal_config.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static ompi_communicator_t* world;
static void (*set_yield_when_idle)(bool);
static opal_proc_t* (*proc_lookup)(const opal_process_name_t);
static mca_btl_base_module_t *shared_memory, *self;

static mca_btl_base_module_send_fn_t real_send, real_self_send;
static mca_btl_base_module_sendi_fn_t real_sendi, real_self_sendi;
static const uint32_t* somebody_sleeps;
static void (*after_send)(const void*);
static void (*after_returning_send)(const void*);
static void (*after_self_send)(void);

/* The layouts of Open MPI's structures depend on its version and its configuration (--enable-debug, CUDA, ...), which
 * no function returns. Therefore every value is compared with the public interface, or checked for plausibility, before
 * it is used, and only mapped memory is read. */

static bool is_mapped(const void* at, size_t bytes) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t first = (uintptr_t)at & ~(page - 1), end = (uintptr_t)at + bytes;
  unsigned char in_core;
  if (at == NULL || end < (uintptr_t)at) return false;
  for (uintptr_t one = first; one < end; one += page)
    if (mincore((void*)one, 1, &in_core) != 0) return false; /* NOLINT(performance-no-int-to-ptr): a page's number */
  return true;
}

static bool is_name(const char* text, size_t most) {
  for (size_t i = 0; i < most && is_mapped(text + i, 1); ++i) {
    if (text[i] == '\0') return i > 0;
    if (!isalnum((unsigned char)text[i]) && text[i] != '_') return false;
  }
  return false;
}

/* Whether the function belongs to the library that contains the component. */
static bool is_of(const void* component, void (*function)(void)) {
  Dl_info of_component, of_function;
  void* code;
  memcpy(&code, &function, sizeof code);
  return dladdr(component, &of_component) != 0 && dladdr(code, &of_function) != 0 &&
         of_component.dli_fbase == of_function.dli_fbase;
}

static bool is_transport(const mca_btl_base_module_t* module) {
  const mca_btl_base_component_t* component;
  if (!is_mapped(module, sizeof *module)) return false;
  component = module->btl_component;
  return is_mapped(component, sizeof *component) &&
         is_name(component->btl_version.mca_component_name, MCA_BASE_MAX_COMPONENT_NAME_LEN) &&
         is_of(component, (void (*)(void))module->btl_send) &&
         (module->btl_sendi == NULL || is_of(component, (void (*)(void))module->btl_sendi));
}

static bool is_the_world(void* library, int* rank, int* ranks) {
  int (*comm_rank)(void*, int*) = (int (*)(void*, int*))dlsym(library, "PMPI_Comm_rank");
  int (*comm_size)(void*, int*) = (int (*)(void*, int*))dlsym(library, "PMPI_Comm_size");
  const ompi_group_t* group = world->c_local_group;
  if (!comm_rank || !comm_size || comm_rank(world, rank) != 0 || comm_size(world, ranks) != 0) return false;
  return is_mapped(group, sizeof *group) && world->c_my_rank == *rank && group->grp_proc_count == *ranks &&
         is_mapped(group->grp_proc_pointers, (size_t)*ranks * sizeof(void*));
}

/* The library's object, not one with the same name to which references in this file would resolve. */
static void* of(void* library, const char* name) { return dlsym(library, name); }

const char* lull_openmpi_open(struct lull_openmpi* found, void* library) {
  static char why[160];
  static const char strange[] = "this Open MPI is configured differently from the one that Lull was built for";
  const int most_transports = 64;
  int (*version)(char*, int*) = (int (*)(char*, int*))of(library, "PMPI_Get_library_version");
  const mca_pml_base_component_t* pml = of(library, "mca_pml_base_selected_component");
  const opal_list_t* btls = of(library, "mca_btl_base_modules_initialized");
  const opal_process_info_t* process = of(library, "opal_process_info");
  const bool* yields = of(library, "opal_progress_yield_when_idle");
  const bool* multiple = of(library, "ompi_mpi_thread_multiple");
  found->progress = (void (*)(void))of(library, "opal_progress");
  set_yield_when_idle = (void (*)(bool))of(library, "opal_progress_set_yield_when_idle");
  proc_lookup = (opal_proc_t * (*)(const opal_process_name_t)) of(library, "ompi_proc_lookup");
  world = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world"); /* a program may have a copy, which is the one in use */
  if (!world) world = of(library, "ompi_mpi_comm_world");
  if (!version || !pml || !btls || !process || !yields || !multiple || !found->progress || !set_yield_when_idle ||
      !proc_lookup || !world)
    return "cannot find the idle loop of this Open MPI";

  char said[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0, major = 0, minor = 0;
  version(said, &length);
  if (sscanf(said, "Open MPI v%d.%d", &major, &minor) != 2 || major != OMPI_MAJOR_VERSION ||
      minor != OMPI_MINOR_VERSION) {
    snprintf(why, sizeof why, "Lull was built for Open MPI %d.%d, but this is %.40s", OMPI_MAJOR_VERSION,
             OMPI_MINOR_VERSION, said);
    return why;
  }
  if (!is_name(pml->pmlm_version.mca_component_name, MCA_BASE_MAX_COMPONENT_NAME_LEN)) return strange;
  if (strcmp(pml->pmlm_version.mca_component_name, "ob1") != 0) {
    snprintf(why, sizeof why, "Open MPI's pml %.40s does not report the arrival of messages; use pml ob1",
             pml->pmlm_version.mca_component_name);
    return why;
  }
  if (!is_the_world(library, &found->rank, &found->ranks)) return strange;
  int transports = 0;
  const opal_list_item_t* item = (const opal_list_item_t*)btls->opal_list_sentinel.opal_list_next;
  for (; item != &btls->opal_list_sentinel; item = (const opal_list_item_t*)item->opal_list_next) {
    const mca_btl_base_selected_module_t* selected = (const mca_btl_base_selected_module_t*)item;
    if (++transports > most_transports || !is_mapped(selected, sizeof *selected) || !is_transport(selected->btl_module))
      return strange;
    mca_btl_base_module_t* module = selected->btl_module;
    const char* name = module->btl_component->btl_version.mca_component_name;
    if (strcmp(name, "vader") == 0) {
      shared_memory = module;
    } else if (strcmp(name, "self") == 0) {
      self = module;
    } else if (strcmp(name, "tcp") != 0) {
      snprintf(why, sizeof why, "Open MPI's btl %.40s does not report the arrival of messages; use vader and tcp",
               name);
      return why;
    }
  }
  found->ranks_of_node = process->num_local_peers + 1;
  found->shares_memory = shared_memory != NULL && found->ranks_of_node > 1;
  found->yields = *yields;
  found->several_threads = *multiple;
  return NULL;
}

void lull_openmpi_yield_when_idle(bool yield) { set_yield_when_idle(yield); }

/* x86 reorders only a load before an older store. The delay of the store is bounded, and a sleeper looks for
 * that long after it has announced its sleep (bells.hpp). On other architectures a fence keeps the order. */
static inline bool somebody(void) {
#if !defined(__x86_64__)
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
  return __builtin_expect(__atomic_load_n(somebody_sleeps, __ATOMIC_RELAXED) != 0, 0);
}

static int told_send(mca_btl_base_module_t* btl, struct mca_btl_base_endpoint_t* endpoint,
                     mca_btl_base_descriptor_t* descriptor, mca_btl_base_tag_t tag) {
  after_returning_send(endpoint); /* before: the fragment may be back when the call is */
  const int result = real_send(btl, endpoint, descriptor, tag);
  if (somebody()) after_send(endpoint);
  return result;
}

static int told_sendi(mca_btl_base_module_t* btl, struct mca_btl_base_endpoint_t* endpoint,
                      struct opal_convertor_t* convertor, void* header, size_t header_size, size_t payload_size,
                      uint8_t order, uint32_t flags, mca_btl_base_tag_t tag, mca_btl_base_descriptor_t** descriptor) {
  const int result =
      real_sendi(btl, endpoint, convertor, header, header_size, payload_size, order, flags, tag, descriptor);
  if (somebody()) after_send(endpoint);
  return result;
}

static int told_self_send(mca_btl_base_module_t* btl, struct mca_btl_base_endpoint_t* endpoint,
                          mca_btl_base_descriptor_t* descriptor, mca_btl_base_tag_t tag) {
  const int result = real_self_send(btl, endpoint, descriptor, tag);
  if (somebody()) after_self_send();
  return result;
}

static int told_self_sendi(mca_btl_base_module_t* btl, struct mca_btl_base_endpoint_t* endpoint,
                           struct opal_convertor_t* convertor, void* header, size_t header_size, size_t payload_size,
                           uint8_t order, uint32_t flags, mca_btl_base_tag_t tag,
                           mca_btl_base_descriptor_t** descriptor) {
  const int result =
      real_self_sendi(btl, endpoint, convertor, header, header_size, payload_size, order, flags, tag, descriptor);
  if (somebody()) after_self_send();
  return result;
}

void lull_openmpi_tell_of_sends(const uint32_t* somebody_word, void (*sent)(const void*), void (*returns)(const void*),
                                void (*sent_to_self)(void)) {
  somebody_sleeps = somebody_word;
  after_send = sent;
  after_returning_send = returns;
  after_self_send = sent_to_self;
  if (shared_memory) {
    real_send = shared_memory->btl_send;
    real_sendi = shared_memory->btl_sendi;
    shared_memory->btl_send = told_send;
    if (real_sendi) shared_memory->btl_sendi = told_sendi;
  }
  if (self) {
    real_self_send = self->btl_send;
    real_self_sendi = self->btl_sendi;
    self->btl_send = told_self_send;
    if (real_self_sendi) self->btl_sendi = told_self_sendi;
  }
}

int lull_openmpi_rank_of(const void* endpoint) {
  const ompi_group_t* group = world->c_local_group;
  for (int rank = 0; rank < group->grp_proc_count; ++rank) {
    ompi_proc_t* proc = group->grp_proc_pointers[rank];
    if (ompi_proc_is_sentinel(proc))
      proc = (ompi_proc_t*)proc_lookup(ompi_proc_sentinel_to_name((uintptr_t)proc)); /* by another group */
    if (!proc) continue;
    const mca_bml_base_endpoint_t* bml = proc->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML];
    if (!bml) continue;
    for (size_t i = 0; i < bml->btl_send.arr_size; ++i)
      if (bml->btl_send.bml_btls[i].btl_endpoint == endpoint) return rank;
  }
  return -1;
}
