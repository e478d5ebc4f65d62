#include "mpi/waiting/idle_loop.hpp"

#include <algorithm>
#include <bit>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/clock.hpp"
#include "base/hash.hpp"
#include "base/ticks.hpp"
#include "wait/timer_slack.hpp"

namespace lull::mpi {
namespace {

// Open MPI checks low-priority sources in every eighth call of its progress.
constexpr unsigned looks_at_everything = 9;
constexpr std::int64_t longest_gathering_ns = 500'000;
constexpr std::uint32_t times_before_gathering = 3;   // a handshake must not be delayed
constexpr std::size_t size_of_a_stream = 16384;       // any size that a policy takes for a large transfer
constexpr std::uint64_t size_of_a_handshake = 65536;  // of a message that is answered before it is sent
constexpr std::uint32_t steps_told_apart = 15;        // of a collective; later steps share one history
constexpr unsigned most_gathered = 64;                // the call itself may end long before
constexpr unsigned spins_per_clock = 16;              // between readings of the clock, which cost more than a spin

std::uint64_t bits(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

// Other ranks also store into windows, without a message. Before a window is created, there is nothing to store into.
bool told_by_messages(const call_under_way& call) {
  const std::string_view function = call.function;
  return !function.starts_with("MPI_Win_") || function.starts_with("MPI_Win_create") ||
         function.starts_with("MPI_Win_allocate");
}

// Whether several messages are likely before the call ends: over a network, and for large messages.
bool is_a_handshake(const call_under_way& call) { return call.polled || call.size >= size_of_a_handshake; }

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
  limits.oversubscribed = library_yields || bells->oversubscribed();
  looks_before_waiting = limits.oversubscribed ? 0 : usual_looks_before_waiting;
}

bool look(waiting_process& process, call_under_way& call) noexcept {
  call.looking = true;
  call.idle = call.descriptors_ready = call.polled = false;
  process.progress();
  call.looking = false;
  if (call.idle && !call.descriptors_ready) return false;
  ++call.came;
#if !defined(__x86_64__)
  std::atomic_thread_fence(std::memory_order_seq_cst);  // returns fragments before it checks for sleepers
#endif
  if (__atomic_load_n(process.somebody, __ATOMIC_RELAXED) != 0) [[unlikely]] {
    process.bells->ring_those_that_sent_to_me();
    if (process.several_threads) process.bells->ring_me();  // the arrival may be for another thread
  }
  return true;
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
  if (!call.waited) {
    call.waited = true;
    call_key_ = key_of(call);
    const habit& before = habit_of(call_key_);
    stream_ = call.polled && before.key == call_key_ && before.times >= times_of_a_stream;
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

wait::wait_counts idle_loop::over(call_under_way& call) {
  if (policy_.index() != 0) end(true);
  call.waited = false;
  habit_of(call_key_) = {call_key_, call.came};
  if (process_.detailed) counts_.ns_cpu = thread_cpu_ns() - cpu_begin_;
  process_.totals.waited(what_, counts_);
  return counts_;
}

bool idle_loop::look_again(call_under_way& call) {
  if (policy_.index() == 0 || !call.waited) {
    begin(call);
    ++call.looks;
  }
  bool came = false;
  switch (with_policy([&](auto& policy) { return policy.next(came_before_); })) {
    case wait::step::spin:
      if (process_.frequency && ++spins_ % spins_per_clock == 0 && now_ns() >= begin_ + process_.limits.spin_ns)
        lower_frequency();
      spin_.relax();
      came = look(process_, call);
      break;
    case wait::step::yield:
      process_.yield();
      came = look(process_, call);
      break;
    case wait::step::sleep:
      lower_frequency();
      came = sleep(call);
  }
  came_before_ = came;
  if (came && !stream_) {
    end(true);
    call.looks = 0;  // the next one may arrive at once
  }
  return came;
}

void idle_loop::lower_frequency() {
  if (!process_.frequency || lowered_) return;
  process_.frequency->lower();
  lowered_ = true;
}

bool idle_loop::look_often(call_under_way& call, unsigned times) {
  for (unsigned i = 0; i < times; ++i)
    if (look(process_, call)) return true;
  return false;
}

std::int64_t idle_loop::gathering_ns(const call_under_way& call, std::int64_t now) const {
  if (!stream_ || call.came < times_before_gathering || expected_end_ - now < 2 * longest_gathering_ns) return 0;
  return longest_gathering_ns;
}

bool idle_loop::sleep(call_under_way& call) {
  const wait::sleep_plan plan = with_policy([](auto& policy) { return policy.plan(); });
  node_bells& bells = *process_.bells;
  if (bells.missed()) ++counts_.missed;
  if (!bells.complete()) {
    process_.refuse_sleep();
  } else if (bells.announce()) {
    bool in_doubt = false;
    const bool came = look_and_sleep(call, plan, in_doubt);
    if (in_doubt)
      bells.awake_in_doubt();
    else
      bells.awake();
    return came;
  }
  spin_.relax();
  return look(process_, call);
}

bool idle_loop::look_and_sleep(call_under_way& call, wait::sleep_plan plan, bool& in_doubt) {
  node_bells& bells = *process_.bells;
  const bool alone = bells.ranks_of_node() == 1;
  unsigned polls = 0;
  call.copy_descriptors = true;
  const std::int64_t until = alone ? 0 : now_ns() + node_bells::long_enough_to_see_ns;
  for (unsigned looks = 1;; ++looks) {
    const bool came = look(process_, call);
    if (call.polled) ++polls;
    if (came || bells.rung()) {
      call.copy_descriptors = false;
      return came;
    }
    if ((looks >= looks_at_everything || polls >= 2) && now_ns() >= until) break;
  }
  call.copy_descriptors = false;
  // If messages arrive on descriptors, the library checks them every time, otherwise a hundred times a second.
  const bool by_descriptors = polls >= 2;
  if (alone && !by_descriptors && !process_.several_threads) {  // nothing would wake it
    spin_.relax();
    return false;
  }

  const std::int64_t gathering = by_descriptors ? gathering_ns(call, now_ns()) : 0;
  if (gathering != 0) plan = {gathering, true};
  if (plan.by_timer) wait::wake_without_slack();
  const std::int64_t slept_from = now_ns();
  ++counts_.sleeps;
  const wait::wake woken =
      by_descriptors && gathering == 0 ? bells.sleep(process_.descriptors, plan.ns) : bells.sleep(plan.ns);
  const std::int64_t slept = now_ns() - slept_from;
  counts_.ns_asleep += slept;
  bool came = look_often(call, looks_at_everything);
  if (woken == wait::wake::timed_out) {
    if (plan.by_timer) {
      process_.history.timer_was_late(slept - plan.ns);
    } else {
      ++counts_.timeouts;
      // No rank rings for arrivals on descriptors, such as a first connection, which the library checks from time to
      // time.
      in_doubt = came && !by_descriptors && !call.descriptors_ready && !bells.rung();
    }
  }
  for (unsigned i = 0; stream_ && came && i < most_gathered && look(process_, call);) ++i;
  return came;
}

}  // namespace lull::mpi
