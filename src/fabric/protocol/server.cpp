#include "fabric/protocol/server.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "fabric/protocol/late_payload.hpp"
#include "fabric/protocol/sender.hpp"

namespace lull::fabric {
namespace {

[[noreturn]] void refuse(pe_id me, const char* what, std::size_t bytes, std::size_t offset, std::size_t size) {
  // The sender's mistake, found here, where no caller could receive an error.
  std::fprintf(stderr,
               "lull: PE %d: a %s of %zu bytes at offset %zu lies outside the symmetric memory of %zu bytes; "
               "LULL_CHECK=1 names the PE that issued it\n",
               me.index(), what, bytes, offset, size);
  std::_Exit(1);
}

}  // namespace

std::byte* server::at(std::size_t offset, std::size_t bytes, const char* what) const {
  if (offset <= memory_.bytes.size() && bytes <= memory_.bytes.size() - offset) [[likely]]
    return memory_.bytes.data() + offset;
  refuse(me_, what, bytes, offset, memory_.bytes.size());
}

std::byte* server::at(std::size_t offset, const block_descriptor& there, const char* what) const {
  const auto [low, high] = there.reach();
  const auto begin = static_cast<std::int64_t>(offset) + low;
  if (begin < 0) refuse(me_, what, static_cast<std::size_t>(high - low), offset, memory_.bytes.size());
  (void)at(static_cast<std::size_t>(begin), static_cast<std::size_t>(high - low), what);
  return memory_.bytes.data() + offset;
}

template <class Then>
void server::when_fetched(transport::transport& from, const payload& data, std::byte* destination, pe_id sender,
                          Then then) {
  acks_.hold(sender);
  fetch_payload(from, data, destination, [this, sender, then = std::move(then)](const std::byte* where) {
    acks_.release(sender);
    then(where);
  });
}

void server::put_applied(const put_header& put) {
  if (put.has_signal) {
    const fabric::amo signal{put.signal_how, 8, put.signal_offset, put.signal_value, 0};
    apply_amo(signal, at(signal.offset, 8, "signal"));
  }
  if (put.token != 0)
    answers_.push_back({pe_id{put.sent.from}, put.token, 0, 0, false, 0, {}});
  else
    acks_.add(pe_id{put.sent.from});
  if (put.signal_whole_node)
    hooks_.node_memory_changed();
  else
    hooks_.memory_changed();
}

void server::put(transport::transport& from, header h, const payload& data) {
  const auto put = read_header<put_header>(h.data());
  std::byte* const destination = at(put.offset, data.bytes, "put");
  if (!data.announced) {
    deliver(destination, data.data, data.bytes);
    put_applied(put);
  } else {
    when_fetched(from, data, destination, pe_id{put.sent.from}, [this, put](const std::byte*) { put_applied(put); });
  }
}

const std::byte* server::apply_run(const std::byte* data) const {
  const auto run = read_header<coalesced_run>(data);
  data += sizeof run;
  const std::ptrdiff_t last = std::ptrdiff_t{run.stride} * (run.puts - 1), low = std::min<std::ptrdiff_t>(last, 0);
  const auto begin = static_cast<std::ptrdiff_t>(run.offset()) + low;
  const auto bytes = static_cast<std::size_t>(std::max<std::ptrdiff_t>(last, 0) - low) + run.bytes;
  if (begin < 0) refuse(me_, "put", bytes, run.offset(), memory_.bytes.size());
  std::byte* to = at(static_cast<std::size_t>(begin), bytes, "put") - low;
  const std::byte* from = data;
  if (run.bytes == 8 && (reinterpret_cast<std::uintptr_t>(to) | static_cast<std::uintptr_t>(run.stride)) % 8 == 0) {
    for (std::uint16_t left = run.puts; left != 0; --left, to += run.stride, from += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, from, sizeof word);
      std::atomic_ref(*reinterpret_cast<std::uint64_t*>(to)).store(word, std::memory_order_release);
    }
  } else {
    for (std::uint16_t left = run.puts; left != 0; --left, to += run.stride, from += run.bytes)
      deliver(to, from, run.bytes);
  }
  return data + run.data_bytes();
}

void server::apply_coalesced(pe_id from, const std::byte* data, std::size_t bytes) {
  for (const std::byte* const end = data + bytes; data < end;) {
    const coalesced_put one(data);
    if (one.bytes() == coalesced_amo::mark) {
      const fabric::amo u = read_header<coalesced_amo>(data).operation();
      apply_amo(u, at(u.offset, u.width, "atomic"));
      data += sizeof(coalesced_amo);
      continue;
    }
    if (one.bytes() == coalesced_run::mark) {
      data = apply_run(data);
      continue;
    }
    deliver_joined(at(one.offset(), one.bytes(), "put"), data + sizeof one, one.bytes());
    data += coalesced_put::room_for(one.bytes());
  }
  acks_.add(from);
  hooks_.memory_changed();
}

void server::coalesced(transport::transport& from, header h, const payload& data) {
  const pe_id sender{read_header<coalesced_header>(h.data()).sent.from};
  if (!data.announced)
    apply_coalesced(sender, static_cast<const std::byte*>(data.data), data.bytes);
  else
    when_fetched(from, data, nullptr, sender,
                 [this, sender, bytes = data.bytes](const std::byte* there) { apply_coalesced(sender, there, bytes); });
}

void server::apply_scatter(const blocks_header& blocks, const std::byte* data, std::size_t bytes) {
  const auto there = read_header<block_descriptor>(data);
  std::byte* const target = at(blocks.offset, there, blocks.accumulates ? "accumulate" : "strided put");
  const std::byte* const packed = data + sizeof there;
  if (blocks.count * there.block_bytes() > bytes - sizeof there || blocks.first + blocks.count > there.blocks())
    refuse(me_, "message of blocks", bytes, blocks.offset, memory_.bytes.size());
  if (blocks.accumulates) {
    const axpy how{blocks.type, blocks.factor};
    const std::lock_guard hold(memory_.accumulating);
    const std::byte* from = packed;
    there.for_blocks(blocks.first, blocks.count, [&](std::int64_t offset) {
      apply_axpy(how, target + offset, from, there.block_bytes());
      from += there.block_bytes();
    });
  } else {
    there.scatter(target, packed, blocks.first, blocks.count);
  }
  acks_.add(pe_id{blocks.sent.from});
  hooks_.memory_changed();
}

void server::scatter(transport::transport& from, header h, const payload& data) {
  const auto blocks = read_header<blocks_header>(h.data());
  if (!data.announced)
    apply_scatter(blocks, static_cast<const std::byte*>(data.data), data.bytes);
  else
    when_fetched(from, data, nullptr, pe_id{blocks.sent.from},
                 [this, blocks, bytes = data.bytes](const std::byte* there) { apply_scatter(blocks, there, bytes); });
}

void server::get(header h) {
  const auto get = read_header<get_header>(h.data());
  (void)at(get.offset, get.bytes, "get");
  answers_.push_back({pe_id{get.sent.from}, get.token, get.offset, get.bytes, false, 0, {}});
}

void server::gather(header h, const payload& data) {
  const auto blocks = read_header<blocks_header>(h.data());
  const auto there = read_header<block_descriptor>(data.data);
  const std::byte* const source = at(blocks.offset, there, "strided get");
  if (blocks.first + blocks.count > there.blocks()) refuse(me_, "strided get", 0, blocks.offset, memory_.bytes.size());
  std::vector<std::byte> packed(blocks.count * there.block_bytes());
  there.gather(packed.data(), source, blocks.first, blocks.count);
  answers_.push_back({pe_id{blocks.sent.from}, blocks.token, 0, packed.size(), false, 0, std::move(packed)});
}

void server::amo(header h) {
  const auto wanted = read_header<amo_header>(h.data());
  const fabric::amo u{wanted.op, wanted.width, wanted.offset, wanted.operand, wanted.compare};
  const std::uint64_t old = apply_amo(u, at(u.offset, u.width, "atomic"));
  if (wanted.token != 0)
    answers_.push_back({pe_id{wanted.sent.from}, wanted.token, 0, u.width, true, old, {}});
  else
    acks_.add(pe_id{wanted.sent.from});
  if (u.op != amo_op::fetch) hooks_.memory_changed();
}

void server::send_answers(sender& by) {
  for (answer& due : answers_) {
    message& m = by.new_message();
    const reply_header header{by.to(due.to), due.token};
    const void* data = memory_.bytes.data() + due.offset;
    if (due.immediate) {  // the value travels in the message's own memory, after its header
      std::memcpy(m.header + sizeof header, &due.value, sizeof due.value);
      data = m.header + sizeof header;
    } else if (!due.packed.empty()) {
      m.payload = std::move(due.packed);
      data = m.payload.data();
    }
    by.send(due.to, message_kind::reply, m, header, data, due.bytes, transport::order::free);
  }
  answers_.clear();
}

void server::send_acks(sender& by) {
  acks_.send_all([&by](pe_id pe, std::uint32_t messages) {
    by.send(pe, message_kind::acknowledge, by.new_message(), acknowledge_header{by.to(pe), messages});
  });
}

}  // namespace lull::fabric
