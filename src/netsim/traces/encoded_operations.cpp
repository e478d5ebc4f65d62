#include "netsim/traces/encoded_operations.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace lull::netsim {
namespace {

// The lower five bits say what follows.
enum code : std::uint8_t {
  the_end,
  next_block,  // its address: 8 bytes
  computing,   // nanoseconds
  with_peer,   // the operations below: kind, partner, bytes, request
  waiting,     // request
  iterating,   //
  waiting_any,
  sharing,   // number, as a difference; request
  gap_here,  // request; gap_content
  code_mask = 0x1f,
  is_known = 0x20,    // with_peer: a byte with the partner's index in the table
  same_bytes = 0x40,  // with_peer: as in this partner's previous operation
  has_request = 0x80,
};

// The content of a gap; copied in and out, because it is not aligned.
struct gap_content {
  std::uint64_t bytes_or_shared = 0;
  std::uint32_t peer = 0, tag = 0, group = 0;
  std::uint32_t is = nothing;
  static constexpr std::uint32_t nothing = 0, shared = 1, an_operation = 2;  // from `an_operation` on: its kind
};

constexpr std::uint32_t first_block = 512;
constexpr std::uint32_t room_for_link = 1 + sizeof(std::uint64_t);
constexpr std::uint64_t shared_in_block = spill_file::largest_block / sizeof(operation) / 16;
constexpr std::size_t shared_block = spill_file::largest_block / 16;

constexpr picoseconds per_nanosecond = 1000;

std::uint64_t zigzag(std::int64_t v) {
  return (static_cast<std::uint64_t>(v) << 1U) ^ static_cast<std::uint64_t>(v >> 63);
}
std::int64_t unzigzag(std::uint64_t v) {
  return static_cast<std::int64_t>(v >> 1U) ^ -static_cast<std::int64_t>(v & 1U);
}

}  // namespace

// The bytes of one operation before they are stored.
class encoded_operations::encoding {
 public:
  void byte(unsigned v) { bytes_[size_++] = static_cast<std::byte>(v); }
  void number(std::uint64_t v) {  // seven bits per byte, the lowest first
    for (; v >= 0x80; v >>= 7U) byte(static_cast<unsigned>(v & 0x7fU) | 0x80U);
    byte(static_cast<unsigned>(v));
  }
  template <class T>
  void plain(const T& v) {
    std::memcpy(bytes_.data() + size_, &v, sizeof v);
    size_ += sizeof v;
  }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(size_); }
  [[nodiscard]] const std::byte* data() const { return bytes_.data(); }

 private:
  std::array<std::byte, 64> bytes_;
  std::size_t size_ = 0;
};

encoded_operations::encoded_operations(std::uint32_t processes, const std::string& asked)
    : file_(asked),
      // If possible, all current blocks together take at most 64 MiB.
      largest_block_(std::clamp(std::bit_floor((64U << 20U) / std::max(processes, 1U)), 4096U, 65536U)),
      first_(processes),
      writers_(processes) {
  for (std::uint32_t p = 0; p < processes; ++p) {
    first_[p] = file_.allocate(first_block);
    writers_[p] = {.at = first_[p], .block = first_[p], .size = first_block};
  }
}

std::size_t encoded_operations::place_of(const operation& o) {
  return mixed(o.peer + mixed(o.tag + mixed(o.group * 16 + static_cast<std::uint32_t>(o.what)))) % partners{}.size();
}

std::uint64_t encoded_operations::put(std::uint32_t process, const encoding& bytes) {
  writer& w = writers_[process];
  if (w.at + bytes.size() + room_for_link > w.block + w.size) {
    const std::uint32_t size = std::min(2 * w.size, largest_block_);
    const std::uint64_t next = file_.allocate(size);
    std::byte* const link = file_.at(w.at);
    *link = std::byte{next_block};
    std::memcpy(link + 1, &next, sizeof next);
    file_.rest(w.block, w.size);
    w.at = w.block = next;
    w.size = size;
  }
  const std::uint64_t where = w.at;
  std::memcpy(file_.at(where), bytes.data(), bytes.size());
  w.at += bytes.size();
  return where;
}

void encoded_operations::add(std::uint32_t process, const operation& o) {
  using kind = operation::kind;
  encoding e;
  const unsigned request = o.request == no_request ? 0U : unsigned{has_request};
  switch (o.what) {
    case kind::compute:
      e.byte(computing);
      e.number(static_cast<std::uint64_t>(o.duration / per_nanosecond));
      break;
    case kind::wait:
      e.byte(waiting);
      e.number(o.request);
      break;
    case kind::wait_any:
      e.byte(waiting_any);
      break;
    case kind::iteration:
      e.byte(iterating);
      break;
    case kind::unit:  // traces have none
      break;
    case kind::collective: {
      const shared own = make_shared();
      set(own, o);
      return add(process, own, o.request);
    }
    default: {
      const std::size_t place = place_of(o);
      partner& p = writers_[process].known[place];
      const bool known = p.same_but_bytes(o), same = known && p.bytes == o.bytes;
      e.byte(with_peer | request | (known ? unsigned{is_known} : 0U) | (same ? unsigned{same_bytes} : 0U));
      if (known) {
        e.byte(static_cast<unsigned>(place));
      } else {
        p = {.what = o.what, .peer = o.peer, .tag = o.tag, .group = o.group, .bytes = 0};
        e.byte(static_cast<unsigned>(o.what));
        e.number(o.peer);
        e.number(o.tag);
        e.number(o.group);
      }
      if (!same) e.number(o.bytes);
      p.bytes = o.bytes;
      if (request != 0) e.number(o.request);
    }
  }
  put(process, e);
}

operation& encoded_operations::shared_at(shared number) const {
  return *reinterpret_cast<operation*>(file_.at(shared_[number / shared_in_block]) +
                                       number % shared_in_block * sizeof(operation));
}

encoded_operations::shared encoded_operations::make_shared() {
  if (shared_count_ % shared_in_block == 0) shared_.push_back(file_.allocate(shared_block));
  return shared_count_++;
}

void encoded_operations::set(shared number, const operation& o) { new (&shared_at(number)) operation(o); }

void encoded_operations::add(std::uint32_t process, shared number, std::uint32_t request) {
  encoding e;
  e.byte(sharing | (request == no_request ? 0U : unsigned{has_request}));
  std::uint64_t& last = writers_[process].last_shared;
  e.number(zigzag(static_cast<std::int64_t>(number - last)));
  last = number;
  if (request != no_request) e.number(request);
  put(process, e);
}

encoded_operations::gap encoded_operations::add_gap(std::uint32_t process, std::uint32_t request) {
  encoding e;
  e.byte(gap_here);
  e.number(request);
  const std::uint32_t before = e.size();
  e.plain(gap_content{});
  return put(process, e) + before;
}

void encoded_operations::fill(gap where, const operation& o) {
  const gap_content c{.bytes_or_shared = o.bytes,
                      .peer = o.peer,
                      .tag = o.tag,
                      .group = o.group,
                      .is = gap_content::an_operation + static_cast<std::uint32_t>(o.what)};
  std::memcpy(file_.at(where), &c, sizeof c);
}

void encoded_operations::fill(gap where, shared number) {
  const gap_content c{.bytes_or_shared = number, .is = gap_content::shared};
  std::memcpy(file_.at(where), &c, sizeof c);
}

void encoded_operations::end(std::uint32_t process) {
  encoding e;
  e.byte(the_end);
  put(process, e);
}

// Reads what a writer has written; keeps the same table of partners.
class operation_decoder {
 public:
  operation_decoder(const encoded_operations& from, std::uint32_t process)
      : from_(from), block_(from.first_[process]), at_(from.file_.at(block_)) {}

  // Returns false at the end.
  bool next(operation& o) {
    for (;;) {
      const unsigned head = byte();
      switch (head & code_mask) {
        case the_end:
          return false;
        case next_block:
          follow();
          continue;
        case computing:
          o = {.what = operation::kind::compute, .duration = static_cast<picoseconds>(number()) * per_nanosecond};
          return true;
        case waiting:
          o = {.what = operation::kind::wait, .request = small()};
          return true;
        case waiting_any:
          o = {.what = operation::kind::wait_any};
          return true;
        case iterating:
          o = {.what = operation::kind::iteration};
          return true;
        case sharing: {
          last_shared_ += static_cast<std::uint64_t>(unzigzag(number()));
          o = from_.shared_at(last_shared_);
          o.request = (head & has_request) != 0 ? small() : no_request;
          return true;
        }
        case gap_here:
          if (in_gap(o)) return true;
          continue;
        default:
          to_partner(head, o);
          return true;
      }
    }
  }

 private:
  unsigned byte() { return std::to_integer<unsigned>(*at_++); }
  std::uint64_t number() {
    std::uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
      const unsigned b = byte();
      v |= std::uint64_t{b & 0x7fU} << shift;
      if (b < 0x80) return v;
    }
  }
  std::uint32_t small() { return static_cast<std::uint32_t>(number()); }

  void follow() {
    const auto before = block_;
    std::memcpy(&block_, at_, sizeof block_);
    from_.file_.rest(before, size_);
    at_ = from_.file_.at(block_);
    size_ = std::min(2 * size_, from_.largest_block_);
  }

  bool in_gap(operation& o) {
    const std::uint32_t request = small();
    gap_content c;
    std::memcpy(&c, at_, sizeof c);
    at_ += sizeof c;
    if (c.is == gap_content::nothing) return false;
    if (c.is == gap_content::shared)
      o = from_.shared_at(c.bytes_or_shared);
    else
      o = {.what = static_cast<operation::kind>(c.is - gap_content::an_operation),
           .peer = c.peer,
           .group = c.group,
           .tag = c.tag,
           .bytes = c.bytes_or_shared};
    o.request = request;
    return true;
  }

  void to_partner(unsigned head, operation& o) {
    encoded_operations::partner p;
    if ((head & is_known) != 0) {
      p = known_[byte()];
    } else {
      p.what = static_cast<operation::kind>(byte());
      p.peer = small();
      p.tag = small();
      p.group = small();
    }
    if ((head & same_bytes) == 0) p.bytes = number();
    o = {.what = p.what, .peer = p.peer, .group = p.group, .tag = p.tag, .bytes = p.bytes};
    known_[encoded_operations::place_of(o)] = p;
    if ((head & has_request) != 0) o.request = small();
  }

  const encoded_operations& from_;
  std::uint64_t block_;
  const std::byte* at_;
  std::uint32_t size_ = first_block;
  std::uint64_t last_shared_ = 0;
  encoded_operations::partners known_{};
};

namespace {

stream decoded(const encoded_operations& from, std::uint32_t process) {
  operation_decoder read(from, process);
  operation o;
  while (read.next(o)) co_yield o;
}

}  // namespace

stream encoded_operations::of(std::uint32_t process) const { return decoded(*this, process); }

}  // namespace lull::netsim
