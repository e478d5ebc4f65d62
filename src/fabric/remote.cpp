#include "fabric/remote.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/error.hpp"

namespace lull::fabric {
namespace {

// A transfer has failed. OpenSHMEM has no error to return, and no exception may cross its C interface: the PE ends, and
// with it the job. Nearly always the other PE has died; then the launcher is about to end this one and to say which
// died, so this PE leaves the word to it for a while.
[[noreturn]] void end_after_lost_transfer(pe_id me, ucs_status_t status) {
  std::this_thread::sleep_for(std::chrono::seconds(2));
  std::fprintf(stderr, "lull: PE %d: cannot send to another node: UCX answered %s\n", me.index(),
               ucs_status_string(status));
  std::_Exit(1);
}

enum message_id : unsigned { id_put = 1, id_get, id_reply, id_update, id_acknowledge, id_arrive };

struct put_header {
  std::int32_t from;
  std::uint8_t has_signal, signal_adds;
  std::uint64_t offset, signal_offset, signal_value;
};
struct get_header {
  std::int32_t from;
  std::uint64_t offset, bytes, token;
};
struct reply_header {
  std::uint64_t token;
};
struct update_header {
  std::int32_t from;
  update_op op;
  std::uint8_t width;
  std::uint64_t offset, operand, compare, token;  // token 0: no answer wanted
};
struct acknowledge_header {
  std::int32_t from;
  std::uint32_t count;
};
struct arrive_header {
  std::int32_t node;
  std::uint64_t epoch;
};

// Rendezvous costs three sleeps per transfer instead of one and is slower even when polling; up to this size messages
// go eagerly. Larger ones may overtake each other, so a fence after one waits for it.
constexpr std::size_t eager_limit = std::size_t{1} << 20;

void check(ucs_status_t status, const char* asked) {
  if (status != UCS_OK) throw error(asked, std::string("UCX answered ") + ucs_status_string(status));
}

template <class Header>
Header read_header(const void* bytes) {
  Header header;
  std::memcpy(&header, bytes, sizeof header);
  return header;
}

template <class Word>
std::uint64_t apply_word(const update& u, void* where) {
  const std::atomic_ref<Word> word(*static_cast<Word*>(where));
  const auto operand = static_cast<Word>(u.operand);
  switch (u.op) {
    case update_op::add:
      return word.fetch_add(operand);
    case update_op::set:
      return word.exchange(operand);
    case update_op::fetch:
      return word.load();
    case update_op::bit_and:
      return word.fetch_and(operand);
    case update_op::bit_or:
      return word.fetch_or(operand);
    case update_op::bit_xor:
      return word.fetch_xor(operand);
    case update_op::compare_swap: {
      auto expected = static_cast<Word>(u.compare);
      word.compare_exchange_strong(expected, operand);
      return expected;
    }
  }
  return 0;
}

}  // namespace

std::uint64_t apply_update(const update& u, void* where) {
  return u.width == 4 ? apply_word<std::uint32_t>(u, where) : apply_word<std::uint64_t>(u, where);
}

struct remote::message {
  remote* owner;
  std::atomic<bool>* sent;
  alignas(8) std::byte header[64];

  template <class Header>
  std::size_t set(const Header& content) {
    static_assert(sizeof(Header) <= sizeof header && std::is_trivially_copyable_v<Header>);
    std::memcpy(header, &content, sizeof content);
    return sizeof content;
  }
  // Called with the owner's lock held: the header and the source are no longer needed.
  void finished() {
    if (sent) {
      sent->store(true, std::memory_order_release);
      owner->hooks_.memory_changed();
    }
    owner->free_.push_back(this);
  }
};

struct remote::arrival {
  remote* owner;
  put_header header;
};

remote::remote(pe_id me, int pes, std::span<std::byte> heap, remote_hooks hooks)
    : me_(me), heap_(heap), hooks_(std::move(hooks)), peers_(static_cast<std::size_t>(pes)) {
  ucp_config_t* config = nullptr;
  check(ucp_config_read(nullptr, nullptr, &config), "read UCX's settings");
  if (!std::getenv("UCX_RNDV_THRESH"))  // NOLINT(concurrency-mt-unsafe): before any thread starts
    check(ucp_config_modify(config, "RNDV_THRESH", std::to_string(eager_limit).c_str()), "set UCX's eager limit");
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS | UCP_PARAM_FIELD_NAME;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  params.estimated_num_eps = static_cast<std::size_t>(pes);
  params.name = "lull";
  const ucs_status_t started = ucp_init(&params, config, &context_);
  ucp_config_release(config);
  check(started, "start UCX");
  ucp_worker_params_t worker{};
  worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  check(ucp_worker_create(context_, &worker, &worker_), "open a UCX worker");
  check(ucp_worker_get_efd(worker_, &event_fd_),
        "get UCX's event descriptor (UCX_TLS may name a transport without one)");
  listen<&remote::on_put>(id_put);
  listen<&remote::on_get>(id_get);
  listen<&remote::on_reply>(id_reply);
  listen<&remote::on_update>(id_update);
  listen<&remote::on_acknowledge>(id_acknowledge);
  listen<&remote::on_arrive>(id_arrive);
}

remote::~remote() {
  if (worker_) ucp_worker_destroy(worker_);
  if (context_) ucp_cleanup(context_);
}

template <ucs_status_t (remote::*Member)(const void*, std::size_t, void*, std::size_t, bool)>
ucs_status_t remote::handler(void* self, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                             const ucp_am_recv_param_t* param) {
  return (static_cast<remote*>(self)->*Member)(header, header_bytes, data, bytes,
                                               (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0);
}

template <ucs_status_t (remote::*Member)(const void*, std::size_t, void*, std::size_t, bool)>
void remote::listen(unsigned id) {
  ucp_am_handler_param_t param{};
  param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG |
                     UCP_AM_HANDLER_PARAM_FIELD_FLAGS;
  param.id = id;
  param.cb = &handler<Member>;
  param.arg = this;
  param.flags = UCP_AM_FLAG_WHOLE_MSG;
  check(ucp_worker_set_am_recv_handler(worker_, &param), "listen for messages");
}

std::vector<std::byte> remote::address() const {
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  check(ucp_worker_get_address(worker_, &address, &bytes), "get this PE's UCX address");
  const auto* first = reinterpret_cast<const std::byte*>(address);
  std::vector<std::byte> copy(first, first + bytes);
  ucp_worker_release_address(worker_, address);
  return copy;
}

void remote::connect(pe_id pe, std::vector<std::byte> address) {
  const std::lock_guard hold(lock_);
  peer& other = peer_of(pe);
  other.address = std::move(address);
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  params.address = reinterpret_cast<const ucp_address_t*>(other.address.data());
  check(ucp_ep_create(worker_, &params, &other.endpoint), "connect to a PE of another node");
}

void remote::disconnect() {
  const std::lock_guard hold(lock_);
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

remote::message& remote::new_message(std::atomic<bool>* sent) {
  if (free_.empty()) {
    messages_.push_back(std::make_unique<message>());
    messages_.back()->owner = this;
    free_.push_back(messages_.back().get());
  }
  message& m = *free_.back();
  free_.pop_back();
  m.sent = sent;
  return m;
}

void remote::send(peer& to, unsigned id, message& m, std::size_t header_bytes, const void* data, std::size_t bytes) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.user_data = &m;
  param.cb.send = [](void* request, ucs_status_t status, void* user) {
    auto* const m = static_cast<message*>(user);
    if (status != UCS_OK && status != UCS_ERR_CANCELED) end_after_lost_transfer(m->owner->me_, status);
    m->finished();
    ucp_request_free(request);
  };
  void* const request = ucp_am_send_nbx(to.endpoint, id, m.header, header_bytes, data, bytes, &param);
  if (UCS_PTR_IS_ERR(request)) end_after_lost_transfer(me_, UCS_PTR_STATUS(request));
  if (request == nullptr) m.finished();
}

void remote::put(pe_id pe, std::size_t offset, const void* source, std::size_t bytes, const signal_update* signal,
                 std::atomic<bool>* sent) {
  put_header header{
      .from = me_.index(), .has_signal = 0, .signal_adds = 0, .offset = offset, .signal_offset = 0, .signal_value = 0};
  if (signal) {
    header.has_signal = 1;
    header.signal_adds = signal->add ? 1 : 0;
    header.signal_offset = signal->offset;
    header.signal_value = signal->value;
  }
  if (bytes >= eager_limit) large_put_.store(true, std::memory_order_relaxed);
  const std::lock_guard hold(lock_);
  peer& to = peer_of(pe);
  message& m = new_message(sent);
  ++to.issued;
  issued_.fetch_add(1, std::memory_order_relaxed);
  send(to, id_put, m, m.set(header), source, bytes);
  progress_in_passing();
}

void remote::get(pe_id pe, std::size_t offset, reply& answer) {
  const std::lock_guard hold(lock_);
  message& m = new_message(nullptr);
  const get_header header{me_.index(), offset, answer.bytes, reinterpret_cast<std::uint64_t>(&answer)};
  send(peer_of(pe), id_get, m, m.set(header), nullptr, 0);
}

void remote::change(pe_id pe, const update& u) {
  const std::lock_guard hold(lock_);
  peer& to = peer_of(pe);
  message& m = new_message(nullptr);
  ++to.issued;
  issued_.fetch_add(1, std::memory_order_relaxed);
  send(to, id_update, m, m.set(update_header{me_.index(), u.op, u.width, u.offset, u.operand, u.compare, 0}), nullptr,
       0);
  progress_in_passing();
}

void remote::fetch(pe_id pe, const update& u, reply& answer) {
  const std::lock_guard hold(lock_);
  message& m = new_message(nullptr);
  const auto token = reinterpret_cast<std::uint64_t>(&answer);
  send(peer_of(pe), id_update, m,
       m.set(update_header{me_.index(), u.op, u.width, u.offset, u.operand, u.compare, token}), nullptr, 0);
}

void remote::arrive(pe_id leader, node_id my_node, std::uint64_t epoch) {
  const std::lock_guard hold(lock_);
  message& m = new_message(nullptr);
  send(peer_of(leader), id_arrive, m, m.set(arrive_header{my_node.index(), epoch}), nullptr, 0);
}

bool remote::quiet() const {
  if (acknowledged_.load(std::memory_order_acquire) != issued_.load(std::memory_order_relaxed)) return false;
  large_put_.store(false, std::memory_order_relaxed);
  return true;
}

std::uint64_t remote::unacknowledged(pe_id pe) const {
  const peer& other = peers_[static_cast<std::size_t>(pe.index())];
  return other.issued - other.acknowledged.load(std::memory_order_acquire);
}

std::byte* remote::at(std::size_t offset, std::size_t bytes, const char* what) const {
  if (offset <= heap_.size() && bytes <= heap_.size() - offset) [[likely]]
    return heap_.data() + offset;
  // The sender's mistake, found here; there is nobody to return it to.
  std::fprintf(stderr,
               "lull: PE %d: a %s of %zu bytes at heap offset %zu lies outside the symmetric heap of %zu bytes\n",
               me_.index(), what, bytes, offset, heap_.size());
  std::_Exit(1);
}

void remote::put_applied(const void* header) {
  const auto put = read_header<put_header>(header);
  if (put.has_signal) {
    const update signal{put.signal_adds ? update_op::add : update_op::set, 8, put.signal_offset, put.signal_value, 0};
    apply_update(signal, at(signal.offset, 8, "signal"));
  }
  peer& from = peer_of(pe_id{put.from});
  if (from.owed++ == 0) owing_.emplace_back(put.from);
  hooks_.memory_changed();
}

ucs_status_t remote::on_put(const void* header, std::size_t, void* data, std::size_t bytes, bool rendezvous) {
  const auto put = read_header<put_header>(header);
  std::byte* const destination = at(put.offset, bytes, "put");
  if (!rendezvous) {
    deliver(destination, data, bytes);
    put_applied(header);
    return UCS_OK;
  }
  auto pending = std::make_unique<arrival>(arrival{this, put});
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.user_data = pending.get();
  param.cb.recv_am = [](void* request, ucs_status_t, std::size_t, void* user) {
    const std::unique_ptr<arrival> done(static_cast<arrival*>(user));
    done->owner->put_applied(&done->header);
    ucp_request_free(request);
  };
  void* const request = ucp_am_recv_data_nbx(worker_, data, destination, bytes, &param);
  if (UCS_PTR_IS_PTR(request))
    (void)pending.release();  // the callback takes it
  else if (request == nullptr)
    put_applied(header);
  return UCS_OK;
}

ucs_status_t remote::on_get(const void* header, std::size_t, void*, std::size_t, bool) {
  const auto get = read_header<get_header>(header);
  (void)at(get.offset, get.bytes, "get");
  answers_.push_back({pe_id{get.from}, get.token, get.offset, get.bytes, false, 0});
  return UCS_OK;
}

ucs_status_t remote::on_update(const void* header, std::size_t, void*, std::size_t, bool) {
  const auto u = read_header<update_header>(header);
  const update wanted{u.op, u.width, u.offset, u.operand, u.compare};
  const std::uint64_t old = apply_update(wanted, at(u.offset, u.width, "atomic"));
  if (u.token != 0) {
    answers_.push_back({pe_id{u.from}, u.token, 0, u.width, true, old});
  } else if (peer_of(pe_id{u.from}).owed++ == 0) {
    owing_.emplace_back(u.from);
  }
  if (u.op != update_op::fetch) hooks_.memory_changed();
  return UCS_OK;
}

ucs_status_t remote::on_reply(const void* header, std::size_t, void* data, std::size_t bytes, bool rendezvous) {
  // The token is an address of this process that came back.
  auto& answer =
      *reinterpret_cast<reply*>(read_header<reply_header>(header).token);  // NOLINT(performance-no-int-to-ptr)
  if (!rendezvous) {
    std::memcpy(answer.destination, data, bytes);
    answer.done.store(true, std::memory_order_release);
    hooks_.memory_changed();
    return UCS_OK;
  }
  struct receiving {
    remote* owner;
    reply* answer;
  };
  auto pending = std::make_unique<receiving>(receiving{this, &answer});
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.user_data = pending.get();
  param.cb.recv_am = [](void* request, ucs_status_t, std::size_t, void* user) {
    const std::unique_ptr<receiving> done(static_cast<receiving*>(user));
    done->answer->done.store(true, std::memory_order_release);
    done->owner->hooks_.memory_changed();
    ucp_request_free(request);
  };
  void* const request = ucp_am_recv_data_nbx(worker_, data, answer.destination, bytes, &param);
  if (UCS_PTR_IS_PTR(request)) {
    (void)pending.release();  // the callback takes it
  } else if (request == nullptr) {
    answer.done.store(true, std::memory_order_release);
    hooks_.memory_changed();
  }
  return UCS_OK;
}

ucs_status_t remote::on_acknowledge(const void* header, std::size_t, void*, std::size_t, bool) {
  const auto ack = read_header<acknowledge_header>(header);
  peer_of(pe_id{ack.from}).acknowledged.fetch_add(ack.count, std::memory_order_release);
  acknowledged_.fetch_add(ack.count, std::memory_order_release);
  hooks_.memory_changed();
  return UCS_OK;
}

ucs_status_t remote::on_arrive(const void* header, std::size_t, void*, std::size_t, bool) {
  const auto arrived = read_header<arrive_header>(header);
  hooks_.barrier_arrival(node_id{arrived.node}, arrived.epoch);
  return UCS_OK;
}

bool remote::progress() {
  const std::lock_guard hold(lock_);
  return progress_locked();
}

// Who sends a stream of messages has the lock at hand anyway: handling what arrives here, every few messages, spares a
// wake-up of the agent and a contended lock for each of them.
void remote::progress_in_passing() {
  constexpr unsigned messages_per_round = 8;
  if (++sent_since_progress_ % messages_per_round != 0) return;
  progress_locked();
  rounds_in_passing_.fetch_add(1, std::memory_order_relaxed);
}

bool remote::progress_locked() {
  // Bounded, so that a flood of messages cannot keep the caller from looking at what it waits for.
  int rounds = 0;
  while (rounds < 64 && ucp_worker_progress(worker_) != 0) ++rounds;
  const bool traffic = rounds > 0 || !answers_.empty() || !owing_.empty();
  // Answers are sent here and not in the handlers: a handler runs inside UCX's progress.
  for (const answer_due& due : answers_) {
    message& m = new_message(nullptr);
    if (due.immediate) {  // the value travels in the message's own memory, behind its header
      std::memcpy(m.header + sizeof(reply_header), &due.value, sizeof due.value);
      send(peer_of(due.to), id_reply, m, m.set(reply_header{due.token}), m.header + sizeof(reply_header), due.bytes);
    } else {
      send(peer_of(due.to), id_reply, m, m.set(reply_header{due.token}), heap_.data() + due.offset, due.bytes);
    }
  }
  answers_.clear();
  for (const pe_id pe : owing_) {
    peer& to = peer_of(pe);
    message& m = new_message(nullptr);
    send(to, id_acknowledge, m, m.set(acknowledge_header{me_.index(), to.owed}), nullptr, 0);
    to.owed = 0;
  }
  owing_.clear();
  return traffic;
}

bool remote::arm() {
  const std::lock_guard hold(lock_);
  return ucp_worker_arm(worker_) == UCS_OK;
}

}  // namespace lull::fabric
