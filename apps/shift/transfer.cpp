#include "transfer.hpp"

#include <shmem.h>
#ifdef LULL_API  // shmem.h is that of Lull
#define SHIFT_HAS_EXTENSIONS 1
#include <shmemx.h>
#endif

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

namespace shift {
namespace {

// The byte at `index` of the data that PE `pe` sends.
std::byte pattern(int pe, std::size_t index) {
  return static_cast<std::byte>((static_cast<std::size_t>(pe) + 1) * 37 + index * 7 + (index >> 8U));
}

// An area for each PE that may use one, and one for the data to send.
class areas {
 public:
  areas(const options& wanted, std::size_t bytes_each)
      : each_(bytes_each),
        shared_(wanted.to == "next"),
        memory_(bytes_each * (shared_ ? 2 : static_cast<std::size_t>(shmem_n_pes()) + 1)) {}

  [[nodiscard]] std::byte* outgoing() const { return memory_.data(); }
  [[nodiscard]] std::byte* of(int pe) const {
    return memory_.data() + each_ * (shared_ ? 1 : static_cast<std::size_t>(pe) + 1);
  }
  void empty() const {
    const std::size_t count = shared_ ? 1 : static_cast<std::size_t>(shmem_n_pes());
    std::memset(memory_.data() + each_, 0, each_ * count);
  }

 private:
  std::size_t each_;
  bool shared_;  // one area for all, because only one PE uses it
  symmetric memory_;
};

// Contiguous bytes.
class contiguous : public transfer {
 public:
  contiguous(const options& wanted, std::size_t largest) : areas_(wanted, largest) {}
  void prepare(std::size_t bytes) override {
    areas_.empty();
    for (std::size_t i = 0; i < bytes; ++i) areas_.outgoing()[i] = pattern(shmem_my_pe(), i);
  }
  [[nodiscard]] bool holds(int other, std::size_t bytes, std::size_t moves) const override {
    const std::byte* const area = areas_.of(other);
    for (std::size_t i = 0; i < bytes; ++i)
      if (area[i] != (moves ? pattern(other, i) : std::byte{0})) return false;
    return true;
  }

 protected:
  [[nodiscard]] const areas& memory() const { return areas_; }

 private:
  areas areas_;
};

class put final : public contiguous {
 public:
  using contiguous::contiguous;
  void move(std::size_t bytes, int pe) override {
    shmem_putmem(memory().of(shmem_my_pe()), memory().outgoing(), bytes, pe);
    shmem_quiet();
  }
};

class get final : public contiguous {
 public:
  using contiguous::contiguous;
  void move(std::size_t bytes, int pe) override { shmem_getmem(memory().of(pe), memory().outgoing(), bytes, pe); }
  [[nodiscard]] bool fetches() const override { return true; }
};

// Blocks of equal size with gaps of the same size, on both sides.
class strided final : public transfer {
 public:
  strided(const options& wanted, std::size_t largest) : block_(wanted.block), areas_(wanted, 2 * largest + block_) {}

  void move(std::size_t bytes, int pe) override {
    std::byte* const target = areas_.of(shmem_my_pe());
    const std::byte* const source = areas_.outgoing();
#ifdef SHIFT_HAS_EXTENSIONS
    const auto apart = static_cast<ptrdiff_t>(2 * block_);
    const std::size_t whole = bytes / block_ * block_;
    if (whole != 0) {
      const std::size_t counts[] = {block_, whole / block_};
      shmemx_put_strided(target, &apart, source, &apart, counts, 1, pe);
    }
    if (whole != bytes) shmem_putmem(target + 2 * whole, source + 2 * whole, bytes - whole, pe);
#else
    for (std::size_t at = 0; at < bytes; at += block_)
      shmem_putmem(target + 2 * at, source + 2 * at, std::min(block_, bytes - at), pe);
#endif
    shmem_quiet();
  }
  void prepare(std::size_t bytes) override {
    areas_.empty();
    for (std::size_t i = 0; i < bytes; ++i) areas_.outgoing()[spread(i)] = pattern(shmem_my_pe(), i);
  }
  [[nodiscard]] bool holds(int other, std::size_t bytes, std::size_t moves) const override {
    const std::byte* const area = areas_.of(other);
    for (std::size_t i = 0; i < bytes; ++i) {
      if (area[spread(i)] != (moves ? pattern(other, i) : std::byte{0})) return false;
      if (area[spread(i) + block_] != std::byte{0}) return false;  // nothing between the blocks
    }
    return true;
  }

 private:
  [[nodiscard]] std::size_t spread(std::size_t index) const { return index / block_ * 2 * block_ + index % block_; }
  std::size_t block_;
  areas areas_;
};

#ifdef SHIFT_HAS_EXTENSIONS
// Adds doubles to doubles; the values are small integers, so that sums are exact.
class accumulate final : public transfer {
 public:
  accumulate(const options& wanted, std::size_t largest) : areas_(wanted, largest) {}
  void move(std::size_t bytes, int pe) override {
    constexpr double once = 1;
    shmemx_double_accumulate(doubles(areas_.of(shmem_my_pe())), doubles(areas_.outgoing()), bytes / sizeof(double),
                             &once, pe);
    shmem_quiet();
  }
  void prepare(std::size_t bytes) override {
    areas_.empty();
    double* const out = doubles(areas_.outgoing());
    for (std::size_t i = 0; i < bytes / sizeof(double); ++i) out[i] = value(shmem_my_pe(), i);
  }
  [[nodiscard]] bool holds(int other, std::size_t bytes, std::size_t moves) const override {
    const std::span<const double> area(doubles(areas_.of(other)), bytes / sizeof(double));
    for (std::size_t i = 0; i < area.size(); ++i)
      if (area[i] != value(other, i) * static_cast<double>(moves)) return false;
    return true;
  }

 private:
  static double value(int pe, std::size_t index) {
    return static_cast<double>((static_cast<std::size_t>(pe) * 5 + index) % 61 + 1);
  }
  static double* doubles(std::byte* bytes) { return reinterpret_cast<double*>(bytes); }
  areas areas_;
};
#endif

}  // namespace

symmetric::symmetric(std::size_t bytes) : data_(static_cast<std::byte*>(shmem_calloc(1, bytes))) {
  if (!data_)
    throw no_room("no room for " + std::to_string((bytes + 1023) / 1024) +
                  " KiB more of symmetric memory; raise SHMEM_SYMMETRIC_SIZE or lower --max");
}

symmetric::~symmetric() { shmem_free(data_); }

std::unique_ptr<transfer> transfer::make(const options& wanted, std::size_t largest) {
  if (wanted.op == "put") return std::make_unique<put>(wanted, largest);
  if (wanted.op == "get") return std::make_unique<get>(wanted, largest);
  if (wanted.op == "strided") return std::make_unique<strided>(wanted, largest);
#ifdef SHIFT_HAS_EXTENSIONS
  return std::make_unique<accumulate>(wanted, largest);
#else
  throw usage_error(
      "accumulate: this OpenSHMEM library does not have the operation; build with Lull's library, or choose another "
      "--op");
#endif
}

}  // namespace shift
