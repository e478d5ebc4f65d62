#include "model/choices/account.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"

namespace lull::model {
namespace {

using json = nlohmann::ordered_json;

constexpr double s_per_ns = 1e-9;

json of_figure(const std::optional<double>& figure) { return figure ? json(*figure) : json(nullptr); }

std::optional<double> figure_of(const json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

json of_account(const choice_account& one) {
  json alternatives = json::array();
  for (const alternative_account& a : one.alternatives)
    alternatives.push_back({{"name", a.name},
                            {"predicted_ns", of_figure(a.predicted_ns)},
                            {"corrected_ns", of_figure(a.corrected_ns)},
                            {"observed_ns", of_figure(a.observed_ns)},
                            {"operations", a.operations}});
  return {{"choice", one.choice},
          {"where", one.where},
          {"per", one.per},
          {"processes", one.processes},
          {"switches", one.switches},
          {"alternatives", alternatives},
          {"regret_s", one.regret_ns * s_per_ns}};
}

std::uint64_t operations_of(const choice_account& one) {
  std::uint64_t all = 0;
  for (const alternative_account& a : one.alternatives) all += a.operations;
  return all;
}

double regret_of(std::span<const alternative_account> alternatives) {
  double least = std::numeric_limits<double>::infinity();
  for (const alternative_account& a : alternatives)
    if (const auto cost = a.cost_ns()) least = std::min(least, *cost);
  double regret = 0;
  for (const alternative_account& a : alternatives)
    if (const auto cost = a.cost_ns()) regret += static_cast<double>(a.operations) * (*cost - least);
  return regret;
}

// The weighted mean of both; if one is unknown, the other.
std::optional<double> mean(const std::optional<double>& a, std::uint64_t of_a, const std::optional<double>& b,
                           std::uint64_t of_b) {
  if (!a || !b || of_a + of_b == 0) return a ? a : b;
  const double share = static_cast<double>(of_b) / static_cast<double>(of_a + of_b);
  return *a + share * (*b - *a);
}

auto same_in(std::vector<choice_account>& all, const choice_account& one) {
  return std::ranges::find_if(
      all, [&](const choice_account& it) { return it.choice == one.choice && it.where == one.where; });
}

void add_to(choice_account& sum, const choice_account& more) {
  const std::uint64_t mine = operations_of(sum), theirs = operations_of(more);
  sum.processes += more.processes;
  sum.switches += more.switches;
  sum.regret_ns += more.regret_ns;
  for (const alternative_account& b : more.alternatives) {
    const auto a = std::ranges::find(sum.alternatives, b.name, &alternative_account::name);
    if (a == sum.alternatives.end()) {
      sum.alternatives.push_back(b);
      continue;
    }
    a->predicted_ns = mean(a->predicted_ns, mine, b.predicted_ns, theirs);
    a->corrected_ns = mean(a->corrected_ns, mine, b.corrected_ns, theirs);
    a->observed_ns = mean(a->observed_ns, a->operations, b.observed_ns, b.operations);
    a->operations += b.operations;
  }
}

}  // namespace

void close(std::vector<choice_account>& accounts) {
  std::erase_if(accounts, [](const choice_account& one) { return operations_of(one) == 0; });
  for (choice_account& one : accounts) one.regret_ns = regret_of(one.alternatives);
}

void add(std::vector<choice_account>& all, std::span<const choice_account> of_another) {
  for (const choice_account& one : of_another) {
    const auto same = same_in(all, one);
    if (same == all.end())
      all.push_back(one);
    else
      add_to(*same, one);
  }
}

void account_book::keep(std::span<const choice_account> accounts) {
  const std::lock_guard hold(lock_);
  for (choice_account one : accounts) {
    if (same_in(kept_, one) != kept_.end()) one.processes = 0;  // it is counted already
    add(kept_, std::span(&one, 1));
  }
}

std::vector<choice_account> account_book::all() const {
  const std::lock_guard hold(lock_);
  return kept_;
}

account_book& book_of_this_process() {
  static account_book book;
  return book;
}

std::string in_json(std::span<const choice_account> accounts, std::int64_t wall_ns) {
  json all = json::array();
  for (const choice_account& one : accounts) {
    all.push_back(of_account(one));
    all.back()["wall_s"] = static_cast<double>(wall_ns) * s_per_ns;
  }
  return json{{"schema", 1}, {"choices", all}}.dump() + "\n";
}

std::string as_text(std::span<const choice_account> accounts) {
  json all = json::array();
  for (const choice_account& one : accounts) all.push_back(of_account(one));
  return all.dump();
}

std::vector<choice_account> from_text(const std::string& text) {
  std::vector<choice_account> all;
  for (const json& one : json::parse(text)) {
    choice_account& account = all.emplace_back();
    account.choice = one.at("choice");
    account.where = one.at("where");
    account.per = one.at("per");
    account.processes = one.at("processes");
    account.switches = one.at("switches");
    account.regret_ns = one.at("regret_s").get<double>() / s_per_ns;
    for (const json& a : one.at("alternatives"))
      account.alternatives.push_back({.name = a.at("name"),
                                      .predicted_ns = figure_of(a.at("predicted_ns")),
                                      .corrected_ns = figure_of(a.at("corrected_ns")),
                                      .observed_ns = figure_of(a.at("observed_ns")),
                                      .operations = a.at("operations")});
  }
  return all;
}

std::string up_to(unsigned width) { return "up to " + size_in_words(std::size_t{1} << width); }

}  // namespace lull::model
