// The format of items in a buffer, one after the other. The templates and the library write and read items only here.
//
//   address   4 bytes, the number of the item's PE; only on routes of several hops
//   length    4 bytes, the bytes of the payload; only of items of any size
//   payload
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace lull {
inline namespace cpp_abi_1 {
namespace detail {

constexpr std::size_t address_bytes = sizeof(std::uint32_t), length_bytes = sizeof(std::uint32_t);

template <class T>
T read(const std::byte* from) {
  T value;
  std::memcpy(static_cast<void*>(&value), from, sizeof value);
  return value;
}
template <class T>
void write(std::byte* to, const T& value) {
  std::memcpy(to, static_cast<const void*>(&value), sizeof value);
}

// Where the next item of one channel is written. It is small because push() touches little else.
struct cursor {
  std::byte* next = nullptr;
  std::byte* end = nullptr;  // next == end: the buffer is full, or there is none yet
};

// Items that have arrived by one channel.
struct batch {
  const std::byte* items;
  std::size_t count;  // of items; for items of any size, of bytes
  int from;           // the PE at the other end of the channel
};

// Writes and reads items of a type that is known at compile time.
template <bool Addressed>
struct item_codec {
  static constexpr std::size_t head = Addressed ? address_bytes : 0;
  template <class Item>
  static constexpr std::size_t bytes = head + sizeof(Item);

  template <class Item>
  static void put(std::byte* to, int pe, const Item& item) {
    if constexpr (Addressed) write(to, static_cast<std::uint32_t>(pe));
    write<Item>(to + head, item);
  }
  template <class Item>
  static Item get(const std::byte* items, std::size_t i) {
    return read<Item>(items + head + i * bytes<Item>);
  }
  // handle(item) for each, in order.
  template <class Item, class Handle>
  static void each(const batch& items, Handle&& handle) {
    const std::byte* at = items.items + head;
    for (std::size_t i = 0; i < items.count; ++i, at += bytes<Item>) handle(read<Item>(at));
  }
  // handle(bytes) for each item of any size, in order.
  template <class Handle>
  static void each_of_any_size(const batch& items, Handle&& handle) {
    const std::byte* const end = items.items + items.count;
    for (const std::byte* at = items.items; at != end;) {
      at += head;
      const std::size_t size = read<std::uint32_t>(at);
      at += length_bytes;
      handle(std::span<const std::byte>(at, size));
      at += size;
    }
  }
};

// The same for items whose size is known at run time.
struct item_format {
  // `item_bytes`: of the payload; 0: any size. `compresses`: bytes that are zero in all items of a buffer do not travel
  // between nodes.
  constexpr item_format(std::size_t item_bytes, bool with_address, bool compresses)
      : head((with_address ? address_bytes : 0) + (item_bytes == 0 ? length_bytes : 0)),
        stride(item_bytes == 0 ? 0 : head + item_bytes),
        addressed(with_address),
        compressed(compresses) {}

  std::size_t head;    // bytes before the payload
  std::size_t stride;  // of an item with its head; 0: any size
  bool addressed, compressed;

  // The items in `bytes`; for items of any size, the bytes themselves. bytes() is the inverse.
  [[nodiscard]] std::size_t count(std::size_t bytes) const { return stride == 0 ? bytes : bytes / stride; }
  [[nodiscard]] std::size_t bytes(std::size_t count) const { return stride == 0 ? count : count * stride; }
  // The bytes of the item at `at`, with its head.
  [[nodiscard]] std::size_t size_of(const std::byte* at) const {
    return stride != 0 ? stride : head + read<std::uint32_t>(at + head - length_bytes);
  }
  [[nodiscard]] static std::uint32_t address_of(const std::byte* at) { return read<std::uint32_t>(at); }
  // The bytes of as many whole items as fit into `room`, from the first on.
  [[nodiscard]] std::size_t fitting(std::span<const std::byte> items, std::size_t room) const {
    if (items.size() <= room) return items.size();
    if (stride != 0) return room / stride * stride;
    std::size_t bytes = 0;
    while (bytes + size_of(items.data() + bytes) <= room) bytes += size_of(items.data() + bytes);
    return bytes;
  }
  // Writes the head of an item, and returns where its payload goes.
  std::byte* begin(std::byte* to, int pe, std::size_t payload_bytes) const {
    if (addressed) {
      write(to, static_cast<std::uint32_t>(pe));
      to += address_bytes;
    }
    if (stride == 0) {
      write(to, static_cast<std::uint32_t>(payload_bytes));
      to += length_bytes;
    }
    return to;
  }
  [[nodiscard]] std::span<const std::byte> payload(const std::byte* at) const {
    return {at + head, stride != 0 ? stride - head : read<std::uint32_t>(at + head - length_bytes)};
  }
};

// Writes items for other PEs, by a cursor for each PE. `To`, an aggregation or a thread's producer, makes room by
// make_room(To*, pe, bytes). All items of a writer have one size, or all are items of any size.
template <class To>
class item_writer {
 public:
  item_writer(To* to, cursor* const* cursors, bool addressed) : to_(to), cursors_(cursors), addressed_(addressed) {}

  [[nodiscard]] bool addressed() const { return addressed_; }

  template <class Item>
  void push(const Item& item, int pe) {
    if (addressed_)
      push_as<true>(item, pe);
    else
      push_as<false>(item, pe);
  }
  template <bool Addressed, class Item>
  void push_as(const Item& item, int pe) {
    using codec = item_codec<Addressed>;
    cursor& at = *cursors_[pe];
    if (at.next == at.end) [[unlikely]]
      make_room(to_, pe, sizeof(Item));
    std::byte* const to = at.next;
    at.next = to + codec::template bytes<Item>;
    codec::put(to, pe, item);
  }

  // make(i), 0 ≤ i < count, returns an item and its PE; pushed(i, pe) is called after each push. The pointer to the
  // cursors is loaded once: in a loop of push() the compiler would load it again for each item, because the previous
  // item might have overwritten it.
  template <class Item, class Make, class Pushed>
  void push_each(std::size_t count, Make& make, Pushed&& pushed) {
    if (addressed_)
      push_each_as<true, Item>(count, make, pushed);
    else
      push_each_as<false, Item>(count, make, pushed);
  }

  // make(i), 0 ≤ i < count, returns an item for `pe`; items without address.
  template <class Item, class Make>
  void push_run(std::size_t count, int pe, Make&& make) {
    cursor& at = *cursors_[pe];
    for (std::size_t i = 0; i < count;) {
      if (at.next == at.end) make_room(to_, pe, sizeof(Item));
      std::byte* to = at.next;
      const std::size_t room = static_cast<std::size_t>(at.end - to) / sizeof(Item);
      const std::size_t last = i + (room < count - i ? room : count - i);
      for (; i < last; ++i, to += sizeof(Item)) write<Item>(to, make(i));
      at.next = to;
    }
  }

  // An item of any size: fill(to) writes its `size` bytes.
  template <class Fill>
  void push_bytes(std::size_t size, int pe, Fill&& fill) {
    const std::size_t head = length_bytes + (addressed_ ? address_bytes : 0);
    cursor& at = *cursors_[pe];
    if (static_cast<std::size_t>(at.end - at.next) < head + size) [[unlikely]]
      make_room(to_, pe, head + size);
    std::byte* to = at.next;
    if (addressed_) {
      write(to, static_cast<std::uint32_t>(pe));
      to += address_bytes;
    }
    write(to, static_cast<std::uint32_t>(size));
    fill(to + length_bytes);
    at.next += head + size;
  }

 private:
  template <bool Addressed, class Item, class Make, class Pushed>
  void push_each_as(std::size_t count, Make& make, Pushed& pushed) {
    using codec = item_codec<Addressed>;
    cursor* const* const cursors = cursors_;
    for (std::size_t i = 0; i < count; ++i) {
      const auto& [item, number] = make(i);
      const auto pe = static_cast<int>(number);
      cursor& at = *cursors[pe];
      if (at.next == at.end) [[unlikely]]
        make_room(to_, pe, sizeof(Item));
      std::byte* const to = at.next;
      at.next = to + codec::template bytes<Item>;
      codec::template put<Item>(to, pe, item);
      pushed(i, pe);
    }
  }

  To* to_;
  cursor* const* cursors_;
  bool addressed_;
};

}  // namespace detail
}  // namespace cpp_abi_1
}  // namespace lull
