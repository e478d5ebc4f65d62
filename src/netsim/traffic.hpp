// Who sends what to whom, and when: the jobs, message by message. Knows nothing of packets, links or routing.
//
// Every process of a job runs on a node of its own. The network asks a node for its next message when its interface can
// take one, and tells when messages have been sent and have arrived; answers depend on nothing else, and each process
// draws from a generator of its own, so the order of asking does not matter.
//
//   open loop   a process creates messages at its own times, whatever becomes of them; they wait at the source
//   closed      a process computes, sends one message to each partner, waits until they have been sent and the messages
//   of
//               the same iteration meant for it have arrived, and begins again
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "netsim/simulation.hpp"

namespace lull::netsim {

struct message {
  picoseconds created;
  std::uint32_t from;  // nodes
  std::uint32_t to;
  std::uint32_t bytes;
  std::uint32_t left;       // bytes not yet delivered
  std::uint32_t iteration;  // closed
  std::uint32_t job;
};

class traffic {
 public:
  traffic(const simulation& asked, std::uint32_t nodes);

  [[nodiscard]] std::uint64_t expected() const { return expected_; }  // messages in all; 0: not known
  [[nodiscard]] std::uint64_t created() const { return created_; }

  void prefetch(std::uint32_t node) const { __builtin_prefetch(&processes_[node]); }

  // The node's next message, and when it is created. Nothing: no more for now; a later `computed` brings more.
  [[nodiscard]] std::optional<picoseconds> next_at(std::uint32_t node);
  [[nodiscard]] message take(std::uint32_t node);

  // Bytes of messages created by `now` that nobody has taken yet; counted up to `enough`.
  [[nodiscard]] std::int64_t waiting_bytes(std::uint32_t node, picoseconds now, std::int64_t enough) const;

  // Closed loop. When the node's first computation ends, for the caller to schedule; nothing for other nodes.
  [[nodiscard]] std::optional<picoseconds> first_computed(std::uint32_t node) const;
  // These answer when the node's next computation ends, if this was what it waited for.
  [[nodiscard]] std::optional<picoseconds> computed(std::uint32_t node, picoseconds now);
  [[nodiscard]] std::optional<picoseconds> sent(std::uint32_t node, picoseconds now);
  [[nodiscard]] std::optional<picoseconds> arrived(const message& m, picoseconds now);

  [[nodiscard]] bool closed(std::uint32_t job) const { return jobs_[job].asked->arrivals == arrivals::closed; }
  // Of the iterations that every process has ended by `end`.
  [[nodiscard]] std::vector<picoseconds> iteration_ends(std::uint32_t job, picoseconds end) const;
  // Nodes of closed jobs that still wait for something.
  [[nodiscard]] std::uint64_t waiting() const { return unfinished_; }

 private:
  struct running_job {
    const job* asked = nullptr;
    std::vector<std::uint32_t> permutation;   // of ranks
    std::vector<std::uint32_t> grid;          // processes per dimension
    picoseconds message_time = 0;             // at nic_bandwidth
    double mean_gap = 0;                      // between creations, picoseconds
    std::vector<picoseconds> iteration_ends;  // of the last process that has ended each
    std::vector<std::uint32_t> still_in;      // processes that have not, by iteration
  };
  struct alignas(64) process {
    std::uint32_t job = nowhere;
    std::uint32_t rank = 0;
    generator random{0};
    picoseconds next = never;      // creation of the next message
    std::uint64_t burst_left = 0;  // bursty: messages still to come in this burst
    std::uint64_t left = 0;        // messages or iterations still to create
    std::uint32_t turn = 0;        // which partner is next
    bool computing = true;
  };
  // What a process of a closed job waits for.
  struct exchange {
    std::uint32_t iteration = 0;
    std::uint32_t unsent = 0;
    std::uint32_t expected = 0;
    std::vector<std::uint32_t> to;        // ranks, still to be offered
    std::vector<std::uint32_t> early{0};  // arrived, by iterations after this one; [0]: this one
    picoseconds ready = 0;                // when the computation ended
    picoseconds latest = 0;               // of what it waited for
  };

  void set_up(std::uint32_t index, const simulation& asked);
  [[nodiscard]] std::uint32_t partner(process& p) const;
  [[nodiscard]] std::vector<std::uint32_t> neighbours(const running_job& j, std::uint32_t rank) const;
  [[nodiscard]] std::vector<std::uint32_t> partners(const running_job& j, std::uint32_t rank,
                                                    std::uint32_t iteration) const;
  [[nodiscard]] std::uint32_t expected_by(const running_job& j, std::uint32_t rank, std::uint32_t iteration) const;
  static void draw_next(process& p, const running_job& j);
  [[nodiscard]] std::optional<picoseconds> end_iteration(std::uint32_t node);

  std::uint64_t seed_;
  std::vector<running_job> jobs_;
  std::vector<process> processes_;   // by node
  std::vector<exchange> exchanges_;  // by node, if there is a closed job
  std::uint64_t expected_ = 0;
  std::uint64_t created_ = 0;
  std::uint64_t unfinished_ = 0;
};

}  // namespace lull::netsim
