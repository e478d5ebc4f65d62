// RDMA over UCX. Only ucx.cpp includes it.
//
// The network decides which memory UCX reaches: verbs reach all registered memory, shared memory only what UCX has
// allocated itself, and tcp none, so that UCX emulates puts and gets by messages. Accesses certainly need no help from
// the peer where ucp_rkey_ptr() maps its memory into this process, and where UCX reports that it reaches the peer by an
// adapter alone (lanes.hpp); UCX 1.13 does not report that.
#pragma once
#include <ucp/api/ucp.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transport/remote_memory.hpp"
#include "transport/ucx/ucx.hpp"

namespace lull::transport {

class ucx_memory final : public remote_memory {
 public:
  using connection = std::function<ucp_ep_h(int peer)>;  // returns null if there is no connection

  // Exposes memory that UCX allocates, if that can be shared between emulated nodes; otherwise registers the memory of
  // the options if `registers`, and returns null if not. Throws lull::error if the network refuses it.
  [[nodiscard]] static std::unique_ptr<ucx_memory> expose(ucp_context_h context, const options& wanted, bool registers,
                                                          connection to);
  // Throws lull::error if UCX's network locks memory and this process may not lock enough of it: messages would never
  // leave, while UCX tries again to register its buffers.
  static void check_locked_memory(ucp_context_h context);
  ~ucx_memory() override;

  // The key that others need to reach the memory; they pass it to set_key().
  [[nodiscard]] std::vector<std::byte> key() const;
  void set_key(int peer, std::span<const std::byte> key);
  void forget_peers();  // to be called before connections end
  // Why memory of a peer is not accessed, as a clause; empty if there is no such peer so far.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }

  [[nodiscard]] std::byte* exposed() const override { return pages_; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }
  [[nodiscard]] reach reaches(int peer) override { return known(peer).reached; }
  [[nodiscard]] bool by_processor(int peer) override { return known(peer).shown != nullptr; }
  [[nodiscard]] std::byte* look_into(int peer) override { return known(peer).shown; }
  void put(int peer, std::size_t offset, const void* source, std::size_t bytes, accessing& then) override;
  void get(int peer, std::size_t offset, void* destination, std::size_t bytes, accessing& then) override;
  void fetch(int peer, std::size_t offset, change how, const void* operand, void* old, std::size_t width,
             accessing& then) override;
  void flush(int peer, accessing& then) override;

  // While UCX calls back, flushes are only noted: UCX 1.18 aborts if one begins while it sends what has waited for a
  // connection. Returns whether any has begun.
  void postpone_flushes() { postpones_ = true; }
  bool begin_postponed_flushes();

 private:
  struct peer {
    std::vector<std::byte> packed;  // its key, until the first use
    std::uint64_t base = 0;
    ucp_ep_h endpoint = nullptr;
    ucp_rkey_h key = nullptr;
    std::byte* shown = nullptr;
    reach reached = reach::nothing;
    bool asked = false;
  };
  ucx_memory(ucp_context_h context, const options& wanted, connection to);
  [[nodiscard]] bool map(std::span<std::byte> given, std::size_t bytes, bool allocated);
  void unmap();
  peer& known(int which) {
    peer& other = peers_[static_cast<std::size_t>(which)];
    if (!other.asked) [[unlikely]]
      ask(which, other);
    return other;
  }
  void ask(int which, peer& other);

  ucp_context_h context_;
  connection connection_;
  bool emulation_too_;
  std::string why_not_;
  ucp_mem_h handle_ = nullptr;
  std::byte* pages_ = nullptr;
  std::size_t bytes_ = 0;
  std::vector<peer> peers_;
  struct postponed {
    int peer;
    accessing* then;
  };
  std::vector<postponed> postponed_;
  bool postpones_ = false;
};

}  // namespace lull::transport
