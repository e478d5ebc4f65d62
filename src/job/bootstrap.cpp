#include "job/bootstrap.hpp"

#include <pmix.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "base/error.hpp"
#include "base/launcher.hpp"
#include "base/topology.hpp"
#include "job/modex.hpp"
#include "job/published.hpp"

namespace lull::job {
namespace {

void check(pmix_status_t status, const char* action) {
  if (status != PMIX_SUCCESS)
    throw error(action, std::string("PMIx answered ") + PMIx_Error_string(status),
                "start the program with mpirun, srun --mpi=pmix or lull run");
}

// Gives the launcher time to report which process has ended the job, and to end the others.
void leave_time_to_launcher() { std::this_thread::sleep_for(std::chrono::seconds(2)); }

struct value_release {
  void operator()(pmix_value_t* value) const { PMIX_VALUE_RELEASE(value); }
};
using value_ptr = std::unique_ptr<pmix_value_t, value_release>;

pmix_proc_t process(const std::string& job, pmix_rank_t rank) {
  pmix_proc_t proc;
  PMIX_PROC_CONSTRUCT(&proc);
  PMIX_LOAD_PROCID(&proc, job.c_str(), rank);
  return proc;
}

value_ptr get(const pmix_proc_t& proc, const char* key) {
  pmix_value_t* value = nullptr;
  if (PMIx_Get(&proc, key, nullptr, 0, &value) != PMIX_SUCCESS) return nullptr;
  return value_ptr{value};
}

}  // namespace

bootstrap::bootstrap() {
  static int constructed = 0;
  number_ = ++constructed;
  // Without a launcher, PMIx_Init would look for a server and print that there is none.
  if (!job_of_pmix()) return;
  const pid_t launcher = getppid();
  pmix_proc_t me;
  check(PMIx_Init(&me, nullptr, 0), "join the job");
  launched_ = true;
  job_ = me.nspace;
  rank_ = pe_id{static_cast<int>(me.rank)};

  const pmix_proc_t everyone = process(job_, PMIX_RANK_WILDCARD);
  const value_ptr job_size = get(everyone, PMIX_JOB_SIZE);  // PMIX_UNIV_SIZE would be the number of slots
  if (!job_size) throw error("join the job", "the launcher does not report the number of PEs");
  size_ = static_cast<int>(job_size->data.uint32);
  host_ranks_.clear();
  if (const value_ptr peers = get(everyone, PMIX_LOCAL_PEERS); peers && peers->type == PMIX_STRING)
    host_ranks_ = numbers_in(peers->data.string);
  std::ranges::sort(host_ranks_);
  if (!std::ranges::binary_search(host_ranks_, rank_.index())) host_ranks_ = {rank_.index()};
  spans_hosts_ = static_cast<int>(host_ranks_.size()) < size_;

  // A PE does not outlive its launcher, whatever signals it ignores; the second check covers a launcher that died in
  // between.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launcher) raise(SIGKILL);
}

bootstrap::~bootstrap() {
  if (launched_) PMIx_Finalize(nullptr, 0);
}

std::string bootstrap::own(const std::string& key) const {
  return number_ == 1 ? key : key + '.' + std::to_string(number_);
}

void bootstrap::publish(const std::string& key, std::span<const std::byte> bytes) {
  if (!launched_) return;
  pmix_value_t value;
  PMIX_VALUE_CONSTRUCT(&value);
  value.type = PMIX_BYTE_OBJECT;
  value.data.bo.bytes = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));  // PMIx only reads it
  value.data.bo.size = bytes.size();
  check(PMIx_Put(PMIX_GLOBAL, own(key).c_str(), &value), "publish this PE's address");
  check(PMIx_Commit(), "publish this PE's address");
}

std::vector<std::byte> bootstrap::lookup(const std::string& key, pe_id from) const {
  const value_ptr value =
      launched_ ? get(process(job_, static_cast<pmix_rank_t>(from.index())), own(key).c_str()) : nullptr;
  if (!value || value->type != PMIX_BYTE_OBJECT)
    throw error("find PE " + std::to_string(from.index()), "it has not published '" + key + "'");
  const auto* first = reinterpret_cast<const std::byte*>(value->data.bo.bytes);
  return {first, first + value->data.bo.size};
}

// In the first fence of a further use of OpenSHMEM, a server of PMIx may take a PE that still ends the use before for one
// that has left the fence, and answers all others. They fence once more: that fence completes with the first one of the
// late PE. One server alone gives all the same answer, so this holds on one host only.
void bootstrap::fence() {
  if (!launched_) return;
  const bool others_may_be_late = number_ > 1 && !spans_hosts_ && !has_fenced_;
  pmix_info_t collect;
  bool yes = true;
  PMIX_INFO_CONSTRUCT(&collect);
  PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
  pmix_status_t status = PMIx_Fence(nullptr, 0, &collect, 1);
  for (int late = 1; status == PMIX_ERR_PARTIAL_SUCCESS && others_may_be_late && late < size_; ++late)
    status = PMIx_Fence(nullptr, 0, &collect, 1);
  has_fenced_ = true;
  PMIX_INFO_DESTRUCT(&collect);
  if (status != PMIX_SUCCESS) leave_time_to_launcher();
  check(status, "wait for the other PEs");
}

void bootstrap::abort(int exit_code, const std::string& why) {
  if (launched_) PMIx_Abort(exit_code, why.c_str(), nullptr, 0);
  _exit(exit_code);
}

// mpirun of Open MPI 4 ends the job when a process exits before the end, and may crash if it is requested to do so
// while others are in a fence.
void bootstrap::exit_for_all(int exit_code, const std::string& why) {
  if (started_by_open_mpi()) _exit(exit_code);
  abort(exit_code, why);
}

void bootstrap::abort_without_peer(const std::string& found) {
  const std::string line = "PE " + std::to_string(rank_.index()) + ": " + found;
  if (launched_ && job_.starts_with(job_of_lull_launch))
    PMIx_Abort(1, (std::string(peer_is_lost) + line).c_str(), nullptr, 0);  // also ends this process
  leave_time_to_launcher();
  std::fprintf(stderr, "lull: %s\n", line.c_str());
  exit_for_all(1, line);
}

void bootstrap::abort_together(const std::string& line) {
  if (rank_.index() != 0) leave_time_to_launcher();
  std::fprintf(stderr, "lull: %s\n", line.c_str());
  exit_for_all(1, line);
}

// The others wait until they are ended, so that process 0 reports the mistake first. If process 0 has not found a
// mistake, its first fence completes with theirs, and it learns of the mistake from what they have published
// (modex.hpp).
void bootstrap::abort_for_mistake(const usage_error& mistake) {
  if (rank_.index() == 0) {
    std::fprintf(stderr, "lull: %s\n", mistake.what());
    exit_for_all(2, mistake.what());
  }
  try {
    if (dynamic_cast<const mistake_of_other*>(&mistake) == nullptr)
      publish(modex_key, published::without_table(to_bytes({.mistake = mistake.what()})));
    for (;;) fence();
  } catch (const error&) {  // the launcher has ended
    _exit(2);
  }
}

}  // namespace lull::job
