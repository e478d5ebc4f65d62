// One process of a trace: converts its calls to operations.
//
//   time between calls        computing; so are calls that work without others (MPI_Pack) and calls on files
//   time in calls             left out: the network determines it. Consecutive unsuccessful tests count as one
//   MPI_Init, MPI_Finalize    the process begins when the first ends, and is over when the last begins
//   send, receive             blocking; if one call does both, the sends are in flight while it receives
//   isend, irecv, wait, test  a request, waited for where the trace says that it was complete; several in that order.
//                             A receive from any source names the actual source
//   bsend                     in flight until the program ends, at most 64 at a time
//   put, get, atomic          a request, waited for where the trace says that it is complete; in OpenSHMEM at the next
//                             quiet or barrier, unless it returns a value. At most 1024 are in flight
//   shmem_wait_until          waits for the last put or atomic of another process that began before the wait ended
//   windows                   a fence is a barrier of its group; a lock is a round trip to the target
//   shmem_malloc etc.         a barrier of all
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "netsim/traces/calls.hpp"
#include "netsim/traces/encoded_operations.hpp"
#include "netsim/traces/not_replayed.hpp"
#include "netsim/traces/traced_collectives.hpp"
#include "netsim/traces/traced_ranks.hpp"

namespace lull::netsim {

// The latest change of each process's memory, in order of time.
class traced_puts {
 public:
  explicit traced_puts(std::uint32_t ranks) : last_(ranks) {}
  // A put or atomic begins.
  void begins(std::uint32_t from, std::uint32_t to) {
    if (from != to) last_[to] = {from, ++counts_[std::uint64_t{from} << 32U | to]};
  }
  struct put {
    std::uint32_t from = any;
    std::uint64_t number = 0;  // of all from there, beginning with 1
    bool operator==(const put&) const = default;
  };
  [[nodiscard]] const put& last(std::uint32_t to) const { return last_[to]; }

 private:
  std::vector<put> last_;
  std::unordered_map<std::uint64_t, std::uint64_t> counts_;
};

// Counts what cannot be replayed.
class omissions {
 public:
  enum other : std::uint8_t { absent_peer, cancelled_send, exclusive_lock, two_sided_group, others };
  explicit omissions(std::size_t regions) : regions_(regions) {}
  void count(std::uint32_t region) { ++regions_[region]; }
  void count(other what) { ++others_[what]; }
  [[nodiscard]] std::vector<not_replayed> all(const trace::definitions& of) const;

 private:
  std::vector<std::uint64_t> regions_;
  std::array<std::uint64_t, others> others_{};
};

// What the processes of a trace share.
struct trace_in_work {
  const trace::definitions& all;
  std::string asked;  // starts error messages
  traced_ranks ranks;
  std::unique_ptr<encoded_operations> operations;
  traced_collectives collectives;
  traced_puts puts;
  omissions missing;

  trace_in_work(const trace::definitions& of, std::string asked_for);
  trace_in_work(const trace_in_work&) = delete;
  trace_in_work& operator=(const trace_in_work&) = delete;
};

class traced_process {
 public:
  traced_process(trace_in_work& in, std::uint32_t process);

  struct call {
    std::uint32_t region;
    const call_rule& rule;
    std::uint32_t location;
    std::uint64_t begin, end;
    std::span<const trace::event> events;
  };
  // Calls come in the order in which they end. Throws lull::error if two overlap.
  void on(const call& c);
  // An event outside any call.
  void on(const trace::event& e, std::uint64_t now);
  void begins(std::uint64_t now);  // called at its first event; may be repeated
  void ends_iteration(std::uint64_t now);
  void finish(std::uint64_t now);

 private:
  struct request {
    enum class kind : std::uint8_t { send, receive, collective, ignored } is;
    std::uint32_t slot = no_request;
    encoded_operations::gap gap = 0;
  };
  // A non-blocking collective, kept until it and all earlier ones are complete.
  struct post {
    std::uint64_t request;
    encoded_operations::gap gap;
    std::optional<traced_collectives::part> part{};
    bool complete = false;
  };
  struct put_under_way {
    std::uint32_t slot;
    std::uint64_t request;
  };

  void handle(const trace::event& e, const call_rule& rule, bool both_ways);
  void send(const trace::event& e, const call_rule& rule, bool both_ways);
  void receive(const trace::event& e);
  void received(const trace::event& e);
  void sent(const trace::event& e);
  void cancelled(const trace::event& e);
  void one_sided(const trace::event& e, const call_rule& rule);
  void complete_one_sided(const trace::event& e, const call_rule& rule);
  void post_collective(const trace::event& e, const call_rule& rule);
  void complete_collective(const trace::event& e);
  void take_part(const traced_collectives::part& p);
  void acquire_lock(const trace::event& e);
  [[nodiscard]] std::optional<traced_collectives::part> part_of(const trace::event& e, traced_collectives::sequence of);
  void wait_for_puts();
  [[nodiscard]] bool wait_for_memory();
  void after(const call& c);

  [[nodiscard]] std::optional<operation> message(const trace::event& e, operation::kind what);
  void compute_until(std::uint64_t now, bool polls = false);
  void flush();
  void emit(const operation& o);
  void wait(std::uint32_t slot);
  [[nodiscard]] std::uint32_t take_slot();

  trace_in_work& in_;
  const std::uint32_t process_;
  const std::uint32_t rank_;
  const bool shmem_;
  struct {
    std::uint64_t since = 0;                 // when the program last continued
    std::uint64_t computing = 0;             // nanoseconds, not yet written
    std::uint64_t vain = 0;                  // duration of the last call, if it was an unsuccessful test
    std::uint32_t location = trace::no_one;  // of the last call
    bool begun = false, communicated = false, ended = false;
  } now_;
  std::vector<std::uint32_t> free_slots_;
  std::uint32_t slots_ = 0;
  std::unordered_map<std::uint64_t, request> requests_;
  std::vector<std::uint32_t> at_end_of_call_;  // slots
  std::vector<std::uint32_t> buffered_;        // slots
  std::deque<put_under_way> puts_;
  std::vector<post> posts_;
  traced_puts::put awaited_;
};

}  // namespace lull::netsim
