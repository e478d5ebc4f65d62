#include "netsim/program/play_options.hpp"

#include <cmath>

#include "netsim/power/power_mode.hpp"
#include "netsim/program/player.hpp"
#include "netsim/simulation.hpp"

namespace lull::netsim {
namespace {

std::vector<key> keys_of_all() {
  std::vector<key> keys{
      {.name = "per_node",
       .meaning = "number of processes on each node, which exchange messages through its memory",
       .by_default = 1,
       .least = 1,
       .most = 65536},
      {.name = "repeats",
       .meaning = "number of consecutive runs of the program",
       .by_default = 1,
       .least = 1,
       .most = 1e9},
      {.name = "compute_scale",
       .meaning = "factor by which computing times are multiplied",
       .of = kind::share,
       .by_default = 1,
       .most = 1e6},
      {.name = "imbalance",
       .meaning =
           "how much the computing times of processes differ: those of a process are multiplied by a factor that is "
           "drawn once, evenly between 1 - imbalance and 1 + imbalance",
       .of = kind::share,
       .by_default = 0,
       .most = 1},
      {.name = "noise",
       .meaning =
           "how much longer each computation takes in the mean, as if an operating system interrupted it: a share that "
           "is drawn from an exponential distribution",
       .of = kind::share,
       .by_default = 0,
       .most = 1000},
      {.name = "eager",
       .meaning = "longest message that is sent at once; before a longer one, the sender asks its receiver",
       .of = kind::size,
       .by_default = "8 KiB",
       .most = most_number},
      {.name = "overhead",
       .meaning = "computing time that each send, receive, put, get and atomic costs its process",
       .of = kind::time,
       .by_default = 0,
       .most = longest_time},
      {.name = "envelope",
       .meaning = "bytes that are added to those of the program in each message; a message has at least one",
       .of = kind::size,
       .by_default = 0,
       .most = 65536}};
  for (key& k : collective_keys()) keys.push_back(std::move(k));
  return keys;
}

}  // namespace

const std::vector<key>& program_keys() {
  static const std::vector<key> keys = keys_of_all();
  return keys;
}

play_options::play_options(const job_setup& setup) {
  const reader from(program_keys(), setup.job().own);
  repeats = from.whole("repeats");
  together = setup.asked.together;
  compute_scale = from.real("compute_scale");
  imbalance = from.real("imbalance");
  noise = from.real("noise");
  seed = generator(setup.asked.seed + setup.index)();
  eager = static_cast<std::uint64_t>(from.whole("eager"));
  overhead = from.whole("overhead");
  envelope = static_cast<std::uint64_t>(from.whole("envelope"));
  memory_delay = setup.asked.network.memory_delay;
  memory_picoseconds = 1e12 / setup.asked.network.memory_bandwidth;
  for (const collective_family& f : all_collective_families())
    algorithms.push_back(find_algorithm(f, from.word(f.name)));
}

picoseconds play_options::memory_time(std::uint64_t bytes) const {
  return static_cast<picoseconds>(std::llround(static_cast<double>(bytes) * memory_picoseconds));
}

}  // namespace lull::netsim
