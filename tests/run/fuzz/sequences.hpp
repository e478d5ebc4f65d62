// Sequences of operations of each PE through several contexts, with and without sessions, against a model.
//
// Each PE has parts of its own in the memory of every PE, on which it alone operates: puts, blocks, atomics, signals and
// gets, one after another on the same bytes. Where the standard leaves their order open, and only there, it calls fence,
// quiet or pe_quiet in between. So every get, and the end of the phase, has one right result. It also notifies other PEs,
// which then see what they must see. All PEs follow all sequences in the same order, and carry out their own.
#pragma once
#include <algorithm>
#include <cstring>

#include "fuzz/calls.hpp"
#include "fuzz/dice.hpp"
#include "fuzz/parts.hpp"
#include "fuzz/streams.hpp"

namespace fuzz {

class sequences {
 public:
  // `members`: a team of all PEs, which no other thread uses meanwhile.
  sequences(situation& s, parts& memory, shmem_team_t members) : s_(s), memory_(memory), streams_(s, members) {}

  void phase(dice& d) {
    s_.subject = "sequences";
    memory_.begin_phase();
    const int steps = 60 + 25 * s_.r.pes;
    for (int i = 0; i < steps; ++i) step(d);
    for (int from = 0; from < s_.r.pes; ++from) streams_.end_phase(d, from);
    streams_.barrier();
    s_.subject = "memory after sequences";
    memory_.compare();
    streams_.barrier();  // no PE begins the next phase while another still compares
  }

 private:
  // One operation, or a few, of one PE on one PE.
  void step(dice& d) {
    const int from = d.below(s_.r.pes), to = d.below(s_.r.pes);
    part& p = memory_.part_of(from, to, d);
    const std::size_t channel = streams_.any(d);
    switch (d.below(18)) {
      case 0:
        return put(d, p, channel);
      case 1:
        return put_elements(d, p, channel);
      case 2:
      case 3:
        return put_blocks(d, p, channel, any_blocks(d, p.bytes()));
      case 4:
        return braid(d, p);
      case 5:
      case 6:
        return d.chance(50) ? change_word<std::uint64_t>(d, p, channel) : change_word<std::uint32_t>(d, p, channel);
      case 7:
        return get(d, p, channel);
      case 8:
        return get_blocks(d, p, channel);
      case 9:
        return load(d, p);
      case 10:
      case 11:
        return signal(d, p, channel);
      case 12:
        return streams_.order(d, from, to, channel);
      case 13:
        return streams_.session(d, from, channel);
      case 14:
        return copy_out(d, p, channel);
      case 15:
        return copy_in(d, p, channel);
      case 16:
        return notify_behind_fence(d, p, channel);
      default:
        return notify_after_quiet(d, p, channel);
    }
  }

  // The next operation on these bytes changes them: what precedes it comes first.
  void write(dice& d, part& p, const ranges& at, std::size_t channel) {
    prepare_write(d, p, at, channel);
    mark_written(p, at, channel);
  }
  void prepare_write(dice& d, part& p, const ranges& at, std::size_t channel) {
    for (const auto& [begin, size] : at)
      for (std::size_t i = p.first(begin); i < p.last(begin, size); ++i) {
        streams_.order_before_write(d, p, p.written[i], channel);
        streams_.complete(d, p, p.read[i]);
      }
  }
  void mark_written(part& p, const ranges& at, std::size_t channel) {
    const stamp now = streams_.next(p.from, channel);
    for (const auto& [begin, size] : at)
      for (std::size_t i = p.first(begin); i < p.last(begin, size); ++i) p.written[i] = now;
  }
  void complete_writes(dice& d, part& p, const ranges& at) {
    for (const auto& [begin, size] : at)
      for (std::size_t i = p.first(begin); i < p.last(begin, size); ++i) streams_.complete(d, p, p.written[i]);
  }

  [[nodiscard]] static block data_of(std::uint64_t seed, std::size_t size) {
    block data(size);
    fill(data, seed);
    return data;
  }
  [[nodiscard]] bool mine(const part& p) const { return p.from == s_.r.me; }

  // A put of bytes, which may carry a signal.
  void put(dice& d, part& p, std::size_t channel) {
    if (p.frozen) return;
    const auto [begin, size] = any_range(d, p.bytes(), 1);
    const bool blocking = d.chance(50), with_signal = d.chance(30);
    const ranges at{{begin, size}};
    const std::size_t which = d.below(signals::count + 1);
    prepare_write(d, p, at, channel);
    if (with_signal) prepare_signal(d, p, which, channel);
    mark_written(p, at, channel);
    const signal_change change = with_signal ? change_signal(d, p, which, channel) : signal_change{};
    const block data = data_of(d.next(), size);
    std::copy(data.begin(), data.end(), p.model.begin() + static_cast<std::ptrdiff_t>(begin));
    if (!mine(p)) return;
    const auto [ctx, pe] = streams_.target(channel, p.to);
    const int how = change.adds ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET;
    block& source = streams_.source(p.to, channel, data);
    std::byte* const there = memory_.at(p, begin);
    if (blocking && with_signal)
      shmem_ctx_putmem_signal(ctx, there, source.data(), size, change.word, change.value, how, pe);
    else if (with_signal)
      shmem_ctx_putmem_signal_nbi(ctx, there, source.data(), size, change.word, change.value, how, pe);
    else if (blocking)
      shmem_ctx_putmem(ctx, there, source.data(), size, pe);
    else
      shmem_ctx_putmem_nbi(ctx, there, source.data(), size, pe);
    if (blocking) scrub(source);
  }

  void put_elements(dice& d, part& p, std::size_t channel) {
    if (p.frozen) return;
    const std::size_t begin = d.below(p.bytes() / 4) * 4,
                      count = std::min(1 + d.below(std::size_t{8}), (p.bytes() - begin) / 4);
    write(d, p, {{begin, count * 4}}, channel);
    const block data = data_of(d.next(), count * 4);
    std::copy(data.begin(), data.end(), p.model.begin() + static_cast<std::ptrdiff_t>(begin));
    if (!mine(p)) return;
    const auto [ctx, pe] = streams_.target(channel, p.to);
    for (std::size_t i = 0; i < count * 4; i += 4) {
      int value = 0;
      std::memcpy(&value, data.data() + i, sizeof value);
      shmem_ctx_int_p(ctx, reinterpret_cast<int*>(memory_.at(p, begin + i)), value, pe);
    }
  }

  struct placed {
    std::size_t begin;
    blocks how;
  };
  // Blocks that fit into `bytes` bytes.
  static placed any_blocks(dice& d, std::size_t bytes) {
    placed b{};
    b.how.type = d.below(element_bytes.size());
    const std::size_t element = element_bytes[b.how.type];
    b.begin = d.below(bytes / 2 / element) * element;
    const std::size_t room = (bytes - b.begin) / element;
    b.how.block = d.below(std::min<std::size_t>(room, d.chance(70) ? 5 : 100) + 1);
    b.how.dst = static_cast<std::ptrdiff_t>(b.how.block + d.below(std::size_t{5}));
    b.how.sst = static_cast<std::ptrdiff_t>(b.how.block + d.below(std::size_t{4}));
    const std::size_t most = b.how.dst == 0 ? 3 : (room - b.how.block) / static_cast<std::size_t>(b.how.dst) + 1;
    b.how.count = std::min(d.below(most + 1), d.chance(80) ? std::size_t{20} : std::size_t{2000});
    return b;
  }
  static ranges remote_of(const placed& b, std::ptrdiff_t stride) {
    ranges all;
    const std::size_t element = element_bytes[b.how.type];
    if (b.how.block != 0)
      for (std::size_t i = 0; i < b.how.count; ++i)
        all.push_back({b.begin + i * static_cast<std::size_t>(stride) * element, b.how.block * element});
    return all;
  }

  void put_blocks(dice& d, part& p, std::size_t channel, const placed& b) {
    if (p.frozen) return;
    const ranges at = remote_of(b, b.how.dst);
    write(d, p, at, channel);
    const std::size_t element = element_bytes[b.how.type], step = static_cast<std::size_t>(b.how.sst) * element;
    aligned_block source(b.how.count * step + b.how.block * element + 16);
    source.fill(d.next());
    for (std::size_t i = 0; i < at.size(); ++i)
      std::copy_n(source.data() + i * step, at[i].size, p.model.begin() + static_cast<std::ptrdiff_t>(at[i].begin));
    if (!mine(p)) return;
    const auto [ctx, pe] = streams_.target(channel, p.to);
    ibput(ctx, b.how, memory_.at(p, b.begin), source.data(), pe);
    source.fill(0);  // the call has returned
  }

  // Blocks whose strides overlap, each through any channel; then the target alone is waited for.
  void braid(dice& d, part& p) {
    if (p.frozen) return;
    const std::size_t strands = 2 + d.below(std::size_t{2});
    placed b{};
    b.how.type = d.below(element_bytes.size());
    const std::size_t element = element_bytes[b.how.type];
    b.how.block = 1 + d.below(d.chance(70) ? std::size_t{4} : std::size_t{40});
    b.how.count = std::min(p.bytes() / (strands * b.how.block * element), std::size_t{300});
    b.how.dst = static_cast<std::ptrdiff_t>(strands * b.how.block);
    b.how.sst = static_cast<std::ptrdiff_t>(b.how.block + d.below(std::size_t{2}));
    std::vector<std::size_t> order(strands);
    for (std::size_t i = 0; i < strands; ++i) order[i] = i;
    d.shuffle(order);
    for (const std::size_t strand : order) {
      b.begin = strand * b.how.block * element;
      put_blocks(d, p, streams_.any(d), b);
    }
    const bool overlaps = d.chance(30);
    if (overlaps) {  // over some of the blocks, in order
      b.begin = d.below(strands) * b.how.block * element;
      put_blocks(d, p, streams_.any(d), b);
    }
    const ranges all{{0, b.how.count * strands * b.how.block * element}};
    complete_writes(d, p, all);
    const std::size_t channel = streams_.any(d);
    if (!mine(p)) return;
    block got(all[0].size);
    const auto [ctx, pe] = streams_.target(channel, p.to);
    shmem_ctx_getmem(ctx, got.data(), memory_.at(p, 0), got.size(), pe);
    EXPECT(s_, std::equal(got.begin(), got.end(), p.model.begin()));
  }

  template <class T>
  void change_word(dice& d, part& p, std::size_t channel) {
    if (p.frozen) return;
    const std::size_t begin = d.below(p.bytes() / sizeof(T)) * sizeof(T);
    const auto how = static_cast<atomic>(d.below(static_cast<int>(atomic::kinds)));
    const auto operand = static_cast<T>(d.next());
    write(d, p, {{begin, sizeof(T)}}, channel);
    T old{};
    std::memcpy(&old, p.model.data() + begin, sizeof old);
    const T now = after(how, old, operand);
    std::memcpy(p.model.data() + begin, &now, sizeof now);
    if (!mine(p)) return;
    auto& [got, expected] = streams_.result(p.to, channel, block(sizeof(T)));
    std::memcpy(expected.data(), &old, sizeof old);
    const auto [ctx, pe] = streams_.target(channel, p.to);
    auto* const answer = reinterpret_cast<T*>(got.data());
    change(ctx, how, reinterpret_cast<T*>(memory_.at(p, begin)), operand, old, answer, pe);
    if (!is_late(how)) EXPECT(s_, got == expected);
  }

  void get(dice& d, part& p, std::size_t channel) {
    const auto [begin, size] = any_range(d, p.bytes(), 1);
    const bool blocking = d.chance(50);
    read(d, p, {{begin, size}}, channel, blocking);
    if (!mine(p)) return;
    const auto from = p.model.begin() + static_cast<std::ptrdiff_t>(begin);
    auto& [got, expected] = streams_.result(p.to, channel, block(from, from + static_cast<std::ptrdiff_t>(size)));
    const auto [ctx, pe] = streams_.target(channel, p.to);
    if (!blocking) return shmem_ctx_getmem_nbi(ctx, got.data(), memory_.at(p, begin), size, pe);
    shmem_ctx_getmem(ctx, got.data(), memory_.at(p, begin), size, pe);
    EXPECT(s_, got == expected);
  }
  void read(dice& d, part& p, const ranges& at, std::size_t channel, bool blocking) {
    complete_writes(d, p, at);
    if (blocking) return;
    for (const auto& [begin, size] : at)  // all reads of a byte share one stamp
      for (std::size_t i = p.first(begin); i < p.last(begin, size); ++i)
        if (p.read[i].channel != channel) streams_.complete(d, p, p.read[i]);
    const stamp now = streams_.next(p.from, channel);
    for (const auto& [begin, size] : at)
      for (std::size_t i = p.first(begin); i < p.last(begin, size); ++i) p.read[i] = now;
  }

  void get_blocks(dice& d, part& p, std::size_t channel) {
    const placed b = any_blocks(d, p.bytes());
    // any_blocks() has fitted them with dst; here the remote stride is sst.
    const blocks how{
        .type = b.how.type, .dst = b.how.sst, .sst = b.how.dst, .block = b.how.block, .count = b.how.count};
    const ranges at = remote_of(b, how.sst);
    read(d, p, at, channel, true);
    if (!mine(p)) return;
    const std::size_t element = element_bytes[how.type], step = static_cast<std::size_t>(how.dst) * element;
    aligned_block got(how.count * step + how.block * element + 16), expected(got.size());
    got.fill(1), expected.fill(1);  // what is between the blocks stays
    for (std::size_t i = 0; i < at.size(); ++i)
      std::copy_n(p.model.begin() + static_cast<std::ptrdiff_t>(at[i].begin), at[i].size, expected.data() + i * step);
    const auto [ctx, pe] = streams_.target(channel, p.to);
    ibget(ctx, how, got.data(), memory_.at(p, b.begin), pe);
    EXPECT(s_, std::equal(got.data(), got.data() + got.size(), expected.data()));
  }

  // Between a part and one that PE p.from has in its own memory: source or destination are symmetric too.
  struct copying {
    part* own;
    std::size_t place, own_place, size;
  };
  copying any_copy(dice& d, part& p) {
    part& own = memory_.part_of(p.from, p.from, d);
    const range there = any_range(d, p.bytes(), 1), here = any_range(d, own.bytes(), 1);
    return {&own, there.begin, here.begin, &own == &p ? 0 : std::min(there.size, here.size)};
  }
  void copy_out(dice& d, part& p, std::size_t channel) {
    const copying c = any_copy(d, p);
    if (p.frozen || c.size == 0) return;
    complete_writes(d, *c.own, {{c.own_place, c.size}});
    write(d, p, {{c.place, c.size}}, channel);
    std::copy_n(c.own->model.data() + c.own_place, c.size, p.model.data() + c.place);
    if (!mine(p)) return;
    const auto [ctx, pe] = streams_.target(channel, p.to);
    shmem_ctx_putmem(ctx, memory_.at(p, c.place), memory_.at(*c.own, c.own_place), c.size, pe);
  }
  void copy_in(dice& d, part& p, std::size_t channel) {
    const copying c = any_copy(d, p);
    if (c.own->frozen || c.size == 0) return;
    complete_writes(d, p, {{c.place, c.size}});
    complete_writes(d, *c.own, {{c.own_place, c.size}});
    for (std::size_t i = c.own->first(c.own_place); i < c.own->last(c.own_place, c.size); ++i)
      streams_.complete(d, *c.own, c.own->read[i]);
    std::copy_n(p.model.data() + c.place, c.size, c.own->model.data() + c.own_place);
    if (!mine(p)) return;
    const auto [ctx, pe] = streams_.target(channel, p.to);
    shmem_ctx_getmem(ctx, memory_.at(*c.own, c.own_place), memory_.at(p, c.place), c.size, pe);
  }

  // Directly, where the PEs share memory.
  void load(dice& d, part& p) {
    const auto [begin, size] = any_range(d, p.bytes(), 1);
    complete_writes(d, p, {{begin, size}});
    if (!mine(p)) return;
    if (const auto* const there = streams_.direct(memory_.at(p, begin), p.to))
      EXPECT(s_, std::equal(there, there + size, p.model.begin() + static_cast<std::ptrdiff_t>(begin)));
  }

  struct signal_change {
    std::uint64_t* word;
    std::uint64_t value;
    bool adds;
  };
  // Signal `which` of those that PE p.from has on PE p.to; the last one is shared by all PEs, which only add to it.
  // Some others receive additions only, too: their order does not matter.
  static bool only_adds(std::size_t which) { return which % 2 == 0; }
  void prepare_signal(dice& d, const part& p, std::size_t which, std::size_t channel) {
    if (!only_adds(which)) streams_.order_before_write(d, p, memory_.signals_of(p.from, p.to).changed[which], channel);
  }
  signal_change change_signal(dice& d, const part& p, std::size_t which, std::size_t channel) {
    signals& own = memory_.signals_of(p.from, p.to);
    const std::uint64_t value = d.next() >> 20U;
    const bool adds = only_adds(which) || d.chance(50);
    const stamp now = streams_.next(p.from, channel);
    if (which == signals::count) {
      memory_.shared_sum(p.to) += value;
      return {memory_.shared_word(), value, true};
    }
    own.changed[which] = now;
    own.model[which] = adds ? own.model[which] + value : value;
    return {memory_.signal_word(p.from, which), value, adds};
  }
  void signal(dice& d, part& p, std::size_t channel) {
    const std::size_t which = d.below(signals::count + 1);
    prepare_signal(d, p, which, channel);
    const signal_change change = change_signal(d, p, which, channel);
    if (!mine(p)) return;
    const auto [ctx, pe] = streams_.target(channel, p.to);
    fuzz::signal(ctx, change.adds, change.word, change.value, pe);
  }

  // The target sees the whole part: data, a fence, a notification through the same channel.
  void notify_behind_fence(dice& d, part& p, std::size_t channel) {
    if (p.frozen) return;
    for (const stamp& w : p.written)
      if (w.channel != channel) streams_.complete(d, p, w);
    streams_.fence(p.from, channel);
    notify(d, p, p.to, channel);
  }
  // Any PE sees the whole part: data, a quiet of each channel for this target, a notification.
  void notify_after_quiet(dice& d, part& p, std::size_t channel) {
    if (p.frozen) return;
    complete_writes(d, p, {{0, p.bytes()}});
    notify(d, p, d.below(s_.r.pes), channel);
  }
  void notify(dice& d, part& p, int waiter, std::size_t channel) {
    p.frozen = true;  // until the end of the phase: the waiter reads it
    notices& n = memory_.notices_of(p.from, waiter);
    const std::size_t how = d.below(std::size_t{6});
    const bool by_signal = how < 2;
    streams_.order_before_write(d, p.from, waiter, n.changed[by_signal], channel);
    n.changed[by_signal] = streams_.next(p.from, channel);
    const std::uint64_t more = 1 + d.below(std::size_t{9}), value = n.model[by_signal] += more;
    const std::size_t waits_by = d.below(std::size_t{4}), reads_by = streams_.any(d);
    auto* const word = memory_.notice_word(p.from, by_signal);
    if (mine(p)) {
      const auto [ctx, pe] = streams_.target(channel, waiter);
      switch (how) {
        case 0:
        case 1:
          fuzz::signal(ctx, how == 0, word, how == 0 ? more : value, pe);
          break;
        case 2:
          shmem_ctx_uint64_p(ctx, word, value, pe);
          break;
        case 3:
          shmem_ctx_uint64_atomic_set(ctx, word, value, pe);
          break;
        case 4:
          shmem_ctx_uint64_atomic_add(ctx, word, more, pe);
          break;
        default:
          block bytes(sizeof value);
          std::memcpy(bytes.data(), &value, sizeof value);
          shmem_ctx_putmem_nbi(ctx, word, streams_.source(waiter, channel, bytes).data(), sizeof value, pe);
      }
    }
    if (waiter != s_.r.me) return;
    if (by_signal && waits_by == 0)
      shmem_signal_wait_until(word, SHMEM_CMP_GE, value);
    else if (by_signal && waits_by == 1)
      while (shmem_signal_fetch(word) < value) {
      }
    else if (waits_by == 2)
      while (shmem_uint64_test(word, SHMEM_CMP_GE, value) == 0) {
      }
    else if (waits_by == 3)
      memory_.wait_for_one(word, value);
    else
      shmem_uint64_wait_until(word, SHMEM_CMP_GE, value);
    s_.subject = "sequences, what a notified PE sees";
    const auto* const there = waits_by == 2 || p.to == s_.r.me ? streams_.direct(memory_.at(p, 0), p.to) : nullptr;
    block got(p.bytes());
    const auto [ctx, pe] = streams_.target(reads_by, p.to);
    if (there)
      std::copy_n(there, p.bytes(), got.begin());
    else
      shmem_ctx_getmem(ctx, got.data(), memory_.at(p, 0), got.size(), pe);
    EXPECT(s_, got == p.model);
    s_.subject = "sequences";
  }

  situation& s_;
  parts& memory_;
  streams streams_;
};

}  // namespace fuzz
