// Writes values into the files of a fixture tree, step by step in time, and reads a source after each step: replays a
// day of a machine for a meter, in milliseconds.
#pragma once
#include <cerrno>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "meter/tally.hpp"
#include "tree.hpp"

namespace lull::meter {

struct fails_with {
  int error;
};
// A file's new content, or the errno with which it fails until it has content again.
using change = std::variant<std::string, fails_with>;

class replay {
 public:
  // Applies `first` at time 0, before the source is made.
  replay(const fixture_tree& tree, std::string_view source, const std::map<std::string, change>& first = {})
      : tree_(tree) {
    apply(first);
    source_ = make(source, sysroot(
                               tree.root(),
                               [this](std::string_view path) {
                                 const auto found = faults_.find(std::string(path));
                                 return found == faults_.end() ? 0 : found->second;
                               },
                               [this] { return now_ns_; }));
    for (const channel& c : source_->description().channels) tallies_.emplace_back(c);
    sample();
  }

  [[nodiscard]] const meter::source& source() const { return *source_; }

  // Advances CLOCK_MONOTONIC, changes the files, and reads the source.
  void after(double seconds, const std::map<std::string, change>& changes = {}) {
    now_ns_ += static_cast<std::int64_t>(seconds * 1e9);
    apply(changes);
    sample();
  }

  [[nodiscard]] channel_total total(std::string_view name) const {
    const auto& channels = source_->description().channels;
    for (std::size_t i = 0; i < channels.size(); ++i)
      if (channels[i].name == name) return tallies_[i].total();
    ADD_FAILURE() << "no channel " << name;
    return {};
  }

 private:
  void apply(const std::map<std::string, change>& changes) {
    for (const auto& [path, change] : changes)
      if (const auto* fault = std::get_if<fails_with>(&change)) {
        faults_[path] = fault->error;
      } else {
        faults_.erase(path);
        tree_.set(path, std::get<std::string>(change));
      }
  }

  void sample() {
    const auto readings = read_all(*source_);
    for (std::size_t i = 0; i < readings.size(); ++i) tallies_[i].add(readings[i]);
  }

  const fixture_tree& tree_;
  std::map<std::string, int> faults_;
  std::int64_t now_ns_ = 1'000'000'000'000;
  std::unique_ptr<meter::source> source_;
  std::vector<tally> tallies_;
};

}  // namespace lull::meter
