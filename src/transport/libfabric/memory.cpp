#include "transport/libfabric/memory.hpp"

#include <rdma/fi_rma.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include <string>
#include <utility>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/pages.hpp"
#include "base/received_bytes.hpp"
#include "transport/address.hpp"
#include "transport/registration.hpp"

namespace lull::transport {
namespace {

constexpr const char* action = "register the symmetric heap";
constexpr const char* fix = "raise the limit of locked memory (ulimit -l unlimited), or set LULL_RDMA=off";

}  // namespace

libfabric_memory::libfabric_memory(endpoint& over, const options& wanted)
    : over_(over),
      memory_(wanted.memory),
      emulation_too_(wanted.rdma == rdma_use::on),
      peers_(static_cast<std::size_t>(wanted.processes)) {
  const auto mode = static_cast<unsigned>(over.info().domain_attr->mr_mode);
  fid_mr* made = nullptr;
  const auto status = fi_mr_reg(over.domain(), memory_.data(), memory_.size(), FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1,
                                0, &made, nullptr);
  if (status != 0)
    throw usage_error(std::string(action) + " of " + size_in_words(memory_.size()) + " with the network",
                      libfabric_answer(status) + "; " + limit_in_words(limits_of_this_process().locked_bytes), fix);
  registration_.reset(made);
  if ((mode & FI_MR_ENDPOINT) != 0) {
    check_libfabric(fi_mr_bind(made, &over.get()->fid, 0), action, fix);
    check_libfabric(fi_mr_enable(made), action, fix);
  }
  key_ = fi_mr_key(made);
  if (key_ == FI_KEY_NOTAVAIL)
    throw error(action, std::string("keys of ") + over.provider() + " are longer than 8 bytes", "set LULL_RDMA=off");
  if ((mode & FI_MR_VIRT_ADDR) != 0) base_ = reinterpret_cast<std::uint64_t>(memory_.data());
}

void libfabric_memory::check_locked_memory(endpoint& over) {
  const std::uint64_t limit = limits_of_this_process().locked_bytes;
  if (!over.facts().by_itself || limit >= bytes_of_network_buffers) return;
  const std::size_t bytes = limit / page_size() * page_size() + page_size();
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return;
  fid_mr* trial = nullptr;
  const auto status = fi_mr_reg(over.domain(), pages, bytes, FI_SEND | FI_RECV, 0, 0, 0, &trial, nullptr);
  if (status == 0) fi_close(&trial->fid);
  munmap(pages, bytes);
  if (status != 0)
    throw usage_error("start libfabric",
                      limit_in_words(limit) + ", and the buffers of the network need 128 MiB of locked memory",
                      "raise ulimit -l, or name a provider that locks no memory: LULL_LIBFABRIC_PROVIDER=tcp");
}

void libfabric_memory::append_key(std::vector<std::byte>& address) const {
  append(address, base_);
  append(address, key_);
}

void libfabric_memory::set_peer(int which, fi_addr_t address, std::span<const std::byte> key) {
  peer& one = at(which);
  one.address = address;
  if (key.empty()) return;  // it exposes no memory
  received_bytes read(key, "reach the memory of process " + std::to_string(which));
  one.base = read.take<std::uint64_t>();
  one.key = read.take<std::uint64_t>();
  one.reached = over_.facts().by_itself ? reach::by_itself : emulation_too_ ? reach::emulated : reach::nothing;
}

void libfabric_memory::begin(kind what, int which, std::size_t offset, void* local, std::size_t bytes,
                             accessing& then) {
  access& one = accesses_.take();
  one.operation::post = post;
  one.operation::ended = ended;
  one.owner = this;
  one.what = what;
  one.peer = which;
  one.offset = offset;
  one.bytes = bytes;
  one.local = local;
  one.then = &then;
  over_.begin(static_cast<std::size_t>(which), one);
}

ssize_t libfabric_memory::post(operation& posted) {
  auto& one = static_cast<access&>(posted);
  const peer& to = one.owner->at(one.peer);
  const iovec local{one.what == kind::flush ? &one.read_to_flush : one.local, one.bytes};
  const fi_rma_iov remote{to.base + one.offset, one.bytes, to.key};
  fi_msg_rma message{};
  message.msg_iov = &local;
  message.iov_count = 1;
  message.addr = to.address;
  message.rma_iov = &remote;
  message.rma_iov_count = 1;
  message.context = &one;
  fid_ep* const over = one.owner->over_.get();
  if (one.what != kind::put) return fi_readmsg(over, &message, FI_COMPLETION);
  const bool delivers = one.owner->over_.facts().puts == visible::when_delivered;
  return fi_writemsg(over, &message, FI_COMPLETION | (delivers ? FI_DELIVERY_COMPLETE : 0));
}

void libfabric_memory::ended(operation& ended, const ending& how) {
  auto& one = static_cast<access&>(ended);
  libfabric_memory& mine = *one.owner;
  accessing& then = *one.then;
  const int which = one.peer;
  const bool was_put = one.what == kind::put;
  mine.accesses_.give_back(one);
  if (was_put) --mine.at(which).puts;
  if (how.failure == FI_ECANCELED) return;  // by disconnect(): no caller waits for it
  if (how.failure != 0) return then.lost(libfabric_answer(how.failure).c_str());
  then.done();
  if (was_put) mine.finish_flushes(which);
}

// A flush that waits for puts begins to read, or is done, when none is under way any more.
void libfabric_memory::finish_flushes(int which) {
  peer& to = at(which);
  if (to.puts != 0 || to.flushing.empty()) return;
  for (accessing* const then : std::exchange(to.flushing, {})) flush(which, *then);
}

void libfabric_memory::put(int which, std::size_t offset, const void* source, std::size_t bytes, accessing& then) {
  ++at(which).puts;
  begin(kind::put, which, offset, const_cast<void*>(source), bytes, then);
}

void libfabric_memory::get(int which, std::size_t offset, void* destination, std::size_t bytes, accessing& then) {
  begin(kind::get, which, offset, destination, bytes, then);
}

void libfabric_memory::flush(int which, accessing& then) {
  peer& to = at(which);
  if (to.puts != 0) return to.flushing.push_back(&then);
  if (over_.facts().puts == visible::when_delivered) return then.done();
  begin(kind::flush, which, 0, nullptr, 1, then);
}

}  // namespace lull::transport
