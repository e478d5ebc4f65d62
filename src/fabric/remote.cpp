// The sending half, and the life of the worker.
#include "fabric/remote.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/settings.hpp"
#include "base/thread_sanitizer.hpp"
#include "fabric/remote_messages.hpp"

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

// Rendezvous costs three sleeps per transfer instead of one and is slower even when polling: below this size messages
// go eagerly, unless UCX_RNDV_THRESH says otherwise.
constexpr std::size_t eager_limit = std::size_t{1} << 20U;

constexpr std::size_t kept_payload = std::size_t{64}
                                     << 10U;  // a message keeps its payload's memory for the next one up to this

void check(ucs_status_t status, const char* asked) {
  if (status != UCS_OK) throw error(asked, std::string("UCX answered ") + ucs_status_string(status));
}

std::size_t rendezvous_threshold() {
  const char* const given = std::getenv("UCX_RNDV_THRESH");  // NOLINT(concurrency-mt-unsafe): before any thread starts
  if (!given || std::string_view(given) == "auto") return eager_limit;
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

std::uint64_t random_key() {
  std::uint64_t key = 0;
  if (getrandom(&key, sizeof key, 0) != sizeof key) throw error("draw a key for this PE", describe_errno(errno));
  return key;
}

}  // namespace

void remote::message::finished() {
  if (sent) {
    sent->store(true, std::memory_order_release);
    owner->hooks_.memory_changed();
  }
  payload_bytes = 0;
  if (payload.capacity() > kept_payload) std::vector<std::byte>().swap(payload);
  owner->free_.push_back(this);
}

remote::remote(pe_id me, int pes, std::span<std::byte> memory, shared_lock& accumulating, const remote_settings& wanted,
               remote_hooks hooks)
    : me_(me),
      memory_(memory),
      accumulating_(accumulating),
      wanted_(wanted),
      hooks_(std::move(hooks)),
      key_(random_key()),
      rendezvous_from_(rendezvous_threshold()),
      peers_(static_cast<std::size_t>(pes)) {
  ucp_config_t* config = nullptr;
  check(ucp_config_read(nullptr, nullptr, &config), "read UCX's settings");
  const std::unique_ptr<ucp_config_t, void (*)(ucp_config_t*)> release(config, ucp_config_release);
  if (wanted_.one_host && !std::getenv("UCX_NET_DEVICES"))  // NOLINT(concurrency-mt-unsafe): before any thread starts
    check(ucp_config_modify(config, "NET_DEVICES", loopback_interface().c_str()), "keep UCX to the loopback");
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS | UCP_PARAM_FIELD_NAME;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  params.estimated_num_eps = static_cast<std::size_t>(pes);
  params.name = "lull";
  check(ucp_init(&params, config, &context_), "start UCX");
  ucp_worker_params_t worker{};
  worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  check(ucp_worker_create(context_, &worker, &worker_), "open a UCX worker");
  check(ucp_worker_get_efd(worker_, &event_fd_),
        "get UCX's event descriptor (UCX_TLS may name a transport without one)");
  deadline_fd_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (deadline_fd_ < 0) throw error("make a timer", describe_errno(errno));
  listen<&remote::on_put>(id_put);
  listen<&remote::on_combined>(id_combined);
  listen<&remote::on_scatter>(id_scatter);
  listen<&remote::on_get>(id_get);
  listen<&remote::on_gather>(id_gather);
  listen<&remote::on_reply>(id_reply);
  listen<&remote::on_update>(id_update);
  listen<&remote::on_acknowledge>(id_acknowledge);
}

remote::~remote() {
  if (worker_) ucp_worker_destroy(worker_);
  if (context_) ucp_cleanup(context_);
  if (deadline_fd_ >= 0) close(deadline_fd_);
}

template <ucs_status_t (remote::*Member)(const void*, std::size_t, void*, std::size_t, bool)>
ucs_status_t remote::handler(void* self, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                             const ucp_am_recv_param_t* param) {
  auto& here = *static_cast<remote*>(self);
  if (!here.admits(header, header_bytes)) return UCS_OK;  // and the data, if they are still to come, are not fetched
  tsan_acquire();
  const ucs_status_t status =
      (here.*Member)(header, header_bytes, data, bytes, (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0);
  tsan_release();
  return status;
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

std::vector<std::byte> remote::contact() const {
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  check(ucp_worker_get_address(worker_, &address, &bytes), "get this PE's UCX address");
  std::vector<std::byte> copy(sizeof key_ + bytes);
  std::memcpy(copy.data(), &key_, sizeof key_);
  std::memcpy(copy.data() + sizeof key_, address, bytes);
  ucp_worker_release_address(worker_, address);
  return copy;
}

void remote::meet(pe_id pe, std::span<const std::byte> contact) {
  const std::lock_guard hold(lock_);
  peer& other = peer_of(pe);
  std::memcpy(&other.key, contact.data(), sizeof other.key);
  const auto address = contact.subspan(sizeof other.key);
  other.address.assign(address.begin(), address.end());
}

void remote::connect(peer& to) {
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  params.address = reinterpret_cast<const ucp_address_t*>(to.address.data());
  const ucs_status_t status = ucp_ep_create(worker_, &params, &to.endpoint);
  if (status != UCS_OK) end_after_lost_transfer(me_, status);
}

int remote::connections() const {
  const std::lock_guard hold(lock_);
  return static_cast<int>(std::ranges::count_if(peers_, [](const peer& other) { return other.endpoint != nullptr; }));
}

envelope remote::envelope_for(const peer& to) const { return {to.key, me_.index()}; }

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

reply& remote::new_reply(ledger& book, void* destination, std::size_t bytes) {
  if (free_replies_.empty()) {
    replies_.push_back(std::make_unique<reply>());
    free_replies_.push_back(replies_.back().get());
  }
  reply& answer = *free_replies_.back();
  free_replies_.pop_back();
  answer.destination = destination;
  answer.bytes = bytes;
  answer.book = &book;
  book.replies_due_.fetch_add(1, std::memory_order_relaxed);
  book.dirty_.store(true, std::memory_order_release);
  return answer;
}

std::uint64_t remote::enter(ledger& book, pe_id pe, std::size_t bytes) {
  if (may_be_overtaken(bytes)) book.overtakable_.store(true, std::memory_order_relaxed);
  const auto index = static_cast<std::size_t>(pe.index());
  if (book.last_.empty()) book.last_.resize(peers_.size());
  if (book.last_[index] == 0) book.touched_.push_back(pe);
  peer& to = peers_[index];
  const std::uint64_t number = to.issued.load(std::memory_order_relaxed) + 1;
  to.issued.store(number, std::memory_order_relaxed);
  issued_.fetch_add(1, std::memory_order_relaxed);
  book.dirty_.store(true, std::memory_order_release);
  return book.last_[index] = number;
}

void remote::send(peer& to, unsigned id, message& m, std::size_t header_bytes, const void* data, std::size_t bytes) {
  if (!to.endpoint) [[unlikely]]
    connect(to);
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  // Said for each message, so that what may be overtaken is known here. Combined puts and requests never are.
  param.flags =
      id != id_combined && id != id_gather && may_be_overtaken(bytes) ? UCP_AM_SEND_FLAG_RNDV : UCP_AM_SEND_FLAG_EAGER;
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

void remote::put(ledger& book, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
                 const signal_update* signal, std::atomic<bool>* sent) {
  const bool small = bytes <= combined_put::most_bytes && !signal && !sent && offset < combined_put::most_offset;
  const std::lock_guard hold(lock_);
  if (small && wanted_.combine_bytes != 0) return combine(book, pe, offset, source, bytes);
  peer& to = peer_of(pe);
  put_header header{.sent = envelope_for(to),
                    .has_signal = 0,
                    .signal_how = update_op::set,
                    .signal_whole_node = 0,
                    .offset = offset,
                    .signal_offset = 0,
                    .signal_value = 0};
  if (signal) {
    header.has_signal = 1;
    header.signal_how = signal->how;
    header.signal_whole_node = signal->whole_node ? 1 : 0;
    header.signal_offset = signal->offset;
    header.signal_value = signal->value;
  }
  send_combined(to);
  message& m = new_message(sent);
  enter(book, pe, bytes);
  send(to, id_put, m, m.set(header), source, bytes);
  progress_in_passing();
}

void remote::combine(ledger& book, pe_id pe, std::size_t offset, const void* source, std::size_t bytes) {
  peer& to = peer_of(pe);
  const std::size_t needed = sizeof(combined_put) + combined_put::padded(bytes);
  if (to.combining && to.combining->payload_bytes + needed > to.combining->payload.size()) {
    send_combined(to);
    progress_in_passing();
  }
  if (!to.combining) {
    to.combining = &new_message(nullptr);
    to.combining->payload.resize(std::max(wanted_.combine_bytes, needed));
    combining_.push_back(pe);
    any_combining_.store(true, std::memory_order_relaxed);
    enter(book, pe);
    if (deadline_ns_ == 0) {
      deadline_ns_ = now_ns() + wanted_.combine_ns;
      const itimerspec at{
          .it_interval = {},
          .it_value = {.tv_sec = deadline_ns_ / 1'000'000'000, .tv_nsec = deadline_ns_ % 1'000'000'000}};
      timerfd_settime(deadline_fd_, TFD_TIMER_ABSTIME, &at, nullptr);
    }
  } else if (book.last_.empty() ||
             book.last_[static_cast<std::size_t>(pe.index())] != to.issued.load(std::memory_order_relaxed)) {
    // Another context opened the message: it concerns this one too, under the same number.
    if (book.last_.empty()) book.last_.resize(peers_.size());
    auto& last = book.last_[static_cast<std::size_t>(pe.index())];
    if (last == 0) book.touched_.push_back(pe);
    last = to.issued.load(std::memory_order_relaxed);
    book.dirty_.store(true, std::memory_order_release);
  }
  std::byte* const at = to.combining->payload.data() + to.combining->payload_bytes;
  const combined_put record(offset, bytes);
  std::memcpy(at, &record, sizeof record);
  copy_bytes(at + sizeof record, source, bytes);
  to.combining->payload_bytes += needed;
}

void remote::send_combined(peer& to) {
  if (!to.combining) return;
  message& m = *std::exchange(to.combining, nullptr);
  std::erase(combining_, pe_id{static_cast<int>(&to - peers_.data())});
  if (combining_.empty()) any_combining_.store(false, std::memory_order_relaxed);
  send(to, id_combined, m, m.set(combined_header{envelope_for(to)}), m.payload.data(), m.payload_bytes);
}

void remote::flush_locked() {
  while (!combining_.empty()) send_combined(peer_of(combining_.back()));
}

void remote::flush() {
  if (!any_combining_.load(std::memory_order_relaxed)) return;
  const std::lock_guard hold(lock_);
  flush_locked();
}

remote::piece_message remote::room_for_pieces(const shape& there, std::size_t bytes) {
  piece_message room{std::vector<std::byte>(sizeof there + bytes)};
  std::memcpy(room.payload.data(), &there, sizeof there);
  return room;
}

void remote::scatter(ledger& book, pe_id pe, std::size_t offset, std::size_t first, std::size_t count,
                     piece_message pieces, const scaled* add) {
  const std::lock_guard hold(lock_);
  peer& to = peer_of(pe);
  pieces_header header{};
  header.sent = envelope_for(to);
  header.offset = offset;
  header.first = first;
  header.count = count;
  if (add) {
    header.accumulates = 1;
    header.type = add->type;
    header.factor = add->factor;
  }
  send_combined(to);
  message& m = new_message(nullptr);
  m.payload = std::move(pieces.payload);
  enter(book, pe, m.payload.size());
  send(to, id_scatter, m, m.set(header), m.payload.data(), m.payload.size());
  progress_in_passing();
}

void remote::get(pe_id pe, std::size_t offset, reply& answer) {
  const std::lock_guard hold(lock_);
  peer& to = peer_of(pe);
  send_combined(to);
  message& m = new_message(nullptr);
  const get_header header{envelope_for(to), offset, answer.bytes, reinterpret_cast<std::uint64_t>(&answer)};
  send(to, id_get, m, m.set(header), nullptr, 0);
}

void remote::get_nbi(ledger& book, pe_id pe, std::size_t offset, void* destination, std::size_t bytes) {
  const std::lock_guard hold(lock_);
  peer& to = peer_of(pe);
  send_combined(to);
  message& m = new_message(nullptr);
  const auto token = reinterpret_cast<std::uint64_t>(&new_reply(book, destination, bytes));
  send(to, id_get, m, m.set(get_header{envelope_for(to), offset, bytes, token}), nullptr, 0);
  progress_in_passing();
}

void remote::gather(pe_id pe, std::size_t offset, const shape& there, std::size_t first, std::size_t count,
                    reply& answer) {
  const std::lock_guard hold(lock_);
  peer& to = peer_of(pe);
  pieces_header header{};
  header.sent = envelope_for(to);
  header.offset = offset;
  header.first = first;
  header.count = count;
  header.token = reinterpret_cast<std::uint64_t>(&answer);
  send_combined(to);
  message& m = new_message(nullptr);
  const auto* const begin = reinterpret_cast<const std::byte*>(&there);
  m.payload.assign(begin, begin + sizeof there);
  send(to, id_gather, m, m.set(header), m.payload.data(), m.payload.size());
}

void remote::change(ledger& book, pe_id pe, const update& u) {
  const std::lock_guard hold(lock_);
  peer& to = peer_of(pe);
  send_combined(to);
  message& m = new_message(nullptr);
  enter(book, pe);
  send(to, id_update, m, m.set(update_header{envelope_for(to), u.op, u.width, u.offset, u.operand, u.compare, 0}),
       nullptr, 0);
  progress_in_passing();
}

void remote::fetch(pe_id pe, const update& u, reply& answer) {
  const std::lock_guard hold(lock_);
  peer& to = peer_of(pe);
  send_combined(to);
  message& m = new_message(nullptr);
  const auto token = reinterpret_cast<std::uint64_t>(&answer);
  send(to, id_update, m, m.set(update_header{envelope_for(to), u.op, u.width, u.offset, u.operand, u.compare, token}),
       nullptr, 0);
}

void remote::fetch_nbi(ledger& book, pe_id pe, const update& u, void* old_value) {
  const std::lock_guard hold(lock_);
  peer& to = peer_of(pe);
  send_combined(to);
  message& m = new_message(nullptr);
  const auto token = reinterpret_cast<std::uint64_t>(&new_reply(book, old_value, u.width));
  send(to, id_update, m, m.set(update_header{envelope_for(to), u.op, u.width, u.offset, u.operand, u.compare, token}),
       nullptr, 0);
  progress_in_passing();
}

void remote::due(ledger& book, std::vector<receipt>& result) {
  const std::lock_guard hold(lock_);
  flush_locked();
  for (const pe_id pe : book.touched_) result.push_back({pe, book.last_[static_cast<std::size_t>(pe.index())]});
}

bool remote::arrived(const ledger& book, std::vector<receipt>& waiting) const {
  while (!waiting.empty()) {
    const receipt& one = waiting.back();
    if (peers_[static_cast<std::size_t>(one.pe.index())].acknowledged.load(std::memory_order_acquire) < one.number)
      return false;
    waiting.pop_back();
  }
  return book.replies_due_.load(std::memory_order_acquire) == 0;
}

void remote::settle(ledger& book) {
  const std::lock_guard hold(lock_);
  std::erase_if(book.touched_, [&](pe_id pe) {
    auto& last = book.last_[static_cast<std::size_t>(pe.index())];
    if (peer_of(pe).acknowledged.load(std::memory_order_relaxed) < last) return false;
    last = 0;
    return true;
  });
  if (!book.touched_.empty() || book.replies_due_.load(std::memory_order_relaxed) != 0) return;
  book.overtakable_.store(false, std::memory_order_relaxed);
  book.dirty_.store(false, std::memory_order_release);
}

bool remote::quiet() const {
  return acknowledged_.load(std::memory_order_acquire) == issued_.load(std::memory_order_relaxed);
}

std::uint64_t remote::unacknowledged(pe_id pe) const {
  const peer& other = peers_[static_cast<std::size_t>(pe.index())];
  return other.issued.load(std::memory_order_relaxed) - other.acknowledged.load(std::memory_order_acquire);
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
  // Bounded, so that a flood of messages cannot keep the caller from looking at what it waits for; and over as soon as
  // somebody here or elsewhere waits for what has come, for another look at the sockets takes a system call.
  int rounds = 0;
  awaited_ = false;
  while (rounds < 64 && ucp_worker_progress(worker_) != 0) {
    ++rounds;
    if (awaited_ || !answers_.empty()) break;
  }
  const bool traffic = rounds > 0 || !answers_.empty() || !owing_.empty();
  // Answers are sent here and not in the handlers: a handler runs inside UCX's progress.
  for (answer_due& due : answers_) {
    message& m = new_message(nullptr);
    peer& to = peer_of(due.to);
    const std::size_t header_bytes = m.set(reply_header{envelope_for(to), due.token});
    if (due.immediate) {  // the value travels in the message's own memory, behind its header
      std::memcpy(m.header + header_bytes, &due.value, sizeof due.value);
      send(to, id_reply, m, header_bytes, m.header + header_bytes, due.bytes);
    } else if (!due.packed.empty()) {
      m.payload = std::move(due.packed);
      send(to, id_reply, m, header_bytes, m.payload.data(), m.payload.size());
    } else {
      send(to, id_reply, m, header_bytes, memory_.data() + due.offset, due.bytes);
    }
  }
  answers_.clear();
  std::erase_if(owing_, [&](pe_id pe) {
    peer& to = peer_of(pe);
    if (to.large_arriving != 0) return false;
    message& m = new_message(nullptr);
    send(to, id_acknowledge, m, m.set(acknowledge_header{envelope_for(to), to.owed}), nullptr, 0);
    to.owed = 0;
    return true;
  });
  if (deadline_ns_ != 0 && now_ns() >= deadline_ns_) {
    flush_locked();
    std::uint64_t expirations = 0;
    (void)!read(deadline_fd_, &expirations, sizeof expirations);
    deadline_ns_ = 0;
  }
  return traffic;
}

bool remote::arm() {
  const std::lock_guard hold(lock_);
  return ucp_worker_arm(worker_) == UCS_OK;
}

}  // namespace lull::fabric
