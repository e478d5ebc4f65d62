// How a thread waits in the library's idle loop instead of calling progress continuously.
//
// look_again() is called in place of the library's progress during a blocking call, after its first looks; over() is
// called at the end of the call. A wait ends when something arrives. A call may have several waits (the steps of a
// collective), each with a separate history, by the call site, the previous call site, and its number in the call. If a
// call is a stream of pieces on a network (at least six arrivals the last time), it is one wait, because its pieces
// arrive anyway: the thread collects from time to time what has gathered.
//
// Belongs to one thread.
#pragma once
#include <poll.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <variant>
#include <vector>

#include "model/machine/machine_file.hpp"
#include "mpi/waiting.hpp"
#include "mpi/waiting/bells.hpp"
#include "wait/frequency.hpp"
#include "wait/history.hpp"
#include "wait/policies.hpp"
#include "wait/relax.hpp"
#include "wait/statistics.hpp"

namespace lull::mpi {

// Shared by all threads of a process.
struct waiting_process {
  const model::machine& on = model::this_machine();
  wait::wait_policy policy;
  wait::wait_limits limits;
  void (*progress)() = nullptr;  // the library's
  int (*yield)() = nullptr;
  int (*poll)(pollfd*, nfds_t, int) = nullptr;
  bool library_yields = false;  // the library yields when it finds nothing to do
  bool several_threads = false;
  bool detailed = false;  // measure CPU time of each wait
  std::unique_ptr<node_bells> bells;
  const std::uint32_t* somebody = nullptr;          // of the bells
  std::unique_ptr<wait::core_frequency> frequency;  // null: never lowered
  wait::wait_history history{4096, on.waiting_of_mpi};
  wait::wait_statistics totals{false};  // of all calls
  // When a sleep was refused because a rank of this node does not ring; 0: never.
  std::atomic<std::int64_t> first_refused_ns{0}, last_refused_ns{0};
  // Where poll() copies the descriptors of the thread that looks; used by the one thread that is about to sleep.
  std::vector<pollfd> descriptors;
  // Looks before a wait counts as one: some microseconds, in which no clock is read.
  static constexpr std::uint32_t usual_looks_before_waiting = 100;
  std::uint32_t looks_before_waiting = usual_looks_before_waiting;
  std::atomic<bool> oversubscription_known{false};

  // Checks, once all ranks of the node have joined, whether they outnumber cores.
  void look_for_oversubscription();
  void refuse_sleep() noexcept;
};

// Looks once; returns whether anything arrived.
bool look(waiting_process& process, call_under_way& call) noexcept;

// One alternative for each class of a policy; some classes have several rows.
template <class Variant, class... Types>
struct each_once {
  using type = Variant;
};
template <class... Had, class First, class... Rest>
struct each_once<std::variant<Had...>, First, Rest...>
    : each_once<
          std::conditional_t<(std::is_same_v<First, Had> || ...), std::variant<Had...>, std::variant<Had..., First>>,
          Rest...> {};
#define LULL_CLASS_OF(identifier, name, type, lowers) , wait::type
using any_policy = each_once<std::variant<std::monostate> LULL_WAIT_POLICIES(LULL_CLASS_OF)>::type;
#undef LULL_CLASS_OF

class idle_loop {
 public:
  explicit idle_loop(waiting_process& process) : process_(process) {}
  idle_loop(const idle_loop&) = delete;
  idle_loop& operator=(const idle_loop&) = delete;

  // Returns whether anything arrived.
  bool look_again(call_under_way& call);
  // Returns the waits of the call.
  wait::wait_counts over(call_under_way& call);

 private:
  // The number of arrivals in the last call of this kind.
  struct habit {
    std::uint64_t key = 0;
    std::uint32_t times = 0;
  };
  static constexpr std::uint32_t times_of_a_stream = 6;

  void begin(call_under_way& call);
  template <class Policy>
  void make(const wait::wait_case& here, const call_under_way& call);
  void end(bool something_came);
  bool sleep(call_under_way& call);
  // Called while a sleep is announced.
  bool look_and_sleep(call_under_way& call, wait::sleep_plan plan, bool& in_doubt);
  bool look_often(call_under_way& call, unsigned times);
  // How long to let pieces of a stream gather; 0: not now.
  [[nodiscard]] std::int64_t gathering_ns(const call_under_way& call, std::int64_t now) const;
  void lower_frequency();
  [[nodiscard]] habit& habit_of(std::uint64_t key) { return habits_[key % habits_.size()]; }
  template <class F>
  auto with_policy(F&& f);

  waiting_process& process_;
  wait::awaited what_{};
  any_policy policy_;
  wait::spinner spin_;
  wait::wait_counts counts_{};  // of this call
  std::uint64_t call_key_ = 0;
  bool stream_ = false;  // this call is one wait
  bool lowered_ = false;
  bool came_before_ = false;  // in the last look
  unsigned spins_ = 0;
  std::int64_t begin_ = 0, expected_end_ = 0, cpu_begin_ = 0;
  std::array<habit, 256> habits_{};
};

}  // namespace lull::mpi
