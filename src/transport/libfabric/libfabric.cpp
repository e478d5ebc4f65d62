#include "transport/libfabric/libfabric.hpp"

#include <rdma/fi_tagged.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/settings.hpp"
#include "transport/address.hpp"
#include "transport/libfabric/endpoint.hpp"
#include "transport/libfabric/memory.hpp"
#include "transport/libfabric/messages.hpp"
#include "transport/pool.hpp"
#include "transport/registration.hpp"
#include "transport/rendezvous.hpp"
#include "transport/secret.hpp"

namespace lull::transport {
namespace {

constexpr int receive_buffers = 32;
constexpr std::size_t largest_header = 160;                      // of a message
constexpr std::uint64_t tags = std::uint64_t{1} << 44U;          // psm and cxi keep the upper bits
constexpr std::uint64_t largest_part = std::uint64_t{1} << 30U;  // of a payload that was announced
constexpr std::int64_t longest_disconnect_ns = 1'000'000'000;

class libfabric_transport final : public transport {
 public:
  libfabric_transport(receiver& to, const options& wanted);

  [[nodiscard]] std::vector<std::byte> address() const override;
  void set_address(int peer, std::span<const std::byte> address) override;
  [[nodiscard]] int connections() const override {
    return static_cast<int>(std::ranges::count_if(peers_, [](const peer& one) { return one.used; }));
  }
  void disconnect() override;
  [[nodiscard]] std::size_t overtakable_from() const override { return rendezvous_from_; }
  void send(int peer, unsigned kind, outgoing& message, std::span<const std::byte> header, const void* payload,
            std::size_t bytes, order wanted) override;
  void fetch(const incoming& announced, void* destination, fetching& then) override;
  [[nodiscard]] remote_memory* remote() override { return memory_.get(); }
  [[nodiscard]] std::string why_no_rdma() const override { return why_no_rdma_; }
  bool progress() override { return endpoint_.poll(); }
  bool arm() override { return endpoint_.arm(); }
  [[nodiscard]] int event_fd() const override { return endpoint_.event_fd(); }

 private:
  struct peer {
    fi_addr_t address = FI_ADDR_NOTAVAIL;
    std::uint64_t secret = 0;
    bool used = false;  // something has been sent to it
    bool lost = false;
    std::uint32_t sent = 0, received = 0;                             // pieces
    std::unordered_map<std::uint32_t, std::vector<std::byte>> early;  // pieces, by number
    head begun{};                                                     // of the message that is being assembled
    std::vector<std::byte> assembling;                                // its header, and its payload so far
  };
  // A message in several pieces, an announced payload, or the fetch of one. It ends when the last of its parts does.
  struct in_parts {
    int peer;
    std::size_t left;
    int failure;
    outgoing* message;
    fetching* then;
    const std::byte* payload;
    std::size_t bytes;
  };
  // A piece that is being sent.
  struct letter : operation {
    libfabric_transport* owner;
    int peer;
    outgoing* message;  // ends with this piece, or
    in_parts* whole;    // with this and others
    std::array<std::byte, sizeof(head) + largest_header> front;
    std::array<iovec, 2> parts;
    std::vector<std::byte> gathered;
  };
  // A part of an announced payload, to be sent or received.
  struct part : operation {
    libfabric_transport* owner;
    in_parts* whole;
    std::byte* data;
    std::size_t bytes;
    std::uint64_t tag;
  };
  struct receive_buffer : operation {
    libfabric_transport* owner;
    std::vector<std::byte> bytes;
  };
  // A payload that a peer announces; incoming::data points to it.
  struct announcement {
    int peer;  // negative: a stranger
    std::uint32_t id;
    bool fetched;
  };

  peer& at(int which) { return peers_[static_cast<std::size_t>(which)]; }
  [[nodiscard]] int number_of(const peer& one) const { return static_cast<int>(&one - peers_.data()); }

  void post(int to, head front, std::span<const std::byte> header, std::span<const std::byte> payload,
            outgoing* message, in_parts* whole);
  static ssize_t post_letter(operation& one);
  static void letter_ended(operation& one, const ending& end);
  void begin_parts(in_parts& whole, std::byte* data, std::uint64_t first_tag, ssize_t (*post)(operation&));
  static ssize_t send_part(operation& one);
  static ssize_t receive_part(operation& one);
  static void part_ended(operation& one, const ending& end);
  void end(in_parts& whole);
  void answer(const announcement& to, form what, std::uint64_t first_tag);
  [[nodiscard]] std::size_t parts_of(std::size_t bytes) const { return (bytes + part_bytes_ - 1) / part_bytes_; }

  void listen();
  void expose(const options& wanted);
  static ssize_t post_buffer(operation& one);
  static void buffer_ended(operation& one, const ending& end);
  void arrived(std::span<const std::byte> bytes);
  void handle(peer& sender, const piece& one);
  void pass_on(const head& front, std::span<const std::byte> all);
  void announced_by(int sender, const head& front, std::span<const std::byte> header);
  void failed(int peer);

  receiver& receiver_;
  std::uint32_t me_;
  std::uint64_t secret_;
  std::size_t rendezvous_from_;  // bytes of payload
  bool closing_ = false;
  std::size_t under_way_ = 0;  // letters
  std::string why_no_rdma_;
  std::size_t part_bytes_;
  std::uint64_t next_tag_;
  std::uint32_t last_id_ = 0;
  std::vector<peer> peers_;
  pool<letter> letters_;
  pool<part> parts_;
  pool<in_parts> wholes_;
  std::unordered_map<std::uint32_t, in_parts*> announced_;  // by id
  std::vector<part*> receiving_;
  std::array<receive_buffer, receive_buffers> buffers_;
  endpoint endpoint_;  // closed before what it reads and writes is destroyed
  std::unique_ptr<libfabric_memory> memory_;
};

// Whether memory may be exposed. Between emulated nodes it may only if the user has named the network.
bool may_expose(const options& wanted) {
  if (wanted.memory.empty() || wanted.rdma == rdma_use::off) return false;
  return wanted.rdma == rdma_use::on || !wanted.emulated || !setting_text("LULL_LIBFABRIC_PROVIDER").empty();
}

libfabric_transport::libfabric_transport(receiver& to, const options& wanted)
    : receiver_(to),
      me_(static_cast<std::uint32_t>(wanted.me)),
      secret_(draw_secret("open an endpoint of libfabric")),
      rendezvous_from_(rendezvous_threshold()),
      next_tag_(draw_secret("open an endpoint of libfabric") % tags),
      peers_(static_cast<std::size_t>(wanted.processes)),
      endpoint_(wanted, may_expose(wanted), sizeof(head) + largest_header) {
  part_bytes_ = std::min<std::uint64_t>(endpoint_.info().ep_attr->max_msg_size, largest_part);
  libfabric_memory::check_locked_memory(endpoint_);
  listen();
  if (may_expose(wanted)) expose(wanted);
}

void libfabric_transport::expose(const options& wanted) try {
  if (wanted.rdma != rdma_use::on) {
    if (!endpoint_.facts().by_itself) return;
    constexpr std::size_t adapters = 1;  // an endpoint uses one
    why_no_rdma_ = why_not_registered(wanted, adapters, limits_of_this_process());
    if (!why_no_rdma_.empty()) return;
  }
  memory_ = std::make_unique<libfabric_memory>(endpoint_, wanted);
} catch (const error& refused) {
  if (wanted.rdma == rdma_use::on) throw;
  why_no_rdma_ = refused.what();
}

// ---- Addresses and connections

std::vector<std::byte> libfabric_transport::address() const {
  std::vector<std::byte> all = begin_address(endpoint_.provider());
  append(all, secret_);
  const auto name = endpoint_.name();
  append(all, static_cast<std::uint16_t>(name.size()));
  all.insert(all.end(), name.begin(), name.end());
  if (memory_) memory_->append_key(all);
  return all;
}

void libfabric_transport::set_address(int which, std::span<const std::byte> address) {
  received_bytes read = open_address(address, endpoint_.provider(), which);
  peer& one = at(which);
  one.secret = read.take<std::uint64_t>();
  const auto name = read.take(read.take<std::uint16_t>());
  one.address = endpoint_.insert(name, "reach process " + std::to_string(which));
  if (memory_) memory_->set_peer(which, one.address, read.rest());
}

// What has been given to the provider leaves in its time; no answer is awaited.
void libfabric_transport::disconnect() {
  closing_ = true;
  for (const std::int64_t end = now_ns() + longest_disconnect_ns; under_way_ != 0 && now_ns() < end;) progress();
}

// An operation for the peer has failed: nothing else succeeds, either.
void libfabric_transport::failed(int which) {
  if (closing_ || std::exchange(at(which).lost, true)) return;
  for (part* const one : receiving_)
    if (one->whole->peer == which) fi_cancel(&endpoint_.get()->fid, one);
  std::vector<in_parts*> unanswered;
  std::erase_if(announced_, [&](const auto& entry) {
    if (entry.second->peer != which) return false;
    unanswered.push_back(entry.second);
    return true;
  });
  for (in_parts* const one : unanswered) {
    one->failure = FI_ECONNABORTED;
    end(*one);
  }
}

// ---- Sending

void libfabric_transport::send(int which, unsigned kind, outgoing& message, std::span<const std::byte> header,
                               const void* payload, std::size_t bytes, order wanted) {
  peer& to = at(which);
  if (to.lost) [[unlikely]]
    return message.lost("it has ended");
  if (header.size() > largest_header) throw error("send a message", "its header is too long");
  std::span<const std::byte> left(static_cast<const std::byte*>(payload), bytes);
  head front{.what = form::first,
             .kind = static_cast<std::uint8_t>(kind),
             .header = static_cast<std::uint16_t>(header.size()),
             .bytes = bytes};
  if (wanted == order::free && bytes != 0 && bytes >= rendezvous_from_) {
    in_parts& whole = wholes_.take();
    whole = {.peer = which,
             .left = 0,
             .failure = 0,
             .message = &message,
             .then = nullptr,
             .payload = left.data(),
             .bytes = bytes};
    front.what = form::announced;
    front.id = ++last_id_;
    announced_.emplace(front.id, &whole);
    return post(which, front, header, {}, nullptr, nullptr);
  }
  const std::size_t most = endpoint_.piece_bytes();
  if (bytes <= most) return post(which, front, header, left, &message, nullptr);
  in_parts& whole = wholes_.take();
  whole = {.peer = which,
           .left = (bytes + most - 1) / most,
           .failure = 0,
           .message = &message,
           .then = nullptr,
           .payload = nullptr,
           .bytes = 0};
  for (; !left.empty(); left = left.subspan(std::min(most, left.size()))) {
    post(which, front, header, left.first(std::min(most, left.size())), nullptr, &whole);
    front.what = form::next;
    front.header = 0;
    header = {};
  }
}

void libfabric_transport::post(int which, head front, std::span<const std::byte> header,
                               std::span<const std::byte> payload, outgoing* message, in_parts* whole) {
  peer& to = at(which);
  to.used = true;
  front.number = to.sent++;
  front.sender = me_;
  front.secret = secret_;
  letter& one = letters_.take();
  one.operation::post = post_letter;
  one.ended = letter_ended;
  one.owner = this;
  one.peer = which;
  one.message = message;
  one.whole = whole;
  std::memcpy(one.front.data(), &front, sizeof front);
  if (!header.empty()) std::memcpy(one.front.data() + sizeof front, header.data(), header.size());
  one.parts[0] = {one.front.data(), sizeof front + header.size()};
  one.parts[1] = {const_cast<std::byte*>(payload.data()), payload.size()};
  ++under_way_;
  endpoint_.begin(static_cast<std::size_t>(which), one);
}

ssize_t libfabric_transport::post_letter(operation& posted) {
  auto& one = static_cast<letter&>(posted);
  const endpoint& over = one.owner->endpoint_;
  const fi_addr_t to = one.owner->at(one.peer).address;
  const std::size_t bytes = one.parts[0].iov_len + one.parts[1].iov_len;
  const bool injects = bytes <= over.inject_bytes();
  std::size_t count = one.parts[1].iov_len == 0 ? 1 : 2;
  if (count == 2 && (injects || over.info().tx_attr->iov_limit < 2)) {
    one.gathered.resize(bytes);
    std::memcpy(one.gathered.data(), one.parts[0].iov_base, one.parts[0].iov_len);
    std::memcpy(one.gathered.data() + one.parts[0].iov_len, one.parts[1].iov_base, one.parts[1].iov_len);
    one.parts = {iovec{one.gathered.data(), bytes}, iovec{}};
    count = 1;
  }
  if (injects) {
    const ssize_t result = fi_inject(over.get(), one.parts[0].iov_base, bytes, to);
    return result == 0 ? complete : result;
  }
  return fi_sendv(over.get(), one.parts.data(), nullptr, count, to, &one);
}

void libfabric_transport::letter_ended(operation& ended, const ending& how) {
  auto& one = static_cast<letter&>(ended);
  libfabric_transport& mine = *one.owner;
  const int which = one.peer;
  outgoing* const message = one.message;
  in_parts* const whole = one.whole;
  mine.letters_.give_back(one);
  --mine.under_way_;
  if (how.failure != 0) mine.failed(which);
  if (whole != nullptr) {
    if (how.failure != 0) whole->failure = how.failure;
    if (--whole->left == 0) mine.end(*whole);
  } else if (message != nullptr && how.failure == 0) {
    message->sent();
  } else if (message != nullptr && !mine.closing_) {
    message->lost(libfabric_answer(how.failure).c_str());
  }
}

void libfabric_transport::end(in_parts& whole) {
  const in_parts ended = whole;
  wholes_.give_back(whole);
  if (ended.failure != 0 && closing_) return;
  if (ended.then != nullptr)
    ended.failure == 0 ? ended.then->fetched() : ended.then->lost();
  else if (ended.failure == 0)
    ended.message->sent();
  else
    ended.message->lost(libfabric_answer(ended.failure).c_str());
}

// ---- Payloads that are announced

void libfabric_transport::begin_parts(in_parts& whole, std::byte* data, std::uint64_t first_tag,
                                      ssize_t (*post)(operation&)) {
  whole.left = parts_of(whole.bytes);
  const int peer = whole.peer;
  const std::size_t count = whole.left, bytes = whole.bytes;
  for (std::size_t i = 0; i < count; ++i) {
    part& one = parts_.take();
    one.post = post;
    one.ended = part_ended;
    one.owner = this;
    one.whole = &whole;
    one.data = data + i * part_bytes_;
    one.bytes = std::min<std::size_t>(part_bytes_, bytes - i * part_bytes_);
    one.tag = (first_tag + i) % tags;
    if (whole.then != nullptr) receiving_.push_back(&one);
    endpoint_.begin(static_cast<std::size_t>(peer), one);
  }
}

ssize_t libfabric_transport::send_part(operation& posted) {
  auto& one = static_cast<part&>(posted);
  return fi_tsend(one.owner->endpoint_.get(), one.data, one.bytes, nullptr, one.owner->at(one.whole->peer).address,
                  one.tag, &one);
}

ssize_t libfabric_transport::receive_part(operation& posted) {
  auto& one = static_cast<part&>(posted);
  return fi_trecv(one.owner->endpoint_.get(), one.data, one.bytes, nullptr, FI_ADDR_UNSPEC, one.tag, 0, &one);
}

void libfabric_transport::part_ended(operation& ended, const ending& how) {
  auto& one = static_cast<part&>(ended);
  libfabric_transport& mine = *one.owner;
  in_parts& whole = *one.whole;
  if (whole.then != nullptr) std::erase(mine.receiving_, &one);
  mine.parts_.give_back(one);
  if (how.failure != 0) {
    whole.failure = how.failure;
    mine.failed(whole.peer);
  }
  if (--whole.left == 0) mine.end(whole);
}

void libfabric_transport::fetch(const incoming& announced, void* destination, fetching& then) {
  auto& one = *static_cast<announcement*>(announced.data);
  if (one.peer < 0) return then.lost();
  one.fetched = true;
  in_parts& whole = wholes_.take();
  whole = {.peer = one.peer,
           .left = 0,
           .failure = 0,
           .message = nullptr,
           .then = &then,
           .payload = nullptr,
           .bytes = announced.bytes};
  const std::uint64_t first_tag = next_tag_;
  next_tag_ = (next_tag_ + parts_of(announced.bytes)) % tags;
  begin_parts(whole, static_cast<std::byte*>(destination), first_tag, receive_part);
  answer(one, form::go, first_tag);
}

void libfabric_transport::answer(const announcement& to, form what, std::uint64_t first_tag) {
  post(to.peer, {.what = what, .id = to.id, .bytes = first_tag}, {}, {}, nullptr, nullptr);
}

// ---- Receiving

// A buffer for each piece. One buffer for many pieces (FI_MULTI_RECV) would do with fewer calls, but ofi_rxm of 1.17
// releases it while an earlier piece, by rendezvous, is still being written to it.
void libfabric_transport::listen() {
  const std::size_t largest = sizeof(head) + largest_header + endpoint_.piece_bytes();
  for (receive_buffer& one : buffers_) {
    one.owner = this;
    one.post = post_buffer;
    one.ended = buffer_ended;
    one.bytes.resize(largest);
    endpoint_.begin(peers_.size(), one);
  }
}

ssize_t libfabric_transport::post_buffer(operation& posted) {
  auto& one = static_cast<receive_buffer&>(posted);
  return fi_recv(one.owner->endpoint_.get(), one.bytes.data(), one.bytes.size(), nullptr, FI_ADDR_UNSPEC, &one);
}

void libfabric_transport::buffer_ended(operation& ended, const ending& how) {
  auto& one = static_cast<receive_buffer&>(ended);
  libfabric_transport& mine = *one.owner;
  if (how.failure == FI_ECANCELED) return;
  if (how.failure != 0 && !mine.closing_) throw error("receive messages", libfabric_answer(how.failure));
  mine.arrived(std::span(one.bytes).first(how.bytes));
  mine.endpoint_.begin(mine.peers_.size(), one);
}

void libfabric_transport::arrived(std::span<const std::byte> bytes) {
  const auto read = read_piece(bytes);
  if (!read) return;
  const head& front = read->front;
  const bool known = front.sender < peers_.size() && peers_[front.sender].address != FI_ADDR_NOTAVAIL;
  if (!known || peers_[front.sender].secret != front.secret) [[unlikely]] {
    if (front.what == form::announced) return announced_by(-1, front, read->rest.first(front.header));
    if (front.what == form::first && read->rest.size() == front.header + front.bytes) pass_on(front, read->rest);
    return;
  }
  peer& sender = peers_[front.sender];
  if (front.number != sender.received) {
    sender.early.emplace(front.number, std::vector(bytes.begin(), bytes.end()));
    return;
  }
  handle(sender, *read);
  ++sender.received;
  while (!sender.early.empty()) [[unlikely]] {
      const auto next = sender.early.extract(sender.received);
      if (next.empty()) return;
      handle(sender, *read_piece(next.mapped()));
      ++sender.received;
    }
}

void libfabric_transport::handle(peer& sender, const piece& one) {
  const head& front = one.front;
  const int from = number_of(sender);
  switch (front.what) {
    case form::first:
      if (one.rest.size() == front.header + front.bytes) return pass_on(front, one.rest);
      sender.begun = front;
      sender.assembling.reserve(front.header + front.bytes);
      sender.assembling.assign(one.rest.begin(), one.rest.end());
      return;
    case form::next:
      sender.assembling.insert(sender.assembling.end(), one.rest.begin(), one.rest.end());
      if (sender.assembling.size() < sender.begun.header + sender.begun.bytes) return;
      {
        const auto whole = std::exchange(sender.assembling, {});
        pass_on(sender.begun, whole);
      }
      return;
    case form::announced:
      return announced_by(from, front, one.rest.first(front.header));
    case form::go:
    case form::drop: {
      const auto found = announced_.find(front.id);
      if (found == announced_.end() || found->second->peer != from) return;
      in_parts& whole = *found->second;
      announced_.erase(found);
      if (front.what == form::drop) return end(whole);
      return begin_parts(whole, const_cast<std::byte*>(whole.payload), front.bytes, send_part);
    }
  }
}

// `all`: the header of the message, and its payload.
void libfabric_transport::pass_on(const head& front, std::span<const std::byte> all) {
  if (front.kind >= kinds) return;
  const auto payload = all.subspan(front.header);
  receiver_.received(front.kind, all.first(front.header),
                     {const_cast<std::byte*>(payload.data()), payload.size(), false});
}

void libfabric_transport::announced_by(int sender, const head& front, std::span<const std::byte> header) {
  if (front.kind >= kinds) return;
  announcement one{.peer = sender, .id = front.id, .fetched = false};
  receiver_.received(front.kind, header, {&one, front.bytes, true});
  if (!one.fetched && sender >= 0) answer(one, form::drop, 0);
}

}  // namespace

std::unique_ptr<transport> make_libfabric(receiver& to, const options& wanted) {
  return std::make_unique<libfabric_transport>(to, wanted);
}

}  // namespace lull::transport
