// The assembled runtime of one PE: the members of the job, the symmetric memory, the transfers, the waiting, and the
// teams.
//
// States: constructed (collective: all PEs of the job construct it together) → in use → finalize() (collective) → gone.
// memory().allocate() and release(), finalize(), and collective calls on one team belong to one thread at a time.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "fabric/memory/symmetric_memory.hpp"
#include "fabric/protocol/progress_thread.hpp"
#include "fabric/protocol/protocol.hpp"
#include "fabric/teams/team.hpp"
#include "fabric/teams/team_slots.hpp"
#include "fabric/transfers/transfers.hpp"
#include "job/bootstrap.hpp"
#include "job/members.hpp"
#include "wait/waiting.hpp"

namespace lull::fabric {

class world {
 public:
  // In the job that `boot` has joined. `boot` must outlive the world.
  explicit world(job::bootstrap& boot);
  ~world();
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  void finalize();
  // Collective: PE 0 gets the contributions of all PEs, in their order; the others get nothing. Once for each key.
  [[nodiscard]] std::vector<std::vector<std::byte>> tell_first_pe(const std::string& key,
                                                                  std::span<const std::byte> mine);
  [[noreturn]] void abort(int exit_code, const std::string& why) { boot_.abort(exit_code, why); }
  [[noreturn]] void abort_together(const std::string& line) { boot_.abort_together(line); }

  [[nodiscard]] pe_id me() const { return boot_.rank(); }
  [[nodiscard]] int pes() const { return boot_.size(); }
  [[nodiscard]] const job::layout& places() const { return members_.places(); }
  [[nodiscard]] bool oversubscribed() const { return members_.oversubscribed(); }
  [[nodiscard]] double pes_per_core() const { return members_.most_processes_per_core(); }
  [[nodiscard]] int cores_of_pe() const { return members_.cores_of_process(); }
  [[nodiscard]] symmetric_memory& memory() { return memory_; }
  [[nodiscard]] const symmetric_memory& memory() const { return memory_; }
  [[nodiscard]] class transfers& transfers() { return *transfers_; }
  [[nodiscard]] wait::waiting& wait() { return *waiting_; }
  [[nodiscard]] team_slots& slots() { return slots_; }
  [[nodiscard]] team& everybody() { return *everybody_; }  // all PEs; slot 0
  [[nodiscard]] team& node_team() { return *node_team_; }  // those that share memory with this one; slot 1
  [[nodiscard]] const team_ground& ground() const { return *ground_; }
  // Whether operations on other nodes can use RDMA.
  [[nodiscard]] bool has_rdma() const { return protocol_ && protocol_->remote_memory() != nullptr; }
  // Why they do not although this host has an adapter, as a clause; otherwise empty.
  [[nodiscard]] std::string why_no_rdma() const { return protocol_ ? protocol_->why_no_rdma() : std::string(); }

  [[nodiscard]] bool checks() const { return checks_; }  // LULL_CHECK: check the program for mistakes
  // Whether calls are observed, by checks or for statistics.
  [[nodiscard]] bool watched() const { return watched_.load(std::memory_order_relaxed); }
  void count_calls(bool on);  // for the statistics, if there are any

 private:
  void join();
  [[nodiscard]] std::unique_ptr<protocol> make_protocol();
  void wake_sleeper();

  job::bootstrap& boot_;
  job::members members_;
  bool checks_;
  std::atomic<bool> watched_{false};
  int most_teams_;
  symmetric_memory memory_;
  std::byte* team_blocks_;
  std::uint64_t* awaited_;                          // by this PE: PEs that write here by RDMA read it
  std::unique_ptr<protocol> protocol_;              // null when all PEs share memory
  std::unique_ptr<progress_thread> progress_;       // the same
  std::atomic<progress_thread*> serving_{nullptr};  // progress_, once the thread may be used
  std::optional<wait::waiting> waiting_;
  std::optional<class transfers> transfers_;
  std::optional<team_ground> ground_;
  std::optional<team> everybody_, node_team_;
  team_slots slots_;
};

}  // namespace lull::fabric
