#include "trace/archive/joined.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/counted.hpp"
#include "trace/functions.hpp"

namespace lull::trace {
namespace {

std::int64_t started(const raw_process& p) { return p.clocks.empty() ? 0 : p.clocks.front().realtime_ns; }

// The jobs of a run: the processes that a launcher started together. A second process with the same rank, job name and
// number of ranks belongs to the next such job, in order of time: MPICH gives spawned jobs no names.
class jobs_of_run {
 public:
  explicit jobs_of_run(const std::vector<raw_process>& raw) {
    std::vector<const raw_process*> order;
    for (const raw_process& p : raw)
      if (p.rank >= 0) order.push_back(&p);
    std::ranges::stable_sort(order, {}, [](const raw_process* p) { return started(*p); });
    std::map<std::tuple<std::string, int, int>, int> claims;
    for (const raw_process* p : order) {
      const std::tuple key(p->job, p->size, claims[{p->job, p->size, p->rank}]++);
      const auto [job, is_new] = numbers_.try_emplace(key, static_cast<int>(members_.size()));
      if (is_new) members_.emplace_back();
      auto& ranks = members_[static_cast<std::size_t>(job->second)];
      ranks.resize(std::max({ranks.size(), static_cast<std::size_t>(p->rank) + 1, static_cast<std::size_t>(p->size)}));
      ranks[static_cast<std::size_t>(p->rank)] = p;
    }
  }

  // By rank; null if there are no records of that rank.
  [[nodiscard]] const std::vector<std::vector<const raw_process*>>& members() const { return members_; }

 private:
  std::map<std::tuple<std::string, int, int>, int> numbers_;  // by name, size, and number among equals
  std::vector<std::vector<const raw_process*>> members_;
};

// Converts a time of the process's counter by its wall clock; accurate enough to order jobs.
double realtime_of(const raw_process& p, std::uint64_t ticks) {
  if (p.clocks.empty()) return 0;
  const clock_pair &first = p.clocks.front(), &last = p.clocks.back();
  const double ns_per_tick = last.ticks > first.ticks ? static_cast<double>(last.monotonic_ns - first.monotonic_ns) /
                                                            static_cast<double>(last.ticks - first.ticks)
                                                      : 1;
  const double since = static_cast<double>(ticks) - static_cast<double>(first.ticks);
  return static_cast<double>(first.realtime_ns) + since * ns_per_tick;
}

std::string name_of_process(const std::string& paradigm, int rank, int job, bool several) {
  const std::string name = fmt::format("{} {}", paradigm == "shmem" ? "PE" : "rank", rank);
  return several ? fmt::format("job {} {}", job + 1, name) : name;
}

class joiner {
 public:
  explicit joiner(const std::vector<raw_process>& raw) : jobs_(raw) {
    add_ranks();
    for (const raw_process& p : raw)
      if (p.rank < 0 && !p.logs.empty()) add_process(&p, {.name = p.program + " " + p.name, .host = p.host});
    for (joined_process& p : made_.processes)
      if (p.raw != nullptr) define(p);
    join_jobs();
    for (std::size_t i = 0; i < made_.processes.size(); ++i)
      if (made_.processes[i].raw != nullptr) define_communicators(i);
    remark();
  }
  joined result() { return std::move(made_); }

 private:
  using members = std::vector<std::uint32_t>;
  using groups = std::pair<members, members>;  // the second: of an inter-communicator

  // A communicator as seen by the processes of one job. Members in other jobs are no_one until join_jobs() has found
  // the corresponding view of their job.
  struct view {
    groups who;
    int job;
    double made = std::numeric_limits<double>::max();  // by the wall clock
    std::string name = {};
    std::uint32_t means = no_one;  // the communicator of the trace
  };

  void add_ranks() {
    const auto& jobs = jobs_.members();
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      first_of_job_.push_back(static_cast<std::uint32_t>(made_.processes.size()));
      const raw_process* const any = *std::ranges::find_if(jobs[job], [](const auto* p) { return p != nullptr; });
      for (std::size_t rank = 0; rank < jobs[job].size(); ++rank) {
        const raw_process* const p = jobs[job][rank];
        add_process(
            p, {.name = name_of_process(any->paradigm, static_cast<int>(rank), static_cast<int>(job), jobs.size() > 1),
                .host = p != nullptr ? p->host : any->host,
                .paradigm = any->paradigm,
                .rank = static_cast<int>(rank),
                .job = static_cast<int>(job)});
      }
    }
  }

  void add_process(const raw_process* raw, definitions::process process) {
    const auto number = static_cast<std::uint32_t>(made_.processes.size());
    joined_process p{.raw = raw};
    const auto add_location = [&](std::string name) {
      made_.all.locations.push_back({.name = std::move(name), .process = number});
      return static_cast<std::uint32_t>(made_.all.locations.size() - 1);
    };
    if (raw == nullptr || raw->logs.empty()) {
      p.locations = {add_location("main thread")};  // every process has one, even without records
    } else {
      std::map<std::uint64_t, std::uint32_t> of_thread;
      p.locations.resize(raw->logs.size());
      for (const bool main : {true, false})
        for (std::size_t i = 0; i < raw->logs.size(); ++i) {
          const std::uint64_t thread = raw->logs[i].thread;
          if ((thread == static_cast<std::uint64_t>(raw->pid)) != main) continue;
          const auto known = of_thread.find(thread);
          const std::size_t others =
              of_thread.size() + (of_thread.contains(static_cast<std::uint64_t>(raw->pid)) ? 0 : 1);
          p.locations[i] = known != of_thread.end()
                               ? known->second
                               : add_location(main ? "main thread" : fmt::format("thread {}", others));
          of_thread[thread] = p.locations[i];
        }
    }
    made_.all.processes.push_back(std::move(process));
    made_.processes.push_back(std::move(p));
  }

  std::uint32_t region(const std::string& paradigm, const std::string& name) {
    const auto [found, is_new] =
        regions_.try_emplace({paradigm, name}, static_cast<std::uint32_t>(made_.all.regions.size()));
    if (is_new)
      made_.all.regions.push_back({.name = name, .paradigm = paradigm, .what = role_of_function(paradigm, name)});
    return found->second;
  }

  // no_one if a rank belongs to another job, or is none.
  [[nodiscard]] members processes_of(const std::vector<int>& ranks, int job) const {
    const std::size_t size = jobs_.members()[static_cast<std::size_t>(job)].size();
    members found;
    for (const int rank : ranks)
      found.push_back(rank >= 0 && static_cast<std::size_t>(rank) < size
                          ? first_of_job_[static_cast<std::size_t>(job)] + static_cast<std::uint32_t>(rank)
                          : no_one);
    return found;
  }

  void define(joined_process& p) {
    const raw_process& raw = *p.raw;
    const auto number = static_cast<std::size_t>(&p - made_.processes.data());
    const int job = made_.all.processes[number].job;
    p.program = region("program", raw.program.empty() ? "program" : raw.program);
    for (const auto& [of, r] : raw.regions) p.regions.add(of, 0, region(r.paradigm, r.name));
    if (raw.rank < 0) return;
    std::map<groups, int> made_here;
    for (const raw_communicator& c : raw.communicators) {
      groups who(processes_of(c.members, job), processes_of(c.remote, job));
      if (!who.second.empty() && who.second < who.first) std::swap(who.first, who.second);
      const int ordinal = made_here[who]++;
      const auto [found, is_new] = view_numbers_.try_emplace({job, who, ordinal}, views_.size());
      if (is_new) views_.push_back({.who = std::move(who), .job = job});
      view& seen = views_[found->second];
      seen.made = std::min(seen.made, realtime_of(raw, c.from_ticks));
      if (seen.name.empty()) seen.name = c.name;
      views_of_[number].push_back(found->second);
    }
  }

  // The combination of two views; none if both know the same member.
  static std::optional<groups> both(const groups& a, const groups& b) {
    const auto merged = [](const members& x, const members& y) -> std::optional<members> {
      if (x.size() != y.size()) return std::nullopt;
      members made = x;
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (x[i] != no_one && y[i] != no_one) return std::nullopt;
        if (x[i] == no_one) made[i] = y[i];
      }
      return made;
    };
    const std::pair ways{b, groups(b.second, b.first)};  // each side of an inter-communicator lists its own group first
    for (const groups& other : {ways.first, ways.second}) {
      auto first = merged(a.first, other.first), second = merged(a.second, other.second);
      if (first && second) return groups(std::move(*first), std::move(*second));
    }
    return std::nullopt;
  }
  static bool is_whole(const groups& of) {
    return !std::ranges::count(of.first, no_one) && !std::ranges::count(of.second, no_one);
  }

  // Matches the views of a communicator that spans several jobs: a job that has spawned another, or is connected to
  // one. The jobs create it at the same time, and one knows the members that the other does not. If several views
  // match, none is used: messages between wrong processes would be worse than none.
  void join_jobs() {
    struct shared {
      groups who;
      std::vector<std::size_t> views;
    };
    std::vector<shared> open, whole;
    std::vector<std::size_t> order(views_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [this](std::size_t i) { return views_[i].made; });
    for (const std::size_t i : order) {
      const view& v = views_[i];
      if (is_whole(v.who)) {
        whole.push_back({v.who, {i}});
        continue;
      }
      std::vector<std::pair<std::size_t, groups>> fit;
      for (std::size_t o = 0; o < open.size() && fit.size() < 2; ++o) {
        const bool has_it = std::ranges::any_of(open[o].views, [&](std::size_t k) { return views_[k].job == v.job; });
        if (has_it) continue;
        if (auto made = both(open[o].who, v.who)) fit.emplace_back(o, std::move(*made));
      }
      if (fit.size() != 1) {
        open.push_back({v.who, {i}});
        continue;
      }
      shared& with = open[fit[0].first];
      with.who = std::move(fit[0].second);
      with.views.push_back(i);
      if (!is_whole(with.who)) continue;
      whole.push_back(std::move(with));
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(fit[0].first));
    }
    // Numbered in the order in which processes have defined them, not by time.
    std::ranges::stable_sort(whole, {}, [](const shared& s) { return *std::ranges::min_element(s.views); });
    for (const shared& one : whole) {
      const auto number = static_cast<std::uint32_t>(made_.all.communicators.size());
      std::string name;
      for (const std::size_t i : one.views) {
        views_[i].means = number;
        if (name.empty()) name = views_[i].name;
      }
      made_.all.communicators.push_back({.name = name, .members = one.who.first, .remote = one.who.second});
    }
    std::size_t apart = 0;
    for (const shared& one : open) apart += one.views.size();
    if (apart > 0)
      made_.remarks.push_back(
          fmt::format("{} {} processes that are not in the trace, or that cannot be distinguished; the trace omits "
                      "messages over {}",
                      counted(apart, "communicator"), apart == 1 ? "reaches" : "reach", apart == 1 ? "it" : "them"));
  }

  void define_communicators(std::size_t process) {
    joined_process& p = made_.processes[process];
    const raw_process& raw = *p.raw;
    const auto& views = views_of_[process];
    for (std::size_t i = 0; i < views.size(); ++i)
      p.communicators.add(raw.communicators[i].number, raw.communicators[i].from_ticks, views_[views[i]].means);
    if (raw.rank < 0) return;
    std::map<std::uint32_t, int> windows_here;
    for (const raw_window& w : raw.windows) {
      const std::uint32_t over = p.communicators.at(w.communicator, w.from_ticks);
      if (over == no_one) {
        p.windows.add(w.number, w.from_ticks, no_one);
        continue;
      }
      const int ordinal = windows_here[over]++;
      const auto [found, is_new] =
          windows_.try_emplace({over, ordinal}, static_cast<std::uint32_t>(made_.all.windows.size()));
      if (is_new)
        made_.all.windows.push_back(
            {.name = w.name.empty() ? fmt::format("window {}", found->second) : w.name, .communicator = over});
      p.windows.add(w.number, w.from_ticks, found->second);
    }
  }

  // One line for all processes that ended in the same manner.
  void remark(const std::vector<std::string>& names, const char* of_one, const char* of_several, const char* rest) {
    if (names.size() == 1) made_.remarks.push_back(fmt::format("{} {}{}", names[0], of_one, rest));
    if (names.size() > 1)
      made_.remarks.push_back(
          fmt::format("{} processes {}, from {} to {}{}", names.size(), of_several, names.front(), names.back(), rest));
  }

  void remark() {
    std::vector<std::string> absent, killed, left;
    for (std::size_t i = 0; i < made_.processes.size(); ++i) {
      const raw_process* const raw = made_.processes[i].raw;
      const std::string& name = made_.all.processes[i].name;
      if (raw == nullptr) {
        absent.push_back(name);
        continue;
      }
      if (!raw->damaged.empty()) made_.remarks.push_back(fmt::format("{}: {}", name, raw->damaged));
      if (raw->ended == ending::killed) killed.push_back(name);
      if (raw->ended == ending::exit_without_end && raw->rank >= 0) left.push_back(name);
      std::uint64_t lost = 0;
      for (const raw_log& log : raw->logs) lost += log.lost;
      if (lost > 0)
        made_.remarks.push_back(
            fmt::format("{}: {} not kept, because its disk was full or LULL_TRACE_LIMIT was reached", name,
                        counted(lost, "record")));
    }
    remark(killed, "was killed", "were killed", "; the trace contains it up to the last call that ended");
    remark(left, "has exited", "have exited", " without ending MPI");
    remark(absent, "has left no records", "have left no records", "");
    for (std::size_t i = 0; i < made_.all.communicators.size(); ++i)
      if (made_.all.communicators[i].name.empty()) made_.all.communicators[i].name = fmt::format("communicator {}", i);
  }

  jobs_of_run jobs_;
  joined made_;
  members first_of_job_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> regions_;
  std::vector<view> views_;
  std::map<std::tuple<int, groups, int>, std::size_t> view_numbers_;  // by job, members, number among equals
  std::map<std::size_t, std::vector<std::size_t>> views_of_;          // of each process, by its communicators
  std::map<std::pair<std::uint32_t, int>, std::uint32_t> windows_;
};

}  // namespace

void number_map::add(std::uint16_t number, std::uint64_t from_ticks, std::uint32_t means) {
  if (number >= by_number_.size()) by_number_.resize(std::size_t{number} + 1);
  by_number_[number].push_back({from_ticks, means});
}

joined join(const std::vector<raw_process>& raw) { return joiner(raw).result(); }

}  // namespace lull::trace
