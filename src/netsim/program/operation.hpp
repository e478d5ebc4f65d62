// What a process of a program does next: the common language of traces, skeletons and the schedules of collectives.
//
// Ranks are those of the job; requests are small numbers that the program chooses, and may reuse once it has waited for
// them. Operations do not depend on how a message travels (player.hpp) or where the program comes from (program.hpp).
#pragma once
#include <cstdint>
#include <limits>

#include "netsim/routing.hpp"
#include "trace/events.hpp"

namespace lull::netsim {

using trace::collective;

inline constexpr std::uint32_t any = std::numeric_limits<std::uint32_t>::max();         // rank or tag: matches all
inline constexpr std::uint32_t no_request = std::numeric_limits<std::uint32_t>::max();  // the operation blocks
inline constexpr std::uint32_t everybody = 0;  // the group of all processes of the job; others: program::group()

struct operation {
  enum class kind : std::uint8_t {
    compute,           // duration
    send,              // peer, tag, group, bytes; with a request: non-blocking
    synchronous_send,  // like send, but complete only when it is received
    receive,           // like send; peer and tag may be `any`; bytes is an upper limit
    wait,              // request
    wait_any,          // until any request that was not waited for is complete; continues at once if there is none
    collective,        // which, group, root (peer), bytes; with a request: non-blocking
    put,               // peer, bytes; with a request: complete when it has arrived; otherwise when its source may be
                       // reused
    get,               // peer, bytes; complete when the data is here
    atomic,            // like get, with `bytes` in each direction
    await_put,         // peer, bytes: until this number of its puts and atomics since the begin have arrived here
    iteration,         // an iteration has ended
    unit,              // tag: a unit of this kind begins; a sampled simulation may leave it out
  };
  kind what = kind::compute;
  collective which = collective::barrier;
  std::uint32_t peer = 0;  // not next to `tag`: a load of both as one word would stall until both are written
  std::uint32_t group = everybody;
  std::uint32_t tag = 0;
  std::uint32_t request = no_request;
  // For gather, scatter, allgather and alltoall those of one process for one other; for other collectives all.
  std::uint64_t bytes = 0;
  picoseconds duration = 0;
};

// Operations in one word: co_yield compute(1'000'000).
namespace does {
using kind = operation::kind;
inline operation compute(picoseconds duration) { return {.what = kind::compute, .duration = duration}; }
inline operation send(std::uint32_t to, std::uint64_t bytes, std::uint32_t tag, std::uint32_t request = no_request) {
  return {.what = kind::send, .peer = to, .tag = tag, .request = request, .bytes = bytes};
}
inline operation receive(std::uint32_t from, std::uint64_t bytes, std::uint32_t tag,
                         std::uint32_t request = no_request) {
  return {.what = kind::receive, .peer = from, .tag = tag, .request = request, .bytes = bytes};
}
inline operation wait(std::uint32_t request) { return {.what = kind::wait, .request = request}; }
inline operation wait_any() { return {.what = kind::wait_any}; }
inline operation all_of(collective which, std::uint64_t bytes, std::uint32_t root = 0,
                        std::uint32_t group = everybody) {
  return {.what = kind::collective, .which = which, .peer = root, .group = group, .bytes = bytes};
}
inline operation iteration() { return {.what = kind::iteration}; }
inline operation unit(std::uint32_t of) { return {.what = kind::unit, .tag = of}; }
}  // namespace does

}  // namespace lull::netsim
