// A merged trace: one file with the recordings of all processes of a run, FILE.lulltrace. What differs between
// processes by a law is in it once. It is `file_header`, then chunks, each a `chunk_header` and as many bytes as it
// says:
//
//   templates   the lines of definitions without their numbers (definition_lines.hpp); the first chunk
//   log_class   the calls of a class of logs without their times (log_classes.hpp), one chunk for each class
//   recording   what one library of a process has recorded: its name, the number of its first log, the count of its
//               logs, and of each the end of its name, thread, lost records and given-up requests; its definitions
//   times       number of a log; of each call of this log the times (folding/bytes.hpp)
//   energy      name of a file HOST.energy (archive/energy.hpp), its content
//   end         number of logs
//
// Texts have their lengths before them; numbers are LEB128, except in headers. Each chunk has a checksum, so that a
// damaged one leaves the others readable; after a damaged header, the next one is found by its mark. Logs are numbered
// in the order of the recordings.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/hash.hpp"

namespace lull::trace::merging {

inline constexpr const char* merged_extension = ".lulltrace";
inline constexpr const char* merged_name = "traces.lulltrace";  // in the folder of a trace
inline constexpr std::array<char, 8> merged_magic{'l', 'u', 'l', 'l', 'm', 'e', 'r', 'g'};
inline constexpr std::uint32_t merged_version = 1;

struct file_header {
  std::array<char, 8> magic = merged_magic;
  std::uint32_t version = merged_version;
  std::uint32_t unused = 0;
};
static_assert(sizeof(file_header) == 16);

enum class chunk : std::uint32_t { templates = 1, log_class, recording, times, energy, end };

// By 8 bytes at a time, each of which it depends on.
[[nodiscard]] inline std::uint64_t checksum(std::span<const std::uint8_t> content) {
  std::uint64_t sum = content.size();
  for (std::size_t at = 0; at < content.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, content.data() + at, std::min<std::size_t>(8, content.size() - at));
    sum = hash_with(sum, word);
  }
  return sum;
}

struct chunk_header {
  static constexpr std::uint32_t right_mark = 0x4b4e4843;  // "CHNK"
  std::uint32_t mark = right_mark;
  chunk what = chunk::end;
  std::uint64_t bytes = 0;
  std::uint32_t sum = 0;         // of the content: a part of checksum()
  std::uint32_t header_sum = 0;  // the same of what precedes it here

  [[nodiscard]] std::uint32_t right_header_sum() const {
    std::array<std::uint8_t, 20> before;
    std::memcpy(before.data(), this, before.size());
    return static_cast<std::uint32_t>(checksum(before) >> 16);
  }
};
static_assert(sizeof(chunk_header) == 24);

}  // namespace lull::trace::merging
