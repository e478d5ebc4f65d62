// Puts and gets of all kinds, through several contexts, against a model of every PE's memory.
//
// In a phase each place of a PE's memory belongs to one operation of one PE, or to two puts separated by a fence.
#pragma once
#include <algorithm>
#include <array>
#include <cstring>

#include "fuzz/dice.hpp"

namespace fuzz {

class transfers {
 public:
  explicit transfers(situation& s)
      : s_(s),
        heap_(symmetric<std::byte>(bytes)),
        signals_(symmetric<std::uint64_t>(most_signals)),
        model_(static_cast<std::size_t>(s.r.pes), std::vector<std::byte>(bytes)),
        signal_model_(static_cast<std::size_t>(s.r.pes), std::vector<std::uint64_t>(most_signals)) {
    shmem_team_split_strided(SHMEM_TEAM_WORLD, s.r.pes - 1, -1, s.r.pes, nullptr, 0, &reversed_);
    for (const long options : {0L, long{SHMEM_CTX_SERIALIZED}, long{SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE}}) {
      shmem_ctx_t ctx = SHMEM_CTX_INVALID;
      CHECK(shmem_ctx_create(options, &ctx) == 0);
      channels_.push_back({ctx, false});
    }
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    CHECK(shmem_team_create_ctx(reversed_, 0, &ctx) == 0);
    channels_.push_back({ctx, true});
  }
  transfers(const transfers&) = delete;
  transfers& operator=(const transfers&) = delete;
  ~transfers() {
    for (const auto& channel : channels_) shmem_ctx_destroy(channel.ctx);
    shmem_team_destroy(reversed_);
    shmem_free(signals_);
    shmem_free(heap_);
  }

  void phase(dice& d) {
    s_.subject = "transfers";
    std::vector<operation> plan = make_plan(d);
    for (const operation& o : plan) {
      if (o.from == s_.r.me) perform(o);
      apply_to_model(o);
    }
    for (const auto& channel : channels_) shmem_ctx_quiet(channel.ctx);
    shmem_barrier_all();
    const auto me = static_cast<std::size_t>(s_.r.me);
    for (const auto& [got, expected] : gets_) EXPECT(s_, got == expected);
    EXPECT(s_, std::equal(model_[me].begin(), model_[me].end(), heap_));
    EXPECT(s_, std::equal(signal_model_[me].begin(), signal_model_[me].end(), signals_));
    gets_.clear();
    sources_.clear();
    shmem_barrier_all();  // no PE begins the next phase while another still compares
  }

 private:
  static constexpr std::size_t bytes = 48 * 1024, most_signals = 64;
  enum kind {
    put_bytes,
    put_sized,
    put_typed,
    put_elements,
    put_with_signal,
    put_stepping,
    put_strided,
    put_vector,
    get_bytes,
    get_sized,
    get_elements,
    get_stepping,
    get_strided,
    get_vector,
    kinds
  };
  struct operation {
    int from, to;
    kind what;
    std::size_t place, length;  // in the memory of `to`
    std::size_t element, step;  // of sized and strided ones: bytes of an element; how many elements apart
    std::size_t channel;
    std::uint64_t seed;
    bool blocking;
    bool twice;  // another put of other data precedes it, separated by a fence
    std::size_t signal;
    bool adds;
  };
  struct channel {
    shmem_ctx_t ctx;
    bool reversed;
  };
  using block = std::vector<std::byte>;

  std::vector<operation> make_plan(dice& d) {
    std::vector<operation> plan;
    for (int to = 0; to < s_.r.pes; ++to) {
      std::size_t signals = 0;
      for (std::size_t place = 0; place < bytes;) {
        const std::size_t most = d.chance(60) ? 40 : d.chance(70) ? 1000 : 20'000;
        const std::size_t length = std::min(d.below(most + 1), bytes - place);
        const auto what = static_cast<kind>(d.below(static_cast<int>(kinds)));
        operation o{.from = d.below(s_.r.pes),
                    .to = to,
                    .what = what,
                    .place = place,
                    .length = length,
                    .element = std::size_t{1} << d.below(5),
                    .step = 1 + d.below(std::size_t{4}),
                    .channel = d.below(channels_.size()),
                    .seed = d.next(),
                    .blocking = d.chance(50),
                    .twice = d.chance(20),
                    .signal = 0,
                    .adds = d.chance(50)};
        if (what == put_with_signal) {
          o.signal = signals;
          if (++signals > most_signals) o.what = put_bytes;
        }
        if (what == put_strided || what == put_vector || what == get_strided || what == get_vector) o.channel = 0;
        plan.push_back(o);
        place += (length + 15) / 16 * 16 + 16 * d.below(std::size_t{3});  // elements of 16 bytes are aligned
      }
    }
    d.shuffle(plan);
    return plan;
  }

  // The offsets of the bytes that the operation touches, from its place on, in order.
  [[nodiscard]] std::vector<std::size_t> touched(const operation& o) const {
    std::vector<std::size_t> at;
    const auto piece = [&](std::size_t begin, std::size_t size) {
      for (std::size_t i = 0; i < size; ++i) at.push_back(o.place + begin + i);
    };
    switch (o.what) {
      case put_bytes:
      case put_with_signal:
      case get_bytes:
        piece(0, o.length);
        break;
      case put_sized:
      case get_sized:
        piece(0, o.length / o.element * o.element);
        break;
      case put_typed:
        piece(0, o.length / 8 * 8);
        break;
      case put_elements:
      case get_elements:
        piece(0, std::min<std::size_t>(o.length / 4, 24) * 4);
        break;
      default:
        for (std::size_t i = 0; i < pieces_of(o); ++i) piece(i * o.step * o.element, o.element);
    }
    return at;
  }
  [[nodiscard]] static std::size_t pieces_of(const operation& o) {
    return o.length < o.element ? 0 : (o.length - o.element) / (o.step * o.element) + 1;
  }

  [[nodiscard]] static block data_of(std::uint64_t seed, std::size_t size) {
    block data(size);
    fill(data, seed);
    return data;
  }

  void apply_to_model(const operation& o) {
    auto& memory = model_[static_cast<std::size_t>(o.to)];
    const auto at = touched(o);
    if (o.what < get_bytes) {
      const block data = data_of(o.seed, at.size());
      for (std::size_t i = 0; i < at.size(); ++i) memory[at[i]] = data[i];
    }
    if (o.what == put_with_signal) {
      auto& signal = signal_model_[static_cast<std::size_t>(o.to)][o.signal];
      signal = o.adds ? signal + o.seed : o.seed;
    }
  }

  void perform(const operation& o) {
    const std::size_t size = touched(o).size();
    if (o.what >= get_bytes) return get(o, size);
    if (o.twice && o.what != put_with_signal) {
      operation first = o;
      first.blocking = !o.blocking;  // they travel differently
      put(first, data_of(~o.seed, size));
      shmem_ctx_fence(channels_[o.channel].ctx);
    }
    put(o, data_of(o.seed, size));
  }

  void put(const operation& o, block data) {
    const block& kept = sources_.emplace_back(std::move(data));  // until the end of the phase: some puts do not block
    const std::size_t size = kept.size();
    const std::byte* const from = kept.data();
    std::byte* const to = heap_ + o.place;
    const auto [ctx, reversed] = channels_[o.channel];
    const int pe = reversed ? s_.r.pes - 1 - o.to : o.to;
    switch (o.what) {
      case put_bytes:
        return o.blocking ? shmem_ctx_putmem(ctx, to, from, size, pe) : shmem_ctx_putmem_nbi(ctx, to, from, size, pe);
      case put_sized:
        return put_of_size(o, ctx, to, from, size / o.element, pe);
      case put_typed: {
        auto* const there = reinterpret_cast<double*>(to);
        const auto* const here = reinterpret_cast<const double*>(from);
        return o.blocking ? shmem_ctx_double_put(ctx, there, here, size / 8, pe)
                          : shmem_ctx_double_put_nbi(ctx, there, here, size / 8, pe);
      }
      case put_elements:
        for (std::size_t i = 0; i < size; i += 4) {
          int value = 0;
          std::memcpy(&value, from + i, sizeof value);
          shmem_ctx_int_p(ctx, reinterpret_cast<int*>(to + i), value, pe);
        }
        return;
      case put_with_signal: {
        const int how = o.adds ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET;
        return o.blocking ? shmem_ctx_putmem_signal(ctx, to, from, size, signals_ + o.signal, o.seed, how, pe)
                          : shmem_ctx_putmem_signal_nbi(ctx, to, from, size, signals_ + o.signal, o.seed, how, pe);
      }
      case put_stepping:
        return step_out(o, ctx, to, from, pe);
      case put_strided: {
        const auto there = static_cast<std::ptrdiff_t>(o.step * o.element);
        const auto here = static_cast<std::ptrdiff_t>(o.element);
        const std::size_t counts[] = {o.element, pieces_of(o)};
        return shmemx_put_strided(to, &there, from, &here, counts, 1, pe);
      }
      default: {
        std::vector<void*> there(pieces_of(o));
        std::vector<const void*> here(there.size());
        for (std::size_t i = 0; i < there.size(); ++i) {
          there[i] = to + i * o.step * o.element;
          here[i] = from + i * o.element;
        }
        return shmemx_put_vector(there.data(), here.data(), there.size(), o.element, pe);
      }
    }
  }

  static void put_of_size(const operation& o, shmem_ctx_t ctx, void* to, const void* from, std::size_t n, int pe) {
    switch (o.element) {
      case 1:
        return o.blocking ? shmem_ctx_put8(ctx, to, from, n, pe) : shmem_ctx_put8_nbi(ctx, to, from, n, pe);
      case 2:
        return o.blocking ? shmem_ctx_put16(ctx, to, from, n, pe) : shmem_ctx_put16_nbi(ctx, to, from, n, pe);
      case 4:
        return o.blocking ? shmem_ctx_put32(ctx, to, from, n, pe) : shmem_ctx_put32_nbi(ctx, to, from, n, pe);
      case 8:
        return o.blocking ? shmem_ctx_put64(ctx, to, from, n, pe) : shmem_ctx_put64_nbi(ctx, to, from, n, pe);
      default:
        return o.blocking ? shmem_ctx_put128(ctx, to, from, n, pe) : shmem_ctx_put128_nbi(ctx, to, from, n, pe);
    }
  }

  static void step_out(const operation& o, shmem_ctx_t ctx, void* to, const void* from, int pe) {
    const auto step = static_cast<std::ptrdiff_t>(o.step);
    const std::size_t n = pieces_of(o);
    switch (o.element) {
      case 1:
        return shmem_ctx_iput8(ctx, to, from, step, 1, n, pe);
      case 2:
        return shmem_ctx_iput16(ctx, to, from, step, 1, n, pe);
      case 4:
        return shmem_ctx_iput32(ctx, to, from, step, 1, n, pe);
      case 8:
        return shmem_ctx_iput64(ctx, to, from, step, 1, n, pe);
      default:
        return shmem_ctx_iput128(ctx, to, from, step, 1, n, pe);
    }
  }

  // The data read was written in an earlier phase; it is compared at the end of this one.
  void get(const operation& o, std::size_t size) {
    const auto& memory = model_[static_cast<std::size_t>(o.to)];
    block expected;
    for (const std::size_t at : touched(o)) expected.push_back(memory[at]);
    auto& [got, unused] = gets_.emplace_back(block(size), std::move(expected));
    std::byte* const to = got.data();
    const std::byte* const from = heap_ + o.place;
    const auto [ctx, reversed] = channels_[o.channel];
    const int pe = reversed ? s_.r.pes - 1 - o.to : o.to;
    const auto step = static_cast<std::ptrdiff_t>(o.step);
    const std::size_t n = size / o.element;
    switch (o.what) {
      case get_bytes:
        return o.blocking ? shmem_ctx_getmem(ctx, to, from, size, pe) : shmem_ctx_getmem_nbi(ctx, to, from, size, pe);
      case get_sized:
        if (o.element == 2) return shmem_ctx_get16(ctx, to, from, n, pe);
        if (o.element == 4) return shmem_ctx_get32_nbi(ctx, to, from, n, pe);
        if (o.element == 8) return shmem_ctx_get64(ctx, to, from, n, pe);
        return o.element == 16 ? shmem_ctx_get128_nbi(ctx, to, from, n, pe) : shmem_ctx_get8(ctx, to, from, n, pe);
      case get_elements:
        for (std::size_t i = 0; i < size; i += 4) {
          const int value = shmem_ctx_int_g(ctx, reinterpret_cast<const int*>(from + i), pe);
          std::memcpy(to + i, &value, sizeof value);
        }
        return;
      case get_stepping:
        if (o.element == 2) return shmem_ctx_iget16(ctx, to, from, 1, step, n, pe);
        if (o.element == 4) return shmem_ctx_iget32(ctx, to, from, 1, step, n, pe);
        if (o.element == 8) return shmem_ctx_iget64(ctx, to, from, 1, step, n, pe);
        return o.element == 16 ? shmem_ctx_iget128(ctx, to, from, 1, step, n, pe)
                               : shmem_ctx_iget8(ctx, to, from, 1, step, n, pe);
      case get_strided: {
        const auto there = static_cast<std::ptrdiff_t>(o.step * o.element);
        const auto here = static_cast<std::ptrdiff_t>(o.element);
        const std::size_t counts[] = {o.element, n};
        return shmemx_get_strided(to, &here, from, &there, counts, 1, pe);
      }
      default: {
        std::vector<void*> here(n);
        std::vector<const void*> there(n);
        for (std::size_t i = 0; i < n; ++i) {
          here[i] = to + i * o.element;
          there[i] = from + i * o.step * o.element;
        }
        return shmemx_get_vector(here.data(), there.data(), n, o.element, pe);
      }
    }
  }

  situation& s_;
  std::byte* heap_;
  std::uint64_t* signals_;
  std::vector<block> model_;
  std::vector<std::vector<std::uint64_t>> signal_model_;
  shmem_team_t reversed_ = SHMEM_TEAM_INVALID;
  std::vector<channel> channels_{{SHMEM_CTX_DEFAULT, false}};
  std::vector<block> sources_;
  std::vector<std::pair<block, block>> gets_;  // received, expected
};

}  // namespace fuzz
