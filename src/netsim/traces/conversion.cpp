#include "netsim/traces/conversion.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "netsim/keys/key.hpp"
#include "netsim/traces/calls.hpp"
#include "netsim/traces/traced_messages.hpp"
#include "netsim/traces/traced_process.hpp"
#include "netsim/traces/traced_ranks.hpp"

namespace lull::netsim {
namespace {

using trace::event;
using trace::happening;
using trace::no_one;

constexpr std::uint64_t longest_ns = 1'000'000'000'000'000;  // the simulator's longest time
constexpr double most_back = 0.01;                           // share of the trace by which a clock may go back

// A thread: its depth in regions, and its current call of MPI or OpenSHMEM.
struct thread {
  bool counts_iterations = false;
  std::uint64_t clock_ns = 0;  // of the last event
  std::uint64_t last_ns = 0;   // the same, but it never goes back
  std::size_t depth = 0;
  std::size_t call_depth = 0;  // 0: in no call
  std::uint32_t region = no_one;
  std::uint64_t begin_ns = 0;
  std::vector<event> events = {};  // of the call
};

}  // namespace

struct conversion::state {
  state(const trace::definitions& of, conversion_options with)
      : options(std::move(with)),
        in(of, options.asked),
        threads(of.locations.size()),
        places(of.processes.size(), no_one) {
    for (const trace::definitions::region& r : of.regions) {
      rules.push_back(rule_of(r));
      ends_iteration.push_back(!options.iteration.empty() && r.name == options.iteration);
    }
    for (std::uint32_t p = 0; p < of.processes.size(); ++p) {
      if (in.ranks.of(p) == no_one) continue;
      places[p] = static_cast<std::uint32_t>(processes.size());
      processes.emplace_back(in, p);
    }
    last_ns.assign(processes.size(), 0);
    std::vector<bool> has_thread(of.processes.size());
    for (std::size_t l = 0; l < of.locations.size(); ++l) {
      const std::uint32_t p = of.locations[l].process;
      if (!of.locations[l].is_thread || p >= has_thread.size() || has_thread[p]) continue;
      threads[l].counts_iterations = has_thread[p] = true;
    }
    check_iteration(of);
  }

  void check_iteration(const trace::definitions& of) const {
    if (options.iteration.empty() || std::ranges::find(ends_iteration, true) != ends_iteration.end()) return;
    std::vector<std::string> names;
    for (const trace::definitions::region& r : of.regions)
      if (r.paradigm == "user") names.push_back(r.name);
    throw error(options.asked, fmt::format("it has no region '{}'", options.iteration),
                names.empty() ? "its program reports no regions" : nearest(options.iteration, names));
  }

  void on(const event& e) {
    const std::uint32_t process = in.all.locations[e.location].process;
    const std::uint32_t place = process < places.size() ? places[process] : no_one;
    if (place == no_one || e.what == happening::metric) return;
    thread& t = threads[e.location];
    const std::uint64_t now = monotone(t, e);
    ++events;
    last_ns[place] = std::max(last_ns[place], now);
    traced_process& p = processes[place];
    p.begins(now);
    note(e, process, now);
    if (e.what == happening::enter)
      enter(t, e, now);
    else if (e.what == happening::leave)
      leave(t, e, p, now);
    else if (t.call_depth > 0)
      t.events.push_back(e);
    else
      p.on(e, now);
  }

  std::uint64_t monotone(thread& t, const event& e) {
    if (e.time_ns < t.clock_ns) {
      ++went_back;
      went_back_ns += t.clock_ns - e.time_ns;
    }
    t.clock_ns = e.time_ns;
    return t.last_ns = std::max(t.last_ns, e.time_ns);
  }

  // Records what others must know at the time of the event, not at the end of the call.
  void note(const event& e, std::uint32_t process, std::uint64_t now) {
    const bool sends = e.what == happening::send || e.what == happening::isend;
    const bool receives = e.what == happening::receive || e.what == happening::irecv;
    if (sends || receives) {
      const std::uint32_t other = in.ranks.peer(e.communicator, process, e.peer), own = in.ranks.of(process);
      if (other == no_one) return;
      const std::uint32_t group = in.ranks.group_of(e.communicator);
      if (sends)
        messages.sent(group, own, other, e.tag, now);
      else
        messages.received(group, other, own, e.tag, now);
    } else if (e.what == happening::put || e.what == happening::atomic) {
      if (e.communicator >= in.all.windows.size()) return;
      const std::uint32_t target = in.ranks.peer(in.all.windows[e.communicator].communicator, process, e.peer);
      if (target != no_one) in.puts.begins(in.ranks.of(process), target);
    }
  }

  void enter(thread& t, const event& e, std::uint64_t now) const {
    ++t.depth;
    if (t.call_depth > 0 || e.region >= rules.size() || !rules[e.region].communicates) return;
    t.call_depth = t.depth;
    t.region = e.region;
    t.begin_ns = now;
    t.events.clear();
  }

  void leave(thread& t, const event& e, traced_process& p, std::uint64_t now) {
    if (t.depth == 0) return;  // it began before the trace
    if (t.call_depth == t.depth) end_call(t, e.location, p, now);
    --t.depth;
    if (t.counts_iterations && t.call_depth == 0 && e.region < ends_iteration.size() && ends_iteration[e.region])
      p.ends_iteration(now);
  }

  void end_call(thread& t, std::uint32_t location, traced_process& p, std::uint64_t now) {
    t.call_depth = 0;
    p.on({.region = t.region,
          .rule = rules[t.region],
          .location = location,
          .begin = t.begin_ns,
          .end = now,
          .events = t.events});
  }

  converted_trace finish() {
    if (events == 0)
      throw error(options.asked, "it contains no events of a process that communicates", "trace it again");
    for (std::uint32_t l = 0; l < threads.size(); ++l)  // for processes that were killed
      if (threads[l].call_depth > 0) {
        const std::uint32_t place = places[in.all.locations[l].process];
        end_call(threads[l], l, processes[place], last_ns[place]);
      }
    for (std::size_t p = 0; p < processes.size(); ++p) processes[p].finish(last_ns[p]);
    check_clocks();
    messages.check(options.asked);
    in.collectives.check();
    return {.operations = std::move(in.operations),
            .groups = in.ranks.groups(),
            .left_out = in.missing.all(in.all),
            .events = events,
            .too_early = messages.too_early(),
            .most_too_early_ns = messages.most_too_early_ns(),
            .went_back = went_back,
            .went_back_ns = went_back_ns};
  }

  void check_clocks() const {
    const std::uint64_t end = last_ns.empty() ? 0 : *std::ranges::max_element(last_ns);
    if (end > longest_ns)
      throw error(options.asked, fmt::format("it is {:.0f} s long", static_cast<double>(end) * 1e-9),
                  "the simulator counts to 1000000 s; check the clocks of the trace");
    if (static_cast<double>(went_back_ns) > most_back * static_cast<double>(end))
      throw error(options.asked,
                  fmt::format("its clocks go back {} times, by {:.3g} s of {:.3g} s", went_back,
                              static_cast<double>(went_back_ns) * 1e-9, static_cast<double>(end) * 1e-9),
                  "trace it again with correct clocks");
  }

  const conversion_options options;
  trace_in_work in;
  traced_messages messages;
  std::vector<call_rule> rules;  // by region
  std::vector<bool> ends_iteration;
  std::vector<thread> threads;
  std::vector<std::uint32_t> places;  // by process
  std::deque<traced_process> processes;
  std::vector<std::uint64_t> last_ns;  // of each of them
  std::uint64_t events = 0, went_back = 0, went_back_ns = 0;
};

conversion::conversion(const trace::definitions& all, conversion_options options)
    : state_(std::make_unique<state>(all, std::move(options))) {}
conversion::~conversion() = default;
void conversion::on(const trace::event& e) { state_->on(e); }
converted_trace conversion::finish() { return state_->finish(); }

}  // namespace lull::netsim
