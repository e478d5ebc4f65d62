#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "bindings.hpp"
#include "model/machine_file.hpp"
#include "model/output.hpp"
#include "model/transfer.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace lull::python {
namespace {

using namespace lull::model;

using observation = std::tuple<double, double, double, double, double>;

std::vector<fitted_piece> fitted(const std::vector<std::vector<observation>>& rounds) {
  std::vector<std::vector<transfer_observation>> seen;
  for (const auto& round : rounds) {
    seen.emplace_back();
    for (const auto& [bytes, one_way, send, receive, gap] : round)
      seen.back().push_back(
          {.bytes = bytes, .one_way_ns = one_way, .send_ns = send, .receive_ns = receive, .gap_ns = gap});
  }
  if (seen.empty() || seen.front().empty())
    throw usage_error("fit a transport", "nothing was observed", "observe at least one size in one round");
  for (const auto& round : seen)
    if (round.size() != seen.front().size())
      throw usage_error("fit a transport", "rounds have different sizes", "observe the same in each");
  return fit_transfer(seen);
}

std::array<double, 8> values_of(const transfer_terms& t) {
  return {t.latency_ns,  t.send_ns,           t.receive_ns,       t.gap_ns,
          t.ns_per_byte, t.alone_ns_per_byte, t.send_ns_per_byte, t.receive_ns_per_byte};
}

output_costs storage_of(const std::vector<std::pair<int, double>>& seen) {
  std::vector<seen_rate> rates;
  for (const auto& [writers, bytes_per_s] : seen) rates.push_back({writers, bytes_per_s});
  if (rates.empty()) throw usage_error("learn what the storage gives", "no rate was seen", "measure one");
  output_costs costs;
  costs.writer_bytes_per_s = 0;
  learn_storage(rates, costs);
  return costs;
}

}  // namespace

void bind_model(nb::module_& m) {
  nb::class_<fitted_piece>(m, "FittedPiece", "The terms of LogGP for messages from a size on.")
      .def_ro("from_bytes", &fitted_piece::from_bytes)
      .def_ro("worst_error", &fitted_piece::worst_error)
      .def_prop_ro("terms", [](const fitted_piece& one) { return values_of(one.terms); })
      .def_prop_ro("low", [](const fitted_piece& one) { return values_of(one.low); })
      .def_prop_ro("high", [](const fitted_piece& one) { return values_of(one.high); });
  m.def("fit_transfer", fitted, "rounds"_a);
  nb::class_<output_costs>(m, "StorageRates", "What a storage gives to those who write.")
      .def_ro("bytes_per_s", &output_costs::storage_bytes_per_s)
      .def_ro("writer_bytes_per_s", &output_costs::writer_bytes_per_s)
      .def_ro("writers_at_half_speed", &output_costs::writers_at_half_speed);
  m.def("storage_of", storage_of, "seen"_a);
  m.def("machine_file_of_this_host", machine_file_of_this_host);
}

}  // namespace lull::python
