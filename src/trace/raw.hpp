// What a process writes while it runs, from which an OTF2 archive is made afterwards
// (trace/archive/archive_writer.hpp).
//
// In the folder of the trace, a folder `raw` holds these files:
//
//   PROCESS.THREAD.records   a page with `log_header`; a window of records, mapped into the process, into which it
//                            records; and the records that were in the window before, appended after it each time it
//                            was full. Whatever happens to the process, its records can be read.
//   PROCESS.THREAD.folded    the records in folded form, under LULL_TRACE_FORM=folded (folding/folded_file.hpp)
//   PROCESS.definitions      one JSON object per line, appended when something is defined or ends: the process, names
//                            of regions, communicators, windows, pairs of clocks (raw_folder.cpp lists them)
//
// PROCESS is HOST-PID, with a number after it if that name is taken, for example by another library of the same
// process. A record describes one call, or adds to the previous call of the same thread. Records of a thread are in the
// order in which the calls ended; recorded calls do not overlap.
#pragma once
#include <array>
#include <cstdint>

namespace lull::trace {

enum class kind : std::uint8_t {
  none = 0,

  // A call: begin, duration, region; and by kind:
  call,          // enter and leave of the region; bytes = number of similar calls that followed at once, included
  send,          // comm, peer, tag, bytes: a message sent, blocking
  receive,       // comm, peer (its source), tag, bytes: a message received, blocking
  collective,    // comm, peer = root or -1, bytes = sent; bytes received, if they differ, in `more_received`
  put,           // one-sided, like the next two: comm = window, peer = target, bytes
  get,           //
  atomic,        //
  region_enter,  // a region of the user's program, at `begin`
  region_leave,  //

  // Additions to the previous call:
  more_received,        // bytes
  also_received,        // comm, peer, tag, bytes: of a call that sends and receives
  posted_send,          // comm, peer, tag, bytes; the request's handle in `begin`, here and below
  posted_receive,       // comm, peer and tag as passed (may be any)
  posted_collective,    // comm, peer = root or -1, bytes = sent
  prepared_send,        // persistent, like the next two: as posted, but not started
  prepared_receive,     //
  prepared_collective,  //
  started,              // a persistent request starts again
  completed,            // peer, tag, bytes of the status, which are valid for a receive
  tested,               // tested, but not complete yet
  cancelled,            //
  freed,                //
  completed_at_target,  // all one-sided operations to peer (or -1: all) of window `comm` are complete
  locked,               // comm = window, peer = target, tag = 1 exclusive, 0 shared
  unlocked,             // the same
  longer,               // the upper 32 bits of the duration in `bytes`, for a call that exceeds `duration`

  // Another kind of call:
  window_collective,  // on all ranks of a window (fence, free): comm = window
};

// Whether a record begins a call; otherwise it adds to the previous one.
[[nodiscard]] constexpr bool begins_call(kind k) { return k < kind::more_received || k == kind::window_collective; }

struct record {
  std::uint64_t begin = 0;     // ticks
  std::uint32_t duration = 0;  // ticks, lower 32 bits
  std::uint16_t region = 0;    // number of the function, or of the user's region
  std::uint16_t comm = 0;      // the process's number of a communicator or window
  std::int32_t peer = 0;       // rank in the communicator; negative: none (MPI_PROC_NULL), or any
  std::int32_t tag = 0;
  std::uint64_t bytes : 56 = 0;
  kind what : 8 = kind::none;
};
static_assert(sizeof(record) == 32);

// Each library of a process records separately: the one of the user's regions numbers them from here on.
inline constexpr std::uint16_t first_user_region = 0x8000;

// The beginning of a records file; the rest of its page is empty.
struct log_header {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t first_record;   // offset of the saved records in the file, in bytes
  std::uint32_t window_bytes;   // of the window, which precedes them; whole pages
  std::uint32_t folding_bytes;  // of a running_state before the window (folding/folded_file.hpp); 0: there is none
  std::uint64_t thread;         // as gettid() gives it
  std::uint64_t lost;           // number of lost records: the disk was full, or the limit reached
  std::uint64_t saved;  // number of valid records after the window if the window contains any; if it is empty, all are
                        // valid
  std::uint64_t base;   // addresses in the process: of the window, and of the next record to write
  std::uint64_t next;
};
static_assert(sizeof(log_header) == 64);
inline constexpr std::array<char, 8> raw_magic{'l', 'u', 'l', 'l', 'r', 'a', 'w', '\n'};
inline constexpr std::uint32_t raw_version = 2;

}  // namespace lull::trace
