#include "mpi/waiting/idle_loop.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/clock.hpp"
#include "base/hash.hpp"
#include "base/ticks.hpp"
#include "wait/timer_slack.hpp"

namespace lull::mpi {
namespace {

constexpr unsigned turns_after_sleep = 9;  // for what woke the thread to become visible
constexpr std::int64_t longest_gathering_ns = 500'000;
constexpr std::uint32_t times_before_gathering = 3;   // a handshake must not be delayed
constexpr std::size_t size_of_a_stream = 16384;       // any size that a policy takes for a large transfer
constexpr std::uint64_t size_of_a_handshake = 65536;  // of a message that is answered before it is sent
constexpr std::size_t size_in_pieces = 1024;          // libraries move more in several steps, which may pass unseen
constexpr std::int64_t time_of_pieces_ns = 1'000'000;
constexpr std::uint32_t steps_told_apart = 15;  // of a collective; later steps share one history
constexpr std::int64_t time_before_waiting_ns = 6'000;
constexpr unsigned most_in_vain = 4;  // wake-ups, after which a wait is quiet
constexpr std::int64_t shortest_nap_ns = 50'000;
constexpr unsigned parts_of_a_nap = 16;   // a nap is that part of the time waited so far
constexpr unsigned spins_per_clock = 16;  // between readings of the clock, which cost more than a spin

std::uint64_t bits(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

// Other ranks also store into windows, without a message. Before a window is created, there is nothing to store into.
bool told_by_messages(const call_under_way& call) {
  const std::string_view function = call.function;
  return !function.starts_with("MPI_Win_") || function.starts_with("MPI_Win_create") ||
         function.starts_with("MPI_Win_allocate");
}

// The launcher, and processes of another job, take part in the call.
bool joins_jobs(const call_under_way& call) {
  constexpr std::array calls{"MPI_Comm_spawn",   "MPI_Comm_spawn_multiple", "MPI_Comm_accept",
                             "MPI_Comm_connect", "MPI_Comm_join",           "MPI_Comm_disconnect"};
  return std::ranges::find(calls, std::string_view(call.function)) != calls.end();
}

bool may_pass_by_flags(const call_under_way& call) {
  constexpr std::array calls{"MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce"};
  return std::ranges::find(calls, std::string_view(call.function)) != calls.end();
}

// Whether several messages are likely before the call ends: over a network, and for large messages.
bool is_a_handshake(const call_under_way& call) { return call.asks_descriptors || call.size >= size_of_a_handshake; }

std::uint64_t key_of(const call_under_way& call) {
  std::uint64_t key = hash_with(bits(call.site), bits(call.function));
  key = hash_with(key, call.comm);
  key = hash_with(key, static_cast<std::uint64_t>(static_cast<std::uint32_t>(call.peer)) << 8U |
                           static_cast<std::uint64_t>(std::bit_width(call.size)));
  return hash_with(key, bits(call.site_before)) | 1U;
}

}  // namespace

void waiting_process::refuse_sleep() noexcept {
  const std::int64_t now = now_ns();
  std::int64_t never = 0;
  first_refused_ns.compare_exchange_strong(never, now, std::memory_order_relaxed);
  last_refused_ns.store(now, std::memory_order_relaxed);
}

void waiting_process::look_for_oversubscription() {
  if (oversubscription_known.load(std::memory_order_relaxed) || !bells->complete() ||
      oversubscription_known.exchange(true))
    return;
  limits.oversubscribed = facts.library_yields || bells->oversubscribed();
  if (limits.oversubscribed) first_beat = 1;
}

void waiting_process::something_came() noexcept {
  if (sleepers(bells->somebody()) == 0) [[likely]]  // after fragments have been returned
    return;
  if (facts.rings_exactly)
    bells->ring_those_that_sent_to_me();
  else
    bells->ring_others();
  if (several_threads) bells->ring_me();  // the arrival may be for another thread
}

// A thread may end within a loop of the program.
idle_loop::~idle_loop() {
  if (phase_ == phase::announced) process_.bells->awake();
}

template <class F>
auto idle_loop::with_policy(F&& f) {
  return std::visit(
      [&](auto& policy) {
        if constexpr (std::is_same_v<std::decay_t<decltype(policy)>, std::monostate>)
          return decltype(f(std::declval<wait::interrupt_policy&>()))();
        else
          return f(policy);
      },
      policy_);
}

template <class Policy>
void idle_loop::make(const wait::wait_case& here, const call_under_way& call) {
  if constexpr (std::is_same_v<Policy, wait::adaptive_policy>) {
    const auto known = process_.history.predict(what_);
    policy_.emplace<Policy>(here, known,
                            stream_                ? process_.on.waiting_of_mpi_streams
                            : is_a_handshake(call) ? process_.on.waiting_of_mpi_handshakes
                                                   : process_.on.waiting_of_mpi);
    if (known) expected_end_ = begin_ + known->slack_ns - known->margin_ns;
  } else {
    policy_.emplace<Policy>(here);
  }
}

void idle_loop::begin(call_under_way& call) {
  if (!in_call_) {
    in_call_ = call.waited = true;
    awake_since_ = now_ns();
    by_flags_ = process_.facts.passes_by_flags && process_.bells->ranks_of_node() > 1 && may_pass_by_flags(call);
    joins_jobs_ = joins_jobs(call);
    own_loop_ = call.own_loop;
    if (joins_jobs_) process_.has_other_jobs = true;
    call_key_ = key_of(call);
    const habit& before = habit_of(call_key_);
    stream_ = call.asks_descriptors && before.key == call_key_ && before.times >= times_of_a_stream;
    counts_ = {};
    counts_.waits = 1;
    if (process_.detailed) cpu_begin_ = thread_cpu_ns();
    process_.look_for_oversubscription();
  }
  what_ = {.what = wait::operation::collective,
           .bytes = stream_ ? std::max(size_of_a_stream, process_.limits.threshold) : 0,
           .site = hash_with(call_key_, stream_ ? ~std::uint64_t{0} : std::min(call.came, steps_told_apart))};
  const wait::wait_case here{process_.limits, what_, process_.history};
  begin_ = now_ns();
  expected_end_ = 0;
  switch (told_by_messages(call) ? process_.policy : wait::wait_policy::poll) {
#define LULL_BEGIN_WITH(identifier, name, type, lowers) \
  case wait::wait_policy::identifier:                   \
    make<wait::type>(here, call);                       \
    break;
    LULL_WAIT_POLICIES(LULL_BEGIN_WITH)
#undef LULL_BEGIN_WITH
  }
  spin_ = {};
  came_before_ = false;
  phase_ = phase::deciding;
  vain_ = 0;
  came_at_begin_ = call.came;
}

void idle_loop::end(bool something_came) {
  const std::int64_t ns = now_ns() - begin_;
  counts_.ns_waited += ns;
  if (something_came)
    with_policy([&](auto& policy) {
      if constexpr (requires { policy.ended(ns); }) policy.ended(ns);
    });
  policy_.emplace<std::monostate>();
  if (lowered_) process_.frequency->raise();
  lowered_ = false;
}

wait::wait_counts idle_loop::over(call_under_way& call, bool something_came) {
  call.waited = false;
  if (!std::exchange(in_call_, false)) return {};
  call.beats += std::exchange(earlier_beats_, 0);
  if (policy_.index() != 0) {
    const bool was_woken = phase_ == phase::woken && !timed_out_;
    if (call.came == came_at_begin_ && !was_woken && something_came) process_.unseen_ends.occurred(true);
    if (phase_ == phase::announced) process_.bells->awake();
    if (phase_ == phase::woken) finish_sleep(something_came);
    phase_ = phase::deciding;
    end(something_came);
  }
  habit_of(call_key_) = {call_key_, call.came};
  if (process_.detailed) counts_.ns_cpu = thread_cpu_ns() - cpu_begin_;
  process_.totals.waited(what_, counts_);
  return counts_;
}

void idle_loop::beat(call_under_way& call, turn found) {
  if (found == turn::advanced)
    advanced(call);
  else
    idle(call);
}

void idle_loop::advanced(call_under_way& call) {
  ++call.came;
  process_.something_came();
  call.may_have_sent = true;
  if (!has_begun(call)) {
    call.next = first_beat;
    return;
  }
  if (phase_ == phase::announced) process_.bells->awake();
  if (phase_ == phase::woken) finish_sleep(true);
  phase_ = phase::deciding;
  came_before_ = true;
  process_.unseen_ends.occurred(false);
  if (stream_) return;
  end(true);
  earlier_beats_ += std::exchange(call.beats, 0);  // the next one may arrive at once
  call.next = first_beat;
}

bool idle_loop::is_among_the_first(call_under_way& call) {
  const port_facts& facts = process_.facts;
  // A library that yields lets other ranks run in its first turns.
  const bool at_once = process_.limits.oversubscribed && !facts.yields_are_counted;
  if (at_once || call.beats >= facts.beats_before_waiting) return false;
  if (call.beats < facts.beats_before_clock) {
    call.next = facts.beats_before_clock;
    return true;
  }
  const std::int64_t now = now_ns();
  if (call.beats < 2 * facts.beats_before_clock && call.next == facts.beats_before_clock) clock_at_ = now;
  call.next = call.beats + std::max(facts.beats_before_clock / 2, 1U);
  return now - clock_at_ < time_before_waiting_ns;
}

void idle_loop::idle(call_under_way& call) {
  if (!process_.facts.rings_exactly && (call.beats == 1 || call.may_have_sent)) {
    call.may_have_sent = false;
    if (sleepers(process_.bells->somebody()) > (phase_ == phase::deciding ? 0U : 1U)) process_.bells->ring_others();
  }
  if (!has_begun(call)) {
    if (is_among_the_first(call)) return;
    begin(call);
  }
  call.next = 0;
  switch (phase_) {
    case phase::deciding:
      // A yield of the policy would double that of the library.
      if (process_.facts.yields_are_counted && std::exchange(yields_seen_, call.yields) == call.yields) return;
      return decide(call);
    case phase::announced:
      return look_before_sleep(call);
    case phase::woken:
      if (++turns_ == 2 && !timed_out_ && !process_.facts.rings_exactly) process_.bells->ring_others(true);
      if (turns_ >= turns_after_sleep) finish_sleep(false);
  }
}

void idle_loop::decide(const call_under_way& call) {
  const bool came = std::exchange(came_before_, false);
  switch (with_policy([&](auto& policy) { return policy.next(came); })) {
    case wait::step::spin:
      if (process_.frequency && ++spins_ % spins_per_clock == 0 && now_ns() >= begin_ + process_.limits.spin_ns)
        lower_frequency();
      spin_.relax();
      break;
    case wait::step::yield:
      if (!process_.facts.yields_are_counted) sched_yield();
      break;
    case wait::step::sleep:
      lower_frequency();
      announce(call);
  }
}

void idle_loop::lower_frequency() {
  if (!process_.frequency || lowered_) return;
  process_.frequency->lower();
  lowered_ = true;
}

std::int64_t idle_loop::gathering_ns(const call_under_way& call, std::int64_t now) const {
  if (!stream_ || call.came < times_before_gathering || expected_end_ - now < 2 * longest_gathering_ns) return 0;
  return longest_gathering_ns;
}

bool idle_loop::may_not_be_woken() const {
  if (by_flags_ || joins_jobs_ || own_loop_ || !process_.sees_every_arrival()) return true;
  // A quiet thread is not rung for messages in the library's own shared memory.
  if (vain_ >= most_in_vain && !(by_descriptors_ && process_.facts.descriptors_show_everything)) return true;
  return !by_descriptors_ && process_.has_other_jobs.load(std::memory_order_relaxed);
}

std::int64_t idle_loop::nap_ns() const {
  return std::clamp((now_ns() - begin_) / parts_of_a_nap, shortest_nap_ns, process_.limits.timeout_ns);
}

bool idle_loop::may_move_pieces(const call_under_way& call) const {
  return (by_flags_ || !process_.sees_every_arrival()) && call.size >= size_in_pieces &&
         process_.bells->ranks_of_node() > 1 && !process_.limits.oversubscribed &&
         now_ns() - awake_since_ < time_of_pieces_ns;
}

void idle_loop::announce(const call_under_way& call) {
  if (may_move_pieces(call)) return spin_.relax();
  plan_ = with_policy([](auto& policy) { return policy.plan(); });
  node_bells& bells = *process_.bells;
  if (bells.missed()) ++counts_.missed;
  const bool may_sleep = process_.facts.sleeps_outside_locks || !process_.several_threads;
  if (!bells.complete()) {
    process_.refuse_sleep();
  } else if (may_sleep && bells.announce(vain_ >= most_in_vain)) {
    phase_ = phase::announced;
    process_.announcements += process_.announcements == UINT32_MAX ? 2 : 1;  // never 0
    announcement_ = process_.announcements;
    turns_ = asked_ = 0;
    until_ = bells.ranks_of_node() == 1 ? 0 : now_ns() + node_bells::long_enough_to_see_ns;
    return;
  }
  spin_.relax();
}

void idle_loop::look_before_sleep(const call_under_way& call) {
  node_bells& bells = *process_.bells;
  ++turns_;
  if (call.asks_descriptors) ++asked_;
  if (bells.rung()) {
    bells.awake();
    phase_ = phase::deciding;
    return;
  }
  if ((turns_ < process_.facts.beats_to_see_everything && asked_ < 2) || now_ns() < until_) return;
  process_.descriptors.clear();
  const arming by = process_.through->arm(process_.descriptors);
  const bool by_messages = by == arming::armed;
  const bool can_be_woken = by_messages || bells.ranks_of_node() > 1 || process_.several_threads;
  if (by == arming::not_now || !can_be_woken || (process_.spans_nodes && !by_messages)) {
    bells.awake();
    phase_ = phase::deciding;
    spin_.relax();
    return;
  }
  sleep(call, by);
}

void idle_loop::sleep(const call_under_way& call, arming by) {
  const int problem = errno;
  node_bells& bells = *process_.bells;
  by_descriptors_ = by == arming::armed || by == arming::windows;
  const std::int64_t gathering = by_descriptors_ ? gathering_ns(call, now_ns()) : 0;
  gathered_ = gathering != 0;
  if (gathered_) plan_ = {gathering, true};
  naps_ = by_descriptors_ && !gathered_ && !process_.unwoken_ends.is_rare();
  if (naps_) plan_ = {nap_ns(), false};
  if (own_loop_) plan_.by_timer = plan_.by_timer && plan_.ns <= nap_ns();
  if (!plan_.by_timer && may_not_be_woken()) plan_.ns = std::min(plan_.ns, nap_ns());
  if (plan_.by_timer) wait::wake_without_slack();
  const std::int64_t slept_from = now_ns();
  ++counts_.sleeps;
  timed_out_ = (by_descriptors_ && gathering == 0 ? bells.sleep(process_.descriptors, plan_.ns)
                                                  : bells.sleep(plan_.ns)) == wait::wake::timed_out;
  const std::int64_t slept = now_ns() - slept_from;
  counts_.ns_asleep += slept;
  if (timed_out_) {
    if (plan_.by_timer)
      process_.history.timer_was_late(slept - plan_.ns);
    else
      ++counts_.timeouts;
  }
  phase_ = phase::woken;
  turns_ = 0;
  errno = problem;
}

void idle_loop::finish_sleep(bool something_came) {
  node_bells& bells = *process_.bells;
  // No rank rings for arrivals on descriptors, such as a first connection, which the library checks from time to time.
  const bool in_doubt = something_came && timed_out_ && !plan_.by_timer && !by_descriptors_ &&
                        !this_call.asks_descriptors && !may_not_be_woken() && !bells.rung();
  if (something_came && by_descriptors_ && !gathered_ && !naps_ && !this_call.asks_descriptors)
    process_.unwoken_ends.occurred(timed_out_ && (!plan_.by_timer || turns_ == 0));
  if (!something_came && !timed_out_) ++vain_;
  if (bells.rung()) awake_since_ = now_ns();
  if (in_doubt)
    bells.awake_in_doubt();
  else
    bells.awake();
  phase_ = phase::deciding;
}

}  // namespace lull::mpi
