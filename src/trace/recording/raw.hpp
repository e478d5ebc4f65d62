// What a process writes while it runs, from which an OTF2 archive is made afterwards (trace/archive/archive_writer.hpp).
//
// In the folder of the trace, a folder `raw` holds two kinds of files:
//
//   PROCESS.THREAD.records   a page with `log_header`; a window of records, mapped into the process, into which it
//                            records; and the records that were in the window before, written behind it whenever it was
//                            full. Whatever becomes of the process, what it has recorded can be read.
//   PROCESS.definitions      one JSON object a line, appended when something is defined or ends: the process, names
//                            of regions, communicators, windows, pairs of clocks (raw_folder.cpp says which)
//
// PROCESS is HOST-PID, with a number behind it when that is taken, as by another library of the same process. A record is one call, or says more of the call before
// it in the same thread. Records of a thread are in the order in which the calls ended; recorded calls do not overlap.
#pragma once
#include <array>
#include <cstdint>

namespace lull::trace {

enum class kind : std::uint8_t {
  none = 0,

  // A call: begin, duration, region; and by kind
  call,          // enter and leave of the region; bytes = calls like it that followed at once and are part of it
  send,          // comm, peer, tag, bytes: a message sent, blocking
  receive,       // comm, peer (its source), tag, bytes: a message received, blocking
  collective,    // comm, peer = root or -1, bytes = sent; bytes received, where they differ, in `more_received`
  put,           // one-sided, as the next two: comm = window, peer = target, bytes
  get,           //
  atomic,        //
  region_enter,  // a region of the user's program, at `begin`
  region_leave,  //

  // More of the call before
  more_received,        // bytes
  also_received,        // comm, peer, tag, bytes: of a call that sends and receives
  posted_send,          // comm, peer, tag, bytes; the request's handle in `begin`, here and below
  posted_receive,       // comm, peer and tag as asked (may be any)
  posted_collective,    // comm, peer = root or -1, bytes = sent
  prepared_send,        // persistent, as the next two: as posted, but not started
  prepared_receive,     //
  prepared_collective,  //
  started,              // a persistent request begins anew
  completed,            // peer, tag, bytes of the status, which mean something for a receive
  tested,               // asked for, not yet complete
  cancelled,            //
  freed,                //
  completed_at_target,  // all one-sided operations to peer (or -1: all) of window `comm` are complete
  locked,               // comm = window, peer = target, tag = 1 exclusive, 0 shared
  unlocked,             // the same
  longer,               // the duration's upper 32 bits in `bytes`: a call longer than duration can say

  // A call again
  window_collective,  // of all of a window (fence, free): comm = window
};

// Whether a record begins a call; otherwise it says more of the call before.
[[nodiscard]] constexpr bool begins_call(kind k) { return k < kind::more_received || k == kind::window_collective; }

struct record {
  std::uint64_t begin = 0;     // ticks
  std::uint32_t duration = 0;  // ticks, lower 32 bits
  std::uint16_t region = 0;    // number of the function, or of the user's region
  std::uint16_t comm = 0;      // this process's number of a communicator or window
  std::int32_t peer = 0;       // rank in the communicator; negative: nobody (MPI_PROC_NULL), or any
  std::int32_t tag = 0;
  std::uint64_t bytes : 56 = 0;
  kind what : 8 = kind::none;
};
static_assert(sizeof(record) == 32);

// The libraries of one process record each for themselves: those of the user's regions number them from here on.
inline constexpr std::uint16_t first_user_region = 0x8000;

// At the begin of a file of records, the rest of whose page is empty.
struct log_header {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t first_record;  // where in the file those begin that were saved, in bytes
  std::uint32_t window_bytes;  // of the window, which lies before them; whole pages
  std::uint32_t unused;
  std::uint64_t thread;  // as gettid() gives it
  std::uint64_t lost;    // records that were not kept: the disk was full, or the limit reached
  std::uint64_t saved;   // records behind the window that count for as long as the window holds any; else all do
  std::uint64_t base;    // addresses in the process: of the window, and of the next record to be written in it
  std::uint64_t next;
};
static_assert(sizeof(log_header) == 64);
inline constexpr std::array<char, 8> raw_magic{'l', 'u', 'l', 'l', 'r', 'a', 'w', '\n'};
inline constexpr std::uint32_t raw_version = 2;

}  // namespace lull::trace
