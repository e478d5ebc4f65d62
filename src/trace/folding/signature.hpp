// What is the same each time that a program makes a call: a signature. The records of a log are taken in units: a call
// with the first record that says more of it, or one record. Of a call with many records (MPI_Waitall), each further
// record is a unit.
//
// A request is named so that the name is the same in each iteration of a loop: by its age, the number of requests that
// were posted after it, or if it is persistent, by a slot that it holds while it exists. The status of a receive is
// mostly what was posted, and that of a send means nothing: such fields are not part of the signature (`as_posted`).
// A field whose values vary without a pattern is no part of it either (`varying`): its values are given each time.
#pragma once
#include <array>
#include <bit>
#include <cstdint>

#include "trace/raw.hpp"

namespace lull::trace::folding {

static_assert(std::endian::native == std::endian::little);

using words = std::array<std::uint64_t, 4>;  // of a record
[[nodiscard]] inline words words_of(const record& r) { return std::bit_cast<words>(r); }

enum class naming : std::uint8_t {
  none,      // of no request
  post,      // a request that is posted here
  age,       // one that was posted
  prepared,  // the slot of a persistent one
  handle,    // the library's own handle: of a request of another thread, or in a process with several logs
};

enum field : std::uint8_t { peer, tag, bytes_field, name };
inline constexpr std::size_t fields = 4;
inline constexpr std::uint8_t status_fields = 1 << peer | 1 << tag | 1 << bytes_field;

struct part {
  kind what = kind::none;
  naming named = naming::none;
  std::uint8_t as_posted = 0, varying = 0;  // bits by field
  std::uint16_t region = 0, comm = 0;
  std::array<std::uint64_t, fields> values = {};  // 0 where they are as posted, or varying
  bool operator==(const part&) const = default;
};

struct signature {
  std::array<part, 2> parts = {};
  std::uint8_t count = 1;  // of the parts
  bool operator==(const signature&) const = default;
};

[[nodiscard]] constexpr bool is_known(kind k) { return k > kind::none && k <= kind::window_collective; }
[[nodiscard]] constexpr bool adds_to_call(kind k) { return k >= kind::more_received && k < kind::window_collective; }
[[nodiscard]] constexpr bool posts(kind k) { return k >= kind::posted_send && k <= kind::posted_collective; }
[[nodiscard]] constexpr bool prepares(kind k) { return k >= kind::prepared_send && k <= kind::prepared_collective; }
[[nodiscard]] constexpr bool is_about_request(kind k) { return k >= kind::started && k <= kind::freed; }
[[nodiscard]] constexpr bool names_request(kind k) { return posts(k) || prepares(k) || is_about_request(k); }
[[nodiscard]] constexpr bool ends(kind k) { return k == kind::completed || k == kind::cancelled || k == kind::freed; }

[[nodiscard]] inline std::uint64_t value_of(const record& r, std::size_t of) {
  switch (of) {
    case peer:
      return static_cast<std::uint64_t>(std::int64_t{r.peer});
    case tag:
      return static_cast<std::uint64_t>(std::int64_t{r.tag});
    default:
      return r.bytes;
  }
}

// Handles in expanded records: each life of a request has one of its own. They are above all addresses and integers
// that libraries use.
inline constexpr std::uint64_t life_of_post = std::uint64_t{0x8000} << 48;      // | its ordinal
inline constexpr std::uint64_t life_of_prepared = std::uint64_t{0xc000} << 48;  // | slot << 32 | its ordinal
inline constexpr std::uint64_t kind_of_life = std::uint64_t{0xf000} << 48;
inline constexpr std::uint32_t most_slots = 1 << 12;

}  // namespace lull::trace::folding
