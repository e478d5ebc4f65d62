// The serving half: what a process does with the messages of others. All of it runs inside progress(), under the lock.
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/thread_sanitizer.hpp"
#include "fabric/remote.hpp"
#include "fabric/remote_messages.hpp"

namespace lull::fabric {
namespace {

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
    case update_op::raise: {
      Word now = word.load();
      while (now < operand && !word.compare_exchange_weak(now, operand)) {
      }
      return now;
    }
    case update_op::compare_swap: {
      auto expected = static_cast<Word>(u.compare);
      word.compare_exchange_strong(expected, operand);
      return expected;
    }
  }
  return 0;
}

[[noreturn]] void refuse(pe_id me, const char* what, std::size_t bytes, std::size_t offset, std::size_t size) {
  // The sender's mistake, found here; there is nobody to return it to.
  std::fprintf(stderr,
               "lull: PE %d: a %s of %zu bytes at offset %zu lies outside the symmetric memory of %zu bytes; "
               "LULL_CHECK=1 names the PE that asked for it\n",
               me.index(), what, bytes, offset, size);
  std::_Exit(1);
}

}  // namespace

std::uint64_t apply_update(const update& u, void* where) {
  return u.width == 4 ? apply_word<std::uint32_t>(u, where) : apply_word<std::uint64_t>(u, where);
}

bool remote::admits(const void* header, std::size_t header_bytes) {
  if (header_bytes >= sizeof(envelope)) [[likely]] {
    const auto sent = read_header<envelope>(header);
    if (sent.key == key_ && sent.from >= 0 && static_cast<std::size_t>(sent.from) < peers_.size()) [[likely]]
      return true;
  }
  if (refused_++ == 0)
    std::fprintf(stderr,
                 "lull: PE %d: refused a message of a process that is not of this job; others are refused too\n",
                 me_.index());
  return false;
}

std::byte* remote::at(std::size_t offset, std::size_t bytes, const char* what) const {
  if (offset <= memory_.size() && bytes <= memory_.size() - offset) [[likely]]
    return memory_.data() + offset;
  refuse(me_, what, bytes, offset, memory_.size());
}

std::byte* remote::at(std::size_t offset, const shape& there, const char* what) const {
  const auto [low, high] = there.reach();
  const auto begin = static_cast<std::int64_t>(offset) + low;
  if (begin < 0) refuse(me_, what, static_cast<std::size_t>(high - low), offset, memory_.size());
  (void)at(static_cast<std::size_t>(begin), static_cast<std::size_t>(high - low), what);
  return memory_.data() + offset;
}

void remote::owe(std::int32_t from) {
  if (peer_of(pe_id{from}).owed++ == 0) owing_.emplace_back(from);
}

// Data that follows its header later, or in several parts, arrives in `destination`, or in a buffer when that is null;
// then `then(where)` is called. Messages that PE `from` sent afterwards are not acknowledged before; -1: it makes none.
struct remote::arrival {
  remote* owner;
  int from;
  std::vector<std::byte> buffer;
  std::function<void(const std::byte*)> then;
  const std::byte* where;
  void finish() {
    if (from >= 0) --owner->peer_of(pe_id{from}).large_arriving;
    then(where);
  }
};

template <class Then>
void remote::receive(void* data, std::size_t bytes, void* destination, int from, Then&& then) {
  auto pending = std::make_unique<arrival>(arrival{this, from, {}, std::forward<Then>(then), nullptr});
  if (!destination) {
    pending->buffer.resize(bytes);
    destination = pending->buffer.data();
  }
  pending->where = static_cast<const std::byte*>(destination);
  if (from >= 0) ++peer_of(pe_id{from}).large_arriving;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.user_data = pending.get();
  param.cb.recv_am = [](void* request, ucs_status_t, std::size_t, void* user) {
    const std::unique_ptr<arrival> done(static_cast<arrival*>(user));
    tsan_acquire();
    done->finish();
    tsan_release();
    ucp_request_free(request);
  };
  void* const request = ucp_am_recv_data_nbx(worker_, data, destination, bytes, &param);
  if (UCS_PTR_IS_PTR(request))
    (void)pending.release();  // the callback takes it
  else
    pending->finish();
}

void remote::put_applied(const void* header) {
  const auto put = read_header<put_header>(header);
  if (put.has_signal) {
    const update signal{put.signal_how, 8, put.signal_offset, put.signal_value, 0};
    apply_update(signal, at(signal.offset, 8, "signal"));
  }
  owe(put.sent.from);
  if (put.signal_whole_node)
    hooks_.node_memory_changed();
  else
    hooks_.memory_changed();
}

ucs_status_t remote::on_put(const void* header, std::size_t, void* data, std::size_t bytes, bool rendezvous) {
  const auto put = read_header<put_header>(header);
  std::byte* const destination = at(put.offset, bytes, "put");
  if (!rendezvous) {
    deliver(destination, data, bytes);
    put_applied(header);
  } else {
    receive(data, bytes, destination, put.sent.from, [this, put](const std::byte*) { put_applied(&put); });
  }
  return UCS_OK;
}

void remote::apply_combined(std::int32_t from, const std::byte* data, std::size_t bytes) {
  for (const std::byte* const end = data + bytes; data < end;) {
    const combined_put one(data);
    deliver(at(one.offset(), one.bytes(), "put"), data + sizeof one, one.bytes());
    data += sizeof one + combined_put::padded(one.bytes());
  }
  owe(from);
  hooks_.memory_changed();
}

ucs_status_t remote::on_combined(const void* header, std::size_t, void* data, std::size_t bytes, bool rendezvous) {
  const auto from = read_header<combined_header>(header).sent.from;
  if (!rendezvous)
    apply_combined(from, static_cast<const std::byte*>(data), bytes);
  else
    receive(data, bytes, nullptr, from, [=, this](const std::byte* there) { apply_combined(from, there, bytes); });
  return UCS_OK;
}

void remote::apply_scatter(const void* header, const std::byte* data, std::size_t bytes) {
  const auto pieces = read_header<pieces_header>(header);
  const auto there = read_header<shape>(data);
  std::byte* const target = at(pieces.offset, there, pieces.accumulates ? "accumulate" : "strided put");
  const std::byte* const packed = data + sizeof there;
  if (pieces.count * there.piece_bytes() > bytes - sizeof there || pieces.first + pieces.count > there.pieces())
    refuse(me_, "message of pieces", bytes, pieces.offset, memory_.size());
  if (pieces.accumulates) {
    const scaled how{pieces.type, pieces.factor};
    const std::lock_guard hold(accumulating_);
    const std::byte* from = packed;
    there.for_pieces(pieces.first, pieces.count, [&](std::int64_t offset) {
      add_scaled(how, target + offset, from, there.piece_bytes());
      from += there.piece_bytes();
    });
  } else {
    there.scatter(target, packed, pieces.first, pieces.count);
  }
  owe(pieces.sent.from);
  hooks_.memory_changed();
}

ucs_status_t remote::on_scatter(const void* header, std::size_t, void* data, std::size_t bytes, bool rendezvous) {
  if (!rendezvous) {
    apply_scatter(header, static_cast<const std::byte*>(data), bytes);
  } else {
    const auto pieces = read_header<pieces_header>(header);
    receive(data, bytes, nullptr, pieces.sent.from,
            [=, this](const std::byte* there) { apply_scatter(&pieces, there, bytes); });
  }
  return UCS_OK;
}

ucs_status_t remote::on_get(const void* header, std::size_t, void*, std::size_t, bool) {
  const auto get = read_header<get_header>(header);
  (void)at(get.offset, get.bytes, "get");
  answers_.push_back({pe_id{get.sent.from}, get.token, get.offset, get.bytes, false, 0, {}});
  return UCS_OK;
}

ucs_status_t remote::on_gather(const void* header, std::size_t, void* data, std::size_t, bool) {
  const auto pieces = read_header<pieces_header>(header);
  const auto there = read_header<shape>(data);
  const std::byte* const source = at(pieces.offset, there, "strided get");
  if (pieces.first + pieces.count > there.pieces()) refuse(me_, "strided get", 0, pieces.offset, memory_.size());
  std::vector<std::byte> packed(pieces.count * there.piece_bytes());
  there.gather(packed.data(), source, pieces.first, pieces.count);
  answers_.push_back({pe_id{pieces.sent.from}, pieces.token, 0, packed.size(), false, 0, std::move(packed)});
  return UCS_OK;
}

ucs_status_t remote::on_update(const void* header, std::size_t, void*, std::size_t, bool) {
  const auto u = read_header<update_header>(header);
  const update wanted{u.op, u.width, u.offset, u.operand, u.compare};
  const std::uint64_t old = apply_update(wanted, at(u.offset, u.width, "atomic"));
  if (u.token != 0)
    answers_.push_back({pe_id{u.sent.from}, u.token, 0, u.width, true, old, {}});
  else
    owe(u.sent.from);
  if (u.op != update_op::fetch) hooks_.memory_changed();
  return UCS_OK;
}

// The caller's own reply may be gone as soon as it is done, so that comes last.
void remote::answered(reply& answer) {
  awaited_ = true;
  if (ledger* const book = answer.book) {
    free_replies_.push_back(&answer);
    book->replies_due_.fetch_sub(1, std::memory_order_release);
  } else {
    answer.done.store(true, std::memory_order_release);
  }
  hooks_.memory_changed();
}

ucs_status_t remote::on_reply(const void* header, std::size_t, void* data, std::size_t bytes, bool rendezvous) {
  // The token is an address of this process that came back.
  auto& answer =
      *reinterpret_cast<reply*>(read_header<reply_header>(header).token);  // NOLINT(performance-no-int-to-ptr)
  const auto unpack = [&answer, this](const std::byte* packed) {
    answer.pieces->scatter(answer.destination, packed, answer.first, answer.count);
    answered(answer);
  };
  if (rendezvous && answer.pieces) {
    receive(data, bytes, nullptr, -1, unpack);
  } else if (rendezvous) {
    receive(data, bytes, answer.destination, -1, [&answer, this](const std::byte*) { answered(answer); });
  } else if (answer.pieces) {
    unpack(static_cast<const std::byte*>(data));
  } else {
    copy_bytes(answer.destination, data, bytes);
    answered(answer);
  }
  return UCS_OK;
}

ucs_status_t remote::on_acknowledge(const void* header, std::size_t, void*, std::size_t, bool) {
  const auto ack = read_header<acknowledge_header>(header);
  peer_of(pe_id{ack.sent.from}).acknowledged.fetch_add(ack.count, std::memory_order_release);
  acknowledged_.fetch_add(ack.count, std::memory_order_release);
  hooks_.memory_changed();
  return UCS_OK;
}

}  // namespace lull::fabric
