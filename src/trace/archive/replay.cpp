#include "trace/archive/replay.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/functions.hpp"
#include "trace/recording/log_records.hpp"

namespace lull::trace {
namespace {

constexpr std::uint64_t beat_every = 1 << 16;

// A call's record, followed by those that say more of it.
struct call {
  std::span<const record> records;
  std::uint64_t end_ticks;
};

// A thread, whose events are emitted in order of time.
struct thread_state {
  std::uint32_t location = 0;
  std::uint64_t last_ns = 0;
  std::vector<std::uint32_t> open = {};  // regions of the program
};

// The reading position in a log.
class cursor {
 public:
  cursor(const raw_log& log, thread_state& thread) : thread(thread), log_(log) { advance(); }

  [[nodiscard]] bool ended() const { return next_.records.empty(); }
  [[nodiscard]] bool is_damaged() const { return log_.is_damaged(); }
  [[nodiscard]] const call& next() const { return next_; }
  void advance() {
    next_.records = log_.next_call();
    if (next_.records.empty()) return;
    next_.end_ticks = next_.records.front().begin + next_.records.front().duration;
    for (const record& r : next_.records.subspan(1))
      if (r.what == kind::longer) next_.end_ticks += std::uint64_t{r.bytes} << 32;
  }

  thread_state& thread;

 private:
  log_records log_;
  call next_{};
};

// A request that is active or persistent.
struct request {
  kind what;  // posted_…
  bool persistent = false, active = true;
  collective operation = collective::barrier;
  std::uint32_t communicator = no_one;
  std::int32_t peer = -1;
  std::uint32_t tag = 0;
  std::uint64_t bytes = 0, received = 0;
  std::uint64_t number = 0;
};

}  // namespace

class process_replay::player {
 public:
  player(const joined& all, std::uint32_t process, const joined_clocks& clocks, event_visitor& to)
      : of_(all.processes[process]),
        paradigm_(all.all.processes[process].paradigm),
        clocks_(clocks),
        clock_(clocks.clock_of(process)),
        to_(to) {
    for (const definitions::region& r : all.all.regions) operations_.push_back(collective_of_function(r.name));
    const raw_process& raw = *of_.raw;
    logs_.reserve(raw.logs.size());
    for (std::size_t i = 0; i < raw.logs.size(); ++i) {
      const auto [thread, is_new] = threads_.try_emplace(of_.locations[i], thread_state{.location = of_.locations[i]});
      logs_.emplace_back(raw.logs[i], thread->second);
      if (is_new && raw.logs[i].thread == static_cast<std::uint64_t>(raw.pid) && !raw.clocks.empty())
        enter(thread->second, raw.clocks.front().ticks, of_.program);
    }
    several_threads_ = threads_.size() > 1;
  }

  // Takes the log whose call ended first, so that a request is posted before another thread completes it.
  bool step() {
    if (ended_) return false;
    cursor* first = nullptr;
    for (cursor& log : logs_)
      if (!log.ended() && (first == nullptr || log.next().end_ticks < first->next().end_ticks)) first = &log;
    if (first == nullptr) {
      end();
      return true;
    }
    tell(first->thread, first->next());
    first->advance();
    return true;
  }

  [[nodiscard]] const left_over& result() const { return result_; }

  // No event of this location that is still to come is earlier.
  [[nodiscard]] std::uint64_t earliest(std::uint32_t location) const {
    if (ended_) return std::numeric_limits<std::uint64_t>::max();
    std::uint64_t found = std::numeric_limits<std::uint64_t>::max();
    for (const cursor& log : logs_)
      if (!log.ended() && log.thread.location == location)
        found = std::min(found, std::max(log.thread.last_ns, time(log.next().records.front().begin)));
    const auto thread = threads_.find(location);
    if (found != std::numeric_limits<std::uint64_t>::max() || thread == threads_.end() || thread->second.open.empty())
      return found;
    const auto& clocks = of_.raw->clocks;  // at the end it leaves what is open
    return std::max(thread->second.last_ns, clocks.empty() ? 0 : time(clocks.back().ticks));
  }

 private:
  [[nodiscard]] std::uint64_t time(std::uint64_t ticks) const {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(clocks_.ns(clock_, ticks), 0));
  }

  void emit(const thread_state& t, event e) {
    e.location = t.location;
    to_.on(e);
  }

  void enter(thread_state& t, std::uint64_t ticks, std::uint32_t region) {
    t.last_ns = std::max(t.last_ns, time(ticks));
    t.open.push_back(region);
    emit(t, {.time_ns = t.last_ns, .what = happening::enter, .region = region});
  }

  void tell(thread_state& t, const call& c) {
    const record& first = c.records.front();
    result_.records += c.records.size();
    const std::uint32_t region = of_.regions.at(first.region, 0);
    if (region == no_one) return;  // its definition was never written, so there is no name
    if (first.what == kind::region_enter) return enter(t, first.begin, region);
    const std::uint64_t begin = std::max(t.last_ns, time(first.begin));
    if (first.what == kind::region_leave) {
      if (t.open.empty() || t.open.back() != region) return;
      t.last_ns = begin;
      t.open.pop_back();
      return emit(t, {.time_ns = begin, .what = happening::leave, .region = region});
    }
    const std::uint64_t end = std::max(begin, time(c.end_ticks));
    emit(t, {.time_ns = begin, .what = happening::enter, .region = region});
    for (const record& r : c.records) tell_begin(t, begin, first, c, region, r);
    for (const record& r : c.records) tell_end(t, end, first, c, region, r);
    emit(t, {.time_ns = end, .what = happening::leave, .region = region});
    t.last_ns = end;
  }

  [[nodiscard]] std::uint32_t communicator(const record& r, const record& first) const {
    return of_.communicators.at(r.comm, first.begin);
  }
  [[nodiscard]] std::uint32_t window(const record& r, const record& first) const {
    return of_.windows.at(r.comm, first.begin);
  }
  [[nodiscard]] collective operation(std::uint32_t region) const {
    return operations_[region].value_or(collective::create_handle);
  }

  // A message, unless its peer is MPI_PROC_NULL.
  void tell_message(const thread_state& t, std::uint64_t now, const record& first, const record& r, happening what) {
    const auto comm = communicator(r, first);
    if (comm == no_one || r.peer < 0) return;
    emit(t, {.time_ns = now,
             .what = what,
             .communicator = comm,
             .peer = r.peer,
             .tag = static_cast<std::uint32_t>(r.tag),
             .bytes = r.bytes});
  }

  // Events at the begin of the call.
  void tell_begin(const thread_state& t, std::uint64_t now, const record& first, const call& c, std::uint32_t region,
                  const record& r) {
    switch (r.what) {
      case kind::send:
        tell_message(t, now, first, r, happening::send);
        break;
      case kind::collective:
        if (communicator(r, first) != no_one) emit(t, {.time_ns = now, .what = happening::collective_begin});
        break;
      case kind::window_collective:
        if (window(r, first) != no_one) emit(t, {.time_ns = now, .what = happening::window_collective_begin});
        break;
      case kind::put:
      case kind::get:
      case kind::atomic:
        tell_one_sided(t, now, first, r);
        break;
      case kind::posted_send:
      case kind::posted_receive:
      case kind::posted_collective:
      case kind::prepared_send:
      case kind::prepared_receive:
      case kind::prepared_collective:
        post(t, now, first, c, region, r);
        break;
      case kind::started:
        if (const auto found = requests_.find(r.begin); found != requests_.end()) start(t, now, found->second.front());
        break;
      default:
        break;
    }
  }

  void tell_one_sided(const thread_state& t, std::uint64_t now, const record& first, const record& r) {
    const auto w = window(r, first);
    if (w == no_one || r.peer < 0) return;
    const auto what = r.what == kind::put ? happening::put : r.what == kind::get ? happening::get : happening::atomic;
    auto& number = outstanding_[w][r.peer];
    if (number == 0) number = ++numbers_;
    emit(t, {.time_ns = now, .what = what, .communicator = w, .peer = r.peer, .bytes = r.bytes, .request = number});
  }

  void post(const thread_state& t, std::uint64_t now, const record& first, const call& c, std::uint32_t region,
            const record& r) {
    request made{.what = r.what,
                 .operation = operation(region),
                 .communicator = communicator(r, first),
                 .peer = r.peer,
                 .tag = static_cast<std::uint32_t>(r.tag),
                 .bytes = r.bytes,
                 .received = received(c, r)};
    const auto prepared = {std::pair(kind::prepared_send, kind::posted_send),
                           std::pair(kind::prepared_receive, kind::posted_receive),
                           std::pair(kind::prepared_collective, kind::posted_collective)};
    for (const auto& [persistent, posted] : prepared)
      if (r.what == persistent) {
        made.what = posted;
        made.persistent = true;
        made.active = false;
      }
    auto& queue = requests_[r.begin];
    if (!several_threads_) queue.clear();  // the earlier request was dropped without a record
    if (!made.persistent) start(t, now, made);
    queue.push_back(made);
  }

  void start(const thread_state& t, std::uint64_t now, request& of) {
    of.number = ++numbers_;
    of.active = true;
    event e{.time_ns = now, .request = of.number};
    if (of.what == kind::posted_receive) {
      e.what = happening::irecv_request;
    } else if (!is_reported(of)) {
      return;  // the peer is MPI_PROC_NULL
    } else if (of.what == kind::posted_collective) {
      e.what = happening::icollective_request;
    } else {
      e.what = happening::isend;
      e.communicator = of.communicator;
      e.peer = of.peer;
      e.tag = of.tag;
      e.bytes = of.bytes;
    }
    emit(t, e);
  }

  // Events at the end of the call.
  void tell_end(const thread_state& t, std::uint64_t now, const record& first, const call& c, std::uint32_t region,
                const record& r) {
    const auto tag = static_cast<std::uint32_t>(r.tag);
    switch (r.what) {
      case kind::receive:
      case kind::also_received:
        tell_message(t, now, first, r, happening::receive);
        break;
      case kind::collective:
        if (const auto comm = communicator(r, first); comm != no_one)
          emit(t, {.time_ns = now,
                   .what = happening::collective_end,
                   .operation = operation(region),
                   .communicator = comm,
                   .peer = r.peer,
                   .bytes = r.bytes,
                   .received = received(c, r)});
        break;
      case kind::window_collective:
        if (const auto w = window(r, first); w != no_one) {
          complete_at_target(t, now, w, -1);
          emit(t, {.time_ns = now,
                   .what = happening::window_collective_end,
                   .operation = operation(region),
                   .communicator = w});
        }
        break;
      case kind::put:
      case kind::get:
      case kind::atomic:
        if (paradigm_ == "shmem") complete_here(t, now, window(r, first), r.peer);
        break;
      case kind::completed_at_target:
        if (const auto w = window(r, first); w != no_one) complete_at_target(t, now, w, r.peer);
        break;
      case kind::locked:
      case kind::unlocked:
        if (const auto w = window(r, first); w != no_one && r.peer >= 0)
          emit(t, {.time_ns = now,
                   .what = r.what == kind::locked ? happening::lock_acquired : happening::lock_released,
                   .communicator = w,
                   .peer = r.peer,
                   .tag = tag});
        break;
      case kind::completed:
      case kind::tested:
      case kind::cancelled:
      case kind::freed:
        tell_request(t, now, r);
        break;
      default:
        break;
    }
  }

  static std::uint64_t received(const call& c, const record& of) {
    for (const record& r : c.records)
      if (r.what == kind::more_received) return r.bytes;
    return of.bytes;
  }

  void tell_request(const thread_state& t, std::uint64_t now, const record& r) {
    const auto found = requests_.find(r.begin);
    if (found == requests_.end() || found->second.empty()) {
      if (r.what == kind::completed) ++result_.unknown_requests;
      return;
    }
    request& of = found->second.front();
    if (r.what == kind::tested) {
      if (of.active && is_reported(of))
        emit(t, {.time_ns = now, .what = happening::request_tested, .request = of.number});
      return;
    }
    if (r.what == kind::completed) complete(t, now, of, r);
    if (r.what == kind::cancelled && of.active)
      emit(t, {.time_ns = now, .what = happening::request_cancelled, .request = of.number});
    // A request that was freed while active completes without an event.
    of.active = of.active && r.what == kind::freed;
    if (!of.persistent || r.what == kind::freed) {
      found->second.erase(found->second.begin());
      if (found->second.empty()) requests_.erase(found);
    }
  }

  // Whether its begin had an event.
  static bool is_reported(const request& of) {
    return of.what == kind::posted_receive ||
           (of.communicator != no_one && (of.what == kind::posted_collective || of.peer >= 0));
  }

  void complete(const thread_state& t, std::uint64_t now, const request& of, const record& r) {
    if (!of.active || !is_reported(of)) return;
    event e{.time_ns = now, .what = happening::isend_complete, .request = of.number};
    if (of.what == kind::posted_receive && (r.peer < 0 || of.communicator == no_one)) {
      e.what = happening::request_cancelled;  // the peer was MPI_PROC_NULL
    } else if (of.what == kind::posted_receive) {
      e.what = happening::irecv;
      e.communicator = of.communicator;
      e.peer = r.peer;
      e.tag = static_cast<std::uint32_t>(r.tag);
      e.bytes = r.bytes;
    } else if (of.what == kind::posted_collective) {
      e.what = happening::icollective_complete;
      e.operation = of.operation;
      e.communicator = of.communicator;
      e.peer = of.peer;
      e.bytes = of.bytes;
      e.received = of.received;
    }
    emit(t, e);
  }

  void complete_here(const thread_state& t, std::uint64_t now, std::uint32_t w, std::int32_t peer) {
    const auto found = outstanding_.find(w);
    if (found == outstanding_.end() || found->second[peer] == 0) return;
    emit(t, {.time_ns = now,
             .what = happening::one_sided_blocking_complete,
             .communicator = w,
             .request = found->second[peer]});
    found->second.erase(peer);
  }

  void complete_at_target(const thread_state& t, std::uint64_t now, std::uint32_t w, std::int32_t peer) {
    const auto found = outstanding_.find(w);
    if (found == outstanding_.end()) return;
    for (auto one = found->second.begin(); one != found->second.end();) {
      if (peer >= 0 && one->first != peer) {
        ++one;
        continue;
      }
      emit(t, {.time_ns = now, .what = happening::one_sided_complete, .communicator = w, .request = one->second});
      one = found->second.erase(one);
    }
  }

  void end() {
    const raw_process& raw = *of_.raw;
    ended_ = true;
    result_.is_damaged = std::ranges::any_of(logs_, &cursor::is_damaged);
    for (auto& [location, t] : threads_) {
      if (!raw.clocks.empty()) t.last_ns = std::max(t.last_ns, time(raw.clocks.back().ticks));
      for (; !t.open.empty(); t.open.pop_back())
        emit(t, {.time_ns = t.last_ns, .what = happening::leave, .region = t.open.back()});
    }
  }

  const joined_process& of_;
  std::map<std::uint32_t, thread_state> threads_;  // by location
  std::vector<cursor> logs_;
  bool ended_ = false;
  const std::string paradigm_;
  const joined_clocks& clocks_;
  const std::uint32_t clock_;
  event_visitor& to_;
  bool several_threads_ = false;
  std::vector<std::optional<collective>> operations_;                 // of each region
  std::unordered_map<std::uint64_t, std::vector<request>> requests_;  // by handle, in order of age
  std::unordered_map<std::uint32_t, std::unordered_map<std::int32_t, std::uint64_t>> outstanding_;  // window, target
  std::uint64_t numbers_ = 0;
  left_over result_;
};

process_replay::process_replay(const joined& all, std::uint32_t process, const joined_clocks& clocks, event_visitor& to)
    : player_(all.processes[process].raw != nullptr ? std::make_unique<player>(all, process, clocks, to) : nullptr) {}
process_replay::process_replay(process_replay&&) noexcept = default;
process_replay::~process_replay() = default;

bool process_replay::step() { return player_ && player_->step(); }
std::uint64_t process_replay::earliest(std::uint32_t location) const {
  return player_ ? player_->earliest(location) : std::numeric_limits<std::uint64_t>::max();
}
left_over process_replay::result() const { return player_ ? player_->result() : left_over{}; }

left_over replay(const joined& all, std::uint32_t process, const joined_clocks& clocks, event_visitor& to,
                 const std::function<void(std::uint64_t)>& beat) {
  process_replay calls(all, process, clocks, to);
  std::uint64_t said = 0;
  while (calls.step()) {
    if (const std::uint64_t done = calls.result().records; beat && done - said >= beat_every) {
      beat(done - said);
      said = done;
    }
  }
  if (beat) beat(calls.result().records - said);
  return calls.result();
}

}  // namespace lull::trace
