// GOAL files: what is one, reading one in advance for later simulations, and writing a trace as one.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "interpreter_lock.hpp"
#include "netsim/goal/file.hpp"
#include "netsim/goal/writer.hpp"
#include "netsim/traces/trace_program.hpp"
#include "text.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace lull::python {
namespace {

// Called without Python's lock; a signal handler that raises (Ctrl-C) ends the work with that exception.
std::function<bool(std::uint64_t, std::uint64_t)> counts_shown_by(const std::optional<nb::callable>& progress) {
  return [&progress](std::uint64_t done, std::uint64_t all) {
    const locked with_lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return !progress || nb::cast<bool>((*progress)(done, all));
  };
}

void read_goal(const std::string& path, const std::optional<nb::callable>& progress) {
  const auto shown = counts_shown_by(progress);
  const unlocked without_lock;
  (void)netsim::read_goal(path, shown);
}

struct written_trace {
  netsim::goal_written counted;
  std::uint32_t ranks;
  std::vector<std::string> remarks;
};

written_trace write_goal(const std::string& trace, const std::string& path,
                         const std::optional<nb::callable>& progress) {
  const auto shown = counts_shown_by(progress);
  const unlocked without_lock;
  const netsim::trace_program program(netsim::read_trace(trace, "", shown));
  const netsim::goal_written counted =
      netsim::write_goal(program, program.processes(), path, "convert " + trace + " to GOAL", shown);
  return {.counted = counted, .ranks = program.processes(), .remarks = program.remarks()};
}

}  // namespace

void bind_goal(nb::module_& m) {
  nb::class_<written_trace>(m, "GoalWritten", "What became of a trace that was written as GOAL.")
      .def_ro("ranks", &written_trace::ranks)
      .def_prop_ro("operations", [](const written_trace& w) { return w.counted.operations; })
      .def_ro("remarks", &written_trace::remarks);
  m.def("is_goal", &netsim::is_goal, "path"_a, "Whether the content of a file is GOAL, text or binary.");
  m.def("read_goal", read_goal, "path"_a, "progress"_a = nb::none(),
        "Read a GOAL file in advance; releases Python's lock.");
  m.def("write_goal", write_goal, "trace"_a, "path"_a, "progress"_a = nb::none(),
        "Write an OTF2 trace as a GOAL file; releases Python's lock.");
}

}  // namespace lull::python
