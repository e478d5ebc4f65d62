#include "fabric/protocol/rdma.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/clock.hpp"
#include "base/counters.hpp"

namespace lull::fabric {
namespace {

constexpr unsigned operations_per_sample = 16;  // one of this many is timed
constexpr unsigned puts_per_probe = 64;  // of the puts that are too small, one of this many uses RDMA and is timed

std::optional<transport::change> change_of(amo_op op) {
  switch (op) {
    case amo_op::add:
      return transport::change::add;
    case amo_op::set:
      return transport::change::set;
    case amo_op::compare_swap:
      return transport::change::compare_swap;
    case amo_op::fetch:
    case amo_op::bit_and:
    case amo_op::bit_or:
    case amo_op::bit_xor:
    case amo_op::max:
      break;
  }
  return std::nullopt;
}

}  // namespace

rdma_counts& rdma_counts::operator+=(const rdma_counts& other) { return add_fields(*this, other); }

rdma::rdma(transport::remote_memory& memory, int pes, completion& completing, rdma_hooks hooks,
           const rdma_settings& settings)
    : memory_(memory),
      completion_(completing),
      hooks_(std::move(hooks)),
      settings_(settings),
      ns_per_operation_(settings.on.rdma.ns_per_operation, settings.on.correction),
      ns_per_late_put_(0, settings.on.correction),
      puts_(65, transfers_of_size(settings.on.correction)),
      gets_(puts_),
      peers_(static_cast<std::size_t>(pes)) {
  for (int pe = 0; pe < pes; ++pe) {
    flushing_peer& one = of(pe_id{pe});
    one.owner = this;
    one.pe = pe_id{pe};
  }
}

rdma::~rdma() = default;

// ---- Which operations use RDMA

void rdma::fenced(const outstanding& of_context) {
  completion_.for_unacknowledged(of_context, [this](pe_id pe, std::uint64_t last) {
    auto& behind = of(pe).behind;
    behind = std::max(behind, last);
  });
}

bool rdma::reaches(pe_id pe, std::size_t offset, std::size_t bytes) {
  return of(pe).connected && bytes != 0 && offset <= memory_.bytes() && bytes <= memory_.bytes() - offset &&
         memory_.reaches(pe.index()) != transport::reach::nothing;
}

bool rdma::counted(transfers_by_size& of, std::size_t bytes, bool by_rdma) {
  transfers_of_size& these = of[static_cast<std::size_t>(std::bit_width(bytes))];
  ++(by_rdma ? these.by_rdma : these.by_message);
  these.bytes += bytes;
  return by_rdma;
}

bool rdma::takes_put(pe_id pe, std::size_t offset, std::size_t bytes, const model::put_costs& known) {
  const model::rdma_costs& costs = settings_.on.rdma;
  if (!reaches(pe, offset, bytes) || completion_.acknowledged_by(pe) < of(pe).behind) return false;
  if (!decides()) return bytes >= settings_.least_bytes;
  ns_per_copied_byte_ = known.ns_per_copied_byte;
  if (bytes >= model::least_put_by_rdma(ns_per_operation_.value(), known, costs)) return counted(puts_, bytes, true);
  if (settings_.on.correction.off || bytes < costs.smallest_put_bytes || ++too_small_ % puts_per_probe != 0)
    return counted(puts_, bytes, false);
  flushes_ = 0;
  return counted(puts_, bytes, true);
}

bool rdma::takes_get(pe_id pe, std::size_t offset, std::size_t bytes, const model::put_costs& known) {
  if (!reaches(pe, offset, bytes) || completion_.unacknowledged(pe) != 0) return false;
  if (!decides()) return bytes >= settings_.least_bytes;
  return counted(gets_, bytes, bytes >= model::least_get_by_rdma(ns_per_operation_.value(), known));
}

bool rdma::takes_fetch(pe_id pe, const amo& u, const model::put_costs& known) {
  if (!(u.op == amo_op::fetch || change_of(u.op)) || !reaches(pe, u.offset, u.width) ||
      !memory_.by_processor(pe.index()) || completion_.unacknowledged(pe) != 0)
    return false;
  return counted(gets_, u.width, u.width >= model::least_get_by_rdma(ns_per_operation_.value(), known));
}

// ---- One operation

rdma::access& rdma::begin(outstanding* of_context, pe_id pe, bool& finished) {
  access& one = accesses_.take();
  one.owner = this;
  one.pe = pe;
  one.of = of_context;
  one.counted = one.changes = one.is_copied = false;
  one.finished = &finished;
  one.sent = nullptr;
  one.answer = nullptr;
  one.signal.reset();
  return one;
}

// After the call that started the operation: if it is not finished, `one` still exists.
void rdma::began(access& one, const bool& finished) {
  if (finished) return;
  one.counted = true;
  one.finished = nullptr;
  if (!one.of) return;
  if (one.changes)
    completion_.expect_overtakable(*one.of, one.pe);
  else
    completion_.expect_reply(*one.of, one.pe);
}

void rdma::began(access& one, const bool& finished, transfers_by_size& of_size, std::size_t bytes,
                 std::int64_t begin_ns) {
  if (finished && begin_ns != 0)
    of_size[static_cast<std::size_t>(std::bit_width(bytes))].call_ns.saw(static_cast<double>(now_ns() - begin_ns));
  began(one, finished);
}

void rdma::began_put(access& one, const bool& finished, std::size_t bytes, std::int64_t begin_ns) {
  if (!finished && begin_ns != 0) {
    const auto copying_ns = one.is_copied ? static_cast<double>(bytes) * ns_per_copied_byte_ : 0.0;
    ns_per_late_put_.saw(std::max(0.0, static_cast<double>(now_ns() - begin_ns - flushed_ns_) - copying_ns));
  }
  began(one, finished, puts_, bytes, begin_ns);
}

std::int64_t rdma::begin_ns(std::uint64_t operations) const {
  return measures() && operations % operations_per_sample == 0 ? now_ns() : 0;
}

void rdma::put(outstanding& of_context, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
               const signal_amo* signal, std::atomic<bool>* sent) {
  bool finished = false;
  access& one = begin(&of_context, pe, finished);
  one.changes = true;
  one.range = {offset, bytes};
  one.sent = sent;
  if (signal) one.signal = *signal;
  const std::int64_t at_ns = begin_ns(++counts_.puts);
  counts_.put_bytes += bytes;
  in_timed_put_ = at_ns != 0;
  flushed_ns_ = 0;
  memory_.put(pe.index(), offset, source, bytes, one);
  in_timed_put_ = false;
  began_put(one, finished, bytes, at_ns);
}

void rdma::get(outstanding* of_context, pe_id pe, std::size_t offset, void* destination, std::size_t bytes,
               reply* answer) {
  bool finished = false;
  access& one = begin(of_context, pe, finished);
  one.answer = answer;
  const std::int64_t at_ns = begin_ns(++counts_.gets);
  counts_.got_bytes += bytes;
  memory_.get(pe.index(), offset, destination, bytes, one);
  began(one, finished, gets_, bytes, at_ns);
}

void rdma::fetch(outstanding* of_context, pe_id pe, const amo& u, void* old_value, reply* answer) {
  bool finished = false;
  access& one = begin(of_context, pe, finished);
  one.answer = answer;
  const std::int64_t at_ns = begin_ns(++counts_.atomics);
  if (const auto how = change_of(u.op)) {
    one.changes = true;
    one.range = {u.offset, u.width};
    one.operand = u.operand;
    if (u.op == amo_op::compare_swap) {
      one.operand = u.compare;
      std::memcpy(old_value, &u.operand, u.width);
    }
    memory_.fetch(pe.index(), u.offset, *how, &one.operand, old_value, u.width, one);
  } else {
    memory_.get(pe.index(), u.offset, old_value, u.width, one);
  }
  began(one, finished, gets_, u.width, at_ns);
}

// The bytes have arrived and the source, or the old value, belongs to the caller; others may not see the change yet.
void rdma::moved(access& one) {
  if (one.sent) {
    one.sent->store(true, std::memory_order_release);
    if (one.counted) hooks_.changed();
  }
  one.is_copied = !one.counted;
  if (one.answer) hooks_.answered(*one.answer);
  if (!one.changes) return finish(one);
  flushing_peer& peer = of(one.pe);
  peer.next.push_back(&one);
  complete(peer);
}

void rdma::finish(access& one) {
  if (!one.counted) *one.finished = true;
  if (one.signal)
    due_.push_back({one.pe, one.signal, one.of, one.counted});
  else if (one.counted && one.of)
    completion_.replied(*one.of, one.pe);
  if (one.counted) hooks_.changed();
  accesses_.give_back(one);
}

// ---- What follows a change

void rdma::complete(flushing_peer& peer) {
  if (peer.at != step::idle || peer.next.empty()) return;
  const bool timed = flushes_++ % operations_per_sample == 0 && measures();
  const std::int64_t begin = timed || in_timed_put_ ? now_ns() : 0;
  std::swap(peer.now, peer.next);
  peer.at = step::flushing;
  peer.posting_ns = 0;
  memory_.flush(peer.pe.index(), peer);
  if (begin == 0) return;
  const std::int64_t ns = now_ns() - begin;
  if (in_timed_put_) flushed_ns_ += ns;
  if (!timed) return;
  if (peer.at == step::idle)
    ns_per_operation_.saw(static_cast<double>(ns));
  else
    peer.posting_ns = std::max<std::int64_t>(ns, 1);
}

void rdma::completed(flushing_peer& peer) {
  const auto looks = [](const access* one) { return !one->signal; };
  if (peer.at == step::flushing && std::ranges::any_of(peer.now, looks)) {
    peer.at = step::looking;
    const std::int64_t begin = peer.posting_ns != 0 ? now_ns() : 0;
    memory_.get(peer.pe.index(), settings_.waits_at, &peer.awaited, sizeof peer.awaited, peer);
    if (begin != 0 && peer.at == step::looking) peer.posting_ns += now_ns() - begin;
    return;
  }
  if (peer.at == step::looking) {
    const wait::awaited_range awaited(peer.awaited);
    if (std::ranges::any_of(peer.now, [&](const access* one) { return looks(one) && one->range.overlaps(awaited); })) {
      ++counts_.rings;
      due_.push_back({peer.pe, std::nullopt, nullptr, false});
    }
  }
  if (peer.posting_ns != 0)  // all that were put before share the flush and the look
    ns_per_operation_.saw(ns_per_late_put_.value() +
                          static_cast<double>(peer.posting_ns) / static_cast<double>(peer.now.size()));
  for (access* const one : peer.now) finish(*one);
  peer.now.clear();
  peer.at = step::idle;
  complete(peer);
}

// ---- How the choices turned out

std::vector<model::choice_account> rdma::accounts(const model::put_costs& predicted,
                                                  const model::put_costs& known) const {
  std::vector<model::choice_account> all;
  if (!decides()) return all;
  const double operation = ns_per_operation_.value(), predicted_operation = ns_per_operation_.predicted();
  // `rung`: the share of these that woke their target by a message. The prediction for puts is that all do.
  const auto add = [&](const char* choice, const char* per, const transfers_by_size& sizes, auto by_message,
                       auto by_network, double rung) {
    for (unsigned width = 0; width < sizes.size(); ++width) {
      const transfers_of_size& these = sizes[width];
      const std::uint64_t count = these.by_message + these.by_rdma;
      if (count == 0) continue;
      const double bytes = static_cast<double>(these.bytes) / static_cast<double>(count);
      std::optional<double> observed = these.call_ns.mean_seen();
      if (observed) *observed += rung * known.ns_per_message;
      all.push_back({.choice = choice,
                     .where = model::up_to(width),
                     .per = per,
                     .alternatives = {{.name = "message",
                                       .predicted_ns = by_message(bytes, predicted),
                                       .corrected_ns = by_message(bytes, known),
                                       .operations = these.by_message},
                                      {.name = "rdma",
                                       .predicted_ns = by_network(bytes, predicted_operation, predicted, 1),
                                       .corrected_ns = by_network(bytes, operation, known, rung),
                                       .observed_ns = observed,
                                       .operations = these.by_rdma}}});
    }
  };
  const std::uint64_t changes = counts_.puts + counts_.atomics;
  const double rung = changes == 0 ? 0 : static_cast<double>(counts_.rings) / static_cast<double>(changes);
  add("rdma-put", "put", puts_, model::ns_of_put_by_message, model::ns_of_put_by_rdma, rung);
  const auto get_by_network = [](double bytes, double ns_per_operation, const model::put_costs& costs, double) {
    return model::ns_of_get_by_rdma(bytes, ns_per_operation, costs);
  };
  add("rdma-get", "get", gets_, model::ns_of_get_by_message, get_by_network, 0);
  return all;
}

}  // namespace lull::fabric
