// How a PE learns its rank and finds the others: ten functions over PMIx, which mpirun, `srun --mpi=pmix` and `lull
// run` support. A program started without them is a single PE.
//
// Contract: construct first, then publish() any number of keys, then fence(), then lookup() what others published. The
// destructor leaves the job in order. All PEs may then construct another one, which finds nothing published before. Every failure throws lull::error; functions that abort do not return.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/units.hpp"

namespace lull::job {

class bootstrap {
 public:
  bootstrap();
  ~bootstrap();
  bootstrap(const bootstrap&) = delete;
  bootstrap& operator=(const bootstrap&) = delete;

  [[nodiscard]] pe_id rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  // Identifies this PE's host in the job by its lowest PE. Not every launcher numbers hosts.
  [[nodiscard]] int host() const { return host_ranks_.front(); }
  [[nodiscard]] bool spans_hosts() const { return spans_hosts_; }
  [[nodiscard]] const std::vector<int>& host_ranks() const { return host_ranks_; }  // PEs of this host, ascending

  void publish(const std::string& key, std::span<const std::byte> value);
  [[nodiscard]] std::vector<std::byte> lookup(const std::string& key, pe_id from) const;
  void fence();  // returns when all PEs have called it; lookup() then finds what they have published

  // Ends the whole job with this exit code. Does not return.
  [[noreturn]] void abort(int exit_code, const std::string& why);
  // Ends the whole job because another process cannot be reached. It nearly always has died: the launcher then reports
  // which, and `found` is not printed.
  [[noreturn]] void abort_without_peer(const std::string& found);
  // Ends the whole job because of a mistake of the user that its processes should all find: process 0 reports it once.
  [[noreturn]] void abort_for_mistake(const usage_error& mistake);
  // Ends the whole job, at any time after start-up, because of a failure that its processes find in the same call:
  // process 0 reports it. Another process reports it only if process 0 has not ended the job after 2 s.
  [[noreturn]] void abort_together(const std::string& line);

 private:
  [[noreturn]] void exit_for_all(int exit_code, const std::string& why);
  [[nodiscard]] std::string own(const std::string& key) const;

  pe_id rank_{0};
  int size_ = 1;
  bool spans_hosts_ = false;
  bool launched_ = false;
  bool has_fenced_ = false;
  std::vector<int> host_ranks_{0};
  std::string job_;
  int number_;  // of the bootstraps of this process: a server of PMIx keeps what earlier ones published
};

}  // namespace lull::job
