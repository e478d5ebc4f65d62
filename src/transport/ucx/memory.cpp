#include "transport/ucx/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/pages.hpp"
#include "transport/registration.hpp"
#include "transport/ucx/lanes.hpp"
#include "transport/ucx/library.hpp"

namespace lull::transport {
namespace {

struct packed_key {
  void* bytes = nullptr;
  std::size_t size = 0;
  packed_key(ucp_context_h context, ucp_mem_h memory) {
    if (library.ucp_rkey_pack(context, memory, &bytes, &size) != UCS_OK) bytes = nullptr, size = 0;
  }
  ~packed_key() {
    if (bytes) library.ucp_rkey_buffer_release(bytes);
  }
  packed_key(const packed_key&) = delete;
  packed_key& operator=(const packed_key&) = delete;
};

// Whether this machine has enough memory for `bytes` in each process, if all of it is written.
bool can_be_written(std::size_t bytes, int processes) {
  const auto free_bytes = static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<double>(page_size());
  return static_cast<double>(bytes) * processes < free_bytes / 2;  // other users of memory need the rest
}

// Whether something has written to pages that this process has not touched yet.
bool is_written(std::byte* pages, std::size_t bytes) {
  std::vector<unsigned char> resident(bytes / page_size());
  return mincore(pages, bytes, resident.data()) == 0 &&
         std::ranges::all_of(resident, [](unsigned char page) { return (page & 1U) != 0; });
}

ucp_request_param_t notifying(accessing& then) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.user_data = &then;
  param.cb.send = [](void* request, ucs_status_t status, void* user) {
    library.ucp_request_free(request);
    if (status == UCS_ERR_CANCELED) return;  // by disconnect(): no caller waits for it
    if (status == UCS_OK)
      static_cast<accessing*>(user)->done();
    else
      static_cast<accessing*>(user)->lost(library.ucs_status_string(status));
  };
  return param;
}

// Handles the result of the call that started an access.
void begun(void* request, accessing& then) {
  if (request == nullptr) return then.done();
  if (UCS_PTR_IS_ERR(request)) then.lost(library.ucs_status_string(UCS_PTR_STATUS(request)));
}

// Why accesses over these lanes may need the peer's process.
std::string why_not_by_itself(const std::vector<std::string_view>& lanes, const char* selected) {
  if (lanes.empty()) return "UCX does not report which of its transports it uses";
  std::string names;
  for (const std::string_view one : lanes)
    if (!are_by_adapter({&one, 1}) && names.find(one) == std::string::npos)
      names += (names.empty() ? "" : ", ") + std::string(one);
  if (names.empty()) return std::string(selected) + " is set, and UCX may emulate puts and gets by messages";
  return "UCX uses " + names + ", and may emulate puts and gets by messages";
}

// Only these: over shared memory, UCX 1.13.1 applies the old value to itself in and, or and xor.
constexpr std::array ucx_changes{UCP_ATOMIC_OP_ADD, UCP_ATOMIC_OP_SWAP, UCP_ATOMIC_OP_CSWAP};

}  // namespace

ucx_memory::ucx_memory(ucp_context_h context, const options& wanted, connection to)
    : context_(context),
      connection_(std::move(to)),
      emulation_too_(wanted.rdma == rdma_use::on),
      peers_(static_cast<std::size_t>(wanted.processes)) {}

std::unique_ptr<ucx_memory> ucx_memory::expose(ucp_context_h context, const options& wanted, bool registers,
                                               connection to) {
  std::unique_ptr<ucx_memory> mine(new ucx_memory(context, wanted, std::move(to)));
  // Processes of one host share memory without a network, unless their nodes are emulated. If a network reaches only
  // memory that UCX has allocated, the key to such memory is larger than the key to other memory. The test uses a few
  // pages first: without such a network UCX would allocate all of it from the heap.
  const std::size_t trial_bytes = 16 * page_size(), all_bytes = wanted.memory.size();
  const auto key_bytes = [&] { return packed_key(context, mine->handle_).size; };
  if (wanted.emulated && mine->map(wanted.memory.first(trial_bytes), trial_bytes, false)) {
    const std::size_t of_others = key_bytes();
    // posix writes to a whole allocation to verify that the memory exists.
    const auto harmless = [&] {
      return !is_written(mine->pages_, trial_bytes) || can_be_written(all_bytes, wanted.processes);
    };
    if (mine->map({}, trial_bytes, true) && key_bytes() > of_others && harmless() && mine->map({}, all_bytes, true) &&
        key_bytes() > of_others) {
      madvise(mine->pages_, all_bytes, MADV_REMOVE);  // best effort: memory should be taken on first touch
      return mine;
    }
  }
  mine->unmap();
  if (!registers) return nullptr;
  if (mine->map(wanted.memory, all_bytes, false)) return mine;
  throw usage_error("register the symmetric heap of " + size_in_words(all_bytes) + " with the network",
                    "the network refuses it; " + limit_in_words(limits_of_this_process().locked_bytes),
                    "raise ulimit -l, set a smaller SHMEM_SYMMETRIC_SIZE, or set LULL_RDMA=off");
}

void ucx_memory::check_locked_memory(ucp_context_h context) {
  const std::uint64_t limit = limits_of_this_process().locked_bytes;
  if (limit >= bytes_of_network_buffers) return;
  const std::size_t bytes = limit / page_size() * page_size() + page_size();
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return;
  ucx_memory trial(context, {.processes = 0, .one_host = true}, {});
  const bool locks = trial.map({static_cast<std::byte*>(pages), bytes}, bytes, false);
  trial.unmap();
  munmap(pages, bytes);
  if (locks) return;
  throw usage_error("start UCX",
                    limit_in_words(limit) + ", and the buffers of the network need 128 MiB of locked memory",
                    "raise ulimit -l, or name a network that locks no memory: UCX_TLS=tcp,self");
}

bool ucx_memory::map(std::span<std::byte> given, std::size_t bytes, bool allocated) {
  unmap();
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
  params.address = given.data();
  params.length = bytes;
  params.flags = allocated ? UCP_MEM_MAP_ALLOCATE : 0;
  if (library.ucp_mem_map(context_, &params, &handle_) != UCS_OK) {
    handle_ = nullptr;
    return false;
  }
  ucp_mem_attr_t where{};
  where.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
  if (library.ucp_mem_query(handle_, &where) != UCS_OK) return false;
  pages_ = static_cast<std::byte*>(where.address);
  bytes_ = bytes;
  return true;
}

void ucx_memory::unmap() {
  if (handle_) library.ucp_mem_unmap(context_, std::exchange(handle_, nullptr));
  pages_ = nullptr;
  bytes_ = 0;
}

ucx_memory::~ucx_memory() {
  forget_peers();
  unmap();
}

void ucx_memory::forget_peers() {
  for (peer& other : peers_)
    if (other.key) library.ucp_rkey_destroy(std::exchange(other.key, nullptr));
}

std::vector<std::byte> ucx_memory::key() const {
  const auto base = reinterpret_cast<std::uint64_t>(pages_);
  const packed_key packed(context_, handle_);
  std::vector<std::byte> all(sizeof base + packed.size);
  std::memcpy(all.data(), &base, sizeof base);
  if (packed.size != 0) std::memcpy(all.data() + sizeof base, packed.bytes, packed.size);
  return all;
}

void ucx_memory::set_key(int which, std::span<const std::byte> key) {
  peer& other = peers_[static_cast<std::size_t>(which)];
  if (key.size() <= sizeof other.base) return;  // it exposes no memory
  std::memcpy(&other.base, key.data(), sizeof other.base);
  key = key.subspan(sizeof other.base);
  other.packed.assign(key.begin(), key.end());
}

void ucx_memory::ask(int which, peer& other) {
  other.asked = true;
  const auto packed = std::exchange(other.packed, {});
  if (packed.empty()) return;
  other.endpoint = connection_(which);
  if (!other.endpoint || library.ucp_ep_rkey_unpack(other.endpoint, packed.data(), &other.key) != UCS_OK) return;
  void* shown = nullptr;
  if (library.ucp_rkey_ptr(other.key, other.base, &shown) == UCS_OK) {
    other.shown = static_cast<std::byte*>(shown);
    other.reached = reach::by_itself;
    return;
  }
  const auto lanes = transports_of(other.endpoint);
  const char* const selected = variable_that_selects_protocols();
  if (are_by_adapter(lanes) && selected == nullptr)
    other.reached = reach::by_itself;
  else if (emulation_too_)
    other.reached = reach::emulated;
  else if (why_not_.empty())
    why_not_ = why_not_by_itself(lanes, selected);
}

void ucx_memory::put(int which, std::size_t offset, const void* source, std::size_t bytes, accessing& then) {
  const peer& to = known(which);
  const ucp_request_param_t param = notifying(then);
  begun(library.ucp_put_nbx(to.endpoint, source, bytes, to.base + offset, to.key, &param), then);
}

void ucx_memory::get(int which, std::size_t offset, void* destination, std::size_t bytes, accessing& then) {
  const peer& from = known(which);
  const ucp_request_param_t param = notifying(then);
  begun(library.ucp_get_nbx(from.endpoint, destination, bytes, from.base + offset, from.key, &param), then);
}

void ucx_memory::fetch(int which, std::size_t offset, change how, const void* operand, void* old, std::size_t width,
                       accessing& then) {
  const peer& at = known(which);
  ucp_request_param_t param = notifying(then);
  param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
  param.datatype = ucp_dt_make_contig(width);
  param.reply_buffer = old;
  begun(library.ucp_atomic_op_nbx(at.endpoint, ucx_changes[static_cast<std::size_t>(how)], operand, 1, at.base + offset,
                                  at.key, &param),
        then);
}

void ucx_memory::flush(int which, accessing& then) {
  if (postpones_) return postponed_.push_back({which, &then});
  const ucp_request_param_t param = notifying(then);
  void* const request = library.ucp_ep_flush_nbx(known(which).endpoint, &param);
  // The stores of this processor must also be visible before any later load.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  begun(request, then);
}

bool ucx_memory::begin_postponed_flushes() {
  postpones_ = false;
  if (postponed_.empty()) return false;
  for (const auto& [peer, then] : std::exchange(postponed_, {})) flush(peer, *then);
  return true;
}

}  // namespace lull::transport
