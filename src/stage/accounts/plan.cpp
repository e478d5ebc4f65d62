#include "stage/accounts/plan.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.hpp"
#include "base/settings.hpp"

namespace lull::stage {
namespace {

constexpr std::array names{approach_name{approach::time_partitioning, "time-partitioning", false},
                           approach_name{approach::dedicated_cores, "dedicated-cores", true},
                           approach_name{approach::dedicated_nodes, "dedicated-nodes", true}};

constexpr std::string_view wanted_form =
    "write time-partitioning, dedicated-cores=N or dedicated-nodes=N with N of at least 1, or auto";

[[noreturn]] void refuse(const std::string& text) {
  throw usage_error("read setting LULL_STAGE", "'" + text + "' is not a method to write output",
                    std::string(wanted_form));
}

// "dedicated-cores=2", "dedicated-cores" (1), "time-partitioning", "auto".
void read_approach(const std::string& text, plan& into) {
  into.by_model = text == "auto";
  if (into.by_model) return;
  const std::size_t equals = text.find('=');
  const auto* const name = std::ranges::find(names, std::string_view(text).substr(0, equals), &approach_name::text);
  if (name == names.end()) refuse(text);
  into.how = name->how;
  if (equals == std::string::npos) return;
  const char* const end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data() + equals + 1, end, into.count);
  if (!name->has_servers || status != std::errc{} || rest != end || into.count < 1) refuse(text);
}

when_full policy_of(const std::string& text) {
  if (text == "drop") return when_full::drop;
  if (text == "cheapest") return when_full::cheapest;
  return text == "wait" ? when_full::wait : when_full::write_yourself;
}

model::output_objective objective_of(const std::string& text) {
  if (text == "edp") return model::output_objective::edp;
  return text == "energy" ? model::output_objective::energy : model::output_objective::time;
}

}  // namespace

plan plan_of_settings() {
  plan wanted;
  if (const std::string text = setting_text("LULL_STAGE"); !text.empty()) read_approach(text, wanted);
  wanted.buffer_bytes = setting_size("LULL_STAGE_BUFFER");
  wanted.policy = wanted.by_model && !setting_is_set("LULL_STAGE_WHEN_FULL")
                      ? when_full::cheapest
                      : policy_of(setting_text("LULL_STAGE_WHEN_FULL"));
  wanted.objective = objective_of(setting_text("LULL_STAGE_OBJECTIVE"));
  wanted.close_waits = setting_text("LULL_STAGE_CLOSE") == "wait";
  wanted.sync_waits = setting_text("LULL_STAGE_SYNC") == "wait";
  wanted.verify_in = setting_text("LULL_STAGE_VERIFY");
  wanted.sync = setting_text("LULL_STAGE_FSYNC") == "1";
  wanted.storage_bytes_per_s = setting_size("LULL_STAGE_STORAGE_LIMIT");
  wanted.storage_writers = setting_real("LULL_STAGE_STORAGE_WRITERS");
  return wanted;
}

const approach_name& name_of(approach how) { return *std::ranges::find(names, how, &approach_name::how); }

bool shares_files(const plan& wanted) { return wanted.how == approach::dedicated_cores; }

std::string name_of(const plan& wanted) {
  const approach_name& name = name_of(wanted.how);
  return name.has_servers ? std::string(name.text) + "=" + std::to_string(wanted.count) : std::string(name.text);
}

}  // namespace lull::stage
