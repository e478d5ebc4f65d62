#include "netsim/description/sections.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "netsim/network/parts.hpp"
#include "netsim/power/power_mode.hpp"
#include "netsim/topology.hpp"
#include "netsim/workload/workload.hpp"

namespace lull::netsim {
namespace {

using words = std::vector<std::string>;

template <class Rows>
words names_in(const Rows& rows) {
  words names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

// "meaning of all: NAME: its meaning; NAME: ..."
template <class Rows>
std::string meanings_in(const std::string& of_all, const Rows& rows) {
  std::string text;
  for (const auto& row : rows) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", row.name, row.meaning);
  return of_all.empty() ? text : fmt::format("{}. {}", of_all, text);
}

// Appends each key of the rows once, with all rows that have it.
template <class Rows>
void append_keys_of(const Rows& rows, const std::string& selector, std::vector<key>& to) {
  const std::size_t first = to.size();
  for (const auto& row : rows) {
    for (key k : row.keys) {
      const auto known = std::find_if(to.begin() + static_cast<std::ptrdiff_t>(first), to.end(),
                                      [&](const key& other) { return other.name == k.name; });
      if (known != to.end()) {
        known->only[selector].emplace_back(row.name);
      } else {
        k.only[selector] = {row.name};
        to.push_back(std::move(k));
      }
    }
  }
}

key delay(const char* name, value by_default, const char* meaning) {
  return {
      .name = name, .meaning = meaning, .of = kind::time, .by_default = std::move(by_default), .most = longest_time};
}

std::vector<key> keys_above_all() {
  return {
      {.name = "seed",
       .meaning = "seed of all random numbers; the same seed gives exactly the same result",
       .by_default = 1,
       .most = 0x1p63},  // the range of std::int64_t
      {.name = "end",
       .meaning = "simulated time at which the simulation stops",
       .of = kind::time,
       .otherwise = "when everything is complete",
       .most = longest_time,
       .above_least = true},
      delay("warmup", 0, "messages created before this time are simulated, but their latencies are not counted"),
      {.name = "together",
       .meaning = "true: programs run again and again until each has ended a run, and the simulation ends then; all "
                  "of them use the network until its end",
       .of = kind::boolean,
       .by_default = false},
      {.name = "tolerance",
       .meaning = "a slowdown; the result says how much longer messages may take until each program has slowed down by "
                  "it, and what its critical path consists of",
       .of = kind::share,
       .otherwise = "not computed",
       .most = 1,
       .above_least = true},
      {.name = "threads",
       .meaning = "number of threads that simulate traffic patterns together, with the same result; a simulation "
                  "with a program uses one",
       .otherwise = "1",
       .least = 1,
       .most = most_parts}};
}

std::vector<key> topology_keys() {
  words presets;
  for (const preset_of& p : all_presets()) presets.emplace_back(p.is->name);
  return {{.name = "preset",
           .meaning = "a named network; lull topology lists them",
           .of = kind::choice,
           .otherwise = "none",
           .words = presets},
          {.name = "name",
           .meaning = "a topology; its parameters are keys of the same table, see lull topology NAME",
           .of = kind::choice,
           .otherwise = "required without preset",
           .words = names_in(all_topologies())}};
}

std::vector<key> network_keys() {
  const auto buffer = [](const char* name, const char* by_default) {
    return key{.name = name,
               .meaning = "size of the buffer of each port and virtual channel",
               .of = kind::size,
               .by_default = by_default,
               .least = 1,
               .most = largest_buffer};
  };
  const auto rate = [](const char* name, const char* meaning, value by_default, const char* same_as) {
    return key{.name = name,
               .meaning = meaning,
               .of = kind::rate,
               .by_default = std::move(by_default),
               .same_as = same_as,
               .most = 1e15,
               .above_least = true};
  };
  return {{.name = "packet",
           .meaning = "largest packet; longer messages are split",
           .of = kind::size,
           .by_default = "4 KiB",
           .least = 1,
           .most = (1 << 24) - 1},
          rate("bandwidth", "rate of a link between switches, in each direction", "100 Gbit/s", ""),
          rate("nic_bandwidth", "rate of a node's link, in each direction", {}, "bandwidth"),
          delay("cable_delay", "50 ns", "time from one end of a cable to the other"),
          delay("switch_delay", "100 ns", "time of the head of a packet from the input buffer to the output buffer"),
          delay("nic_delay", "500 ns",
                "time from a message's creation to its first bit, and from its last bit to its completion"),
          delay("credit_delay", "100 ns", "time of a credit in the switches, in addition to the cable's delay"),
          delay("memory_delay", "500 ns", "latency of a message between processes of a node"),
          rate("memory_bandwidth", "rate of messages between processes of a node", "10 GB/s", ""),
          buffer("input_buffer", "64 KiB"),
          buffer("output_buffer", "16 KiB"),
          {.name = "virtual_channels",
           .meaning = "number for each port; auto: as many as the routing needs",
           .by_default = "auto",
           .least = 1,
           .most = 16,
           .words = {"auto"}},
          {.name = "switching",
           .meaning = "whether a switch forwards a packet as soon as it has the header, or the whole packet",
           .of = kind::choice,
           .by_default = "cut-through",
           .words = {"cut-through", "store-and-forward"}},
          {.name = "queues",
           .meaning =
               "model of a switch: explicit queues, or the faster fifo, which must be exact; auto: fifo if it is exact",
           .of = kind::choice,
           .by_default = "explicit",
           .words = {"explicit", "fifo", "auto"}}};
}

std::vector<key> routing_keys() {
  key bias = delay("bias", 0, "advantage that a detour must have, in waiting time times hops");
  bias.only = {{"algorithm", {"adaptive", "power-aware"}}};
  return {{.name = "algorithm",
           .meaning = "minimal: one shortest path for each pair; minimal-random: a random shortest path; valiant: "
                      "through a random switch; adaptive: the port that is free first, or a random detour; "
                      "power-aware: like adaptive, but avoids sleeping ports",
           .of = kind::choice,
           .by_default = "adaptive",
           .words = {"minimal", "minimal-random", "valiant", "adaptive", "power-aware"}},
          bias,
          {.name = "reluctance",
           .meaning = "number of wake-up times for which a sleeping port counts as busy",
           .of = kind::share,
           .by_default = 1,
           .most = 1e6,
           .only = {{"algorithm", {"power-aware"}}}}};
}

// Keys of the power modes, with those that choose a mode and a technology.
std::vector<key> keys_of_modes(const std::vector<power_mode>& modes) {
  key preset{.name = "preset", .meaning = "link technology that determines the defaults below", .of = kind::choice};
  for (const power_mode& m : modes) {
    if (m.presets.empty()) continue;
    preset.only["mode"].emplace_back(m.name);
    if (preset.words.empty())
      preset.otherwise = m.presets.front().name;
    else if (preset.otherwise.find(m.presets.front().name) == std::string::npos)
      preset.otherwise += fmt::format(", or {} with mode {}", m.presets.front().name, m.name);
    for (const std::string& name : names_in(m.presets))
      if (std::ranges::find(preset.words, name) == preset.words.end()) preset.words.push_back(name);
  }
  std::vector<key> keys{{.name = "mode",
                         .meaning = meanings_in("state of an idle link after hold", modes),
                         .of = kind::choice,
                         .words = names_in(modes)},
                        preset};
  append_keys_of(modes, "mode", keys);
  return keys;
}

std::vector<key> power_keys() {
  std::vector<key> keys = keys_of_modes({all_power_modes().begin(), all_power_modes().end()});
  keys.front().by_default = all_power_modes().front().name;
  keys.push_back(
      {.name = "link_watts",
       .meaning = "power of one active direction of a link; without it, results contain shares of power and no joules",
       .of = kind::power,
       .otherwise = "none",
       .above_least = true});
  return keys;
}

std::vector<key> sample_keys() {
  return {
      {.name = "units",
       .meaning = "number of units of each kind that are simulated and measured in a run of a program; the others are "
                  "left out, and the whole is estimated",
       .by_default = 1,
       .least = 1,
       .most = most_number},
      {.name = "cut",
       .meaning = "longest computing that is simulated; its time counts in full",
       .of = kind::time,
       .by_default = "30 ms",
       .most = longest_time,
       .above_least = true},
      {.name = "seed",
       .meaning =
           "seed of the choice of units, and of the times up to cut at which jobs that run together begin; several "
           "seeds show the error of sampling",
       .by_default = 1,
       .most = 0x1p63}};
}

// Of modes that let links sleep, whose savings without delays follow from the pauses of links.
std::vector<key> savings_keys() {
  const auto delays = [](const key& k) { return k.name == "wake_delays" || k.name == "bound"; };
  std::vector<power_mode> sleeping;
  for (const power_mode& m : all_power_modes())
    if (std::ranges::any_of(m.keys, delays)) sleeping.push_back(m);
  std::vector<key> keys = keys_of_modes(sleeping);
  keys.front().otherwise = "required";
  std::erase_if(keys, delays);
  return keys;
}

std::vector<key> job_keys() {
  const std::map<std::string, words> open{{"arrivals", {"poisson", "periodic", "bursty"}}};
  const std::map<std::string, words> closed{{"arrivals", {"closed"}}};
  words patterns;  // names of traffic patterns; the other workloads are programs, which have their own schedule
  words programs;
  for (const workload_entry& w : all_workloads()) (w.is_program ? programs : patterns).emplace_back(w.name);
  key compute = delay("compute", "100 us", "computing time before the messages of a round");
  compute.only = closed;
  std::vector<key> keys{
      {.name = "name", .meaning = "name of the job in tables", .of = kind::text, .otherwise = "job 1, job 2, ..."},
      {.name = "processes",
       .meaning = "number of processes, one on each node unless per_node is set",
       .otherwise = "as many as fit on the free nodes",
       .least = 2,
       .most = 2147483647},
      {.name = "mapping",
       .meaning = "nodes of the processes: the next free nodes, random free nodes, or a list",
       .by_default = "linear",
       .most = 2147483647,
       .words = {"linear", "random"},
       .list = true},
      {.name = "pattern",
       .meaning = meanings_in("which processes send to which", all_workloads()),
       .of = kind::choice,
       .by_default = all_workloads().front().name,
       .words = names_in(all_workloads()),
       .groups = {{"traffic patterns", patterns}, {"programs", programs}}},
      {.name = "arrivals",
       .meaning = "when messages are created; closed: rounds of computing, sending and waiting for all messages",
       .of = kind::choice,
       .by_default = "poisson",
       .words = {"poisson", "periodic", "bursty", "closed"},
       .only = {{"pattern", patterns}}},
      {.name = "load",
       .meaning = "rate of the bytes that a process creates, as a share of nic_bandwidth",
       .of = kind::share,
       .by_default = 0.5,
       .most = 1,
       .above_least = true,
       .only = open},
      {.name = "message",
       .meaning = "size of a message",
       .of = kind::size,
       .by_default = "16 KiB",
       .least = 1,
       .most = 2147483647,
       .only = {{"pattern", patterns}}},
      {.name = "messages",
       .meaning = "number that each process creates; 0: until end",
       .by_default = 100,
       .most = most_number,
       .only = open},
      delay("start", 0, "time at which the job begins"),
      {.name = "burst",
       .meaning = "mean length of a burst at full rate",
       .of = kind::time,
       .by_default = "10 us",
       .most = longest_time,
       .above_least = true,
       .only = {{"arrivals", {"bursty"}}}},
      {.name = "iterations", .meaning = "rounds", .by_default = 10, .least = 1, .most = most_number, .only = closed},
      compute};
  append_keys_of(all_workloads(), "pattern", keys);
  return keys;
}

// A condition that the words of `given` do not meet, of the key itself or of a key on which it depends.
struct unmet {
  std::string other;
  std::string word;  // its value
  words allowed;
};
std::optional<unmet> unmet_by(const key& k, std::span<const key> keys, const table& given) {
  for (const auto& [other, allowed] : k.only) {
    const key& selector = *find(keys, other);
    const value* current = find(given, other);
    const auto* word = (current == nullptr ? selector.by_default : *current).as<std::string>();
    if (word == nullptr || std::ranges::find(selector.words, *word) == selector.words.end()) continue;
    if (std::ranges::find(allowed, *word) == allowed.end()) return unmet{other, *word, allowed};
    if (auto deeper = unmet_by(selector, keys, given)) return deeper;
  }
  return std::nullopt;
}

// Whether the values of other keys let this one apply.
bool applies(const key& k, std::span<const key> keys, const auto& word_of) {
  return std::ranges::all_of(k.only, [&](const auto& condition) {
    const auto& [other, allowed] = condition;
    return std::ranges::find(allowed, word_of(*find(keys, other))) != allowed.end();
  });
}

// "2 Ts": a multiple of the value of another key of the table, which defines that unit.
value multiple(const key& k, const key* of, const std::string& written, const table& given, const position& at) {
  const auto refuse = [&] {
    at.mistake(k.name, fmt::format("is '{}'", written), "it must be a time such as \"1.1 us\" or \"2 Ts\"");
  };
  if (of == nullptr) refuse();
  const value* unit = find(given, of->name);
  const value length = checked(*of, unit == nullptr ? of->by_default : *unit, at);
  try {
    const double times =
        std::get<double>(parse(share_quantity, written.substr(0, written.size() - of->unit.size())).is);
    return checked(
        k, fmt::format("{} ps", std::llround(times * static_cast<double>(std::get<std::int64_t>(length.is)))), at);
  } catch (const not_a_quantity&) {
    refuse();
    throw;
  }
}

struct word_list {
  std::string text;
  std::size_t number;  // of words; a whole group counts as one
};

// "mode active or hybrid", "programs"; the key's groups come first.
word_list listed(const key& selector, words of) {
  words groups;
  for (const auto& [name, members] : selector.groups) {
    const auto has = [&of](const std::string& word) { return std::ranges::find(of, word) != of.end(); };
    if (!std::ranges::all_of(members, has)) continue;
    groups.push_back(name);
    for (const std::string& word : members) std::erase(of, word);
  }
  const std::size_t number = groups.size() + of.size();
  if (!of.empty()) groups.push_back(fmt::format("{} {}", selector.name, fmt::join(of, " or ")));
  return {fmt::format("{}", fmt::join(groups, " or ")), number};
}

}  // namespace

std::span<const section> all_sections() {
  static const std::vector<section> sections{
      {"", keys_above_all()},  {"topology", topology_keys()}, {"network", network_keys()}, {"routing", routing_keys()},
      {"power", power_keys()}, {"savings", savings_keys()},   {"sample", sample_keys()},   {"jobs", job_keys()}};
  return sections;
}

std::span<const key> keys_of(std::string_view section) {
  return std::ranges::find(all_sections(), section, [](const auto& s) { return std::string_view(s.name); })->keys;
}

std::string when_in_words(const key& k, std::span<const key> of_section) {
  std::string text;
  for (const auto& [other, at] : k.only) {
    const key& selector = *find(of_section, other);
    words excluded = selector.words;
    for (const std::string& word : at) std::erase(excluded, word);
    if (excluded.empty()) continue;
    const word_list with = listed(selector, at);
    const word_list without = listed(selector, excluded);
    const bool fewer = without.number < with.number;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", fewer ? "not with" : "only with",
                        fewer ? without.text : with.text);
  }
  return text;
}

const table& checked_keys(std::span<const key> keys, const value& given, const position& at) {
  const table* found = given.as<table>();
  if (found == nullptr) at.mistake("", fmt::format("is {}", shown(given)), "it must be a table");
  for (const auto& entry : *found)
    if (find(keys, entry.first) == nullptr)
      at.mistake(entry.first, "is not a key here", nearest(entry.first, names_of(keys)));
  for (const auto& [name, unused] : *found)
    if (const auto reason = unmet_by(*find(keys, name), keys, *found))
      at.mistake(name, fmt::format("does not apply with {} {}", reason->other, reason->word),
                 fmt::format("leave it out; it is for {}", fmt::join(reason->allowed, " or ")));
  return *found;
}

values checked_values(std::span<const key> keys, const table& given, const position& at) {
  values result;
  const auto word_of = [&](const key& selector) {
    const auto found = result.find(selector.name);
    return found == result.end() ? std::string() : plain(found->second);
  };
  for (const key& k : keys) {
    if (!applies(k, keys, word_of)) continue;
    const value* found = find(given, k.name);
    if (found == nullptr) {
      if (!k.same_as.empty())
        result[k.name] = result[k.same_as];
      else if (!k.by_default.none())
        result[k.name] = checked(k, k.by_default, at);
      continue;
    }
    const key* unit = k.unit_of.empty() ? nullptr : find(keys, k.unit_of);
    const auto* text = found->as<std::string>();
    const bool in_units = unit != nullptr && text != nullptr && text->ends_with(unit->unit);
    result[k.name] = in_units ? multiple(k, applies(*unit, keys, word_of) ? unit : nullptr, *text, given, at)
                              : checked(k, *found, at);
  }
  return result;
}

table as_written(std::span<const key> keys, const values& checked) {
  table result;
  for (const key& k : keys)
    if (const auto found = checked.find(k.name); found != checked.end())
      result.emplace_back(k.name, as_written(k, found->second));
  return result;
}

}  // namespace lull::netsim
