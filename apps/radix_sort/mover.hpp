// How elements travel to their positions: by a put each, or aggregated. Elements of `Bytes` bytes; 0: of a size that is
// only known when the program runs.
#pragma once
#include <shmem.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <lull/aggregate.hpp>
#include <optional>
#include <span>
#include <vector>

namespace radix_sort {

template <std::size_t Bytes>
struct __attribute__((packed)) moved_element {
  std::uint32_t offset;
  std::byte element[Bytes];
};

template <std::size_t Bytes>
struct place_element {
  std::byte* const* into;
  void operator()(const moved_element<Bytes>& moved) const {
    std::memcpy(*into + moved.offset * Bytes, moved.element, Bytes);
  }
};
template <>
struct place_element<0> {
  std::byte* const* into;
  void operator()(std::span<const std::byte> moved) const {
    std::uint32_t offset = 0;
    std::memcpy(&offset, moved.data(), sizeof offset);
    const auto element = moved.subspan(sizeof offset);
    std::memcpy(*into + offset * element.size(), element.data(), element.size());
  }
};

template <std::size_t Bytes>
class mover {
  using item = std::conditional_t<Bytes == 0, lull::bytes_of_any_size, moved_element<Bytes>>;

 public:
  // Collective. Without a policy each element is put by itself.
  mover(std::size_t bytes, const std::optional<lull::aggregate_options>& policy)
      : bytes_(bytes), scratch_(sizeof(std::uint32_t) + bytes) {
    if (policy) elements_.emplace(lull::items<item>, place_element<Bytes>{&into_}, *policy);
  }
  mover(const mover&) = delete;
  mover& operator=(const mover&) = delete;

  // From here to done() elements go into the buffer `into`, which is symmetric.
  void begin(std::byte* into) { into_ = into; }

  void move(const std::byte* element, std::uint32_t offset, int pe) {
    if (!elements_) {
      shmem_putmem(into_ + offset * size(), element, size(), pe);
    } else if constexpr (Bytes == 0) {
      std::memcpy(scratch_.data(), &offset, sizeof offset);
      std::memcpy(scratch_.data() + sizeof offset, element, bytes_);
      elements_->push(scratch_, pe);
    } else {
      moved_element<Bytes> moved;
      moved.offset = offset;
      std::memcpy(moved.element, element, Bytes);
      elements_->push(moved, pe);
    }
  }

  // Returns when every element has arrived here that was meant to. Collective.
  void done() {
    if (elements_)
      elements_->done();
    else
      shmem_barrier_all();
  }

  [[nodiscard]] std::size_t size() const { return Bytes != 0 ? Bytes : bytes_; }
  [[nodiscard]] lull::aggregate_statistics statistics() const {
    return elements_ ? elements_->statistics() : lull::aggregate_statistics{};
  }

 private:
  std::size_t bytes_;
  std::vector<std::byte> scratch_;
  std::byte* into_ = nullptr;
  std::optional<lull::aggregator<item, place_element<Bytes>>> elements_;
};

}  // namespace radix_sort
