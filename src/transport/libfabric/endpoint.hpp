// An endpoint of libfabric: its choice of provider and interface, its addresses, its completions, and its descriptor to
// sleep on.
//
// begin() posts an operation. While the provider has no room (-FI_EAGAIN, also before a connection is complete), the
// operations for the same peer wait in a queue, which poll() retries.
//
// A provider may have no descriptor (opx, shm, efa before 2.0), and nothing announces that there is room again. In both
// cases the descriptor becomes readable after a nap, whose length grows up to a millisecond while nothing arrives. It
// does so, too, where one thread sleeps and another posts what must wait, or calls a provider that then may miss to wake
// the sleeper (cxi).
#pragma once
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "transport/libfabric/library.hpp"
#include "transport/libfabric/operations.hpp"
#include "transport/libfabric/providers.hpp"
#include "transport/options.hpp"

namespace lull::transport {

class endpoint {
 public:
  // Throws lull::error if libfabric is missing or no provider fits.
  endpoint(const options& wanted, bool exposes_memory, std::size_t head_bytes);

  [[nodiscard]] const provider_facts& facts() const { return *facts_; }
  [[nodiscard]] const char* provider() const { return info_->fabric_attr->prov_name; }
  [[nodiscard]] const fi_info& info() const { return *info_; }
  [[nodiscard]] fid_domain* domain() const { return domain_.get(); }
  [[nodiscard]] fid_ep* get() const { return endpoint_.get(); }
  [[nodiscard]] std::size_t piece_bytes() const { return piece_bytes_; }    // most of a payload in one message
  [[nodiscard]] std::size_t inject_bytes() const { return inject_bytes_; }  // a message up to this may be injected

  [[nodiscard]] std::vector<std::byte> name() const;
  [[nodiscard]] fi_addr_t insert(std::span<const std::byte> name, const std::string& action);

  // Posts an operation. Operations that have the same queue are posted in order. `ended` may be called inside.
  void begin(std::size_t queue, operation& one);
  // Handles completions, and retries what had no room. Returns false if there was nothing.
  bool poll();
  bool arm();  // see transport::arm()
  [[nodiscard]] int event_fd() const { return epoll_.get(); }
  [[nodiscard]] bool has_descriptor() const { return has_descriptor_; }

 private:
  void open(const options& wanted, std::size_t head_bytes);
  void open_completions();
  void watch(int fd);
  void set_timer(std::int64_t at_ns);
  void start_nap();
  void look_again_soon();  // wakes the thread that sleeps now, or none
  void failed();
  bool retry();

  info_list all_;        // what fits
  const fi_info* info_;  // the chosen one
  const provider_facts* facts_ = nullptr;
  std::size_t piece_bytes_ = 0, inject_bytes_ = 0;
  owned_fid<fid_fabric> fabric_;
  owned_fid<fid_domain> domain_;
  owned_fid<fid_av> addresses_;
  owned_fid<fid_cq> completions_;
  owned_fid<fid_ep> endpoint_;
  bool has_descriptor_ = false;
  descriptor epoll_, timer_;
  std::int64_t timer_at_ns_ = 0;  // 0: not set since arm()
  std::int64_t nap_ns_;
  struct listed_queue {
    operation_queue waiting;
    bool listed = false;  // in waiting_
  };
  std::vector<listed_queue> queues_;
  std::vector<std::size_t> waiting_;  // all that are not empty, and some that are
};

}  // namespace lull::transport
