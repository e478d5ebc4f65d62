#include "trace/joined.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/counted.hpp"
#include "trace/functions.hpp"

namespace lull::trace {
namespace {

std::int64_t started(const raw_process& p) { return p.clocks.empty() ? 0 : p.clocks.front().realtime_ns; }

// The jobs of a run: what a launcher started together. A rank that is there twice under one name of a job is of the next
// job of that name, in the order of time.
class jobs_of_run {
 public:
  explicit jobs_of_run(const std::vector<raw_process>& raw) {
    std::vector<const raw_process*> order;
    for (const raw_process& p : raw)
      if (p.rank >= 0) order.push_back(&p);
    std::ranges::stable_sort(order, {}, [](const raw_process* p) { return started(*p); });
    std::map<std::pair<std::string, int>, int> claims;
    for (const raw_process* p : order) {
      const std::pair key(p->job, claims[{p->job, p->rank}]++);
      const auto [job, is_new] = numbers_.try_emplace(key, static_cast<int>(members_.size()));
      if (is_new) members_.emplace_back();
      auto& ranks = members_[static_cast<std::size_t>(job->second)];
      ranks.resize(std::max({ranks.size(), static_cast<std::size_t>(p->rank) + 1, static_cast<std::size_t>(p->size)}));
      ranks[static_cast<std::size_t>(p->rank)] = p;
    }
  }

  // By rank; null: there is nothing of that rank.
  [[nodiscard]] const std::vector<std::vector<const raw_process*>>& members() const { return members_; }

 private:
  std::map<std::pair<std::string, int>, int> numbers_;
  std::vector<std::vector<const raw_process*>> members_;
};

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
    remark();
  }
  joined result() { return std::move(made_); }

 private:
  using members = std::vector<std::uint32_t>;

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
      p.locations = {add_location("main thread")};  // a process has one, even if nothing of it is there
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

  [[nodiscard]] members processes_of(const std::vector<int>& ranks, int job) const {
    members found;
    for (const int rank : ranks)
      found.push_back(first_of_job_[static_cast<std::size_t>(job)] + static_cast<std::uint32_t>(rank));
    return found;
  }

  void define(joined_process& p) {
    const raw_process& raw = *p.raw;
    const definitions::process& own = made_.all.processes[static_cast<std::size_t>(&p - made_.processes.data())];
    p.program = region("program", raw.program.empty() ? "program" : raw.program);
    for (const auto& [number, r] : raw.regions) p.regions.add(number, 0, region(r.paradigm, r.name));
    if (raw.rank < 0) return;
    std::map<std::pair<members, members>, int> made_here;
    for (const raw_communicator& c : raw.communicators) {
      std::pair groups(processes_of(c.members, own.job), processes_of(c.remote, own.job));
      if (!groups.second.empty() && groups.second < groups.first) std::swap(groups.first, groups.second);
      const int ordinal = made_here[groups]++;
      p.communicators.add(c.number, c.from_ticks, communicator(groups, ordinal, c.name));
    }
    std::map<std::uint32_t, int> windows_here;
    for (const raw_window& w : raw.windows) {
      const std::uint32_t over = p.communicators.at(w.communicator, w.from_ticks);
      if (over == no_one) continue;
      const int ordinal = windows_here[over]++;
      const auto [found, is_new] =
          windows_.try_emplace({over, ordinal}, static_cast<std::uint32_t>(made_.all.windows.size()));
      if (is_new)
        made_.all.windows.push_back(
            {.name = w.name.empty() ? fmt::format("window {}", found->second) : w.name, .communicator = over});
      p.windows.add(w.number, w.from_ticks, found->second);
    }
  }

  std::uint32_t communicator(const std::pair<members, members>& groups, int ordinal, const std::string& name) {
    const auto [found, is_new] = communicators_.try_emplace({groups.first, groups.second, ordinal},
                                                            static_cast<std::uint32_t>(made_.all.communicators.size()));
    if (is_new) made_.all.communicators.push_back({.members = groups.first, .remote = groups.second});
    std::string& known = made_.all.communicators[found->second].name;
    if (known.empty()) known = name;
    return found->second;
  }

  // A line for all processes that ended alike.
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
      if (raw->ended == ending::killed) killed.push_back(name);
      if (raw->ended == ending::exit_without_end && raw->rank >= 0) left.push_back(name);
      std::uint64_t lost = 0;
      for (const raw_log& log : raw->logs) lost += log.lost;
      if (lost > 0)
        made_.remarks.push_back(fmt::format("{}: {} not kept, for its disk was full or LULL_TRACE_LIMIT reached", name,
                                            counted(lost, "record")));
    }
    remark(killed, "was killed", "were killed", "; what was done up to the last call that ended is kept");
    remark(left, "has exited", "have exited", " without ending MPI");
    remark(absent, "has left nothing", "have left nothing", "");
    for (std::size_t i = 0; i < made_.all.communicators.size(); ++i)
      if (made_.all.communicators[i].name.empty()) made_.all.communicators[i].name = fmt::format("communicator {}", i);
  }

  jobs_of_run jobs_;
  joined made_;
  members first_of_job_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> regions_;
  std::map<std::tuple<members, members, int>, std::uint32_t> communicators_;
  std::map<std::pair<std::uint32_t, int>, std::uint32_t> windows_;
};

}  // namespace

void number_map::add(std::uint16_t number, std::uint64_t from_ticks, std::uint32_t means) {
  if (number >= by_number_.size()) by_number_.resize(std::size_t{number} + 1);
  by_number_[number].push_back({from_ticks, means});
}

joined join(const std::vector<raw_process>& raw) { return joiner(raw).result(); }

}  // namespace lull::trace
