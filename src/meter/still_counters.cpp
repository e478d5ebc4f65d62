#include "meter/still_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

namespace lull::meter {
namespace {

using std::chrono::milliseconds;

constexpr std::array pauses{milliseconds(1), milliseconds(2),  milliseconds(4),
                            milliseconds(8), milliseconds(16), milliseconds(32)};

bool must_move(const channel& c) {
  return !c.limits.may_rest && (c.covers == domain::node || c.covers == domain::package || c.covers == domain::dram);
}

// Names of channels that stayed at 0 during all pauses of an earlier check by this process.
class known_still {
 public:
  [[nodiscard]] bool holds(const std::vector<std::string>& names) const {
    const std::lock_guard hold(lock_);
    return std::ranges::all_of(names, [&](const std::string& name) { return names_.contains(name); });
  }
  void add(const std::vector<std::string>& names) {
    const std::lock_guard hold(lock_);
    names_.insert(names.begin(), names.end());
  }

 private:
  mutable std::mutex lock_;
  std::set<std::string> names_;
};

std::vector<std::string> names_of(const std::vector<std::size_t>& places, const std::vector<channel>& channels) {
  std::vector<std::string> names;
  names.reserve(places.size());
  for (const std::size_t i : places) names.push_back(channels[i].name);
  return names;
}

// Indices of the channels whose counters stay at 0.
std::vector<std::size_t> still_channels(source& looked_at, bool remember) {
  static known_still known;
  const std::vector<channel>& channels = looked_at.description().channels;
  std::vector<std::size_t> still;
  for (std::size_t i = 0; i < channels.size(); ++i)
    if (must_move(channels[i])) still.push_back(i);
  if (still.empty()) return still;
  std::vector<reading> readings(channels.size());
  const auto look = [&] {
    looked_at.read(readings);
    std::erase_if(still, [&](std::size_t i) { return readings[i].value != std::uint64_t{0}; });
  };
  look();
  if (remember && known.holds(names_of(still, channels))) return still;
  for (const milliseconds pause : pauses) {
    if (still.empty()) break;
    std::this_thread::sleep_for(pause);
    look();
  }
  if (remember) known.add(names_of(still, channels));
  return still;
}

class some_channels final : public source {
 public:
  some_channels(std::unique_ptr<source> whole, std::vector<std::size_t> kept, source_description description)
      : source(std::move(description)),
        readings_(whole->description().channels.size()),
        kept_(std::move(kept)),
        whole_(std::move(whole)) {}

  void read(std::span<reading> into) override {
    whole_->read(readings_);
    for (std::size_t i = 0; i < kept_.size(); ++i) into[i] = readings_[kept_[i]];
  }
  [[nodiscard]] std::string complaint() override { return whole_->complaint(); }

 private:
  std::vector<reading> readings_;
  std::vector<std::size_t> kept_;
  std::unique_ptr<source> whole_;
};

}  // namespace

std::unique_ptr<source> without_still_counters(std::unique_ptr<source> made, bool remember) {
  source_description description = made->description();
  if (!description.state.readable) return made;
  const std::vector<std::size_t> still = still_channels(*made, remember);
  if (still.empty()) return made;

  const std::vector<std::string> names = names_of(still, description.channels);
  const bool one = names.size() == 1;
  std::string words =
      fmt::format("the counter{} of {} stay{} at 0", one ? "" : "s", fmt::join(names, ", "), one ? "s" : "");
  std::vector<std::size_t> kept;
  std::vector<channel> channels;
  for (std::size_t i = 0; i < description.channels.size(); ++i)
    if (std::ranges::find(still, i) == still.end()) {
      kept.push_back(i);
      channels.push_back(description.channels[i]);
    }
  if (kept.empty()) {  // the channels stay listed, as for any source that is not readable
    description.state = {false, std::move(words), ""};
  } else {
    description.channels = std::move(channels);
    description.left_out = std::move(words);
  }
  return std::make_unique<some_channels>(std::move(made), std::move(kept), std::move(description));
}

}  // namespace lull::meter
