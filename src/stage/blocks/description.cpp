#include "stage/blocks/description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.hpp"
#include "base/toml.hpp"

namespace lull::stage::blocks {
namespace {

namespace fs = std::filesystem;

// Reads one table; each mistake names its place.
class section {
 public:
  section(const std::string& file, std::string name, const toml::table& table)
      : file_(file), name_(std::move(name)), table_(table) {}

  [[noreturn]] void refuse(const std::string& found, const std::string& fix) const {
    throw usage_error("read the output's description " + file_, fmt::format("[{}]: {}", name_, found), fix);
  }
  void allow(std::initializer_list<std::string_view> keys) const {
    for (const auto& [key, value] : table_)
      if (std::ranges::find(keys, key.str()) == keys.end())
        refuse(fmt::format("there is no key '{}'", key.str()), fmt::format("the keys are {}", fmt::join(keys, ", ")));
  }
  [[nodiscard]] std::string text(std::string_view key, const std::string& otherwise) const {
    const toml::node* const found = table_.get(key);
    if (found == nullptr) return otherwise;
    const auto value = found->value_exact<std::string>();
    if (!value) refuse(fmt::format("{} is not a string", key), "write it in quotes");
    return *value;
  }
  [[nodiscard]] std::string text(std::string_view key) const {
    if (!table_.contains(key)) refuse(fmt::format("it has no {}", key), "add it");
    return text(key, "");
  }
  [[nodiscard]] std::vector<extent> extents(std::string_view key) const {
    std::vector<extent> found;
    const toml::node* const given = table_.get(key);
    if (given == nullptr) return found;
    const toml::array* const all = given->as_array();
    if (all == nullptr || all->empty() || all->size() > most_dimensions)
      refuse(fmt::format("{} is not a list of 1 to {} extents", key, most_dimensions), "write e.g. [\"ny\", \"nx\"]");
    for (const toml::node& one : *all) {
      if (const auto number = one.value_exact<std::int64_t>())
        found.emplace_back(*number);
      else if (const auto name = one.value_exact<std::string>())
        found.emplace_back(*name);
      else
        refuse(fmt::format("{} contains an item that is neither a whole number nor a parameter", key),
               "write 64 or \"nx\"");
    }
    return found;
  }
  [[nodiscard]] std::int64_t number(std::string_view key, std::int64_t otherwise) const {
    const toml::node* const found = table_.get(key);
    if (found == nullptr) return otherwise;
    const auto value = found->value_exact<std::int64_t>();
    if (!value) refuse(fmt::format("{} is not a whole number", key), "write a whole number");
    return *value;
  }
  [[nodiscard]] compression packing(std::string_view key, compression otherwise) const;
  // A table of scalar values, as JSON.
  [[nodiscard]] std::string json(std::string_view key) const {
    nlohmann::json made = nlohmann::json::object();
    const toml::node* const found = table_.get(key);
    if (found == nullptr) return made.dump();
    if (!found->is_table()) refuse(fmt::format("{} is not a table", key), "write e.g. { variable = \"temperature\" }");
    for (const auto& [name, value] : *found->as_table()) {
      nlohmann::json& into = made[std::string(name.str())];
      if (const auto text = value.value_exact<std::string>())
        into = *text;
      else if (const auto number = value.value_exact<std::int64_t>())
        into = *number;
      else if (const auto real = value.value_exact<double>())
        into = *real;
      else if (const auto truth = value.value_exact<bool>())
        into = *truth;
      else
        refuse(fmt::format("{} of {} is not a single value", name.str(), key),
               "write a string, a number, true or false");
    }
    return made.dump();
  }

 private:
  const std::string& file_;
  std::string name_;
  const toml::table& table_;
};

struct method_row {
  compression::method by;
  std::string_view name;
  int least, usual, most;
};
constexpr method_row methods[] = {{compression::method::none, "none", 0, 0, 0},
                                  {compression::method::gzip, "gzip", 1, 4, 9},
                                  {compression::method::zstd, "zstd", 1, 3, 19}};

// "zstd" or "zstd:9".
compression section::packing(std::string_view key, compression otherwise) const {
  if (!table_.contains(key)) return otherwise;
  const std::string given = text(key);
  const std::size_t colon = given.find(':');
  const auto* const row = std::ranges::find(methods, std::string_view(given).substr(0, colon), &method_row::name);
  if (row == std::end(methods)) refuse(fmt::format("there is no compression '{}'", given), "write none, gzip or zstd");
  compression made{row->by, row->usual};
  if (colon == std::string::npos) return made;
  const char* const end = given.data() + given.size();
  const auto [rest, status] = std::from_chars(given.data() + colon + 1, end, made.level);
  if (status != std::errc{} || rest != end || made.level < row->least || made.level > row->most)
    refuse(fmt::format("'{}' is not a valid level of {}", given, row->name),
           fmt::format("write {}:{} to {}:{}", row->name, row->least, row->name, row->most));
  return made;
}

element type_of(const section& of) {
  const std::string name = of.text("type");
  const auto all = elements();
  const auto found =
      std::ranges::find(all, std::string_view(name), [](const element_row& row) { return std::string_view(row.name); });
  if (found != all.end()) return found->what;
  std::vector<std::string_view> names;
  for (const element_row& row : all) names.emplace_back(row.name);
  of.refuse("there is no type '" + name + "'", fmt::format("write one of {}", fmt::join(names, ", ")));
}

// Names become names of files and datasets.
bool is_name(const std::string& text) {
  return !text.empty() && text.find_first_of("%\n") == std::string::npos && text.front() != '/' && text.back() != '/' &&
         text.find("//") == std::string::npos && text != name_of_own_record;
}

class reader {
 public:
  reader(const std::string& text, int process, int processes) {
    const bool is_file = text.find('\n') == std::string::npos;
    file_ = is_file ? text : "(text)";
    toml::parse_result parsed = is_file ? toml::parse_file(text) : toml::parse(text);
    if (!parsed) {
      const auto line = parsed.error().source().begin.line;
      const std::string why(parsed.error().description());
      throw usage_error("read the output's description " + file_,
                        line > 0 ? fmt::format("line {}: {}", line, why) : why, is_file ? "give a TOML file" : "");
    }
    root_ = std::move(parsed).table();
    section(file_, "", root_).allow({"parameters", "layouts", "variables", "output", "plugins"});
    made_.parameters = {{"process", process}, {"processes", processes}};
    folder_ = is_file ? fs::absolute(text).parent_path() : fs::current_path();
  }

  description read() {
    read_parameters();
    for (const auto& [name, table] : tables_in("layouts")) read_layout(name, *table);
    read_output();
    for (const auto& [name, table] : tables_in("variables")) read_variable(name, *table);
    read_plugins();
    return std::move(made_);
  }

 private:
  using named_tables = std::vector<std::pair<std::string, const toml::table*>>;

  const toml::table& table(const char* name) const {
    static const toml::table none;
    const toml::node* const found = root_.get(name);
    if (found == nullptr) return none;
    if (!found->is_table())
      section(file_, name, none).refuse("it is not a table", fmt::format("begin it with [{}]", name));
    return *found->as_table();
  }

  named_tables tables_in(const char* name) const {
    named_tables found;
    const toml::table& all = table(name);
    for (const auto& [key, value] : all) {
      if (!value.is_table())
        section(file_, name, all)
            .refuse(fmt::format("{} is not a table", key.str()), fmt::format("write [{}.{}]", name, key.str()));
      found.emplace_back(std::string(key.str()), value.as_table());
    }
    // In the order of the file: toml++ sorts tables by name.
    std::ranges::stable_sort(found, {}, [](const auto& one) { return one.second->source().begin.line; });
    return found;
  }

  void read_parameters() {
    const section of(file_, "parameters", table("parameters"));
    for (const auto& [key, value] : table("parameters")) {
      const std::string name(key.str());
      if (name == "process" || name == "processes") of.refuse(name + " is set by Lull", "use another name");
      made_.parameters[name] = of.number(name, 0);
    }
  }

  void read_layout(const std::string& name, const toml::table& from) {
    const section of(file_, "layouts." + name, from);
    of.allow({"type", "extents", "cut"});
    layout one{type_of(of), of.extents("extents"), of.extents("cut")};
    if (one.all.empty()) of.refuse("it has no extents", "write e.g. extents = [\"ny\", \"nx\"]");
    if (!one.cut.empty() && one.cut.size() != one.all.size())
      of.refuse("cut and extents differ in the number of dimensions", "write one number of parts for each dimension");
    made_.layouts[name] = std::move(one);
  }

  void read_variable(const std::string& name, const toml::table& from) {
    const section of(file_, "variables." + name, from);
    of.allow({"layout", "unit", "compression"});
    if (!is_name(name))
      of.refuse("this is not a valid name of a variable", "use letters, digits, and / between groups");
    described_variable one{name, of.text("layout"), of.text("unit", ""), of.packing("compression", packed_)};
    if (!made_.layouts.contains(one.layout))
      of.refuse("there is no layout '" + one.layout + "'", "describe it in [layouts." + one.layout + "]");
    made_.variables.push_back(std::move(one));
  }

  void read_output() {
    const section of(file_, "output", table("output"));
    of.allow({"folder", "name", "files", "compression"});
    const fs::path folder = of.text("folder", ".");
    made_.folder = (folder_ / folder).lexically_normal();
    made_.name = of.text("name", "output");
    if (!is_name(made_.name) || made_.name.find('/') != std::string::npos)
      of.refuse("name is not a valid file name", "use letters and digits");
    const std::string files = of.text("files", "process");
    if (files != "process" && files != "server") of.refuse("files is '" + files + "'", "write process or server");
    made_.file_of_server = files == "server";
    packed_ = of.packing("compression", {});
  }

  void read_plugins() {
    const toml::node* const given = root_.get("plugins");
    if (given == nullptr) return;
    const toml::array* const all = given->as_array();
    if (all == nullptr || !all->is_array_of_tables())
      section(file_, "plugins", root_).refuse("it is not a list of tables", "begin each with [[plugins]]");
    for (const toml::node& one : *all) {
      const section of(file_, "plugins", *one.as_table());
      of.allow({"library", "function", "python", "every", "options"});
      plugin made{of.text("library", ""), of.text("function", ""), of.text("python", ""), of.number("every", 1),
                  of.json("options")};
      if (made.python.empty() == made.library.empty() || made.library.empty() != made.function.empty())
        of.refuse("it does not name a function", "give library and function, or python = \"file.py:function\"");
      if (made.every < 1) of.refuse("every is less than 1", "write 1 or more");
      if (made.library.find('/') != std::string::npos) made.library = (folder_ / made.library).lexically_normal();
      if (!made.python.empty()) {
        if (made.python.find(':') == std::string::npos)
          of.refuse("python does not name a function", "write file.py:function");
        if (made.python.find(".py:") != std::string::npos) made.python = (folder_ / made.python).lexically_normal();
      }
      made_.plugins.push_back(std::move(made));
    }
  }

  std::string file_;
  fs::path folder_;  // base of relative paths
  toml::table root_;
  compression packed_;  // default for variables
  description made_;
};

std::int64_t value_of(const description& what, const extent& of, const std::string& layout) {
  if (const auto* const number = std::get_if<std::int64_t>(&of)) return *number;
  const auto& name = std::get<std::string>(of);
  const auto found = what.parameters.find(name);
  if (found == what.parameters.end())
    throw usage_error("lay out " + layout, "the parameter " + name + " has no value",
                      "set it in [parameters] or with lull_stage_set()");
  return found->second;
}

// The process's part in each dimension.
void cut(block& one, const std::vector<std::int64_t>& parts, std::int64_t process) {
  std::int64_t rest = process;
  for (std::size_t i = parts.size(); i-- > 0;) {
    const std::int64_t mine = rest % parts[i];
    rest /= parts[i];
    const std::int64_t each = one.all[i] / parts[i], more = one.all[i] % parts[i];
    one.offset[i] = each * mine + more * mine / parts[i];
    one.count[i] = each * (mine + 1) + more * (mine + 1) / parts[i] - one.offset[i];
  }
  if (rest > 0) std::ranges::fill(one.count, 0);  // more processes than parts
}

}  // namespace

description read_description(const std::string& text, int process, int processes) {
  return reader(text, process, processes).read();
}

std::vector<block> blocks_of(const description& what) {
  std::vector<block> made;
  for (const described_variable& variable : what.variables) {
    const layout& how = what.layouts.at(variable.layout);
    block one;
    one.variable = variable.name;
    one.type = how.type;
    one.unit = variable.unit;
    one.packed = variable.packed;
    for (const extent& of : how.all) one.all.push_back(value_of(what, of, variable.layout));
    one.offset.assign(one.all.size(), 0);
    one.count.assign(one.all.size(), 0);
    std::vector<std::int64_t> parts;
    for (const extent& of : how.cut) parts.push_back(value_of(what, of, variable.layout));
    const auto refuse = [&](const char* found) {
      throw usage_error("lay out " + variable.layout, found, "check its parameters");
    };
    std::int64_t bytes = static_cast<std::int64_t>(row_of(how.type).bytes);
    for (const std::int64_t extent : one.all)
      if (extent < 1 || __builtin_mul_overflow(bytes, extent, &bytes))
        refuse("an extent is less than 1, or the extents are too large");
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i] < 1 || parts[i] > (std::int64_t{1} << 24))
        refuse("cut has a number of parts that is less than 1 or too large");
    if (!parts.empty()) cut(one, parts, what.parameters.at("process"));
    made.push_back(std::move(one));
  }
  return made;
}

}  // namespace lull::stage::blocks
