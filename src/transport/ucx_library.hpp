// UCX, loaded when a process first needs a network and not before: what Lull brings into other people's programs changes
// nothing there. Included by ucx*.cpp alone.
//
// A library that is linked is in every process that has Lull in it, and UCX does things as soon as it is loaded: it catches
// SIGSEGV and its kind, to print a page about itself, and some builds start a thread. It is asked to do neither. Nor does it
// hook the functions that allocate memory, but where a network registers memory and must learn when that is unmapped. Where the
// program itself has loaded UCX already, everything stays as that has it.
#pragma once
#include <ucp/api/ucp.h>

#include <initializer_list>
#include <utility>
#include <vector>

namespace lull::transport {

// clang-format off
#define LULL_UCX_FUNCTIONS(row) \
  row(ucp_am_recv_data_nbx) \
  row(ucp_am_send_nbx) \
  row(ucp_atomic_op_nbx) \
  row(ucp_cleanup) \
  row(ucp_config_modify) \
  row(ucp_config_read) \
  row(ucp_config_release) \
  row(ucp_ep_close_nbx) \
  row(ucp_ep_create) \
  row(ucp_ep_flush_nbx) \
  row(ucp_ep_rkey_unpack) \
  row(ucp_get_nbx) \
  row(ucp_init_version) \
  row(ucp_mem_map) \
  row(ucp_mem_query) \
  row(ucp_mem_unmap) \
  row(ucp_put_nbx) \
  row(ucp_request_check_status) \
  row(ucp_request_free) \
  row(ucp_rkey_buffer_release) \
  row(ucp_rkey_destroy) \
  row(ucp_rkey_pack) \
  row(ucp_rkey_ptr) \
  row(ucp_worker_arm) \
  row(ucp_worker_create) \
  row(ucp_worker_destroy) \
  row(ucp_worker_get_address) \
  row(ucp_worker_get_efd) \
  row(ucp_worker_progress) \
  row(ucp_worker_release_address) \
  row(ucp_worker_set_am_recv_handler) \
  row(ucs_status_string)
// clang-format on

// Its functions, by their own names.
struct ucx_library {
#define LULL_POINTER(name) decltype(&::name) name = nullptr;
  LULL_UCX_FUNCTIONS(LULL_POINTER)
#undef LULL_POINTER
};

extern ucx_library library;  // all null before load_ucx()

// Once; later calls do nothing. `registers`: a network that is used registers memory. Throws lull::error where there is none, or
// an older one. It is never unloaded.
void load_ucx(bool registers);

// Variables that only UCX reads, for as long as it reads them: what the user has not set. Then the program's environment is as
// before.
class ucx_environment {
 public:
  using variable = std::pair<const char*, const char*>;
  ucx_environment(std::initializer_list<variable> wanted);
  ~ucx_environment();
  ucx_environment(const ucx_environment&) = delete;
  ucx_environment& operator=(const ucx_environment&) = delete;

 private:
  std::vector<const char*> set_;
};

}  // namespace lull::transport
