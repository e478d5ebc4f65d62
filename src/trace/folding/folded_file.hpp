// The files of a thread whose records are folded. They are in the folder of the trace, beside PROCESS.definitions
// (raw.hpp):
//
//   PROCESS.THREAD.folded    `file_header`, then chunks: `chunk_header` and as many bytes as it says. The structures,
//                            one after the other, are one stream (folder.hpp), and the times are another (bytes.hpp)
//   PROCESS.THREAD.records   while the thread runs, as raw.hpp says, with a `running_state` between the first page and
//                            the window: the window holds records that are not folded yet, and none are saved behind
//                            it. It is removed when the thread has ended and the other file is whole
//
// So a process may be killed at any time: what its file holds, what the running state holds, and what the window holds
// follow one another. All of it is in pages of files, which outlive the process.
#pragma once
#include <array>
#include <cstdint>

namespace lull::trace::folding {

inline constexpr std::array<char, 8> folded_magic{'l', 'u', 'l', 'l', 'f', 'o', 'l', 'd'};
inline constexpr std::uint32_t folded_version = 1;

enum class times_kept : std::uint32_t { exact = 1 };

struct file_header {
  std::array<char, 8> magic = folded_magic;
  std::uint32_t version = folded_version;
  times_kept times = times_kept::exact;
  std::uint64_t thread = 0;  // as gettid() gives it
};
static_assert(sizeof(file_header) == 24);

enum class chunk : std::uint32_t {
  structure = 1,
  times,
  given_up,  // `request_life`s: the library's handles of requests that another thread may complete
  end,       // `file_end`, the last
};
struct chunk_header {
  chunk what;
  std::uint32_t bytes;
};
struct request_life {
  std::uint64_t life, handle;  // in expanded records; in the library
};
struct file_end {
  std::uint64_t records;
};

// What has been folded and is not in the file yet. Each change is made in the part of it that is not valid, and then
// published by `valid`.
struct running_state {
  static constexpr std::size_t most_open = 256;
  struct part {
    std::uint64_t records = 0;     // folded
    std::uint64_t file_bytes = 0;  // valid ones of the file
    std::uint64_t window = 0;      // the number of the window that was folded last,
    std::uint32_t taken = 0;       // and how many of its records
    std::uint32_t structure_bytes = 0, times_bytes = 0;
    std::uint32_t open = 0;
    std::array<request_life, most_open> requests = {};  // open ones, for the records in the window
  };
  std::uint32_t valid = 0, unused = 0;
  std::uint64_t window = 1;  // the number of the present window
  std::array<part, 2> parts = {};
  std::array<std::uint8_t, 16 << 10> structure;
  std::array<std::uint8_t, 48 << 10> times;
};

}  // namespace lull::trace::folding
