// Loads UCX when a process first needs a network, so that Lull changes nothing in programs that need none. Only
// this folder includes it.
//
// If UCX were linked, it would be in every process with Lull, and it acts as soon as it is loaded: it installs handlers
// for SIGSEGV and similar signals, and some builds start a thread. Lull switches both off. It also switches off UCX's
// hooks of memory functions, unless a network registers memory and must know when that is unmapped. If the program has
// loaded UCX itself, all this remains as the program has it.
#pragma once
#include <ucp/api/ucp.h>

#include <array>

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
  row(ucp_ep_query) \
  row(ucp_ep_rkey_unpack) \
  row(ucp_get_nbx) \
  row(ucp_get_version) \
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

// Pointers to UCX's functions, under their own names.
struct ucx_library {
#define LULL_POINTER(name) decltype(&::name) name = nullptr;
  LULL_UCX_FUNCTIONS(LULL_POINTER)
#undef LULL_POINTER
};

extern ucx_library library;  // all null before load_ucx()

// Loads UCX, once; it is never unloaded. `registers`: a network that is used registers memory. Throws lull::error if
// UCX is missing or too old.
void load_ucx(bool registers);

// Of the library that is loaded: major and minor.
using version_of_ucx = std::array<unsigned, 2>;
[[nodiscard]] version_of_ucx ucx_version();

}  // namespace lull::transport
