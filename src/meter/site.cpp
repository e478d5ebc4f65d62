#include "meter/site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "base/toml.hpp"

namespace lull::meter {
namespace {

class site_file {
 public:
  explicit site_file(const std::string& path) : path_(path) {
    const toml::parse_result parsed = toml::parse_file(path);
    if (!parsed) fail(parsed.error().source().begin.line, std::string(parsed.error().description()));
    root_ = parsed.table();
  }

  void apply(components& figures) const {
    check_keys("", root_, {"processor", "dram", "nic", "switch", "calibration"});
    if (const toml::table* t = table("processor", {"idle_watts", "busy_watts", "source"})) {
      figures.processor.name = "site's";
      figures.processor.idle_watts = required_figure(*t, "idle_watts").value;
      figures.processor.busy_watts = required_figure(*t, "busy_watts").value;
      figures.processor.source = source_of(*t);
      const auto& [name, idle, busy, source] = figures.processor;
      if (busy.low < idle.low || busy.mid < idle.mid || busy.high < idle.high)
        fail(line_of(*t), "processor: busy_watts are less than idle_watts");
    }
    if (const toml::table* t = table("dram", {"watts_per_gb", "access_pj_per_bit", "full_load_gb_per_s", "source"})) {
      replace(*t, "watts_per_gb", figures.dram_watts_per_gb);
      replace(*t, "access_pj_per_bit", figures.dram_pj_per_bit);
      figures.dram_full_load_gb_per_s = number(*t, "full_load_gb_per_s");
      if (t->contains("access_pj_per_bit") && !figures.dram_full_load_gb_per_s)
        fail(line_of(*t), "dram: access_pj_per_bit needs full_load_gb_per_s");
    }
    if (const toml::table* t = table("nic", {"watts", "source"})) replace(*t, "watts", figures.nic_watts);
    if (const toml::table* t = table("switch", {"watts_per_port", "ports", "source"})) {
      replace(*t, "watts_per_port", figures.switch_watts_per_port);
      if (const auto ports = number(*t, "ports")) {
        if (*ports > 4096 || *ports != static_cast<int>(*ports))
          fail(line_of(*t), "switch: ports is not a whole number");
        figures.switch_ports = static_cast<int>(*ports);
      }
    }
    if (const toml::table* t = table("calibration", {"idle_watts", "full_watts", "when", "meter", "band"}))
      figures.calibrated = read_calibration(*t);
  }

 private:
  [[noreturn]] void fail(toml::source_index line, const std::string& found) const {
    throw usage_error("read the site file " + path_ + (line > 0 ? fmt::format(", line {}", line) : ""), found,
                      "correct it, or unset LULL_SITE");
  }

  static toml::source_index line_of(const toml::node& node) { return node.source().begin.line; }

  void check_keys(std::string_view where, const toml::table& t, std::initializer_list<std::string_view> known) const {
    for (const auto& [key, value] : t) {
      const std::string_view name = key.str();
      if (std::ranges::find(known, name) != known.end()) continue;
      const std::string_view nearest =
          *std::ranges::min_element(known, {}, [&](std::string_view k) { return edit_distance(name, k); });
      fail(key.source().begin.line, fmt::format("{}'{}' is not known, did you mean '{}'?",
                                                where.empty() ? "" : fmt::format("{}: ", where), name, nearest));
    }
  }

  const toml::table* table(std::string_view name, std::initializer_list<std::string_view> keys) const {
    const toml::node* node = root_.get(name);
    if (node == nullptr) return nullptr;
    const toml::table* t = node->as_table();
    if (t == nullptr) fail(line_of(*node), fmt::format("'{}' is not a table", name));
    check_keys(name, *t, keys);
    return t;
  }

  double number_of(std::string_view key, const toml::node& node) const {
    const std::optional<double> value = node.value<double>();
    if (!node.is_number() || !value || !(*value >= 0) || *value > 1e9)
      fail(line_of(node), fmt::format("{} is not a number in the allowed range", key));
    return *value;
  }

  std::optional<double> number(const toml::table& t, std::string_view key) const {
    const toml::node* node = t.get(key);
    return node == nullptr ? std::nullopt : std::optional(number_of(key, *node));
  }

  std::string text(const toml::table& t, std::string_view key, std::string_view why) const {
    const toml::node* node = t.get(key);
    const auto value = node == nullptr ? std::nullopt : node->value_exact<std::string>();
    if (!value || value->empty()) fail(line_of(t), fmt::format("{} = \"...\" is missing: {}", key, why));
    return *value;
  }

  std::string source_of(const toml::table& t) const { return text(t, "source", "state where the figures come from"); }

  component required_figure(const toml::table& t, std::string_view key) const {
    const toml::node* node = t.get(key);
    if (node == nullptr) fail(line_of(t), fmt::format("{} is missing", key));
    band value;
    if (const toml::array* three = node->as_array()) {
      if (three->size() != 3) fail(line_of(*node), fmt::format("{} is not [low, middle, high]", key));
      value = {number_of(key, *three->get(0)), number_of(key, *three->get(1)), number_of(key, *three->get(2))};
      if (!(value.low <= value.mid && value.mid <= value.high))
        fail(line_of(*node), fmt::format("{} does not rise from low to high", key));
    } else {
      const double only = number_of(key, *node);
      value = {only, only, only};
    }
    return {value, source_of(t), true};
  }

  void replace(const toml::table& t, std::string_view key, component& figure) const {
    if (t.contains(key)) figure = required_figure(t, key);
  }

  calibration read_calibration(const toml::table& t) const {
    calibration c{.idle_watts = required_number(t, "idle_watts"),
                  .full_watts = required_number(t, "full_watts"),
                  .when = text(t, "when", "the day of the measurement"),
                  .meter = text(t, "meter", "the source it was measured with")};
    if (const auto share = number(t, "band")) c.band = *share;
    if (c.full_watts < c.idle_watts) fail(line_of(t), "calibration: full_watts is less than idle_watts");
    if (c.band > 1) fail(line_of(t), "calibration: band is a share, 0 to 1");
    return c;
  }

  double required_number(const toml::table& t, std::string_view key) const {
    const auto value = number(t, key);
    if (!value) fail(line_of(t), fmt::format("{} is missing", key));
    return *value;
  }

  std::string path_;
  toml::table root_;
};

}  // namespace

void apply_site(const std::string& path, components& figures) { site_file(path).apply(figures); }

}  // namespace lull::meter
