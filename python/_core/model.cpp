#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "bindings.hpp"
#include "model/choices/choice.hpp"
#include "model/choices/wait_price.hpp"
#include "model/costs/output.hpp"
#include "model/costs/transfer.hpp"
#include "model/machine/constants.hpp"
#include "model/machine/machine_file.hpp"
#include "text.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace lull::python {
namespace {

using namespace lull::model;

using observation = std::tuple<double, double, double, double, double>;

std::vector<fitted_piece> fitted(const std::vector<std::vector<observation>>& rounds) {
  std::vector<std::vector<transfer_observation>> seen;
  for (const auto& round : rounds) {
    seen.emplace_back().reserve(round.size());
    for (const auto& [bytes, one_way, send, receive, gap] : round)
      seen.back().push_back(
          {.bytes = bytes, .one_way_ns = one_way, .send_ns = send, .receive_ns = receive, .gap_ns = gap});
  }
  if (seen.empty() || seen.front().empty())
    throw usage_error("fit a transport", "nothing was observed", "observe at least one size in one round");
  for (const auto& round : seen)
    if (round.size() != seen.front().size())
      throw usage_error("fit a transport", "rounds have different sizes", "observe the same sizes in each round");
  return fit_transfer(seen);
}

std::array<double, 8> values_of(const transfer_terms& t) {
  return {t.latency_ns,  t.send_ns,           t.receive_ns,       t.gap_ns,
          t.ns_per_byte, t.alone_ns_per_byte, t.send_ns_per_byte, t.receive_ns_per_byte};
}

transfer_pieces as_pieces(const std::vector<std::pair<double, std::array<double, 8>>>& from) {
  if (from.empty())
    throw usage_error("predict the cost of a message", "its transport has no pieces", "give at least one");
  transfer_pieces pieces;
  pieces.reserve(from.size());
  for (const auto& [from_bytes, t] : from)
    pieces.push_back({from_bytes, {t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7]}});
  return pieces;
}

output_costs storage_of(const std::vector<std::pair<int, double>>& seen) {
  std::vector<seen_rate> rates;
  rates.reserve(seen.size());
  for (const auto& [writers, bytes_per_s] : seen) rates.push_back({writers, bytes_per_s});
  if (rates.empty())
    throw usage_error("determine the bandwidth of the storage", "no rate was observed", "measure at least one");
  output_costs costs;
  costs.writer_bytes_per_s = 0;
  learn_storage(rates, costs);
  return costs;
}

using band = std::tuple<double, double, double>;  // low, mid, high
using measured_length = std::tuple<double, band, band>;

interval as_interval(const band& b) { return {std::get<0>(b), std::get<1>(b), std::get<2>(b)}; }
band as_band(const interval& i) { return {i.low, i.mid, i.high}; }
cost as_cost(const std::pair<band, band>& of) { return {as_interval(of.first), as_interval(of.second)}; }

std::vector<measured_wait> as_waits(const std::vector<measured_length>& measured) {
  std::vector<measured_wait> waits;
  waits.reserve(measured.size());
  for (const auto& [length, late, cpu] : measured) waits.push_back({length, as_interval(late), as_interval(cpu)});
  if (waits.empty())
    throw usage_error("determine the cost of waits", "no waits were measured", "measure them with lull calibrate");
  return waits;
}

std::pair<band, band> policy_change(const std::vector<std::pair<double, double>>& seen,
                                    const std::vector<measured_length>& present,
                                    const std::vector<measured_length>& other, double processes, double nodes,
                                    const band& idle_watts, const band& watts_of_core) {
  std::vector<seen_waits> waits;
  waits.reserve(seen.size());
  for (const auto& [count, waited_ns] : seen) waits.push_back({count, waited_ns});
  const cost found = change_of_policy(waits, as_waits(present), as_waits(other),
                                      {.processes = processes,
                                       .nodes = nodes,
                                       .idle_watts = as_interval(idle_watts),
                                       .watts_of_core = as_interval(watts_of_core)});
  return {as_band(found.seconds), as_band(found.joules)};
}

aim aim_of(const std::string& name, double slowdown) {
  if (name == "time") return {objective::time, 0};
  if (name == "energy") return slowdown < 0 ? aim{objective::energy, 0} : aim{objective::energy_within, slowdown};
  if (name == "edp") return {objective::edp, 0};
  throw usage_error("choose by " + name, "there is no such objective", "choose time, energy or edp");
}

const char* judged(const std::pair<band, band>& present, const std::pair<band, band>& change, const std::string& name,
                   double slowdown, double least_gain) {
  switch (judge(as_cost(present), as_cost(change), aim_of(name, slowdown), least_gain)) {
    case verdict::better:
      return "better";
    case verdict::no_better:
      return "no better";
    case verdict::unsure:
      return "unsure";
    case verdict::too_slow:
      break;
  }
  return "too slow";
}

// For the [constants] of a machine file; empty: there is no problem.
std::string problem_of_constants(const std::vector<std::pair<std::string, double>>& given) {
  machine known;
  for (const auto& [name, value] : given) {
    if (std::string problem = problem_of_constant(name, value); !problem.empty()) return problem;
    find_constant(name)->set(known, value);
  }
  return contradiction_in(known);
}

double constant_here(const std::string& name) {
  const constant* const row = find_constant(name);
  if (!row)
    throw usage_error("look up a constant", problem_of_constant(name, 0),
                      "docs/reference/constants.md lists the constants");
  return row->get(this_machine());
}

void bind_constants(nb::module_& m) {
  nb::class_<constant>(m, "Constant", "One row of the table of a machine's constants.")
      .def_ro("name", &constant::name)
      .def_ro("whole", &constant::whole)
      .def_prop_ro("default", [](const constant& one) { return one.get({}); })
      .def_prop_ro("least", [](const constant& one) { return one.range.least; })
      .def_prop_ro("most", [](const constant& one) { return one.range.most; })
      .def_ro("unit", &constant::unit)
      .def_ro("meaning", &constant::meaning)
      .def_prop_ro("origin", [](const constant& one) { return one.from == origin::measured ? "measured" : "chosen"; })
      .def_ro("because", &constant::because)
      .def_prop_ro("figure", [](const constant& one) { return one.by.figure; })
      .def_prop_ro("unmeasured", [](const constant& one) { return one.by.unmeasured; });
  m.def("constants", [] { return std::vector<constant>(all_constants().begin(), all_constants().end()); });
  m.def("problem_of_constants", problem_of_constants, "given"_a);
  m.def("constant_here", constant_here, "name"_a);
}

}  // namespace

void bind_model(nb::module_& m) {
  bind_constants(m);
  nb::class_<fitted_piece>(m, "FittedPiece", "The terms of LogGP for messages from a size on.")
      .def_ro("from_bytes", &fitted_piece::from_bytes)
      .def_ro("worst_error", &fitted_piece::worst_error)
      .def_prop_ro("terms", [](const fitted_piece& one) { return values_of(one.terms); })
      .def_prop_ro("low", [](const fitted_piece& one) { return values_of(one.low); })
      .def_prop_ro("high", [](const fitted_piece& one) { return values_of(one.high); });
  m.def("fit_transfer", fitted, "rounds"_a);
  m.def(
      "stream_ns",
      [](const std::vector<std::pair<double, std::array<double, 8>>>& pieces, double bytes, double messages) {
        return stream_ns(as_pieces(pieces), bytes, messages);
      },
      "pieces"_a, "bytes"_a, "messages"_a);
  nb::class_<output_costs>(m, "StorageRates", "The bandwidth of a storage for its writers.")
      .def_ro("bytes_per_s", &output_costs::storage_bytes_per_s)
      .def_ro("writer_bytes_per_s", &output_costs::writer_bytes_per_s)
      .def_ro("writers_at_half_speed", &output_costs::writers_at_half_speed);
  m.def("storage_of", storage_of, "seen"_a);
  m.def("policy_change", policy_change, "seen"_a, "present"_a, "other"_a, "processes"_a, "nodes"_a, "idle_watts"_a,
        "watts_of_core"_a);
  m.def("judge", judged, "present"_a, "change"_a, "objective"_a, "slowdown"_a, "least_gain"_a);
  m.def(
      "gain_of",
      [](const std::pair<band, band>& present, const std::pair<band, band>& change, const std::string& name) {
        return as_band(gain_of(as_cost(present), as_cost(change), aim_of(name, -1)));
      },
      "present"_a, "change"_a, "objective"_a);
  m.def("machine_file_of_this_host", machine_file_of_this_host);
}

}  // namespace lull::python
