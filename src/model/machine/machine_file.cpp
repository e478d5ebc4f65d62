#include "model/machine/machine_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <optional>
#include <utility>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/settings.hpp"
#include "base/toml.hpp"
#include "base/topology.hpp"
#include "model/machine/constants.hpp"

namespace lull::model {
namespace {

constexpr std::int64_t form = 1;
constexpr double most = 1e18;  // limit of any value

struct figure {
  double value, high;
};

class machine_file {
 public:
  explicit machine_file(const std::string& path) : path_(path) {
    toml::parse_result parsed = toml::parse_file(path);
    if (!parsed) fail(parsed.error().source().begin.line, std::string(parsed.error().description()));
    root_ = std::move(parsed).table();  // moved: a copy would lose its line numbers
    const toml::node* const said = root_.get("form");
    if (said && said->value<std::int64_t>() != form)
      fail(said->source().begin.line, fmt::format("its form is not {}, the one that this version of Lull reads", form));
  }

  [[nodiscard]] machine over(machine known) const {
    if (const auto timer = at(root_["wake_ups"]["timer_ns"])) {
      for (waiting_costs* const kind :
           {&known.waiting, &known.waiting_of_mpi, &known.waiting_of_mpi_streams, &known.waiting_of_mpi_handshakes})
        kind->assumed_wake_up_latency_ns = static_cast<std::int64_t>(timer->high);
    }
    if (const auto copied = at(root_["memory"]["copy_warm_bytes_per_s"]); copied && copied->value > 0) {
      known.transforming.ns_per_copied_byte = 1e9 / copied->value;
      known.output.copy_bytes_per_s = copied->value;
    }
    if (const toml::array* const pieces = root_["transports"]["network"]["pieces"].as_array();
        pieces && !pieces->empty()) {
      const toml::node_view<const toml::node> first(pieces->get(0)), last(pieces->get(pieces->size() - 1));
      if (const auto gap = at(first["gap_ns"]); gap && gap->value > 0)
        known.transforming.ns_per_message = known.network.ns_per_message = gap->value;
      if (const auto byte = at(last["ns_per_byte"]); byte && byte->value > 0) {
        known.output.link_bytes_per_s = 1e9 / byte->value;
        known.network.ns_per_byte = byte->value;
      }
    }
    if (const auto event = at(root_["recording"]["ns_per_event"])) known.recording.ns_per_event = event->value;
    const auto storage = root_["storage"];
    if (const auto all = at(storage["bytes_per_s"]); all && all->value > 0)
      known.output.storage_bytes_per_s = all->value;
    if (const auto one = at(storage["writer_bytes_per_s"]); one && one->value > 0)
      known.output.writer_bytes_per_s = one->value;
    if (const auto half = at(storage["writers_at_half_speed"]); half && half->value > 0)
      known.output.writers_at_half_speed = half->value;
    const auto watts = root_["watts"];
    const auto idle = at(watts["idle_node"]), one_core = at(watts["one_core"]);
    if (idle && one_core && one_core->value >= idle->value) {
      known.output.idle_node_watts = idle->value;
      known.output.busy_core_watts = one_core->value - idle->value;
    }
    set_constants(known);
    return known;
  }

 private:
  [[noreturn]] void fail(toml::source_index line, const std::string& found) const {
    throw usage_error("read the machine file " + path_ + (line > 0 ? fmt::format(", line {}", line) : ""), found,
                      "measure again with lull calibrate, correct it, or set LULL_MACHINE=builtin");
  }

  // [constants], which overrides measured values, too: constants.GROUP.MEMBER is a value.
  void set_constants(machine& known) const {
    const toml::node* const constants = root_.get("constants");
    if (!constants) return;
    const auto tables_of = [&](const toml::node& node, const std::string& where) -> const toml::table& {
      if (const toml::table* const found = node.as_table()) return *found;
      fail(node.source().begin.line, where + " is not a table");
    };
    for (const auto& [group, members] : tables_of(*constants, "constants")) {
      for (const auto& [member, one] : tables_of(members, fmt::format("constants.{}", group.str()))) {
        const std::string name = fmt::format("{}.{}", group.str(), member.str());
        const auto line = one.source().begin.line;
        if (!find_constant(name)) fail(line, problem_of_constant(name, 0));
        const double value = at(toml::node_view<const toml::node>(one))->value;
        if (const std::string problem = problem_of_constant(name, value); !problem.empty()) fail(line, problem);
        find_constant(name)->set(known, value);
      }
    }
    if (const std::string problem = contradiction_in(known); !problem.empty())
      fail(constants->source().begin.line, problem);
  }

  // A measured value is a table with `value`.
  [[nodiscard]] std::optional<figure> at(toml::node_view<const toml::node> node) const {
    if (!node) return std::nullopt;
    const auto line = node.node()->source().begin.line;
    if (!node.is_table()) fail(line, "a figure is not a table with a value");
    const auto number = [&](const char* key, std::optional<double> otherwise) {
      const auto part = node[key];
      const auto value = part ? part.value<double>() : otherwise;
      if (!value || !(*value >= 0) || *value > most)
        fail(line, fmt::format("{} is not a number in the allowed range", key));
      return *value;
    };
    const double value = number("value", std::nullopt);
    return figure{value, number("high", value)};
  }

  std::string path_;
  toml::table root_;
};

machine constants_as_set() {
  const std::string set = setting_text("LULL_MACHINE");
  if (set == "builtin") return {};
  if (set != "auto") return read_machine_file(set);
  const std::string kept = machine_file_of_this_host();
  return kept.empty() || access(kept.c_str(), F_OK) != 0 ? machine{} : read_machine_file(kept);
}

machine machine_as_set() {
  machine known = constants_as_set();
  known.correction.off = !choosers_correct();
  return known;
}

}  // namespace

bool choosers_correct() { return setting_text("LULL_CHOOSE") != "off"; }

machine read_machine_file(const std::string& path) { return machine_file(path).over({}); }

std::string machine_file_of_this_host() {
  const char* const config = text_of_environment("XDG_CONFIG_HOME");
  const char* const home = text_of_environment("HOME");
  const std::string host = host_name();
  if ((config == nullptr && home == nullptr) || host.empty()) return {};
  return fmt::format("{}/lull/machines/{}.toml", config != nullptr ? config : fmt::format("{}/.config", home), host);
}

const machine& this_machine() {
  static const machine known = machine_as_set();
  return known;
}

}  // namespace lull::model
