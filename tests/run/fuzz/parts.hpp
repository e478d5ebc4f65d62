// The memory and the contexts of random sequences: the model of both, and the operations of this PE that are not complete.
#pragma once
#include <algorithm>
#include <array>

#include "fuzz/dice.hpp"
#include "fuzz/ordering.hpp"

namespace fuzz {

using block = std::vector<std::byte>;
struct range {
  std::size_t begin, size;
};
using ranges = std::vector<range>;

inline range any_range(dice& d, std::size_t bytes, std::size_t least) {
  const std::size_t begin = d.below(bytes);
  const std::size_t most = d.chance(60) ? 40 : bytes;
  return {begin, std::min(least + d.below(most), bytes - begin)};
}

// Bytes that elements of any type may begin with.
class aligned_block {
 public:
  explicit aligned_block(std::size_t size) : size_(size), words_(size / sizeof(word) + 1) {}
  [[nodiscard]] std::byte* data() { return words_[0].bytes.data(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  void fill(std::uint64_t seed) { fuzz::fill({data(), size_}, seed); }

 private:
  struct alignas(16) word {
    std::array<std::byte, 16> bytes;
  };
  std::size_t size_;
  std::vector<word> words_;
};

inline void scrub(block& source) { std::fill(source.begin(), source.end(), std::byte{0xEE}); }

// Bytes of PE `to` that only PE `from` changes.
struct part {
  int from, to;
  std::size_t place, granule;  // bytes that share a stamp
  block model;
  std::vector<stamp> written, read;
  bool frozen = false;
  [[nodiscard]] std::size_t bytes() const { return model.size(); }
  [[nodiscard]] std::size_t first(std::size_t begin) const { return begin / granule; }
  [[nodiscard]] std::size_t last(std::size_t begin, std::size_t size) const {
    return size == 0 ? first(begin) : (begin + size - 1) / granule + 1;
  }
};

struct signals {
  static constexpr std::size_t count = 4;
  std::array<std::uint64_t, count> model{};
  std::array<stamp, count> changed{};
};
struct notices {  // by put or atomic, by signal
  std::array<std::uint64_t, 2> model{};
  std::array<stamp, 2> changed{};
};

// Parts, signals and notices for every pair of PEs.
class parts {
 public:
  // `anywhere`: symmetric memory of bytes_for(PEs) bytes, zeroed; null: of the heap.
  explicit parts(situation& s, std::byte* anywhere = nullptr)
      : s_(s), pes_(static_cast<std::size_t>(s.r.pes)), of_heap_(!anywhere), memory_(anywhere) {
    if (of_heap_) memory_ = symmetric<std::byte>(bytes_for(s.r.pes));
    signals_ = symmetric<std::uint64_t>(pes_ * signals::count + 1);
    notices_ = symmetric<std::uint64_t>(pes_ * 2);
    signal_models_.resize(pes_ * pes_);
    notice_models_.resize(pes_ * pes_);
    shared_sums_.resize(pes_);
    for (int from = 0; from < s.r.pes; ++from)
      for (int to = 0; to < s.r.pes; ++to) {
        std::size_t place = static_cast<std::size_t>(from) * bytes_of_pair;
        for (const std::size_t size : sizes) {
          const std::size_t granule = size > 1000 ? 64 : 1;
          all_.push_back({.from = from,
                          .to = to,
                          .place = place,
                          .granule = granule,
                          .model = block(size),
                          .written = std::vector<stamp>(size / granule),
                          .read = std::vector<stamp>(size / granule)});
          place += size;
        }
      }
  }
  parts(const parts&) = delete;
  parts& operator=(const parts&) = delete;
  ~parts() {
    shmem_free(notices_);
    shmem_free(signals_);
    if (of_heap_) shmem_free(memory_);
  }
  static constexpr std::size_t bytes_for(int pes) { return static_cast<std::size_t>(pes) * bytes_of_pair; }

  part& part_of(int from, int to, dice& d) {
    const std::size_t which = d.chance(15) ? sizes.size() - 1 : d.below(sizes.size() - 1);
    return all_[pair(from, to) * sizes.size() + which];
  }
  [[nodiscard]] std::byte* at(const part& p, std::size_t offset) const { return memory_ + p.place + offset; }
  signals& signals_of(int from, int to) { return signal_models_[pair(from, to)]; }
  [[nodiscard]] std::uint64_t* signal_word(int from, std::size_t which) const {
    return signals_ + static_cast<std::size_t>(from) * signals::count + which;
  }
  std::uint64_t& shared_sum(int to) { return shared_sums_[static_cast<std::size_t>(to)]; }
  [[nodiscard]] std::uint64_t* shared_word() const { return signals_ + pes_ * signals::count; }
  notices& notices_of(int from, int waiter) { return notice_models_[pair(from, waiter)]; }
  [[nodiscard]] std::uint64_t* notice_word(int from, bool by_signal) const {
    return notices_ + static_cast<std::size_t>(from) * 2 + (by_signal ? 1 : 0);
  }

  // Waits for this notice among all, of which the others are excluded.
  void wait_for_one(std::uint64_t* word, std::uint64_t value) {
    std::vector<int> excluded(pes_ * 2, 1);
    const auto which = static_cast<std::size_t>(word - notices_);
    excluded[which] = 0;
    EXPECT(s_, shmem_uint64_wait_until_any(notices_, excluded.size(), excluded.data(), SHMEM_CMP_GE, value) == which);
  }

  // Of this PE, when all operations are complete.
  void compare() {
    for (const part& p : all_)
      if (p.to == s_.r.me) EXPECT(s_, std::equal(p.model.begin(), p.model.end(), at(p, 0)));
    for (int from = 0; from < s_.r.pes; ++from)
      for (std::size_t which = 0; which < signals::count; ++which)
        EXPECT(s_, shmem_signal_fetch(signal_word(from, which)) == signals_of(from, s_.r.me).model[which]);
    EXPECT(s_, shmem_signal_fetch(shared_word()) == shared_sum(s_.r.me));
  }
  void begin_phase() {  // no operation has begun
    for (part& p : all_) {
      p.frozen = false;
      std::ranges::fill(p.written, stamp{});
      std::ranges::fill(p.read, stamp{});
    }
    for (signals& of : signal_models_) of.changed.fill({});
    for (notices& of : notice_models_) of.changed.fill({});
  }

 private:
  static constexpr std::array<std::size_t, 4> sizes{256, 256, 512, 40 * 1024};  // the last goes by rendezvous too
  static constexpr std::size_t bytes_of_pair = 42 * 1024;
  [[nodiscard]] std::size_t pair(int from, int to) const {
    return static_cast<std::size_t>(from) * pes_ + static_cast<std::size_t>(to);
  }
  situation& s_;
  std::size_t pes_;
  bool of_heap_;
  std::byte* memory_;
  std::uint64_t *signals_ = nullptr, *notices_ = nullptr;
  std::vector<part> all_;
  std::vector<signals> signal_models_;
  std::vector<notices> notice_models_;
  std::vector<std::uint64_t> shared_sums_;
};

}  // namespace fuzz
