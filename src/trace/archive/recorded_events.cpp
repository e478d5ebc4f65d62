#include "trace/archive/recorded_events.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "trace/archive/clocks.hpp"
#include "trace/archive/crossings.hpp"
#include "trace/archive/energy.hpp"
#include "trace/archive/joined.hpp"
#include "trace/archive/replay.hpp"
#include "trace/merging/recordings.hpp"

namespace lull::trace {
namespace {

constexpr std::uint64_t beat_every = 1 << 18;
constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

// Where the events begin and end, and how many each location has.
class extent : public event_visitor {
 public:
  explicit extent(std::size_t locations) : events(locations) {}
  void on(const event& e) override {
    ++events[e.location];
    first_ns = std::min(first_ns, e.time_ns);
    last_ns = std::max(last_ns, e.time_ns);
  }
  std::vector<std::uint64_t> events;
  std::uint64_t first_ns = never, last_ns = 0;
};

// Events of all locations that have been made, and not passed on yet.
class waiting_events : public event_visitor {
 public:
  explicit waiting_events(std::size_t locations) : of_(locations) {}
  void on(const event& e) override { of_[e.location].push_back(e); }
  [[nodiscard]] std::deque<event>& of(std::uint32_t location) { return of_[location]; }

 private:
  std::vector<std::deque<event>> of_;
};

std::vector<const raw_process*> raws_of(const joined& all) {
  std::vector<const raw_process*> made;
  made.reserve(all.processes.size());
  for (const joined_process& p : all.processes) made.push_back(p.raw);
  return made;
}

}  // namespace

struct recorded_events::state {
  explicit state(const std::filesystem::path& path)
      : action("read the trace " + path.string()),
        from(merging::read_all_recordings(path)),
        found(merging::processes_of(from)),
        joint(join(found)),
        clocks(raws_of(joint)),
        energy(read_energy(from)) {
    if (joint.processes.empty()) throw error(action, "it has no processes");
    joint.all.creator = "Lull";
    for (energy_series& host : energy) add_metrics(host);
    if (clocks.clocks() > 1) clocks.correct(find_crossings(joint, clocks));
  }

  // In the order of archive_definitions.cpp.
  void add_metrics(energy_series& host) {
    host.metric_class = static_cast<std::uint32_t>(joint.all.metrics.size());
    host.location = static_cast<std::uint32_t>(joint.all.locations.size());
    for (const auto& [what, unit] : {std::pair("energy", "J"), std::pair("power", "W")})
      for (const energy_channel& c : host.channels)
        joint.all.metrics.push_back({.name = name_of_metric(what, c), .unit = unit, .host = ""});
    const auto at = std::ranges::find(joint.all.processes, host.host, &definitions::process::host);
    const auto process = at == joint.all.processes.end() ? 0 : at - joint.all.processes.begin();
    joint.all.locations.push_back({.name = "energy of " + host.host,
                                   .process = static_cast<std::uint32_t>(process),
                                   .events = 0,
                                   .is_thread = false});
  }

  void tell_energy(event_visitor& to) const {
    for (const energy_series& host : energy) {
      const std::uint32_t clock = clocks.clock_of_host(host.host);
      for (const energy_sample& sample : host.samples())
        for (std::uint32_t i = 0; i < sample.values.size(); ++i)
          to.on({.time_ns = static_cast<std::uint64_t>(clocks.ns_of_monotonic(clock, sample.time_ns)),
                 .location = host.location,
                 .what = happening::metric,
                 .region = host.metric_class + i,
                 .value = sample.values[i]});
    }
  }

  const std::string action;
  merging::recordings from;
  std::vector<raw_process> found;
  joined joint;
  joined_clocks clocks;
  std::vector<energy_series> energy;
  bool opened = false;
};

recorded_events::recorded_events(const std::filesystem::path& path) : state_(std::make_unique<state>(path)) {}
recorded_events::~recorded_events() = default;

const definitions& recorded_events::all() const { return state_->joint.all; }
const std::vector<std::string>& recorded_events::remarks() const { return state_->joint.remarks; }

void recorded_events::open() {
  state& s = *state_;
  if (std::exchange(s.opened, true)) return;
  definitions& all = s.joint.all;
  extent found(all.locations.size());
  for (std::uint32_t p = 0; p < s.joint.processes.size(); ++p)
    if (replay(s.joint, p, s.clocks, found).is_damaged)
      s.joint.remarks.push_back(all.processes[p].name + ": its records are damaged; what came before is kept");
  s.tell_energy(found);
  for (std::size_t i = 0; i < all.locations.size(); ++i) all.locations[i].events = found.events[i];
  for (const energy_series& host : s.energy)  // in an archive, a reading is one event with several values
    all.locations[host.location].events = host.time_ns.size();
  all.begin_ns = std::min(found.first_ns, found.last_ns);
  all.length_ns = found.last_ns - all.begin_ns + 1;  // as an archive gives it, which counts the last nanosecond
}

void recorded_events::read(event_visitor& to, const std::function<bool(std::uint64_t, std::uint64_t)>& progress) {
  state& s = *state_;
  const definitions& all = s.joint.all;
  waiting_events waiting(all.locations.size());
  std::vector<process_replay> processes;
  processes.reserve(s.joint.processes.size());
  for (std::uint32_t p = 0; p < s.joint.processes.size(); ++p) processes.emplace_back(s.joint, p, s.clocks, waiting);
  s.tell_energy(waiting);
  std::uint64_t expected = 0, done = 0;
  using place = std::pair<std::uint64_t, std::uint32_t>;  // a time before which the location has no more events
  std::priority_queue<place, std::vector<place>, std::greater<>> next;
  const auto time_of = [&](std::uint32_t location) {
    if (!waiting.of(location).empty()) return waiting.of(location).front().time_ns;
    return all.locations[location].is_thread ? processes[all.locations[location].process].earliest(location) : never;
  };
  for (std::uint32_t i = 0; i < all.locations.size(); ++i) {
    expected += all.locations[i].events;
    next.emplace(time_of(i), i);
  }
  while (!next.empty()) {
    const auto [time, location] = next.top();
    next.pop();
    if (const std::uint64_t now = time_of(location); now != time) {
      if (now != never) next.emplace(now, location);
      continue;
    }
    std::deque<event>& events = waiting.of(location);
    if (time == never) continue;
    const std::uint64_t until = next.empty() ? never : next.top().first;
    do {
      if (events.empty()) {
        (void)processes[all.locations[location].process].step();
        break;
      }
      event e = events.front();
      events.pop_front();
      e.time_ns -= all.begin_ns;
      to.on(e);
      if (progress && ++done % beat_every == 0 && !progress(done, std::max(expected, done)))
        throw error(s.action, "it was interrupted");
    } while (events.empty() || events.front().time_ns < until);
    next.emplace(time_of(location), location);
  }
  if (progress) progress(done, done);
}

}  // namespace lull::trace
