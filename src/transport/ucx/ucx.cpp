#include "transport/ucx/ucx.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <ucp/api/ucp.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "transport/address.hpp"
#include "transport/library_environment.hpp"
#include "transport/registration.hpp"
#include "transport/rendezvous.hpp"
#include "transport/ucx/lanes.hpp"
#include "transport/ucx/library.hpp"
#include "transport/ucx/memory.hpp"

namespace lull::transport {
namespace {

constexpr std::string_view name = "UCX";

std::string answer(ucs_status_t status) { return std::string("UCX answered ") + library.ucs_status_string(status); }

void check(ucs_status_t status, const char* action) {
  if (status != UCS_OK) throw error(action, answer(status));
}

std::string loopback_interface() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) throw error("list the network interfaces", describe_errno(errno));
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(first, freeifaddrs);
  for (const ifaddrs* one = first; one; one = one->ifa_next)
    if ((one->ifa_flags & IFF_LOOPBACK) != 0 && (one->ifa_flags & IFF_UP) != 0) return one->ifa_name;
  throw error("join the emulated nodes of this host", "its loopback interface is not up",
              "run ip link set lo up, or name another interface in UCX_NET_DEVICES");
}

std::size_t adapters(const char* kind) {
  std::error_code none;
  const std::filesystem::directory_iterator first(kind, none);
  return static_cast<std::size_t>(std::distance(first, std::filesystem::directory_iterator()));
}
bool has_adapter(const char* kind) { return adapters(kind) != 0; }

constexpr const char* infiniband = "/sys/class/infiniband";

// Whether this host has a network whose adapter reads registered memory; tcp does not need registration.
bool has_registering_network() {
  return std::ranges::any_of(std::array{infiniband, "/sys/class/cxi", "/sys/class/kgni"}, has_adapter);
}

// Which memory is exposed to RDMA.
struct exposure {
  bool shares = false;     // memory of UCX that emulated nodes share
  bool registers = false;  // the memory of the options
  std::string why_not;     // see why_no_rdma()
};

exposure wanted_exposure(const options& wanted) {
  if (wanted.memory.empty() || wanted.rdma == rdma_use::off) return {};
  if (wanted.rdma == rdma_use::on) return {.shares = wanted.emulated, .registers = true, .why_not = {}};
  // Between emulated nodes only if the user has named another network than ours.
  if (wanted.emulated && variable_of_environment("UCX_TLS") == nullptr) return {};
  exposure found{.shares = wanted.emulated, .registers = false, .why_not = {}};
  if (!has_adapter(infiniband)) return found;
  if (ucx_reports_transports())
    found.why_not = why_not_registered(wanted, adapters(infiniband), limits_of_this_process());
  else
    found.why_not = "UCX " + std::to_string(ucx_version()[0]) + "." + std::to_string(ucx_version()[1]) +
                    " does not report whether an adapter carries out puts; UCX 1.14 and newer do";
  found.registers = found.why_not.empty();
  return found;
}

// Destroys an object of UCX by this function.
template <auto function>
struct ended_by {
  template <class Object>
  void operator()(Object* object) const {
    (library.*function)(object);
  }
};

class ucx final : public transport {
 public:
  ucx(receiver& to, const options& wanted);

  [[nodiscard]] std::vector<std::byte> address() const override;
  void set_address(int peer, std::span<const std::byte> address) override;
  [[nodiscard]] int connections() const override;
  void disconnect() override;
  [[nodiscard]] std::size_t overtakable_from() const override { return rendezvous_from_; }
  void send(int peer, unsigned kind, outgoing& message, std::span<const std::byte> header, const void* payload,
            std::size_t bytes, order wanted) override;
  void fetch(const incoming& announced, void* destination, fetching& then) override;
  [[nodiscard]] remote_memory* remote() override { return memory_.get(); }
  [[nodiscard]] std::string why_no_rdma() const override { return memory_ ? memory_->why_not() : why_no_rdma_; }
  bool progress() override;
  bool arm() override { return library.ucp_worker_arm(worker_.get()) == UCS_OK; }
  [[nodiscard]] bool arm_misses_events() const override { return has_verbs_; }
  [[nodiscard]] int event_fd() const override { return event_fd_; }

 private:
  struct peer {
    ucx* owner = nullptr;
    ucp_ep_h endpoint = nullptr;  // null before the first message
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
  void expose(const options& wanted, exposure& how);

  receiver& receiver_;
  std::size_t rendezvous_from_;  // bytes of payload
  bool outlives_peers_;
  // Verbs notify of completions after the request for it, and UCX 1.13 does not look for earlier ones (seen with
  // rxe). Adapters of Mellanox remember how far UCX has read.
  bool has_verbs_;
  int event_fd_ = -1;
  std::string why_no_rdma_;
  std::vector<peer> peers_;
  std::array<listener, kinds> listeners_;
  // Destroyed in reverse order, and before the members above, which UCX may still call.
  std::unique_ptr<ucp_context, ended_by<&ucx_library::ucp_cleanup>> context_;
  std::unique_ptr<ucp_worker, ended_by<&ucx_library::ucp_worker_destroy>> worker_;
  std::unique_ptr<ucx_memory> memory_;
};

// Lull's settings of UCX, where the user has set none. `registers`: UCX caches registrations of memory.
void set_defaults(const options& wanted, bool registers, ucp_config_t* config) {
  const auto is_open = [](const char* name) {
    return variable_of_environment((std::string("UCX_") + name).c_str()) == nullptr;
  };
  const auto set = [&](const char* name, const char* value, const char* action) {
    if (is_open(name)) check(library.ucp_config_modify(config, name, value), action);
  };
  // UCX would use shared memory between emulated nodes too, where it loses wake-ups and where no wire is emulated.
  if (wanted.emulated) set("TLS", "tcp,self", "restrict UCX to tcp between emulated nodes");
  if (wanted.one_host && is_open("NET_DEVICES"))
    set("NET_DEVICES", loopback_interface().c_str(), "restrict UCX to the loopback interface");
  if (!wanted.outlives_peers) return;
  // An idle connection does not show that its peer has died: look after it every so often.
  set("KEEPALIVE_INTERVAL", "1s", "monitor UCX's connections");
  // Without a cache of registrations, UCX 1.16 to 1.21 crash if a peer dies during a large message that carries a key of
  // memory (https://github.com/openucx/ucx/pull/11485). These protocols send none.
  const version_of_ucx here = ucx_version();
  if (registers || here < version_of_ucx{1, 16} || here >= version_of_ucx{1, 22}) return;
  set("PROTO_ENABLE", "n", "select UCX's protocols");
  set("RNDV_SCHEME", "put_zcopy", "select UCX's protocol of large messages");
}

// Pieces larger than UCX's 8 KiB save most of the system calls of a large message. UCX reads these settings only from
// the environment, when the worker is made, and complains on stdout about settings of a network that it must not use.
std::vector<library_environment::variable> settings_of_tcp(const options& wanted) {
  const char* const given = variable_of_environment("UCX_TLS");
  const std::string_view networks = given ? given : wanted.emulated ? "tcp,self" : "all";
  const auto may_use = [&](std::string_view name) { return networks.find(name) != std::string_view::npos; };
  if (!networks.starts_with('^') && !may_use("tcp") && !may_use("all")) return {};
  return {{"UCX_TCP_TX_SEG_SIZE", "64k"}, {"UCX_TCP_RX_SEG_SIZE", "64k"}};
}

ucx::ucx(receiver& to, const options& wanted)
    : receiver_(to),
      rendezvous_from_(rendezvous_threshold()),
      outlives_peers_(wanted.outlives_peers),
      has_verbs_(has_adapter(infiniband)),
      peers_(static_cast<std::size_t>(wanted.processes)),
      listeners_{} {
  const bool registers = !wanted.emulated && !wanted.one_host && has_registering_network();
  load_ucx(registers);
  exposure exposes = wanted_exposure(wanted);
  const library_environment of_tcp(settings_of_tcp(wanted));
  ucp_config_t* config = nullptr;
  check(library.ucp_config_read(nullptr, nullptr, &config), "read UCX's settings");
  const std::unique_ptr<ucp_config_t, void (*)(ucp_config_t*)> release(config, library.ucp_config_release);
  set_defaults(wanted, registers, config);
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS | UCP_PARAM_FIELD_NAME;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  if (exposes.shares || exposes.registers) params.features |= UCP_FEATURE_RMA;
  if (exposes.shares) params.features |= UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64;  // Lull uses none of an adapter
  params.estimated_num_eps = peers_.size();
  params.name = "lull";
  ucp_context_h context = nullptr;
  check(library.ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &context), "start UCX");
  context_.reset(context);
  ucx_memory::check_locked_memory(context);
  ucp_worker_params_t worker{};
  worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  ucp_worker_h made = nullptr;
  check(library.ucp_worker_create(context, &worker, &made), "open a UCX worker");
  worker_.reset(made);
  check(library.ucp_worker_get_efd(made, &event_fd_),
        "get UCX's event descriptor (UCX_TLS may name a transport that has none)");
  for (unsigned kind = 0; kind < kinds; ++kind) {
    listeners_[kind] = {this, kind};
    listen(listeners_[kind]);
  }
  if (exposes.shares || exposes.registers) expose(wanted, exposes);
  if (!memory_) why_no_rdma_ = std::move(exposes.why_not);
}

void ucx::expose(const options& wanted, exposure& how) try {
  memory_ = ucx_memory::expose(context_.get(), wanted, how.registers, [this](int peer) { return connection(peer); });
} catch (const error& refused) {
  if (wanted.rdma == rdma_use::on) throw;
  how.why_not = refused.what();
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
    return UCS_OK;  // UCX releases an announced payload that was not fetched
  };
  check(library.ucp_worker_set_am_recv_handler(worker_.get(), &param), "listen for messages");
}

std::vector<std::byte> ucx::address() const {
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  check(library.ucp_worker_get_address(worker_.get(), &address, &bytes), "get this PE's UCX address");
  std::vector<std::byte> all = begin_address(name);
  append(all, bytes);
  const auto worker = std::as_bytes(std::span(reinterpret_cast<const char*>(address), bytes));
  all.insert(all.end(), worker.begin(), worker.end());
  library.ucp_worker_release_address(worker_.get(), address);
  if (memory_) {
    const auto key = memory_->key();
    all.insert(all.end(), key.begin(), key.end());
  }
  return all;
}

void ucx::set_address(int peer, std::span<const std::byte> address) {
  received_bytes read = open_address(address, name, peer);
  const auto worker = read.take(read.take<std::size_t>());
  peers_[static_cast<std::size_t>(peer)].address.assign(worker.begin(), worker.end());
  if (memory_) memory_->set_key(peer, read.rest());
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
  return library.ucp_ep_create(worker_.get(), &params, &to.endpoint);
}

ucp_ep_h ucx::connection(int peer) {
  auto& to = peers_[static_cast<std::size_t>(peer)];
  if (to.lost || (!to.endpoint && connect(to) != UCS_OK)) return nullptr;
  return to.endpoint;
}

bool ucx::progress() {
  if (memory_) memory_->postpone_flushes();
  const bool moved = library.ucp_worker_progress(worker_.get()) != 0;
  return (memory_ && memory_->begin_postponed_flushes()) || moved;
}

void ucx::disconnect() {
  if (memory_) memory_->forget_peers();
  for (peer& other : peers_) {
    if (!other.endpoint) continue;
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_EP_CLOSE_FLAG_FORCE;
    void* request = library.ucp_ep_close_nbx(other.endpoint, &param);
    other.endpoint = nullptr;
    if (!UCS_PTR_IS_PTR(request)) continue;
    while (library.ucp_request_check_status(request) == UCS_INPROGRESS) progress();
    library.ucp_request_free(request);
  }
}

void ucx::send(int peer, unsigned kind, outgoing& message, std::span<const std::byte> header, const void* payload,
               std::size_t bytes, order wanted) {
  auto& to = peers_[static_cast<std::size_t>(peer)];
  if (to.lost) [[unlikely]]
    return message.lost("it has ended");
  if (!to.endpoint) [[unlikely]] {
    const ucs_status_t status = connect(to);
    if (status != UCS_OK) return message.lost(answer(status).c_str());
  }
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  // The protocol is set for each message, so that Lull knows which messages may be overtaken, whatever UCX would
  // choose.
  param.flags =
      wanted == order::free && bytes != 0 && bytes >= rendezvous_from_ ? UCP_AM_SEND_FLAG_RNDV : UCP_AM_SEND_FLAG_EAGER;
  param.user_data = &message;
  param.cb.send = [](void* request, ucs_status_t status, void* user) {
    if (status == UCS_OK || status == UCS_ERR_CANCELED)
      static_cast<outgoing*>(user)->sent();
    else
      static_cast<outgoing*>(user)->lost(answer(status).c_str());
    library.ucp_request_free(request);
  };
  void* const request =
      library.ucp_am_send_nbx(to.endpoint, kind, header.data(), header.size(), payload, bytes, &param);
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
    library.ucp_request_free(request);
  };
  void* const request =
      library.ucp_am_recv_data_nbx(worker_.get(), announced.data, destination, announced.bytes, &param);
  if (UCS_PTR_IS_ERR(request))
    then.lost();
  else if (request == nullptr)
    then.fetched();
}

}  // namespace

std::unique_ptr<transport> make_ucx(receiver& to, const options& wanted) { return std::make_unique<ucx>(to, wanted); }

}  // namespace lull::transport
