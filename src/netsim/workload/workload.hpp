// What the processes of a job send: the interface between the network and the sources of messages.
//
// The network requests the next message from a process when its interface can send one, and notifies it when messages
// have been sent and have arrived. It never asks about packets. The results depend on nothing else, and each process
// has its own generator, so the order of the calls to different processes does not matter. Several threads may call
// processes of a traffic pattern on different nodes at the same time. Traffic patterns are one
// family of workloads (pattern.hpp), in which each process runs on a separate node; programs are the other
// (../program/player.hpp).
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
  std::uint32_t label;  // used by the workload: passed back to `arrived`
  std::uint32_t job;
  std::uint32_t account = 0;  // of sampling/losses.hpp
};
static_assert(sizeof(message) == 32);

// One process, or all processes of a job on one node. It either has a next message (next_at, take), or waits for
// `computed`, `sent` or `arrived` to give it more, or is done. This base class has nothing to send; it serves nodes
// without a job.
class process {
 public:
  process() = default;
  process(const process&) = default;
  process& operator=(const process&) = default;
  virtual ~process() = default;

  // When the next message is created; `never`: unknown.
  [[nodiscard]] virtual picoseconds next_at() const { return never; }
  // Takes that message. Only after next_at() has returned a time.
  [[nodiscard]] virtual message take() { return {}; }
  // Bytes of messages created by `now` that have not been taken; counted up to `enough`.
  [[nodiscard]] virtual std::int64_t waiting_bytes(picoseconds /*now*/, std::int64_t /*enough*/) const { return 0; }

  // When its first computation ends, at which the caller calls `computed`; `never`: there is none.
  [[nodiscard]] virtual picoseconds first_computed() const { return never; }
  // An event and its time. Each returns when the next computation ends if the process waited for this event; otherwise
  // `never`.
  [[nodiscard]] virtual picoseconds computed(picoseconds /*now*/) { return never; }
  [[nodiscard]] virtual picoseconds sent(picoseconds /*now*/) { return never; }
  [[nodiscard]] virtual picoseconds arrived(std::uint32_t /*label*/, picoseconds /*now*/) { return never; }
  // Before `arrived`, if simulation::tolerance is wanted: the links that the last packet of the message crossed.
  virtual void crossed(std::uint32_t /*label*/, std::span<const std::uint32_t> /*links*/) {}
};

// A job: its processes, and what is known of them together.
class workload {
 public:
  workload() = default;
  workload(const workload&) = delete;
  workload& operator=(const workload&) = delete;
  virtual ~workload() = default;

  // The reference is valid as long as the workload. Ranks that share a node have the same process.
  [[nodiscard]] virtual process& of(std::uint32_t rank) = 0;
  // Messages that all of them send, if known beforehand.
  [[nodiscard]] virtual std::optional<std::uint64_t> expected() const = 0;
  // The number of processes that still wait.
  [[nodiscard]] virtual std::uint64_t waiting() const { return 0; }
  // Whether all of them have ended a run; traffic patterns have none.
  [[nodiscard]] virtual bool has_run() const { return true; }
  // Whether they wait for messages that no process will send.
  [[nodiscard]] virtual bool at_a_stand() const { return false; }
  // Which of them wait for what, in words for one line; empty if that cannot be said.
  [[nodiscard]] virtual std::string who_waits() const { return ""; }
  // Adds what else is known of the job after the run, which ended no later than `end` (`never`: when all was done).
  virtual void add_to(job_result& /*result*/, picoseconds /*end*/) const {}
};

// What a workload is made from. Errors are lull::usage_errors that name the key.
struct job_setup {
  const simulation& asked;
  std::uint32_t index;  // of the job
  [[nodiscard]] const netsim::job& job() const;
  [[nodiscard]] std::uint32_t size() const;  // number of processes
  // Throws "jobs.INDEX.KEY FOUND; FIX" if `holds` is false.
  void require(bool holds, const char* key, const std::string& found, const std::string& fix) const;
};

// A row of the table of workloads.
struct workload_entry {
  const char* name;
  const char* meaning;
  std::vector<key> keys;  // its keys, in addition to those of every job
  std::function<std::unique_ptr<workload>(const job_setup&)> make;
  bool is_program = false;  // otherwise a traffic pattern, to which the keys of arrivals apply
  // The default number of processes, from its keys; null: as many as the free nodes hold.
  std::optional<std::int64_t> (*processes)(const values& own) = nullptr;
};

[[nodiscard]] std::span<const workload_entry> all_workloads();

// Throws lull::usage_error that suggests the nearest known workload.
[[nodiscard]] const workload_entry& find_workload(const std::string& name);

}  // namespace lull::netsim
