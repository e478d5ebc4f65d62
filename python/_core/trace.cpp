#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "interpreter_lock.hpp"
#include "text.hpp"
#ifdef LULL_WITH_OTF2
#include "trace/analysis.hpp"
#include "trace/archive/archive_reader.hpp"
#include "trace/archive/archive_writer.hpp"
#include "trace/functions.hpp"
#include "trace/merging/merged_writer.hpp"
#endif

namespace nb = nanobind;
using namespace nb::literals;

namespace lull::python {

#ifndef LULL_WITH_OTF2
void bind_trace(nb::module_& m) { m.attr("HAS_OTF2") = false; }
#else

namespace {

using trace::analysis;
using trace::definitions;

// The contents of a trace and its analysis, to which columns refer.
struct analysed {
  definitions all;
  analysis found;
  std::vector<std::string> remarks;
};

template <class T>
nb::ndarray<nb::numpy, const T> view(const std::vector<T>& values, std::initializer_list<std::size_t> shape,
                                     nb::handle owner) {
  return {values.data(), shape, owner};
}

// A copy of one number of each row, as a numpy array.
template <class T, class Rows, class Get>
nb::ndarray<nb::numpy, T> column(const Rows& rows, std::size_t width, Get get) {
  auto made = std::make_unique<std::vector<T>>();
  made->reserve(rows.size() * width);
  for (const auto& row : rows) get(row, *made);
  std::vector<T>* const values = made.release();  // owned by the capsule from here on
  const nb::capsule owner(values, [](void* p) noexcept {
    const std::unique_ptr<std::vector<T>> given_back(static_cast<std::vector<T>*>(p));
  });
  if (width == 1) return {values->data(), {values->size()}, owner};
  return {values->data(), {rows.size(), width}, owner};
}

template <class Row, class Number>
auto column_of(std::vector<Row> analysis::*rows, Number Row::*member) {
  return [rows, member](const analysed& a) {
    return column<Number>(a.found.*rows, 1,
                          [member](const Row& r, std::vector<Number>& to) { to.push_back(r.*member); });
  };
}

// Called without Python's lock, in any thread; a signal handler that raises (Ctrl-C) ends the work with that exception.
template <class Done>
auto shown_by(const std::optional<nb::callable>& callback) {
  return [&callback](Done done, Done all) {
    const locked with_lock;
    if (!callback) return PyErr_CheckSignals() == 0 || (throw nb::python_error(), false);
    return nb::cast<bool>((*callback)(done, all));
  };
}

trace::conversion convert(const std::string& raw, const std::string& into,
                          const std::optional<nb::callable>& progress) {
  const auto shown = shown_by<std::uint64_t>(progress);
  const unlocked without_lock;
  return trace::write_archive(raw, into, shown);
}

trace::merging::merged merge(const std::string& raw, const std::string& file,
                             const std::optional<nb::callable>& progress) {
  const auto shown = shown_by<std::uint64_t>(progress);
  const unlocked without_lock;
  return trace::merging::merge_recordings(raw, file, shown);
}

analysed analyse(const std::string& path, std::size_t bins, const std::optional<nb::callable>& progress) {
  const auto shown = shown_by<std::uint64_t>(progress);
  const unlocked without_lock;
  trace::archive_reader archive(path);
  archive.open();
  trace::analyser visitor(archive.all(), bins);
  archive.read(visitor, shown);
  return {archive.all(), visitor.result(), archive.remarks()};
}

}  // namespace

void bind_trace(nb::module_& m) {
  using trace::conversion;
  m.attr("HAS_OTF2") = true;
  nb::class_<conversion>(m, "TraceConversion", "The result of converting the records of a run.")
      .def_ro("records", &conversion::records)
      .def_ro("events", &conversion::events)
      .def_ro("processes", &conversion::processes)
      .def_ro("hosts", &conversion::hosts)
      .def_ro("crossings", &conversion::crossings)
      .def_ro("too_early", &conversion::too_early)
      .def_ro("remarks", &conversion::remarks);
  using trace::merging::merged;
  nb::class_<merged>(m, "TraceMerging", "The result of merging the recordings of a run.")
      .def_ro("recordings", &merged::recordings)
      .def_ro("logs", &merged::logs)
      .def_ro("classes", &merged::classes)
      .def_ro("records", &merged::records)
      .def_ro("bytes", &merged::bytes)
      .def_ro("call_bytes", &merged::call_bytes)
      .def_ro("remarks", &merged::remarks);
  nb::class_<definitions::process>(m, "TraceProcess", "One process of a trace.")
      .def_ro("name", &definitions::process::name)
      .def_ro("host", &definitions::process::host)
      .def_ro("paradigm", &definitions::process::paradigm)
      .def_ro("rank", &definitions::process::rank);
  nb::class_<definitions::region>(m, "TraceRegion", "One function or region of a trace.")
      .def_ro("name", &definitions::region::name)
      .def_ro("paradigm", &definitions::region::paradigm);
  nb::class_<definitions::metric>(m, "TraceMetric", "One metric of a trace.")
      .def_ro("name", &definitions::metric::name)
      .def_ro("unit", &definitions::metric::unit);
  using trace::collective_account;
  using trace::function_account;
  using trace::process_account;
  using trace::traffic;
  nb::class_<analysed>(m, "TraceAnalysis", "The contents of a trace.")
      .def_prop_ro("seconds", [](const analysed& a) { return a.found.seconds; })
      .def_prop_ro("begin_ns", [](const analysed& a) { return a.all.begin_ns; })
      .def_prop_ro("events", [](const analysed& a) { return a.found.events; })
      .def_prop_ro("bins", [](const analysed& a) { return a.found.bins; })
      .def_ro("remarks", &analysed::remarks)
      .def_prop_ro(
          "threads",
          [](const analysed& a) { return std::ranges::count_if(a.all.locations, &definitions::location::is_thread); })
      .def_prop_ro(
          "processes", [](const analysed& a) { return a.all.processes; }, nb::rv_policy::copy)
      .def_prop_ro(
          "regions", [](const analysed& a) { return a.all.regions; }, nb::rv_policy::copy)
      .def_prop_ro(
          "metrics", [](const analysed& a) { return a.all.metrics; }, nb::rv_policy::copy)
      .def_prop_ro("communicators", [](const analysed& a) { return a.all.communicators.size(); })
      .def_prop_ro("windows", [](const analysed& a) { return a.all.windows.size(); })
      .def_prop_ro(
          "state_seconds",
          [](const analysed& a) {
            return column<double>(a.found.processes, trace::time_states,
                                  [](const process_account& p, std::vector<double>& to) {
                                    to.insert(to.end(), p.seconds.begin(), p.seconds.end());
                                  });
          },
          nb::rv_policy::move)
      .def_prop_ro("binned_seconds",
                   [](nb::handle self) {
                     const auto& a = nb::cast<const analysed&>(self);
                     return view(a.found.in_bins, {a.found.processes.size(), a.found.bins, trace::time_states}, self);
                   })
      .def_prop_ro("message_bytes_in_bins",
                   [](nb::handle self) {
                     const auto& a = nb::cast<const analysed&>(self);
                     return view(a.found.message_bytes_in_bins, {a.found.bins}, self);
                   })
      .def_prop_ro("collective_bytes_in_bins",
                   [](nb::handle self) {
                     const auto& a = nb::cast<const analysed&>(self);
                     return view(a.found.collective_bytes_in_bins, {a.found.bins}, self);
                   })
      .def_prop_ro(
          "metrics_in_bins",
          [](const analysed& a) {
            return column<double>(a.found.metrics_in_bins, a.found.bins,
                                  [](const std::vector<double>& row, std::vector<double>& to) {
                                    to.insert(to.end(), row.begin(), row.end());
                                  });
          },
          nb::rv_policy::move)
      .def_prop_ro("sent", column_of(&analysis::processes, &process_account::sent), nb::rv_policy::move)
      .def_prop_ro("sent_bytes", column_of(&analysis::processes, &process_account::sent_bytes), nb::rv_policy::move)
      .def_prop_ro("received", column_of(&analysis::processes, &process_account::received), nb::rv_policy::move)
      .def_prop_ro("received_bytes", column_of(&analysis::processes, &process_account::received_bytes),
                   nb::rv_policy::move)
      .def_prop_ro("gaps", column_of(&analysis::processes, &process_account::gaps), nb::rv_policy::move)
      .def_prop_ro("gap_mean_s", column_of(&analysis::processes, &process_account::gap_mean), nb::rv_policy::move)
      .def_prop_ro("gap_squares", column_of(&analysis::processes, &process_account::gap_squares), nb::rv_policy::move)
      .def_prop_ro("pair_from", column_of(&analysis::pairs, &traffic::from), nb::rv_policy::move)
      .def_prop_ro("pair_to", column_of(&analysis::pairs, &traffic::to), nb::rv_policy::move)
      .def_prop_ro("pair_messages", column_of(&analysis::pairs, &traffic::messages), nb::rv_policy::move)
      .def_prop_ro("pair_bytes", column_of(&analysis::pairs, &traffic::bytes), nb::rv_policy::move)
      .def_prop_ro("pair_one_sided", column_of(&analysis::pairs, &traffic::one_sided), nb::rv_policy::move)
      .def_prop_ro("pair_one_sided_bytes", column_of(&analysis::pairs, &traffic::one_sided_bytes), nb::rv_policy::move)
      .def_prop_ro("function_calls", column_of(&analysis::functions, &function_account::calls), nb::rv_policy::move)
      .def_prop_ro("function_seconds", column_of(&analysis::functions, &function_account::seconds), nb::rv_policy::move)
      .def_prop_ro(
          "size_messages",
          [](const analysed& a) { return std::vector<std::uint64_t>(a.found.sizes.begin(), a.found.sizes.end()); })
      .def_prop_ro("size_bytes",
                   [](const analysed& a) {
                     return std::vector<std::uint64_t>(a.found.size_bytes.begin(), a.found.size_bytes.end());
                   })
      .def_prop_ro(
          "collectives",
          [](const analysed& a) {
            nb::list rows;
            for (std::size_t c = 0; c < trace::collectives; ++c) {
              const collective_account& one = a.found.by_collective[c];
              if (one.calls == 0) continue;
              const std::string name(trace::name_of(static_cast<trace::collective>(c)));
              rows.append(nb::make_tuple(name, one.calls, one.sent_bytes, one.received_bytes));
            }
            return rows;
          },
          nb::sig("def collectives(self) -> list[tuple[str, int, int, int]]"))
      .def_prop_ro("unmatched_sends", [](const analysed& a) { return a.found.unmatched_sends; })
      .def_prop_ro("unmatched_receives", [](const analysed& a) { return a.found.unmatched_receives; })
      .def_prop_ro("too_early", [](const analysed& a) { return a.found.too_early; })
      .def_prop_ro("most_too_early_s", [](const analysed& a) { return a.found.most_too_early_s; })
      .def_prop_ro("incomplete_collectives", [](const analysed& a) { return a.found.incomplete_collectives; });
  m.def("convert_trace", convert, "raw"_a, "into"_a, "progress"_a = nb::none(),
        "Convert records to an OTF2 archive; releases Python's lock.");
  m.def("merge_trace", merge, "raw"_a, "file"_a, "progress"_a = nb::none(),
        "Merge records into one file; releases Python's lock.");
  m.def("analyse_trace", analyse, "path"_a, "bins"_a, "progress"_a = nb::none(),
        "Read an OTF2 archive and return its contents; releases Python's lock.");
}
#endif

}  // namespace lull::python
