// RDMA over libfabric. Only libfabric.cpp includes it.
//
// Providers name memory in three ways, FI_MR_ENDPOINT, FI_MR_VIRT_ADDR and FI_MR_PROV_KEY in any combination: the
// memory is bound to the endpoint or not, its bytes are addressed from 0 or from their virtual address, and its key is
// chosen by Lull or by the provider.
#pragma once
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/libfabric/endpoint.hpp"
#include "transport/pool.hpp"
#include "transport/remote_memory.hpp"

namespace lull::transport {

class libfabric_memory final : public remote_memory {
 public:
  // Registers the memory. Throws lull::error if that is refused.
  libfabric_memory(endpoint& over, const options& wanted);

  // Throws lull::error if the provider's adapter locks memory and this process may not lock enough of it: messages would
  // fail when the library registers its buffers.
  static void check_locked_memory(endpoint& over);

  // Appends what others need to reach the memory; they pass it to set_peer().
  void append_key(std::vector<std::byte>& address) const;
  void set_peer(int peer, fi_addr_t address, std::span<const std::byte> key);

  [[nodiscard]] std::byte* exposed() const override { return memory_.data(); }
  [[nodiscard]] std::size_t bytes() const override { return memory_.size(); }
  [[nodiscard]] reach reaches(int peer) override { return at(peer).reached; }
  [[nodiscard]] bool by_processor(int) override { return false; }
  [[nodiscard]] std::byte* look_into(int) override { return nullptr; }
  void put(int peer, std::size_t offset, const void* source, std::size_t bytes, accessing& then) override;
  void get(int peer, std::size_t offset, void* destination, std::size_t bytes, accessing& then) override;
  void flush(int peer, accessing& then) override;

 private:
  enum class kind : std::uint8_t { put, get, flush };
  struct peer {
    fi_addr_t address = FI_ADDR_NOTAVAIL;
    std::uint64_t base = 0, key = 0;
    reach reached = reach::nothing;
    std::size_t puts = 0;  // under way
    std::vector<accessing*> flushing;
  };
  struct access : operation {
    libfabric_memory* owner;
    kind what;
    int peer;
    std::size_t offset, bytes;
    void* local;
    accessing* then;
    std::byte read_to_flush;
  };
  peer& at(int which) { return peers_[static_cast<std::size_t>(which)]; }
  void begin(kind what, int peer, std::size_t offset, void* local, std::size_t bytes, accessing& then);
  static ssize_t post(operation& posted);
  static void ended(operation& ended, const ending& how);
  void finish_flushes(int which);

  endpoint& over_;
  std::span<std::byte> memory_;
  bool emulation_too_;
  std::uint64_t key_ = 0, base_ = 0;
  std::vector<peer> peers_;
  pool<access> accesses_;
  owned_fid<fid_mr> registration_;
};

}  // namespace lull::transport
