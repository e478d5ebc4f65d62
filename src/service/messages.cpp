#include "service/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace lull::service {
namespace {

using json = nlohmann::json;

constexpr std::array<std::pair<std::string_view, verb>, 8> verbs{{{"channels", verb::channels},
                                                                  {"counters", verb::counters},
                                                                  {"mine", verb::mine},
                                                                  {"node", verb::node},
                                                                  {"open", verb::open},
                                                                  {"used", verb::used},
                                                                  {"figures", verb::figures},
                                                                  {"close", verb::close}}};

constexpr std::size_t longest_text = 1024;
constexpr std::int64_t most = std::int64_t{1} << 53;  // of a whole number in JSON that all readers keep

// Takes the fields of a message one by one; the first mistake stays.
class fields {
 public:
  explicit fields(json message) : message_(std::move(message)) {}

  std::string text(const char* name, bool is_needed = false) {
    const auto found = take(name, is_needed);
    if (!found) return {};
    if (!found->is_string() || found->get_ref<const std::string&>().size() > longest_text)
      return fail(fmt::format("'{}' is not a text of at most {} bytes", name, longest_text)), std::string();
    return found->get<std::string>();
  }
  std::optional<std::int64_t> number(const char* name, bool is_needed = false) {
    const auto found = take(name, is_needed);
    if (!found) return std::nullopt;
    if (!found->is_number_integer() || found->get<double>() < 0 || found->get<double>() > static_cast<double>(most))
      return fail(fmt::format("'{}' is not a whole number of at least 0", name)), std::nullopt;
    return found->get<std::int64_t>();
  }
  std::vector<std::string> texts(const char* name) {
    std::vector<std::string> found;
    const auto list = take(name, false);
    if (!list) return found;
    if (!list->is_array() || !std::ranges::all_of(*list, [](const json& one) { return one.is_string(); }))
      return fail(fmt::format("'{}' is not a list of texts", name)), found;
    return list->get<std::vector<std::string>>();
  }
  void fail(std::string what) {
    if (mistake_.empty()) mistake_ = std::move(what);
  }
  // What was wrong; a field that was not taken is a mistake as well.
  std::string mistake() {
    if (mistake_.empty() && !message_.empty())
      mistake_ = fmt::format("there is no field '{}' here", message_.begin().key());
    return mistake_;
  }

 private:
  std::optional<json> take(const char* name, bool is_needed) {
    const auto found = message_.find(name);
    if (found == message_.end()) {
      if (is_needed) fail(fmt::format("'{}' is missing", name));
      return std::nullopt;
    }
    json value = std::move(*found);
    message_.erase(found);
    return value;
  }

  json message_;
  std::string mistake_;
};

json to_json(const account::energy_figure& e) {
  return {{"channel", e.channel},
          {"domain", name_of(e.covers)},
          {"kind", name_of(e.kind)},
          {"uj", e.uj()},
          {"active_uj", e.active_uj},
          {"held_uj", e.held_uj},
          {"overhead_uj", e.overhead_uj},
          {"low_uj", static_cast<std::int64_t>(e.low_uj)},
          {"high_uj", static_cast<std::int64_t>(e.high_uj)}};
}

std::string with_version(json message) {
  message["v"] = protocol_version;
  return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

parsed parse(std::string_view message) {
  json whole = json::parse(message, nullptr, false);
  if (!whole.is_object()) return {.wanted = {}, .mistake = "the message is not a JSON object"};
  fields in(std::move(whole));
  request r;
  if (in.number("v", true) != protocol_version)
    in.fail(fmt::format("this service has version {} of the messages", protocol_version));
  const std::string name = in.text("ask", true);
  const auto found = std::ranges::find(verbs, std::string_view(name), [](const auto& v) { return v.first; });
  if (found == verbs.end())
    in.fail(fmt::format("'{}' is not a request", name));
  else
    r.ask = found->second;
  if (r.ask == verb::open || r.ask == verb::used || r.ask == verb::figures || r.ask == verb::close) {
    r.account.key = in.text("key", true);
    if (r.account.key.empty()) in.fail("'key' is empty");
    r.time_ns = in.number("time_ns");
    r.usage_us = in.number("usage_us", r.ask == verb::used);
  }
  if (r.ask == verb::open || r.ask == verb::used || r.ask == verb::close) {
    r.account.project = in.text("project");
    r.account.cluster = in.text("cluster");
    r.account.job = in.text("job");
    r.account.restart = in.number("restart").value_or(-1);
    r.account.nodes = in.number("nodes").value_or(0);
  }
  if (r.ask == verb::open) {
    r.account.uid = in.number("uid", true).value_or(-1);
    r.account.cgroup = in.text("cgroup");
    if (!r.account.cgroup.empty() &&
        (!r.account.cgroup.starts_with('/') || r.account.cgroup.find("..") != std::string::npos))
      in.fail("'cgroup' is not a path from the root of the groups");
    r.account.holds = {.cpus = in.number("cpus").value_or(0),
                       .memory_mib = in.number("memory_mib").value_or(0),
                       .gpus = in.texts("gpus")};
  }
  if (std::string wrong = in.mistake(); !wrong.empty()) return {.wanted = {}, .mistake = std::move(wrong)};
  return {.wanted = std::move(r), .mistake = {}};
}

std::string refusal(std::string_view reason) { return with_version({{"refused", reason}}); }
std::string mistake(std::string_view what) { return with_version({{"error", what}}); }
std::string done() { return with_version({{"ok", true}}); }

std::string text_of(const published& p) {
  json uj = json::array();
  for (const auto& one : p.uj) uj.push_back(one ? json(*one) : json());
  return with_version({{"number", p.number}, {"epoch", p.epoch}, {"time_ns", p.time_ns}, {"uj", uj}, {"lost", p.lost}});
}

std::string text_of(const account::figures& f) {
  json energy = json::array();
  for (const account::energy_figure& e : f.energy) energy.push_back(to_json(e));
  return with_version({{"key", f.opened.key},
                       {"uid", f.opened.uid},
                       {"project", f.opened.project},
                       {"cpus", f.opened.holds.cpus},
                       {"seconds", static_cast<double>(f.end_ns - f.begin_ns) * 1e-9},
                       {"cpu_us", f.cpu_us},
                       {"alone", f.alone},
                       {"unsure", f.unsure},
                       {"gap", f.gap},
                       {"unclosed", f.unclosed},
                       {"energy", energy}});
}

}  // namespace lull::service
