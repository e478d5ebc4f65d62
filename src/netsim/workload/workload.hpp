// What the processes of a job send: the interface between the network and whatever makes messages.
//
// The network asks a process for its next message when its interface can take one, and tells it when messages have been
// sent and have arrived. It never asks about a packet. Answers depend on nothing else, and each process draws from a
// generator of its own, so the order of asking does not matter. Traffic patterns are one family of workloads
// (pattern.hpp), in which each process runs on a node of its own; programs are the other (../program/player.hpp).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "netsim/keys/key.hpp"
#include "netsim/routing.hpp"

namespace lull::netsim {

struct simulation;
struct job;
struct job_result;

struct message {
  picoseconds created;
  std::uint32_t to;  // node
  std::uint32_t bytes;
  std::uint32_t left;   // bytes not yet delivered
  std::uint32_t label;  // the workload's own: comes back with `arrived`
  std::uint32_t job;
};

// One process, or all processes of a job on one node. States: it has a next message (next_at, take), or it waits for `computed`, `sent` or `arrived` to give
// it more, or it is done. This one, which has nothing to send, is that of a node without a job.
class process {
 public:
  process() = default;
  process(const process&) = default;
  process& operator=(const process&) = default;
  virtual ~process() = default;

  // When the next message is created; `never`: that is not known.
  [[nodiscard]] virtual picoseconds next_at() const { return never; }
  // That message. Only after next_at() has answered a time.
  [[nodiscard]] virtual message take() { return {}; }
  // Bytes of messages created by `now` that nobody has taken yet; counted up to `enough`.
  [[nodiscard]] virtual std::int64_t waiting_bytes(picoseconds /*now*/, std::int64_t /*enough*/) const { return 0; }

  // When its first computation ends, for the caller to tell `computed` then; `never`: there is none.
  [[nodiscard]] virtual picoseconds first_computed() const { return never; }
  // What happened, and when. Each answers when the next computation ends, if this was what it waited for; else `never`.
  [[nodiscard]] virtual picoseconds computed(picoseconds /*now*/) { return never; }
  [[nodiscard]] virtual picoseconds sent(picoseconds /*now*/) { return never; }
  [[nodiscard]] virtual picoseconds arrived(std::uint32_t /*label*/, picoseconds /*now*/) { return never; }
};

// A job: its processes, and what is known of all of them together.
class workload {
 public:
  workload() = default;
  workload(const workload&) = delete;
  workload& operator=(const workload&) = delete;
  virtual ~workload() = default;

  // Stays where it is as long as the workload. The same for ranks that share a node.
  [[nodiscard]] virtual process& of(std::uint32_t rank) = 0;
  // Messages that all of them send, if that is known before.
  [[nodiscard]] virtual std::optional<std::uint64_t> expected() const = 0;
  // Processes that still wait for something.
  [[nodiscard]] virtual std::uint64_t waiting() const { return 0; }
  // Which of them wait for what, in words for one line; empty where that cannot be said.
  [[nodiscard]] virtual std::string who_waits() const { return ""; }
  // What else is known of the job when the run is over, at `end` at the latest (`never`: when all was done).
  virtual void add_to(job_result& /*result*/, picoseconds /*end*/) const {}
};

// What a workload is made of. Mistakes are lull::usage_errors that name the key.
struct job_setup {
  const simulation& asked;
  std::uint32_t index;  // of the job
  [[nodiscard]] const netsim::job& job() const;
  [[nodiscard]] std::uint32_t size() const;  // processes
  // "jobs.INDEX.KEY FOUND; FIX" unless it holds.
  void require(bool holds, const char* key, const std::string& found, const std::string& fix) const;
};

// A row of the table of workloads.
struct workload_entry {
  const char* name;
  const char* meaning;
  std::vector<key> keys;  // its own, beside those of every job
  std::function<std::unique_ptr<workload>(const job_setup&)> make;
  bool is_program = false;  // else a traffic pattern, to which the keys of arrivals apply
  // How many processes it has where nobody says, from its keys; null: as many as the free nodes hold.
  std::optional<std::int64_t> (*processes)(const values& own) = nullptr;
};

[[nodiscard]] std::span<const workload_entry> all_workloads();

// Throws lull::usage_error naming the nearest known one.
[[nodiscard]] const workload_entry& find_workload(const std::string& name);

}  // namespace lull::netsim
