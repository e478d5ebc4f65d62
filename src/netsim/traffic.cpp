#include "netsim/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.hpp"

namespace lull::netsim {
namespace {

// As cubic a grid of `size` processes as there is: the factors nearest to the root, the largest first.
std::vector<std::uint32_t> cubic_grid(std::uint32_t size, unsigned dimensions) {
  if (dimensions == 1) return {size};
  auto side = static_cast<std::uint32_t>(std::round(std::pow(size, 1.0 / dimensions)));
  while (size % side != 0) --side;
  std::vector<std::uint32_t> rest = cubic_grid(size / side, dimensions - 1);
  rest.push_back(side);
  std::ranges::sort(rest, std::greater{});
  return rest;
}

// A permutation that is one cycle, so nobody sends to itself (Sattolo 1986).
std::vector<std::uint32_t> cycle(std::uint32_t size, generator& random) {
  std::vector<std::uint32_t> p(size);
  std::iota(p.begin(), p.end(), 0U);
  for (std::uint32_t i = size; i-- > 1;) std::swap(p[i], p[random.below(i)]);
  return p;
}

void require(bool holds, std::uint32_t job, const char* key, const std::string& rule) {
  if (!holds) throw usage_error("read the jobs", fmt::format("jobs.{}.{} must {}", job, key, rule));
}

}  // namespace

traffic::traffic(const simulation& asked, std::uint32_t nodes) : seed_(asked.seed), processes_(nodes) {
  jobs_.reserve(asked.jobs.size());
  for (std::uint32_t j = 0; j < asked.jobs.size(); ++j) {
    jobs_.emplace_back().asked = &asked.jobs[j];
    set_up(j, asked);
  }
}

void traffic::set_up(std::uint32_t index, const simulation& asked) {
  running_job& j = jobs_[index];
  const job& a = *j.asked;
  const auto size = static_cast<std::uint32_t>(a.nodes.size());
  const bool is_closed = a.arrivals == arrivals::closed;
  require(size >= 2, index, "processes", "be at least 2");
  require(a.message > 0 && a.message < std::int64_t{1} << 31, index, "message", "lie in 1..2147483647 bytes");
  require(is_closed || (a.load > 0 && a.load <= 1), index, "load", "be above 0 and at most 1");
  require(is_closed || a.messages > 0 || asked.end != never, index, "messages",
          "be above 0 unless the simulation has an end");
  require(a.targets >= 1 && a.targets < size, index, "targets", fmt::format("lie in 1..{}", size - 1));
  require(!is_closed || a.pattern != pattern::hot_spot, index, "arrivals", "be open-loop with the pattern hot-spot");
  require(!is_closed || a.iterations > 0, index, "iterations", "be above 0");

  generator random(asked.seed ^ mixed(index + 1));
  if (a.pattern == pattern::permutation) j.permutation = cycle(size, random);
  if (a.pattern == pattern::neighbours_2d || a.pattern == pattern::neighbours_3d) {
    const unsigned dimensions = a.pattern == pattern::neighbours_2d ? 2 : 3;
    j.grid = a.grid.empty() ? cubic_grid(size, dimensions) : a.grid;
    require(j.grid.size() == dimensions &&
                std::accumulate(j.grid.begin(), j.grid.end(), std::uint64_t{1}, std::multiplies<>()) == size,
            index, "grid", fmt::format("be {} numbers whose product is the number of processes, {}", dimensions, size));
  }
  const double picoseconds_per_byte = 1e12 / asked.network.nic_bandwidth;
  const auto message_time = static_cast<double>(a.message) * picoseconds_per_byte;
  j.message_time = static_cast<picoseconds>(std::llround(message_time));
  j.mean_gap = message_time / a.load;
  if (is_closed) {
    exchanges_.resize(processes_.size());
    j.iteration_ends.resize(static_cast<std::size_t>(a.iterations));
    j.still_in.assign(j.iteration_ends.size(), size);
    unfinished_ += size;
  }
  bool known = true;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    const std::uint32_t node = a.nodes[rank];
    require(node < processes_.size(), index, "mapping",
            fmt::format("name nodes below {}, not {}", processes_.size(), node));
    process& p = processes_[node];
    require(p.job == nowhere, index, "mapping", fmt::format("not name node {}, where another process runs", node));
    p = {.job = index, .rank = rank, .random = generator(random()), .turn = 0};
    if (is_closed) {
      p.left = static_cast<std::uint64_t>(a.iterations);
      expected_ += partners(j, rank, 0).size() * p.left;  // as many in every iteration
      continue;
    }
    if (a.pattern == pattern::incast && rank < a.targets) continue;
    p.left = a.messages > 0 ? static_cast<std::uint64_t>(a.messages) : std::numeric_limits<std::uint64_t>::max();
    if (a.messages == 0)
      known = false;
    else
      expected_ += p.left;
    p.next = a.start;
    // A periodic source begins anywhere in its period, lest all send at once.
    if (a.arrivals == arrivals::periodic)
      p.next += static_cast<picoseconds>(p.random.uniform() * j.mean_gap);
    else
      draw_next(p, j);
  }
  if (!known) expected_ = 0;
}

void traffic::draw_next(process& p, const running_job& j) {
  const auto exponential = [&](double mean) {
    return static_cast<picoseconds>(std::llround(-std::log(p.random.uniform()) * mean));
  };
  switch (j.asked->arrivals) {
    case arrivals::poisson:
      p.next += exponential(j.mean_gap);
      break;
    case arrivals::periodic:
      p.next += static_cast<picoseconds>(std::llround(j.mean_gap));
      break;
    case arrivals::bursty: {
      // A burst of messages back to back, their number geometric; then a pause such that the mean load is as asked.
      const double mean = std::max(1.0, static_cast<double>(j.asked->burst) / static_cast<double>(j.message_time));
      p.next += j.message_time;
      if (p.burst_left == 0) {
        p.next += exponential(mean * static_cast<double>(j.message_time) * (1 - j.asked->load) / j.asked->load);
        p.burst_left =
            mean > 1 ? 1 + static_cast<std::uint64_t>(std::log(p.random.uniform()) / std::log1p(-1 / mean)) : 1;
      }
      --p.burst_left;
      break;
    }
    case arrivals::closed:
      break;
  }
}

std::optional<picoseconds> traffic::next_at(std::uint32_t node) {
  const process& p = processes_[node];
  if (p.job == nowhere) return std::nullopt;
  if (jobs_[p.job].asked->arrivals == arrivals::closed) {
    const exchange& e = exchanges_[node];
    if (e.to.empty()) return std::nullopt;
    return e.ready;
  }
  if (p.left == 0) return std::nullopt;
  return p.next;
}

message traffic::take(std::uint32_t node) {
  process& p = processes_[node];
  const running_job& j = jobs_[p.job];
  message m{.created = p.next,
            .from = node,
            .to = 0,
            .bytes = static_cast<std::uint32_t>(j.asked->message),
            .left = 0,
            .iteration = 0,
            .job = p.job};
  m.left = m.bytes;
  ++created_;
  if (j.asked->arrivals == arrivals::closed) {
    exchange& e = exchanges_[node];
    m.created = e.ready;
    m.iteration = e.iteration;
    m.to = j.asked->nodes[e.to.back()];
    e.to.pop_back();
    return m;
  }
  m.to = j.asked->nodes[partner(p)];
  --p.left;
  if (p.left > 0) draw_next(p, j);
  return m;
}

// Messages are drawn when they are taken, so a copy of the process draws those that wait.
std::int64_t traffic::waiting_bytes(std::uint32_t node, picoseconds now, std::int64_t enough) const {
  process p = processes_[node];
  const running_job& j = jobs_[p.job];
  if (j.asked->arrivals == arrivals::closed)
    return static_cast<std::int64_t>(exchanges_[node].to.size()) * j.asked->message;
  std::int64_t bytes = 0;
  for (; p.left > 0 && p.next <= now && bytes < enough; --p.left) {
    bytes += j.asked->message;
    (void)partner(p);
    if (p.left > 1) draw_next(p, j);
  }
  return bytes;
}

std::uint32_t traffic::partner(process& p) const {
  const running_job& j = jobs_[p.job];
  const job& a = *j.asked;
  const auto size = static_cast<std::uint32_t>(a.nodes.size());
  const auto any_other = [&] {
    const std::uint32_t r = p.random.below(size - 1);
    return r < p.rank ? r : r + 1;
  };
  switch (a.pattern) {
    case pattern::uniform:
      return any_other();
    case pattern::permutation:
      return j.permutation[p.rank];
    case pattern::neighbours_2d:
    case pattern::neighbours_3d: {
      const std::vector<std::uint32_t> all = neighbours(j, p.rank);
      return all[p.turn++ % all.size()];
    }
    case pattern::all_to_all:
      return (p.rank + 1 + p.turn++ % (size - 1)) % size;
    case pattern::incast:
      return p.random.below(a.targets);
    case pattern::hot_spot: {
      if (p.random.uniform() > a.hot_share) return any_other();
      const std::uint32_t target = p.random.below(a.targets);
      return target != p.rank ? target : any_other();
    }
  }
  return any_other();
}

// Those one step away in each dimension of the grid, whose ends meet; in a dimension of 2 there is one, of 1 none.
std::vector<std::uint32_t> traffic::neighbours(const running_job& j, std::uint32_t rank) const {
  std::vector<std::uint32_t> result;
  std::uint32_t stride = 1;
  for (const std::uint32_t side : j.grid) {
    const std::uint32_t at = rank / stride % side;
    const auto moved_to = [&](std::uint32_t to) { return rank - at * stride + to * stride; };
    if (side > 1) result.push_back(moved_to((at + 1) % side));
    if (side > 2) result.push_back(moved_to((at + side - 1) % side));
    stride *= side;
  }
  return result;
}

std::vector<std::uint32_t> traffic::partners(const running_job& j, std::uint32_t rank, std::uint32_t iteration) const {
  const job& a = *j.asked;
  const auto size = static_cast<std::uint32_t>(a.nodes.size());
  switch (a.pattern) {
    case pattern::uniform:
    case pattern::hot_spot: {
      // Uniform, closed: in each iteration everybody sends so many ranks further, a distance drawn for the iteration.
      generator random(seed_ + iteration);
      return {(rank + 1 + random.below(size - 1)) % size};
    }
    case pattern::permutation:
      return {j.permutation[rank]};
    case pattern::neighbours_2d:
    case pattern::neighbours_3d:
      return neighbours(j, rank);
    case pattern::all_to_all: {
      std::vector<std::uint32_t> result;
      for (std::uint32_t step = size - 1; step > 0; --step) result.push_back((rank + step) % size);
      return result;  // taken from the back: the next rank first
    }
    case pattern::incast:
      if (rank < a.targets) return {};
      return {rank % a.targets};
  }
  return {};
}

std::uint32_t traffic::expected_by(const running_job& j, std::uint32_t rank, std::uint32_t iteration) const {
  const job& a = *j.asked;
  if (a.pattern != pattern::incast)
    return static_cast<std::uint32_t>(partners(j, rank, iteration).size());  // symmetric in number
  if (rank >= a.targets) return 0;
  const auto size = static_cast<std::uint32_t>(a.nodes.size());
  std::uint32_t count = 0;
  for (std::uint32_t r = a.targets; r < size; ++r) count += r % a.targets == rank ? 1 : 0;
  return count;
}

std::optional<picoseconds> traffic::first_computed(std::uint32_t node) const {
  const process& p = processes_[node];
  if (p.job == nowhere || !closed(p.job)) return std::nullopt;
  const job& a = *jobs_[p.job].asked;
  return a.start + a.compute;
}

std::optional<picoseconds> traffic::computed(std::uint32_t node, picoseconds now) {
  process& p = processes_[node];
  const running_job& j = jobs_[p.job];
  exchange& e = exchanges_[node];
  p.computing = false;
  e.ready = now;
  e.to = partners(j, p.rank, e.iteration);
  e.unsent = static_cast<std::uint32_t>(e.to.size());
  e.expected = expected_by(j, p.rank, e.iteration);
  e.latest = std::max(e.latest, now);
  return end_iteration(node);
}

std::optional<picoseconds> traffic::sent(std::uint32_t node, picoseconds now) {
  if (!closed(processes_[node].job)) return std::nullopt;
  exchange& e = exchanges_[node];
  --e.unsent;
  e.latest = std::max(e.latest, now);
  return end_iteration(node);
}

std::optional<picoseconds> traffic::arrived(const message& m, picoseconds now) {
  if (!closed(m.job)) return std::nullopt;
  exchange& e = exchanges_[m.to];
  const std::size_t ahead = m.iteration - e.iteration;  // a sender may be ahead, never behind
  if (e.early.size() <= ahead) e.early.resize(ahead + 1);
  ++e.early[ahead];
  e.latest = std::max(e.latest, now);
  return end_iteration(m.to);
}

std::vector<picoseconds> traffic::iteration_ends(std::uint32_t job, picoseconds end) const {
  // What ends an iteration may be known before its time has come.
  const running_job& j = jobs_[job];
  std::size_t over = 0;
  while (over < j.iteration_ends.size() && j.still_in[over] == 0 && j.iteration_ends[over] <= end) ++over;
  return {j.iteration_ends.begin(), j.iteration_ends.begin() + static_cast<std::ptrdiff_t>(over)};
}

std::optional<picoseconds> traffic::end_iteration(std::uint32_t node) {
  process& p = processes_[node];
  exchange& e = exchanges_[node];
  if (p.computing || e.unsent > 0 || e.early.front() < e.expected) return std::nullopt;
  running_job& j = jobs_[p.job];
  j.iteration_ends[e.iteration] = std::max(j.iteration_ends[e.iteration], e.latest);
  --j.still_in[e.iteration];
  ++e.iteration;
  e.early.erase(e.early.begin());
  if (e.early.empty()) e.early.push_back(0);
  p.computing = true;
  if (--p.left == 0) {
    --unfinished_;
    return std::nullopt;
  }
  return e.latest + j.asked->compute;
}

}  // namespace lull::netsim
