#include "netsim/description/description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "netsim/counted.hpp"
#include "netsim/description/sections.hpp"
#include "netsim/memory.hpp"
#include "netsim/network/traffic.hpp"
#include "netsim/power/pauses.hpp"

namespace lull::netsim {
namespace {

// What the word of key `name` stands for.
template <class E, std::size_t N>
E chosen(const reader& from, const char* name, const std::array<std::pair<const char*, E>, N>& known) {
  const std::string word = from.word(name);
  return std::ranges::find_if(known, [&](const auto& one) { return word == one.first; })->second;
}

network_parameters network_of(const reader& from) {
  using model = network_parameters::queue_model;
  static constexpr std::array<std::pair<const char*, model>, 3> models{
      {{"explicit", model::explicit_queues}, {"fifo", model::fifo}, {"auto", model::automatic}}};
  return {.packet = from.whole("packet"),
          .bandwidth = from.real("bandwidth"),
          .nic_bandwidth = from.real("nic_bandwidth"),
          .cable_delay = from.whole("cable_delay"),
          .switch_delay = from.whole("switch_delay"),
          .nic_delay = from.whole("nic_delay"),
          .credit_delay = from.whole("credit_delay"),
          .input_buffer = from.whole("input_buffer"),
          .output_buffer = from.whole("output_buffer"),
          .virtual_channels = static_cast<unsigned>(from.whole("virtual_channels")),
          .cut_through = from.word("switching") == "cut-through",
          .memory_delay = from.whole("memory_delay"),
          .memory_bandwidth = from.real("memory_bandwidth"),
          .queues = chosen(from, "queues", models)};
}

routing_parameters routing_of(const reader& from) {
  static constexpr std::array<std::pair<const char*, algorithm>, 5> algorithms{
      {{"minimal", algorithm::minimal},
       {"minimal-random", algorithm::minimal_random},
       {"valiant", algorithm::valiant},
       {"adaptive", algorithm::adaptive},
       {"power-aware", algorithm::power_aware}}};
  return {.algorithm = chosen(from, "algorithm", algorithms),
          .bias = from.whole("bias"),
          .reluctance = from.real("reluctance")};
}

// The values that belong to the row.
values own_of(const std::vector<key>& keys, const values& all) {
  values own;
  for (const key& k : keys)
    if (const auto found = all.find(k.name); found != all.end()) own.insert(*found);
  return own;
}

job job_of(const values& given) {
  static constexpr std::array<std::pair<const char*, arrivals>, 4> kinds{{{"poisson", arrivals::poisson},
                                                                          {"periodic", arrivals::periodic},
                                                                          {"bursty", arrivals::bursty},
                                                                          {"closed", arrivals::closed}}};
  const reader from(keys_of("jobs"), given);
  const std::string pattern = from.word("pattern");
  return {.name = from.word("name"),
          .nodes = {},
          .pattern = pattern,
          .own = own_of(find_workload(pattern).keys, given),
          .arrivals = chosen(from, "arrivals", kinds),
          .load = from.real("load"),
          .message = from.whole("message"),
          .messages = from.whole("messages"),
          .start = from.whole("start"),
          .burst = from.whole("burst"),
          .iterations = from.whole("iterations"),
          .compute = from.whole("compute")};
}

placement placement_of(const values& given, const position& at) {
  placement result;
  if (const auto found = given.find("processes"); found != given.end())
    result.processes = std::get<std::int64_t>(found->second.is);
  if (const auto found = given.find("per_node"); found != given.end())
    result.per_node = std::get<std::int64_t>(found->second.is);
  const value& mapping = given.at("mapping");
  if (const auto* word = mapping.as<std::string>()) {
    result.mapping = *word;
    return result;
  }
  for (const std::int64_t node : numbers_of(mapping)) result.nodes.push_back(static_cast<std::uint32_t>(node));
  const std::size_t listed = result.nodes.size();
  if (std::set(result.nodes.begin(), result.nodes.end()).size() != listed)
    at.mistake("mapping", "contains a node twice", "list each node once");
  const std::int64_t held = static_cast<std::int64_t>(listed) * result.per_node;
  if (result.processes && (*result.processes > held || *result.processes <= held - result.per_node))
    at.mistake("processes",
               fmt::format("is {}, but mapping lists {}{}", *result.processes, counted(listed, "node"),
                           result.per_node > 1 ? fmt::format(", with {} processes on each", result.per_node) : ""),
               "leave it out, or make the two agree");
  return result;
}

// Adds what the preset of the mode gives and the file does not set. Leaves alone what the check of the keys will
// reject.
table with_preset(const table& given, const position& at) {
  const value* mode_given = find(given, "mode");
  const std::string mode_name = mode_given == nullptr ? all_power_modes().front().name : plain(*mode_given);
  const auto mode =
      std::ranges::find(all_power_modes(), mode_name, [](const power_mode& m) { return std::string(m.name); });
  if (mode == all_power_modes().end() || mode->presets.empty()) return given;
  const value* asked = find(given, "preset");
  const std::string name = asked == nullptr ? mode->presets.front().name : plain(*asked);
  if (std::ranges::find(find(keys_of("power"), "preset")->words, name) == find(keys_of("power"), "preset")->words.end())
    return given;
  const auto named = [&](const power_preset& p) { return name == p.name; };
  const auto preset = std::ranges::find_if(mode->presets, named);
  if (preset == mode->presets.end()) {
    std::vector<std::string> modes;
    for (const power_mode& m : all_power_modes())
      if (std::ranges::any_of(m.presets, named)) modes.emplace_back(m.name);
    at.mistake("preset", fmt::format("{} does not support the mode {}", name, mode_name),
               fmt::format("it is for {}", fmt::join(modes, " or ")));
  }
  for (const std::string& needed : preset->must_be_given)
    if (find(given, needed) == nullptr)
      at.mistake(needed, "is missing",
                 fmt::format("{} has no default, because the value differs between interfaces: set it", name));
  table filled = given;
  if (asked == nullptr) filled.emplace_back("preset", name);
  for (const auto& [key, value] : preset->values)
    if (find(mode->keys, key) != nullptr && find(given, key) == nullptr) filled.emplace_back(key, value);
  return filled;
}

value written(const network_choice& network) {
  table result{{"name", network.name}};
  for (const key& k : find_topology(network.name).keys) {
    const std::vector<std::int64_t>& numbers = network.parameters.at(k.name);
    result.emplace_back(k.name, k.list || numbers.size() != 1 ? list_of(numbers) : value(numbers.front()));
  }
  return result;
}

// The list of jobs; checks that the required tables are there before any of them is read.
const list& jobs_of(const table& content, const position& at) {
  const value* jobs = find(content, "jobs");
  if (jobs == nullptr || *jobs == value(list{}))
    at.mistake("jobs", "is missing", "describe at least one job, as [[jobs]]");
  if (jobs->as<list>() == nullptr) at.mistake("jobs", "is not a list of tables", "begin each job with [[jobs]]");
  if (find(content, "topology") == nullptr)
    at.mistake("topology", "is missing", "set a preset or a topology; lull topology lists them");
  return *jobs->as<list>();
}

// The entries of [[savings]] with their defaults.
std::vector<values> read_savings(const value& given, const position& at) {
  const std::span<const key> keys = keys_of("savings");
  const list* entries = given.as<list>();
  if (entries == nullptr) at.mistake("", "is not a list of tables", "begin each power mode with [[savings]]");
  if (entries->size() > pauses::most_policies)
    at.mistake("", fmt::format("has {} power modes", entries->size()),
               fmt::format("at most {} can be computed in one run", pauses::most_policies));
  std::vector<values> found;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const position here = at.in(std::to_string(i));
    const table entry = checked_keys(keys, (*entries)[i], here);
    if (find(entry, "mode") == nullptr)
      here.mistake("mode", "is missing", fmt::format("set one of {}", fmt::join(find(keys, "mode")->words, ", ")));
    found.push_back(checked_values(keys, with_preset(entry, here), here));
  }
  return found;
}

// A job that names a trace or a GOAL file gets the pattern that replays it.
value with_pattern(const value& job) {
  const table* given = job.as<table>();
  if (given == nullptr || find(*given, "pattern") != nullptr) return job;
  for (const char* name : {"trace", "goal"}) {
    if (find(*given, name) == nullptr) continue;
    table filled = *given;
    filled.emplace_back("pattern", name);
    return filled;
  }
  return job;
}

// A job that sets neither its number of processes nor their nodes gets the number of its program, if that knows it.
void fill_processes(values& job) {
  const std::string name = plain(job.at("pattern"));
  const workload_entry& pattern = find_workload(name);
  const auto* mapping = job.at("mapping").as<std::string>();
  if (pattern.processes == nullptr || mapping == nullptr || job.contains("processes")) return;
  if (const auto processes = pattern.processes(own_of(pattern.keys, job))) job["processes"] = *processes;
}

// A table that may be missing.
value section_of(const table& content, const char* name) {
  const value* found = find(content, name);
  return found == nullptr ? value(table{}) : *found;
}

}  // namespace

network_choice read_network_choice(const value& content, const position& at) {
  const table* given = content.as<table>();
  if (given == nullptr)
    at.mistake("", fmt::format("is {}", shown(content)), "it must be a table, such as { preset = \"fat-tree-4608\" }");
  const value* preset = find(*given, "preset");
  const value* name = find(*given, "name");
  if (preset != nullptr && name != nullptr)
    at.mistake("preset", "cannot be combined with topology.name", "set one of them");
  const auto word = [&](const char* key_name, const value& v) {
    const key& k = *find(keys_of("topology"), key_name);
    const auto* text = v.as<std::string>();
    if (text == nullptr || std::ranges::find(k.words, *text) == k.words.end())
      at.mistake(
          key_name, fmt::format("is {}", shown(v)),
          text != nullptr ? nearest(*text, k.words) : fmt::format("it must be one of {}", fmt::join(k.words, ", ")));
    return *text;
  };
  network_choice result;
  if (preset != nullptr) {
    result.preset = word("preset", *preset);
    for (const preset_of& p : all_presets())
      if (result.preset == p.is->name) {
        result.name = p.of->name;
        result.parameters = p.is->parameters;
      }
  } else {
    if (name == nullptr)
      at.mistake(
          "name", "is missing",
          fmt::format("set a topology ({}) or a preset", fmt::join(find(keys_of("topology"), "name")->words, ", ")));
    result.name = word("name", *name);
  }
  const std::vector<key>& keys = find_topology(result.name).keys;
  for (const auto& [key_name, v] : *given) {
    if (key_name == "preset" || key_name == "name") continue;
    const key* k = find(keys, key_name);
    if (k == nullptr)
      at.mistake(key_name, fmt::format("is not a parameter of {}", result.name), nearest(key_name, names_of(keys)));
    result.parameters[key_name] = numbers_of(checked(*k, v, at));
  }
  for (const key& k : keys) result.parameters.try_emplace(k.name, numbers_of(k.by_default));
  return result;
}

description read_description(const value& content, const std::string& asked) {
  const position top{asked};
  const std::span<const key> own = keys_of("");
  std::vector<std::string> known = names_of(own);
  for (const section& s : all_sections())
    if (!s.name.empty()) known.push_back(s.name);
  const table* given = content.as<table>();
  if (given == nullptr) top.mistake("", "it is not a table", "write tables such as [topology]");
  table above;  // the keys above all tables
  for (const auto& entry : *given) {
    if (std::ranges::find(known, entry.first) == known.end())
      top.mistake(entry.first, "is not a key here", nearest(entry.first, known));
    if (find(own, entry.first) != nullptr) above.push_back(entry);
  }
  const list& jobs = jobs_of(*given, top);

  description d;
  simulation& s = d.asked;
  s.source = asked;
  const values whole = checked_values(own, above, top);
  const reader from(own, whole);
  s.seed = static_cast<std::uint64_t>(from.whole("seed"));
  if (from.has("end")) s.end = from.whole("end");
  s.warmup = from.whole("warmup");
  s.together = from.flag("together");
  if (from.has("tolerance")) s.tolerance = from.real("tolerance");
  if (from.has("threads")) s.threads = static_cast<unsigned>(from.whole("threads"));
  d.network = read_network_choice(*find(*given, "topology"), top.in("topology"));
  s.topology = d.network.name;
  s.parameters = d.network.parameters;
  d.content = as_written(own, whole);
  d.content.emplace_back("topology", written(d.network));

  const auto read = [&](const char* name, auto fill) {
    const std::span<const key> keys = keys_of(name);
    const position at = top.in(name);
    values found = checked_values(keys, fill(checked_keys(keys, section_of(*given, name), at), at), at);
    d.content.emplace_back(name, as_written(keys, found));
    return found;
  };
  const auto as_it_is = [](const table& t, const position& /*at*/) { return t; };
  s.network = network_of(reader(keys_of("network"), read("network", as_it_is)));
  s.routing = routing_of(reader(keys_of("routing"), read("routing", as_it_is)));
  const values power = read("power", with_preset);
  s.power.mode = plain(power.at("mode"));
  s.power.own = own_of(find_power_mode(s.power.mode).keys, power);
  if (const auto watts = power.find("link_watts"); watts != power.end())
    d.link_watts = std::get<double>(watts->second.is);

  if (const value* savings = find(*given, "savings")) {
    const position at = top.in("savings");
    list written_savings;
    for (const values& found : read_savings(*savings, at)) {
      const std::string mode = plain(found.at("mode"));
      s.savings.push_back({mode, own_of(find_power_mode(mode).keys, found)});
      s.savings.back().own["wake_delays"] = false;
      written_savings.emplace_back(as_written(keys_of("savings"), found));
    }
    if (!s.savings.empty() && s.routing.algorithm == algorithm::power_aware)
      top.mistake("savings",
                  "cannot be computed with routing.algorithm power-aware, since paths depend on the power mode",
                  "leave them out, or choose another algorithm");
    if (!written_savings.empty()) d.content.emplace_back("savings", std::move(written_savings));
  }

  if (find(*given, "sample") != nullptr) {
    const values found = read("sample", as_it_is);
    const reader sample(keys_of("sample"), found);
    s.sample = {.units = sample.whole("units"),
                .cut = sample.whole("cut"),
                .seed = static_cast<std::uint64_t>(sample.whole("seed"))};
  }

  list written_jobs;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const position at = top.in("jobs").in(std::to_string(i));
    table job = checked_keys(keys_of("jobs"), with_pattern(jobs[i]), at);
    if (find(job, "name") == nullptr) job.emplace_back("name", fmt::format("job {}", i + 1));
    values found = checked_values(keys_of("jobs"), job, at);
    fill_processes(found);
    d.placements.push_back(placement_of(found, at));
    s.jobs.push_back(job_of(found));
    written_jobs.emplace_back(as_written(keys_of("jobs"), found));
    const auto same_name = [&](const netsim::job& other) { return other.name == s.jobs.back().name; };
    if (s.jobs.back().name.empty() || std::ranges::count_if(s.jobs, same_name) > 1)
      at.mistake("name", fmt::format("is '{}'", s.jobs.back().name), "give each job a different name");
    if (found.contains("messages") && s.jobs.back().messages == 0 && s.end == never)
      at.mistake("messages", "is 0, but end is not set", "set end, or a number of messages");
  }
  d.content.emplace_back("jobs", std::move(written_jobs));
  if (s.together && std::ranges::none_of(s.jobs, [](const job& j) { return find_workload(j.pattern).is_program; }))
    top.mistake("together", "is true, but no job is a program", "leave it out, or set end");
  if (s.end != never && s.warmup >= s.end) top.mistake("warmup", "is not before end", "make it shorter");
  return d;
}

simulation placed(const description& d, const std::vector<std::vector<std::uint32_t>>& nodes) {
  return within_memory("place the jobs", [&] {
    simulation s = d.asked;
    for (std::size_t i = 0; i < s.jobs.size(); ++i) s.jobs[i].nodes = nodes.at(i);
    (void)traffic(s, find_topology(s.topology).build(s.parameters)->nodes());
    return s;
  });
}

}  // namespace lull::netsim
