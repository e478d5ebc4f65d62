#include "netsim_description.hpp"

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace lull::python {
namespace {

using nlohmann::json;

template <class E, std::size_t N>
using names = std::array<std::pair<std::string_view, E>, N>;

constexpr names<netsim::algorithm, 5> algorithms{{{"minimal", netsim::algorithm::minimal},
                                                  {"minimal-random", netsim::algorithm::minimal_random},
                                                  {"valiant", netsim::algorithm::valiant},
                                                  {"adaptive", netsim::algorithm::adaptive},
                                                  {"power-aware", netsim::algorithm::power_aware}}};
constexpr names<netsim::power_mode, 5> power_modes{{{"active", netsim::power_mode::active},
                                                    {"deep-sleep", netsim::power_mode::deep_sleep},
                                                    {"fast-wake", netsim::power_mode::fast_wake},
                                                    {"hybrid", netsim::power_mode::hybrid},
                                                    {"adaptive-rate", netsim::power_mode::adaptive_rate}}};
constexpr names<netsim::pattern, 7> patterns{{{"uniform", netsim::pattern::uniform},
                                              {"permutation", netsim::pattern::permutation},
                                              {"neighbours-2d", netsim::pattern::neighbours_2d},
                                              {"neighbours-3d", netsim::pattern::neighbours_3d},
                                              {"all-to-all", netsim::pattern::all_to_all},
                                              {"incast", netsim::pattern::incast},
                                              {"hot-spot", netsim::pattern::hot_spot}}};
constexpr names<netsim::arrivals, 4> arrival_processes{{{"poisson", netsim::arrivals::poisson},
                                                        {"periodic", netsim::arrivals::periodic},
                                                        {"bursty", netsim::arrivals::bursty},
                                                        {"closed", netsim::arrivals::closed}}};
using queue_model = netsim::network_parameters::queue_model;
constexpr names<queue_model, 3> queue_models{
    {{"auto", queue_model::automatic}, {"explicit", queue_model::explicit_queues}, {"fifo", queue_model::fifo}}};

// The fields of one object. Each is read once; `end` finds those that nobody read.
class fields {
 public:
  explicit fields(const json& object) : object_(object) {}

  const json& at(const char* name) {
    read_.insert(name);
    const auto found = object_.find(name);
    if (found == object_.end()) throw std::invalid_argument(std::string("no field ") + name);
    return *found;
  }
  template <class T>
  void read(const char* name, T& into) {
    at(name).get_to(into);
  }
  template <class E, std::size_t N>
  void read(const char* name, E& into, const names<E, N>& known) {
    const auto given = at(name).get<std::string>();
    for (const auto& [word, value] : known)
      if (word == given) {
        into = value;
        return;
      }
    throw std::invalid_argument(std::string(name) + " is no " + given);
  }
  void end() const {
    for (const auto& [name, value] : object_.items())
      if (!read_.contains(name)) throw std::invalid_argument("unknown field " + name);
  }

 private:
  const json& object_;
  std::set<std::string, std::less<>> read_;
};

netsim::network_parameters read_network(const json& object) {
  netsim::network_parameters n;
  fields f(object);
  f.read("packet", n.packet);
  f.read("bandwidth", n.bandwidth);
  f.read("nic_bandwidth", n.nic_bandwidth);
  f.read("cable_delay", n.cable_delay);
  f.read("switch_delay", n.switch_delay);
  f.read("nic_delay", n.nic_delay);
  f.read("credit_delay", n.credit_delay);
  f.read("input_buffer", n.input_buffer);
  f.read("output_buffer", n.output_buffer);
  f.read("virtual_channels", n.virtual_channels);
  f.read("cut_through", n.cut_through);
  f.read("queues", n.queues, queue_models);
  f.end();
  return n;
}

netsim::routing_parameters read_routing(const json& object) {
  netsim::routing_parameters r;
  fields f(object);
  f.read("algorithm", r.algorithm, algorithms);
  f.read("bias", r.bias);
  f.read("reluctance", r.reluctance);
  f.end();
  return r;
}

netsim::power_parameters read_power(const json& object) {
  netsim::power_parameters p;
  fields f(object);
  f.read("mode", p.mode, power_modes);
  f.read("hold", p.hold);
  f.read("hybrid_hold", p.hybrid_hold);
  f.read("sleep_time", p.sleep_time);
  f.read("wake_deep", p.wake_deep);
  f.read("wake_fast", p.wake_fast);
  f.read("quiet_time", p.quiet_time);
  f.read("refresh_time", p.refresh_time);
  f.read("deep_share", p.deep_share);
  f.read("fast_share", p.fast_share);
  f.read("wake_delays", p.wake_delays);
  f.read("bound", p.bound);
  f.read("slow_rate", p.slow_rate);
  f.read("slow_share", p.slow_share);
  f.read("rate_change", p.rate_change);
  f.read("raise_backlog", p.raise_backlog);
  f.read("link_watts", p.link_watts);
  f.end();
  return p;
}

netsim::job read_job(const json& object) {
  netsim::job j;
  fields f(object);
  f.read("name", j.name);
  f.read("nodes", j.nodes);
  f.read("pattern", j.pattern, patterns);
  f.read("arrivals", j.arrivals, arrival_processes);
  f.read("load", j.load);
  f.read("message", j.message);
  f.read("messages", j.messages);
  f.read("start", j.start);
  f.read("burst", j.burst);
  f.read("iterations", j.iterations);
  f.read("compute", j.compute);
  f.read("hot_share", j.hot_share);
  f.read("targets", j.targets);
  f.read("grid", j.grid);
  f.end();
  return j;
}

}  // namespace

netsim::simulation read_simulation(const std::string& text) {
  const json object = json::parse(text);
  netsim::simulation s;
  fields f(object);
  f.read("seed", s.seed);
  f.read("topology", s.topology);
  f.read("parameters", s.parameters);
  s.network = read_network(f.at("network"));
  s.routing = read_routing(f.at("routing"));
  s.power = read_power(f.at("power"));
  for (const json& job : f.at("jobs")) s.jobs.push_back(read_job(job));
  if (const json& end = f.at("end"); !end.is_null()) end.get_to(s.end);
  f.read("warmup", s.warmup);
  f.end();
  return s;
}

}  // namespace lull::python
