// The engine: how a thread waits in the library's idle loop instead of calling progress continuously.
//
// beat() is called in each turn of that loop (port.hpp), and returns into it; over() is called at the end of the call.
// The first turns of a call do nothing. Then the policy decides in each idle turn: look again, yield, or sleep. Before
// a sleep the thread announces it, and sleeps in a later turn, after the library has looked everywhere once more.
//
// A wait ends when something arrives. A call may have several waits (the steps of a collective), each with a separate
// history, by the call site, the previous call site, and its number in the call. If a call is a stream of pieces on a
// network (at least six arrivals the last time), it is one wait, because its pieces arrive anyway: the thread collects
// from time to time what has gathered.
//
// If the library does not say who receives a message, a rank that has sent one wakes every rank of the node that sleeps.
// A thread that has been woken four times in a wait without a message becomes quiet: other ranks do not wake it in this
// wait, and it sleeps for a sixteenth of the time that it has waited. The same holds if arrivals pass unseen, as in
// collectives of some libraries, in calls that join jobs, and until the first message from another job has made a
// connection.
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
#include "mpi/waiting/port.hpp"
#include "mpi/waiting/rare_event.hpp"
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
  const port* through = nullptr;  // null: calls are counted, nothing else
  port_facts facts;
  bool spans_nodes = false;
  bool several_threads = false;
  bool detailed = false;  // measure CPU time of each wait
  std::unique_ptr<node_bells> bells;
  std::unique_ptr<wait::core_frequency> frequency;  // null: never lowered
  wait::wait_history history{4096, on.waiting_of_mpi};
  wait::wait_statistics totals{false};  // of all calls
  // Ranks of other jobs, which do not ring, may send messages to this one.
  std::atomic<bool> has_other_jobs{false};
  // When a sleep was refused because a rank of this node does not ring; 0: never.
  std::atomic<std::int64_t> first_refused_ns{0}, last_refused_ns{0};
  // Used by the one thread that is about to sleep.
  std::vector<pollfd> descriptors;
  std::uint32_t announcements = 0;
  std::atomic<bool> oversubscription_known{false};
  // Calls that ended in a wait without a turn that had found something, and with one.
  rare_event<3, 16> unseen_ends;
  // Sleeps on descriptors that timed out although a message was there, and other sleeps on descriptors. UCX's signals for
  // shared memory do not cross network namespaces, which containers have.
  rare_event<16, 2> unwoken_ends;

  // Checks, once all ranks of the node have joined, whether they outnumber cores.
  void look_for_oversubscription();
  void refuse_sleep() noexcept;
  [[nodiscard]] bool sees_every_arrival() const noexcept {
    return facts.every_arrival_is_seen && unseen_ends.is_rare();
  }
  // After something has come: what the library has sent in turn may be for a rank that sleeps.
  void something_came() noexcept;
};

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
  ~idle_loop();

  // One turn of the library's loop is over. May sleep.
  void beat(call_under_way& call, turn found);
  // Returns the waits of the call; none, if it has not waited. Afterwards, the call has the beats of all of them. Without
  // `something_came`, the program has left its loop.
  wait::wait_counts over(call_under_way& call, bool something_came = true);
  [[nodiscard]] bool is_in_a_call() const { return in_call_; }
  // The number of the sleep that is announced; 0: none is.
  [[nodiscard]] std::uint32_t announcement() const { return phase_ == phase::announced ? announcement_ : 0; }

 private:
  enum class phase : std::uint8_t { deciding, announced, woken };

  // The number of arrivals in the last call of this kind.
  struct habit {
    std::uint64_t key = 0;
    std::uint32_t times = 0;
  };
  static constexpr std::uint32_t times_of_a_stream = 6;

  [[nodiscard]] bool has_begun(const call_under_way& call) const {
    return in_call_ && call.waited && policy_.index() != 0;
  }
  // Whether this idle turn is among the first of a wait, in which nothing is done.
  [[nodiscard]] bool is_among_the_first(call_under_way& call);
  void begin(call_under_way& call);
  template <class Policy>
  void make(const wait::wait_case& here, const call_under_way& call);
  void end(bool something_came);
  void advanced(call_under_way& call);
  void idle(call_under_way& call);
  void decide(const call_under_way& call);
  void announce(const call_under_way& call);
  void look_before_sleep(const call_under_way& call);
  void sleep(const call_under_way& call, arming by);
  // The looks after a sleep are over.
  void finish_sleep(bool something_came);
  // How long to let pieces of a stream gather; 0: not now.
  [[nodiscard]] std::int64_t gathering_ns(const call_under_way& call, std::int64_t now) const;
  // Whether something may arrive that wakes no sleeper: then it sleeps for short times.
  [[nodiscard]] bool may_not_be_woken() const;
  // Whether a large transfer within the node may be in progress, whose steps no beat shows. A sleep would delay each step.
  // True for a millisecond after the call has begun to wait, and after each ring.
  [[nodiscard]] bool may_move_pieces(const call_under_way& call) const;
  // How long a sleep may last if nothing is certain to wake this thread.
  [[nodiscard]] std::int64_t nap_ns() const;
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
  bool in_call_ = false;     // that has waited
  bool stream_ = false;      // this call is one wait
  bool by_flags_ = false;    // this call may pass without beats
  bool joins_jobs_ = false;  // this call waits for the launcher, too
  bool own_loop_ = false;    // this call is a loop of the program, which may wait for something else, too
  bool lowered_ = false;
  bool came_before_ = false;  // in the last turn
  unsigned spins_ = 0;
  std::uint32_t yields_seen_ = 0;  // of the library
  std::int64_t begin_ = 0, expected_end_ = 0, cpu_begin_ = 0;
  std::int64_t awake_since_ = 0;  // the begin of this call, or a ring
  std::int64_t clock_at_ = 0;     // the first reading of the clock in this wait
  std::uint32_t came_at_begin_ = 0;
  std::uint32_t earlier_beats_ = 0;  // of the earlier waits of this call
  // A sleep:
  phase phase_ = phase::deciding;
  wait::sleep_plan plan_{};
  std::uint32_t announcement_ = 0;
  unsigned turns_ = 0;      // in this phase
  unsigned asked_ = 0;      // turns that asked descriptors
  std::int64_t until_ = 0;  // the earliest begin of the sleep
  bool timed_out_ = false, by_descriptors_ = false, gathered_ = false, naps_ = false;
  unsigned vain_ = 0;  // times that this wait was woken for nothing
  std::array<habit, 256> habits_{};
};

}  // namespace lull::mpi
