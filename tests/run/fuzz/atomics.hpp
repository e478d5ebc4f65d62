// Atomic operations of all PEs at once on shared words, against a model, and accumulates on shared numbers.
//
// In a phase, each word is either incremented, or has bits changed by one operation whose order does not matter, by all
// PEs; or it belongs to one PE, which predicts the result of each of its operations.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>

#include "fuzz/dice.hpp"

namespace fuzz {

class atomics {
 public:
  explicit atomics(situation& s)
      : s_(s),
        words_(symmetric<std::uint64_t>(count)),
        halves_(symmetric<std::uint32_t>(count)),
        sums_(symmetric<double>(numbers)),
        model_(static_cast<std::size_t>(s.r.pes)) {
    CHECK(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx_) == 0);
  }
  atomics(const atomics&) = delete;
  atomics& operator=(const atomics&) = delete;
  ~atomics() {
    shmem_ctx_destroy(ctx_);
    shmem_free(sums_);
    shmem_free(halves_);
    shmem_free(words_);
  }

  void phase(dice& d) {
    s_.subject = "atomics";
    for (auto& memory : model_)
      for (std::size_t i = 0; i < count; ++i) memory.uses[i] = {static_cast<use>(d.below(5)), d.below(s_.r.pes)};
    const int operations = 200 + d.below(200);
    for (int i = 0; i < operations; ++i) one(d);
    for (int i = 0; i < 30; ++i) accumulate(d);
    shmem_ctx_quiet(ctx_);
    shmem_barrier_all();
    const auto& mine = model_[static_cast<std::size_t>(s_.r.me)];
    EXPECT(s_, std::equal(mine.words.begin(), mine.words.end(), words_));
    EXPECT(s_, std::equal(mine.halves.begin(), mine.halves.end(), halves_));
    EXPECT(s_, std::equal(mine.sums.begin(), mine.sums.end(), sums_));
    told_.clear();
    shmem_barrier_all();
  }

 private:
  static constexpr std::size_t count = 24, numbers = 200;
  enum class use { sum, bits_xor, bits_or, bits_and, owned };
  struct memory {
    std::array<std::uint64_t, count> words{};
    std::array<std::uint32_t, count> halves{};
    std::array<double, numbers> sums{};
    std::array<std::pair<use, int>, count> uses{};  // and its owner, if any
  };

  void one(dice& d) {
    const int from = d.below(s_.r.pes), to = d.below(s_.r.pes);
    const std::size_t i = d.below(count);
    auto& there = model_[static_cast<std::size_t>(to)];
    const use how = there.uses[i].first;
    const int owner = there.uses[i].second;
    const bool half = d.chance(40);
    const std::uint64_t value = d.next();
    const int variant = d.below(8);
    const auto change = [&](auto old) {
      const auto operand = static_cast<decltype(old)>(value);
      switch (how) {
        case use::sum:
          return static_cast<decltype(old)>(old + (variant % 2 == 0 ? operand : 1));
        case use::bits_xor:
          return static_cast<decltype(old)>(old ^ operand);
        case use::bits_or:
          return static_cast<decltype(old)>(old | operand);
        case use::bits_and:
          return static_cast<decltype(old)>(old & operand);
        default:
          return old;
      }
    };
    if (how == use::owned) return by_owner(owner, to, i, half, value, variant);
    if (from == s_.r.me) {
      if (half)
        commutative(how, variant, halves_ + i, static_cast<std::uint32_t>(value), to);
      else
        commutative(how, variant, words_ + i, value, to);
    }
    if (half)
      there.halves[i] = change(there.halves[i]);
    else
      there.words[i] = change(there.words[i]);
  }

  void commutative(use how, int variant, std::uint64_t* word, std::uint64_t value, int pe) {
    const shmem_ctx_t ctx = variant >= 4 ? ctx_ : SHMEM_CTX_DEFAULT;
    const bool fetches = variant / 2 % 2 == 0;
    std::uint64_t* const later = told_.emplace_back(std::make_unique<std::uint64_t>()).get();
    switch (how) {
      case use::sum:
        if (variant % 2 == 0 && fetches) return (void)shmem_ctx_uint64_atomic_fetch_add(ctx, word, value, pe);
        if (variant % 2 == 0) return shmem_ctx_ulonglong_atomic_add(ctx, reinterpret_cast<wide*>(word), value, pe);
        if (fetches) return shmem_ctx_uint64_atomic_fetch_inc_nbi(ctx, later, word, pe);
        return shmem_ctx_size_atomic_inc(ctx, word, pe);
      case use::bits_xor:
        if (fetches) return shmem_ctx_uint64_atomic_fetch_xor_nbi(ctx, later, word, value, pe);
        return shmem_ctx_ulong_atomic_xor(ctx, word, value, pe);
      case use::bits_or:
        if (fetches) return (void)shmem_ctx_ulong_atomic_fetch_or(ctx, word, value, pe);
        return shmem_ctx_uint64_atomic_or(ctx, word, value, pe);
      default:
        if (fetches) return shmem_ctx_uint64_atomic_fetch_and_nbi(ctx, later, word, value, pe);
        return shmem_ctx_uint64_atomic_and(ctx, word, value, pe);
    }
  }

  void commutative(use how, int variant, std::uint32_t* word, std::uint32_t value, int pe) {
    const shmem_ctx_t ctx = variant >= 4 ? ctx_ : SHMEM_CTX_DEFAULT;
    const bool fetches = variant / 2 % 2 == 0;
    switch (how) {
      case use::sum:
        if (variant % 2 == 0 && fetches) return (void)shmem_ctx_uint_atomic_fetch_add(ctx, word, value, pe);
        if (variant % 2 == 0) return shmem_ctx_uint32_atomic_add(ctx, word, value, pe);
        if (fetches) return (void)shmem_ctx_uint32_atomic_fetch_inc(ctx, word, pe);
        return shmem_ctx_uint_atomic_inc(ctx, word, pe);
      case use::bits_xor:
        return shmem_ctx_uint_atomic_xor(ctx, word, value, pe);
      case use::bits_or:
        if (fetches) return (void)shmem_ctx_uint32_atomic_fetch_or(ctx, word, value, pe);
        return shmem_ctx_uint_atomic_or(ctx, word, value, pe);
      default:
        if (fetches) return (void)shmem_ctx_uint_atomic_fetch_and(ctx, word, value, pe);
        return shmem_ctx_uint32_atomic_and(ctx, word, value, pe);
    }
  }

  // The owner orders with a fence whatever it does not wait for.
  void by_owner(int owner, int to, std::size_t i, bool half, std::uint64_t value, int variant) {
    auto& there = model_[static_cast<std::size_t>(to)];
    const bool mine = owner == s_.r.me;
    if (half) {
      std::uint32_t& now = there.halves[i];
      const std::uint32_t old = now;
      const auto wanted = static_cast<std::uint32_t>(value);
      const bool fits = variant % 2 == 0;  // of a compare and swap
      now = variant >= 6 && !fits ? old : wanted;
      if (!mine) return;
      if (variant < 3) {
        shmem_uint32_atomic_set(halves_ + i, wanted, to);
        shmem_fence();
      } else if (variant < 6) {
        EXPECT(s_, shmem_uint_atomic_swap(halves_ + i, wanted, to) == old);
      } else {
        const std::uint32_t condition = fits ? old : old + 1;
        EXPECT(s_, shmem_uint32_atomic_compare_swap(halves_ + i, condition, wanted, to) == old);
      }
      return;
    }
    std::uint64_t& now = there.words[i];
    const std::uint64_t old = now;
    const double number = static_cast<double>(value >> 40U);
    now = variant == 1 || variant == 2 ? std::bit_cast<std::uint64_t>(number) : variant == 3 ? old : value;
    if (!mine) return;
    std::uint64_t told = ~old;
    switch (variant) {
      case 0:
        shmem_uint64_atomic_set(words_ + i, value, to);
        return shmem_fence();
      case 1:
        shmem_double_atomic_set(reinterpret_cast<double*>(words_ + i), number, to);
        return shmem_fence();
      case 2: {
        const double before = shmem_double_atomic_swap(reinterpret_cast<double*>(words_ + i), number, to);
        EXPECT(s_, std::bit_cast<std::uint64_t>(before) == old);
        return;
      }
      case 3:
        EXPECT(s_, shmem_uint64_atomic_compare_swap(words_ + i, old ^ 1U, value, to) == old);
        EXPECT(s_, shmem_uint64_atomic_fetch(words_ + i, to) == old);
        return;
      case 4:
        shmem_uint64_atomic_swap_nbi(&told, words_ + i, value, to);
        break;
      case 5:
        shmem_uint64_atomic_compare_swap_nbi(&told, words_ + i, old, value, to);
        break;
      default:
        EXPECT(s_, shmem_ulong_atomic_compare_swap(words_ + i, old, value, to) == old);
        return;
    }
    shmem_quiet();
    EXPECT(s_, told == old);
  }

  // Whole numbers so small that a double holds their sums exactly, in any order.
  void accumulate(dice& d) {
    const int from = d.below(s_.r.pes), to = d.below(s_.r.pes);
    const std::size_t begin = d.below(numbers), length = d.below(numbers - begin + 1);
    const double factor = d.below(5) - 2;
    std::vector<double> mine(length);
    for (double& number : mine) number = d.below(100);
    auto& there = model_[static_cast<std::size_t>(to)].sums;
    for (std::size_t i = 0; i < length; ++i) there[begin + i] += factor * mine[i];
    if (from == s_.r.me) shmemx_double_accumulate(sums_ + begin, mine.data(), length, &factor, to);
  }

  using wide = unsigned long long;
  situation& s_;
  std::uint64_t* words_;
  std::uint32_t* halves_;
  double* sums_;
  shmem_ctx_t ctx_ = SHMEM_CTX_INVALID;
  std::vector<memory> model_;
  std::vector<std::unique_ptr<std::uint64_t>> told_;  // results of non-blocking operations
};

}  // namespace fuzz
