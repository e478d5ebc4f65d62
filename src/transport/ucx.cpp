#include "transport/ucx.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <ucp/api/ucp.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/received_bytes.hpp"
#include "base/settings.hpp"
#include "model/machine.hpp"
#include "transport/ucx_memory.hpp"

namespace lull::transport {
namespace {

std::string answer(ucs_status_t status) { return std::string("UCX answered ") + ucs_status_string(status); }

void check(ucs_status_t status, const char* asked) {
  if (status != UCS_OK) throw error(asked, answer(status));
}

std::size_t rendezvous_threshold() {
  const char* const given = std::getenv("UCX_RNDV_THRESH");  // NOLINT(concurrency-mt-unsafe): before any thread starts
  if (!given || std::string_view(given) == "auto") return model::message_costs{}.rendezvous_from_bytes;
  if (std::string_view(given) == "inf") return std::numeric_limits<std::size_t>::max();
  try {
    return parse_size(given);
  } catch (const error&) {
    throw usage_error("read UCX_RNDV_THRESH", "'" + std::string(given) + "' is no number of bytes",
                      "give one, as in 64k, or auto or inf: fence must know which messages may be overtaken");
  }
}

std::string loopback_interface() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) throw error("list the network interfaces", describe_errno(errno));
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(first, freeifaddrs);
  for (const ifaddrs* one = first; one; one = one->ifa_next)
    if ((one->ifa_flags & IFF_LOOPBACK) != 0 && (one->ifa_flags & IFF_UP) != 0) return one->ifa_name;
  throw error("join the emulated nodes of this host", "its loopback interface is not up",
              "ip link set lo up, or name another in UCX_NET_DEVICES");
}

class ucx final : public transport {
 public:
  ucx(receiver& to, const ucx_settings& wanted);
  ~ucx() override;

  [[nodiscard]] std::vector<std::byte> address() const override;
  void introduce(int peer, std::span<const std::byte> address) override;
  [[nodiscard]] int connections() const override;
  void disconnect() override;
  [[nodiscard]] std::size_t overtakable_from() const override { return rendezvous_from_; }
  void send(int peer, unsigned kind, outgoing& message, std::span<const std::byte> header, const void* payload,
            std::size_t bytes, order wanted) override;
  void fetch(const incoming& announced, void* destination, fetching& then) override;
  [[nodiscard]] remote_memory* remote() override { return memory_.get(); }
  bool progress() override { return ucp_worker_progress(worker_) != 0; }
  bool arm() override { return ucp_worker_arm(worker_) == UCS_OK; }
  [[nodiscard]] int event_fd() const override { return event_fd_; }

 private:
  struct peer {
    ucx* owner = nullptr;
    ucp_ep_h endpoint = nullptr;  // from the first message on
    bool lost = false;
    std::vector<std::byte> address;
  };
  struct listener {
    ucx* owner;
    unsigned kind;
  };
  ucs_status_t connect(peer& to);
  ucp_ep_h connection(int peer);
  void listen(listener& to);

  receiver& receiver_;
  std::size_t rendezvous_from_;  // bytes of payload
  bool outlives_peers_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int event_fd_ = -1;
  std::vector<peer> peers_;
  std::array<listener, kinds> listeners_;
  std::unique_ptr<ucx_memory> memory_;
};

// Whether anything may be exposed: between emulated nodes only where the user has named another network than ours.
bool may_expose(const ucx_settings& wanted) {
  if (wanted.memory.empty() || wanted.rdma == rdma_use::off) return false;
  if (wanted.rdma == rdma_use::on) return true;
  return wanted.emulated && std::getenv("UCX_TLS");  // NOLINT(concurrency-mt-unsafe): before any thread starts
}

// What UCX is to do, unless the user has said otherwise.
void set_defaults(const ucx_settings& wanted) {
  // UCX would use shared memory between emulated nodes too, where it loses wake-ups and where no wire is emulated.
  if (wanted.emulated) setenv("UCX_TLS", "tcp,self", 0);  // NOLINT(concurrency-mt-unsafe): before any thread starts
  // UCX complains, on stdout, about settings of a network that it is not to use.
  const char* const given = std::getenv("UCX_TLS");  // NOLINT(concurrency-mt-unsafe)
  const std::string_view networks = given ? given : "all";
  const auto may_use = [&](std::string_view name) { return networks.find(name) != std::string_view::npos; };
  if (!networks.starts_with('^') && !may_use("tcp") && !may_use("all")) return;
  // Larger pieces than UCX's 8 KiB save most of the system calls of a large message.
  setenv("UCX_TCP_TX_SEG_SIZE", "64k", 0);  // NOLINT(concurrency-mt-unsafe)
  setenv("UCX_TCP_RX_SEG_SIZE", "64k", 0);  // NOLINT(concurrency-mt-unsafe)
}

ucx::ucx(receiver& to, const ucx_settings& wanted)
    : receiver_(to),
      rendezvous_from_(rendezvous_threshold()),
      outlives_peers_(wanted.outlives_peers),
      peers_(static_cast<std::size_t>(wanted.processes)),
      listeners_{} {
  const bool exposes = may_expose(wanted);
  set_defaults(wanted);
  ucp_config_t* config = nullptr;
  check(ucp_config_read(nullptr, nullptr, &config), "read UCX's settings");
  const std::unique_ptr<ucp_config_t, void (*)(ucp_config_t*)> release(config, ucp_config_release);
  if (wanted.one_host && !std::getenv("UCX_NET_DEVICES"))  // NOLINT(concurrency-mt-unsafe): before any thread starts
    check(ucp_config_modify(config, "NET_DEVICES", loopback_interface().c_str()), "keep UCX to the loopback");
  // An idle connection does not show that its peer has died: look after it every so often.
  if (outlives_peers_ && !std::getenv("UCX_KEEPALIVE_INTERVAL"))  // NOLINT(concurrency-mt-unsafe): the same
    check(ucp_config_modify(config, "KEEPALIVE_INTERVAL", "1s"), "look after UCX's connections");
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS | UCP_PARAM_FIELD_NAME;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  if (exposes) params.features |= UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64;
  params.estimated_num_eps = peers_.size();
  params.name = "lull";
  check(ucp_init(&params, config, &context_), "start UCX");
  ucp_worker_params_t worker{};
  worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  check(ucp_worker_create(context_, &worker, &worker_), "open a UCX worker");
  check(ucp_worker_get_efd(worker_, &event_fd_),
        "get UCX's event descriptor (UCX_TLS may name a transport without one)");
  for (unsigned kind = 0; kind < kinds; ++kind) {
    listeners_[kind] = {this, kind};
    listen(listeners_[kind]);
  }
  if (exposes) memory_ = ucx_memory::expose(context_, wanted, [this](int peer) { return connection(peer); });
}

ucx::~ucx() {
  memory_.reset();
  if (worker_) ucp_worker_destroy(worker_);
  if (context_) ucp_cleanup(context_);
}

void ucx::listen(listener& to) {
  ucp_am_handler_param_t param{};
  param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG |
                     UCP_AM_HANDLER_PARAM_FIELD_FLAGS;
  param.id = to.kind;
  param.arg = &to;
  param.flags = UCP_AM_FLAG_WHOLE_MSG;
  param.cb = [](void* self, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                const ucp_am_recv_param_t* received) {
    const auto& [owner, kind] = *static_cast<listener*>(self);
    const bool announced = (received->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
    owner->receiver_.received(kind, {static_cast<const std::byte*>(header), header_bytes}, {data, bytes, announced});
    return UCS_OK;  // UCX lets go of an announced payload that nobody has fetched
  };
  check(ucp_worker_set_am_recv_handler(worker_, &param), "listen for messages");
}

std::vector<std::byte> ucx::address() const {
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  check(ucp_worker_get_address(worker_, &address, &bytes), "get this PE's UCX address");
  std::vector<std::byte> all(sizeof bytes + bytes);
  std::memcpy(all.data(), &bytes, sizeof bytes);
  std::memcpy(all.data() + sizeof bytes, address, bytes);
  ucp_worker_release_address(worker_, address);
  if (memory_) {
    const auto key = memory_->key();
    all.insert(all.end(), key.begin(), key.end());
  }
  return all;
}

void ucx::introduce(int peer, std::span<const std::byte> address) {
  received_bytes read(address, "reach process " + std::to_string(peer));
  const auto worker = read.take(read.take<std::size_t>());
  peers_[static_cast<std::size_t>(peer)].address.assign(worker.begin(), worker.end());
  if (memory_) memory_->introduce(peer, read.rest());
}

int ucx::connections() const {
  return static_cast<int>(std::ranges::count_if(peers_, [](const peer& other) { return other.endpoint != nullptr; }));
}

ucs_status_t ucx::connect(peer& to) {
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  params.address = reinterpret_cast<const ucp_address_t*>(to.address.data());
  if (outlives_peers_) {
    params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler.arg = &to;
    params.err_handler.cb = [](void* gone, ucp_ep_h, ucs_status_t) {
      auto& other = *static_cast<peer*>(gone);
      if (std::exchange(other.lost, true)) return;
      other.owner->receiver_.lost(static_cast<int>(&other - other.owner->peers_.data()));
    };
  }
  to.owner = this;
  return ucp_ep_create(worker_, &params, &to.endpoint);
}

ucp_ep_h ucx::connection(int peer) {
  auto& to = peers_[static_cast<std::size_t>(peer)];
  if (to.lost || (!to.endpoint && connect(to) != UCS_OK)) return nullptr;
  return to.endpoint;
}

void ucx::disconnect() {
  if (memory_) memory_->forget_peers();
  for (peer& other : peers_) {
    if (!other.endpoint) continue;
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_EP_CLOSE_FLAG_FORCE;
    void* request = ucp_ep_close_nbx(other.endpoint, &param);
    other.endpoint = nullptr;
    if (!UCS_PTR_IS_PTR(request)) continue;
    while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker_);
    ucp_request_free(request);
  }
}

void ucx::send(int peer, unsigned kind, outgoing& message, std::span<const std::byte> header, const void* payload,
               std::size_t bytes, order wanted) {
  auto& to = peers_[static_cast<std::size_t>(peer)];
  if (to.lost) [[unlikely]]
    return message.lost("it is gone");
  if (!to.endpoint) [[unlikely]] {
    const ucs_status_t status = connect(to);
    if (status != UCS_OK) return message.lost(answer(status).c_str());
  }
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  // Said for each message, so that what may be overtaken is known here, whatever UCX would choose.
  param.flags =
      wanted == order::free && bytes != 0 && bytes >= rendezvous_from_ ? UCP_AM_SEND_FLAG_RNDV : UCP_AM_SEND_FLAG_EAGER;
  param.user_data = &message;
  param.cb.send = [](void* request, ucs_status_t status, void* user) {
    if (status == UCS_OK || status == UCS_ERR_CANCELED)
      static_cast<outgoing*>(user)->sent();
    else
      static_cast<outgoing*>(user)->lost(answer(status).c_str());
    ucp_request_free(request);
  };
  void* const request = ucp_am_send_nbx(to.endpoint, kind, header.data(), header.size(), payload, bytes, &param);
  if (UCS_PTR_IS_ERR(request))
    message.lost(answer(UCS_PTR_STATUS(request)).c_str());
  else if (request == nullptr)
    message.sent();
}

void ucx::fetch(const incoming& announced, void* destination, fetching& then) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.user_data = &then;
  param.cb.recv_am = [](void* request, ucs_status_t status, std::size_t, void* user) {
    if (status == UCS_OK)
      static_cast<fetching*>(user)->fetched();
    else
      static_cast<fetching*>(user)->lost();
    ucp_request_free(request);
  };
  void* const request = ucp_am_recv_data_nbx(worker_, announced.data, destination, announced.bytes, &param);
  if (UCS_PTR_IS_ERR(request))
    then.lost();
  else if (request == nullptr)
    then.fetched();
}

}  // namespace

std::unique_ptr<transport> make_ucx(receiver& to, const ucx_settings& wanted) {
  return std::make_unique<ucx>(to, wanted);
}

}  // namespace lull::transport
