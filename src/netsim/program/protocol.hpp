// How messages travel between processes: the messages of each send, put, get and atomic, and when their requests are
// complete.
//
//   short send     the message; the send is complete when its last byte has left, the receive when it has arrived
//   long send      a request to send, a reply when a receive takes it, the message; also any synchronous send
//   put            the message and, with a request, an acknowledgement, which completes it
//   get, atomic    a message, and the answer of the node, which completes it
//
// The nodes answer by themselves, without involving a process. Processes on the same node exchange messages through its
// memory, which takes a fixed delay and a time per byte, independent of its other traffic. A message of the network has
// between one byte and one GiB; longer ones are split.
//
// The effect of a message on its arrival is mostly known, and applied, when the network announces the arrival ahead of
// time: it completes a request by then. The effect is decided at the time of arrival if it depends on what happens
// until then: which receive will take the message, or what its node answers.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "netsim/network/network_state.hpp"
#include "netsim/program/host.hpp"
#include "netsim/program/matching.hpp"
#include "netsim/program/operation.hpp"
#include "netsim/program/play_options.hpp"
#include "netsim/tolerance/dependencies.hpp"

namespace lull::netsim {

// The host of each rank; processes on the same node share one.
[[nodiscard]] std::vector<std::uint32_t> hosts_by_rank(const std::vector<std::uint32_t>& nodes);

class protocol {
 public:
  // Notified of requests that are or will be complete; completed() is never called from within a call of the listener.
  class listener {
   public:
    virtual void will_complete(const completion& what, picoseconds at) = 0;
    virtual void completed(const completion& what, picoseconds now) = 0;
    virtual void memory_changed(std::uint32_t rank, picoseconds now) = 0;  // by a put or an atomic

   protected:
    ~listener() = default;
  };

  // `host_of`: by rank. The hosts, the options and the listener must outlive it.
  protocol(const job_setup& setup, const play_options& options, std::span<host> hosts,
           std::vector<std::uint32_t> host_of, listener& tells);

  [[nodiscard]] host& host_of(std::uint32_t rank) { return hosts_[host_of_[rank]]; }

  // `o` has the tag and the bytes; ranks are those of the job. Contexts are those of matching.hpp; in a context other
  // than the program's, no two messages of a pair have the same tag.
  void send(const operation& o, std::uint32_t to, std::uint64_t context, const completion& by, picoseconds now);
  // Returns whether the message had arrived already, so that the receive is complete.
  [[nodiscard]] bool receive(const operation& o, std::uint32_t from, std::uint64_t context, const completion& by,
                             picoseconds now);
  // Put, get or atomic, in run `run` of the program.
  void access(const operation& o, const completion& by, std::uint32_t run, picoseconds now);

  // Records from now on which messages follow which.
  void record(dependencies& in) { recorded_ = &in; }

  // Reports of hosts: ahead of time, and at the time.
  void will_have_sent(std::uint32_t label, picoseconds at);
  void will_have_arrived(std::uint32_t label, picoseconds at);
  void crossed(std::uint32_t label, std::span<const std::uint32_t> links) {
    if (recorded_ != nullptr) recorded_->crossed(label, links);
  }
  void has_arrived(std::uint32_t label, picoseconds now);
  // Prefetches the transfer of a message.
  void fetch(std::uint32_t label) const { transfers_.prefetch(label); }
  // The request for which a message is sent.
  [[nodiscard]] const completion& begun_by(std::uint32_t label) const { return transfers_[label].begun_by; }
  // If the only effect of an arrival is that it waits for a receive: the two ranks; otherwise none. It may also let in
  // messages of the same sender that have overtaken it.
  struct plain_arrival {
    std::uint32_t to, from;  // ranks
  };
  [[nodiscard]] std::optional<plain_arrival> is_plain(std::uint32_t label) const {
    const transfer& t = transfers_[label];
    if (t.is != stage::eager) return std::nullopt;
    return plain_arrival{.to = t.to, .from = t.begun_by.rank};
  }

  // The puts and atomics of `by` in run `run` that have arrived in the memory of `rank`.
  [[nodiscard]] std::uint64_t changes(std::uint32_t rank, std::uint32_t by, std::uint32_t run) const {
    return changed(rank, by, run).count;
  }
  // What the latest of them was, if dependencies are recorded.
  [[nodiscard]] dependencies::end_of_step last_change(std::uint32_t rank, std::uint32_t by, std::uint32_t run) const {
    return changed(rank, by, run).latest;
  }
  // Forgets those of runs before `run`.
  void forget_changes(std::uint32_t rank, std::uint32_t run) {
    std::erase_if(ends_[rank].changes, [run](const auto& counted) { return counted.first >> 32U < run; });
  }

  // Links book what the messages of a process cost to this account (sampling/losses.hpp) from now on.
  void set_account(std::uint32_t rank, std::uint32_t account) { ends_[rank].account = account; }

  // Messages in the network.
  [[nodiscard]] std::uint64_t under_way() const { return under_way_; }
  // Whether no message is under way, and no host has anything to do: processes that still wait do so without end.
  [[nodiscard]] bool at_rest() const { return under_way_ == 0 && std::ranges::all_of(hosts_, &host::idle); }
  [[nodiscard]] std::uint64_t memory_messages() const { return memory_messages_; }
  [[nodiscard]] std::uint64_t memory_bytes() const { return memory_bytes_; }
  // What was sent and not received, or vice versa, in words; empty if there is nothing.
  [[nodiscard]] std::vector<std::string> leftovers() const;

 private:
  // The message that is travelling, or travelled last.
  enum class stage : std::uint8_t { eager, ask, go_on, data, put, acknowledgement, question, answer };
  // One send, put, get or atomic, from begin to end. Messages that travel for it have its number as their label; there
  // is one stage at a time.
  struct transfer {
    std::uint64_t context = 0;
    std::uint64_t bytes = 0;
    completion begun_by;   // the sender; for a get, the process that gets
    std::uint32_t to = 0;  // the other process
    std::uint32_t tag = 0;
    std::uint32_t pair = 0;      // index in `pairs_`, if the program sends it
    std::uint32_t order = 0;     // among the messages of the pair; for put, get and atomic the run of the program
    std::uint32_t activity = 0;  // of the receiver
    std::uint32_t slot = 0;      // of the receiver
    std::uint32_t not_sent = 0;  // messages of this stage yet to leave
    std::uint32_t not_here = 0;  // messages of this stage yet to arrive
    stage is = stage::eager;
    bool acknowledged = false;  // put
    bool changes = false;       // memory, that is, not a get
  };
  struct memory_changes {
    std::uint64_t count = 0;
    dependencies::end_of_step latest = dependencies::nothing;
  };
  struct alignas(64) end_of_process {
    matching matched;
    std::uint32_t account = 0;
    std::vector<std::uint32_t> early;                           // transfers that have overtaken others
    receivers sends_to;                                         // as indices in `pairs_`
    std::uint32_t sent_last = nowhere;                          // index in `pairs_` of the latest receiver
    std::unordered_map<std::uint64_t, memory_changes> changes;  // by change_key()
  };

  // One process may be some runs ahead of another.
  static std::uint64_t change_key(std::uint32_t by, std::uint32_t run) { return std::uint64_t{run} << 32U | by; }
  [[nodiscard]] memory_changes changed(std::uint32_t rank, std::uint32_t by, std::uint32_t run) const {
    const auto found = ends_[rank].changes.find(change_key(by, run));
    return found == ends_[rank].changes.end() ? memory_changes{} : found->second;
  }
  // Of a receive, for dependencies::posted().
  static std::uint64_t receive_key(std::uint32_t rank, std::uint32_t activity, std::uint32_t slot) {
    return std::uint64_t{rank} << 40U ^ std::uint64_t{activity} << 28U ^ slot;
  }
  [[nodiscard]] std::uint32_t pair_of(std::uint32_t from, std::uint32_t to);
  static bool own(std::uint64_t context) { return static_cast<std::uint32_t>(context) == 0; }
  void carry(std::uint32_t label, stage is, std::uint64_t bytes, picoseconds now);
  [[nodiscard]] bool let_in_early(std::uint32_t label, picoseconds at);
  void let_in(std::uint32_t label, picoseconds now);
  void match(std::uint32_t label, picoseconds now);
  void change_memory(std::uint32_t rank, std::uint64_t by, dependencies::end_of_step cause, picoseconds now);
  void check_room(const transfer& t, std::uint64_t room) const;

  const play_options& options_;
  std::span<host> hosts_;
  std::vector<std::uint32_t> host_of_;
  std::vector<std::uint32_t> nodes_;  // by rank
  std::uint32_t job_;
  listener& tells_;
  dependencies* recorded_ = nullptr;  // if the program's tolerance is wanted
  pool<transfer> transfers_;
  std::vector<end_of_process> ends_;  // by rank
  std::vector<message_order> pairs_;  // of processes, one of which has sent to the other
  std::uint64_t under_way_ = 0;
  std::uint64_t memory_messages_ = 0;
  std::uint64_t memory_bytes_ = 0;
};

}  // namespace lull::netsim
