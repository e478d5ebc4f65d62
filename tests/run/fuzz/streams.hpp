// The contexts of random sequences: their sessions, fences and quiets, and the operations of this PE through them that are not complete.
#pragma once
#include <array>
#include <list>
#include <utility>

#include "fuzz/ordering.hpp"
#include "fuzz/parts.hpp"

namespace fuzz {

class streams {
 public:
  streams(situation& s, shmem_team_t members) : s_(s), members_(members), order_(s.r.pes, channels) {
    CHECK(shmem_team_split_strided(members, s.r.pes - 1, -1, s.r.pes, nullptr, 0, &reversed_) == 0);
    CHECK(shmem_ctx_create(0, &ctx_[1]) == 0);
    CHECK(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx_[2]) == 0);
    CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx_[3]) == 0);
    CHECK(shmem_team_create_ctx(reversed_, 0, &ctx_[4]) == 0);
    open_.resize(static_cast<std::size_t>(s.r.pes));
  }
  streams(const streams&) = delete;
  streams& operator=(const streams&) = delete;
  ~streams() {
    for (std::size_t channel = 0; channel < channels; ++channel) {
      if (open_[static_cast<std::size_t>(s_.r.me)][channel]) shmem_ctx_session_stop(ctx_[channel]);
      if (channel != 0) shmem_ctx_destroy(ctx_[channel]);
    }
    shmem_team_destroy(reversed_);
  }

  [[nodiscard]] std::size_t any(dice& d) const { return d.below(channels); }
  // The context, and the number of the PE in its team.
  [[nodiscard]] std::pair<shmem_ctx_t, int> target(std::size_t channel, int pe) const {
    return {ctx_[channel], numbered(channel, pe)};
  }
  // The memory of this PE or of a PE of the same node, else nullptr.
  [[nodiscard]] const std::byte* direct(const std::byte* at, int pe) const {
    auto* const there = shmem_team_ptr(reversed_, at, s_.r.pes - 1 - pe);
    EXPECT(s_, there == shmem_ptr(at, pe) && there == shmem_team_ptr(members_, at, pe));
    return static_cast<const std::byte*>(there);
  }
  stamp next(int from, std::size_t channel) { return order_.next(from, channel); }

  void fence(int from, std::size_t channel) {
    order_.fence(from, channel);
    if (from == s_.r.me) shmem_ctx_fence(ctx_[channel]);
  }
  // Completes what PE `from` has done on PE `to` through the channel, by any call that does.
  void complete(dice& d, int from, int to, std::size_t channel) {
    const bool mine = from == s_.r.me;
    if (d.chance(30)) {
      order_.quiet(from, channel);
      if (mine) shmem_ctx_quiet(ctx_[channel]);
    } else {
      std::vector<int> targets{to};
      for (int pe = 0; pe < s_.r.pes; ++pe)
        if (pe != to && d.chance(20)) targets.push_back(pe);
      d.shuffle(targets);
      for (int& pe : targets) {
        order_.quiet(from, channel, pe);
        pe = numbered(channel, pe);
      }
      if (mine && channel == 0 && targets.size() % 2 != 0)
        shmem_pe_quiet(targets.data(), targets.size());
      else if (mine)
        shmem_ctx_pe_quiet(ctx_[channel], targets.data(), targets.size());
    }
    if (mine) take_in();
  }
  void complete(dice& d, const part& p, const stamp& of) {
    if (!order_.is_complete(p.from, p.to, of)) complete(d, p.from, p.to, of.channel);
  }
  // Orders an operation before a later put, atomic or signal of the same PE through a channel.
  void order_before_write(dice& d, int from, int to, const stamp& of, std::size_t channel) {
    if (order_.is_complete(from, to, of)) return;
    if (of.channel != channel) return complete(d, from, to, of.channel);
    if (order_.is_fenced(from, of)) return;
    if (d.chance(60))
      fence(from, channel);
    else
      complete(d, from, to, channel);
  }
  void order_before_write(dice& d, const part& p, const stamp& of, std::size_t channel) {
    order_before_write(d, p.from, p.to, of, channel);
  }
  void order(dice& d, int from, int to, std::size_t channel) {
    if (d.chance(40))
      fence(from, channel);
    else
      complete(d, from, to, channel);
  }
  // At the end of a phase, in which some sessions go on.
  void end_phase(dice& d, int from) {
    for (std::size_t channel = 0; channel < channels; ++channel) {
      const bool stops = d.chance(60), each = d.chance(50);
      if (open_[static_cast<std::size_t>(from)][channel] && stops) stop(from, channel);
      order_.quiet(from, channel);
      if (from != s_.r.me || (channel == 0 && members_ == SHMEM_TEAM_WORLD)) continue;
      std::vector<int> all;
      for (int pe = 0; pe < s_.r.pes; ++pe) all.push_back(pe);
      if (each)
        shmem_ctx_pe_quiet(ctx_[channel], all.data(), all.size());
      else
        shmem_ctx_quiet(ctx_[channel]);
    }
  }
  // Of all PEs. That of the whole world also completes the default context.
  void barrier() {
    if (members_ == SHMEM_TEAM_WORLD)
      shmem_barrier_all();
    else
      EXPECT(s_, shmem_team_sync(members_) == 0);
    take_in();
  }

  // Begins, extends or ends a session.
  void session(dice& d, int from, std::size_t channel) {
    const auto who = static_cast<std::size_t>(from);
    if (open_[who][channel] && d.chance(50)) return stop(from, channel);
    const std::array<std::size_t, 6> numbers{0, 1, 3, 4, 64, 100'000};
    const shmem_ctx_session_config_t config{.total_ops = numbers[d.below(numbers.size())]};
    const long options = d.chance(80) ? SHMEM_CTX_SESSION_BATCH : 0,
               mask = d.chance(40) ? SHMEM_CTX_SESSION_TOTAL_OPS : 0;
    const bool configured = mask != 0 || d.chance(50);
    open_[who][channel] = true;
    if (from == s_.r.me) shmem_ctx_session_start(ctx_[channel], options, configured ? &config : nullptr, mask);
  }

  // The source of the last operation of this PE, until that is complete; then the bytes change.
  block& source(int to, std::size_t channel, block data) {
    return under_way_.emplace_back(last(channel), to, false, std::pair{std::move(data), block{}}).data.first;
  }
  // What the last operation of this PE receives, and the right result, which are compared when it is complete.
  std::pair<block, block>& result(int to, std::size_t channel, block expected) {
    const std::size_t size = expected.size();
    return under_way_.emplace_back(last(channel), to, true, std::pair{block(size), std::move(expected)}).data;
  }

 private:
  static constexpr std::size_t channels = 5;  // the default context, four others
  struct operation {
    operation(stamp o, int t, bool r, std::pair<block, block> b) : of(o), to(t), receives(r), data(std::move(b)) {}
    stamp of;
    int to;
    bool receives;
    std::pair<block, block> data;
  };
  [[nodiscard]] stamp last(std::size_t channel) const { return {order_.last(s_.r.me), channel}; }
  [[nodiscard]] int numbered(std::size_t channel, int pe) const {
    return channel == channels - 1 ? s_.r.pes - 1 - pe : pe;
  }
  void stop(int from, std::size_t channel) {
    open_[static_cast<std::size_t>(from)][channel] = false;
    if (from == s_.r.me) shmem_ctx_session_stop(ctx_[channel]);
  }
  void take_in() {
    std::erase_if(under_way_, [&](operation& o) {
      if (!order_.is_complete(s_.r.me, o.to, o.of)) return false;
      if (o.receives) EXPECT(s_, o.data.first == o.data.second);
      scrub(o.data.first);
      return true;
    });
  }

  situation& s_;
  shmem_team_t members_;
  ordering order_;
  shmem_team_t reversed_ = SHMEM_TEAM_INVALID;
  std::array<shmem_ctx_t, channels> ctx_{SHMEM_CTX_DEFAULT};
  std::vector<std::array<bool, channels>> open_;  // of each PE: whether a session of the channel goes on
  std::list<operation> under_way_;                // of this PE
};

}  // namespace fuzz
