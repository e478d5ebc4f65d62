// What a process writes while it runs, from which an OTF2 archive is made afterwards (trace/archive_writer.hpp).
//
// In the folder of the trace, a folder `raw` holds two kinds of files:
//
//   PROCESS.THREAD.records   a header of one page, then records of 32 bytes, mapped and grown chunk by chunk; unused
//                            ones are zero. A record whose `kind` is none ends the file: whatever becomes of the
//                            process, what it has written can be read.
//   PROCESS.definitions      one JSON object a line, appended when something is defined or ends: the process, names
//                            of regions, communicators, windows, pairs of clocks (definitions.hpp says which)
//
// PROCESS is HOST-PID. A record is one call, or says more of the call before it in the same thread. Records of a thread
// are in the order in which the calls ended; begins of recorded calls do not overlap.
#pragma once
#include <cstdint>

namespace lull::trace {

enum class kind : std::uint8_t {
  none = 0,

  // a call: begin, duration, region; and by kind
  call,       // no more: enter and leave of the region
  send,       // comm, peer, tag, bytes: a message sent, blocking
  receive,    // comm, peer (its source), tag, bytes: a message received, blocking
  collective, // comm, peer = root or -1, bytes = sent; bytes received, where they differ, in `more_received`
  put, get, atomic,  // of one-sided communication: comm = window, peer = target, bytes
  region_enter, region_leave,  // a region of the user's program: `region`, at `begin`

  // more of the call before
  more_received,       // bytes
  also_received,       // comm, peer, tag, bytes: of a call that sends and receives
  posted_send,         // comm, peer, tag, bytes; the request's handle in `begin`
  posted_receive,      // comm, peer and tag as asked (may be any); handle in `begin`
  posted_collective,   // comm, peer = root or -1, bytes = sent; handle in `begin`
  prepared_send, prepared_receive, prepared_collective,  // persistent: as posted, but not started
  started,             // handle in `begin`: a persistent request begins anew
  completed,           // handle in `begin`; peer, tag, bytes of the status, which mean something for a receive
  tested,              // handle in `begin`: asked for, not yet complete
  cancelled, freed,    // handle in `begin`
  completed_at_target, // all one-sided operations to peer (or -1: all) of window `comm` are complete
  locked, unlocked,    // comm = window, peer = target, tag = 1 exclusive, 0 shared
  longer,              // the duration's upper 32 bits in `bytes`: a call longer than duration can say
  lost,                // `bytes` records were not kept here: the disk was full, or the limit reached
};

struct record {
  std::uint64_t begin;     // ticks
  std::uint32_t duration;  // ticks, lower 32 bits
  std::uint16_t region;    // number of the function, or of the user's region
  std::uint16_t comm;      // this process's number of a communicator or window
  std::int32_t peer;       // rank in the communicator
  std::int32_t tag;
  std::uint64_t bytes : 56;
  kind what : 8;
};
static_assert(sizeof(record) == 32);

}  // namespace lull::trace
