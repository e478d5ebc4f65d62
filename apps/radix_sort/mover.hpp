// Moves elements to their positions, by one put each or aggregated. Elements have `Bytes` bytes; 0: a size known only
// at run time.
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
  using item = std::conditional_t<Bytes == 0, lull::byte_span, moved_element<Bytes>>;

 public:
  // Collective. Without a policy each element is put individually.
  mover(std::size_t bytes, const std::optional<lull::aggregate_options>& policy) : bytes_(bytes) {
    if (policy) elements_.emplace(lull::items_of<item>{}, place_element<Bytes>{&into_}, *policy);
  }
  mover(const mover&) = delete;
  mover& operator=(const mover&) = delete;

  // Until done(), elements go into the buffer `into`, which is symmetric.
  void begin(std::byte* into) { into_ = into; }

  // Calls use(move), where move(element, offset, pe) sends an element to its position; `alone`: not in one of several
  // threads.
  template <class Use>
  void moving(bool alone, Use&& use) {
    if (!elements_) {
      use([this](const std::byte* element, std::uint32_t offset, int pe) {
        shmem_putmem(into_ + offset * size(), element, size(), pe);
      });
    } else if (alone) {
      use(move_by(*elements_));
    } else {
      auto mine = elements_->pusher();
      use(move_by(mine));
    }
  }

  // Returns when every element for this PE has arrived. Collective.
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
  template <class Pusher>
  auto move_by(Pusher& to) {
    if constexpr (Bytes == 0)
      return [&to, bytes = bytes_, scratch = std::vector<std::byte>(sizeof(std::uint32_t) + bytes_)](
                 const std::byte* element, std::uint32_t offset, int pe) mutable {
        std::memcpy(scratch.data(), &offset, sizeof offset);
        std::memcpy(scratch.data() + sizeof offset, element, bytes);
        to.push(scratch, pe);
      };
    else
      return [&to](const std::byte* element, std::uint32_t offset, int pe) {
        moved_element<Bytes> moved;
        moved.offset = offset;
        std::memcpy(moved.element, element, Bytes);
        to.push(moved, pe);
      };
  }

  std::size_t bytes_;
  std::byte* into_ = nullptr;
  std::optional<lull::aggregator<item, place_element<Bytes>>> elements_;
};

}  // namespace radix_sort
