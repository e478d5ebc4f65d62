// How processes spend their time, in total and in bins; and calls whose first part may turn out to be a wait.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "trace/analysis.hpp"

namespace lull::trace {

class time_account {
 public:
  time_account(std::size_t processes, std::size_t bins, std::uint64_t length_ns)
      : bins_(bins), width_ns_(length_ns / bins + 1), whole_(processes), in_bins_(processes * bins * time_states) {}

  [[nodiscard]] std::size_t bin(std::uint64_t ns) const { return std::min<std::size_t>(ns / width_ns_, bins_ - 1); }

  // `sign` -1 subtracts.
  void add(std::uint32_t process, time_state state, std::uint64_t begin, std::uint64_t end, double sign = 1) {
    if (end <= begin) return;
    const auto s = static_cast<std::size_t>(state);
    whole_[process][s] += sign * static_cast<double>(end - begin) * 1e-9;
    float* const of = in_bins_.data() + std::size_t{process} * bins_ * time_states + s;
    for (std::size_t b = bin(begin); begin < end; ++b) {
      const std::uint64_t until = b + 1 == bins_ ? end : std::min<std::uint64_t>(end, (b + 1) * width_ns_);
      of[b * time_states] += static_cast<float>(sign * static_cast<double>(until - begin) * 1e-9);
      begin = until;
    }
  }
  void move(std::uint32_t process, time_state from, time_state to, std::uint64_t begin, std::uint64_t end) {
    add(process, from, begin, end, -1);
    add(process, to, begin, end);
  }

  [[nodiscard]] const std::vector<std::array<double, time_states>>& whole() const { return whole_; }
  [[nodiscard]] std::vector<float> take_bins() { return std::move(in_bins_); }

 private:
  std::size_t bins_;
  std::uint64_t width_ns_;
  std::vector<std::array<double, time_states>> whole_;
  std::vector<float> in_bins_;
};

// Calls that are in progress or still referenced.
class call_pool {
 public:
  using handle = std::uint32_t;
  static constexpr handle none = 0xffffffff;

  explicit call_pool(time_account& time) : time_(time) {}

  [[nodiscard]] handle begin(std::uint32_t process, std::uint64_t ns, role what, std::uint32_t region) {
    handle h = none;
    if (free_.empty()) {
      h = static_cast<handle>(calls_.size());
      calls_.emplace_back();
    } else {
      h = free_.back();
      free_.pop_back();
    }
    calls_[h] = {
        .begin = ns, .end = 0, .waited_until = ns, .process = process, .region = region, .holders = 1, .what = what};
    return h;
  }
  void hold(handle h) {
    if (h != none) ++calls_[h].holders;
  }
  void release(handle h) {
    if (h != none && --calls_[h].holders == 0) free_.push_back(h);
  }
  void end(handle h, std::uint64_t ns) {
    call& c = calls_[h];
    c.end = ns;
    const time_state state = c.what == role::setup   ? time_state::setup
                             : c.what == role::files ? time_state::files
                                                     : time_state::transfer;
    time_.add(c.process, state, c.begin, ns);
    release(h);
  }
  [[nodiscard]] std::uint64_t begun(handle h) const { return calls_[h].begin; }
  [[nodiscard]] std::uint32_t region(handle h) const { return calls_[h].region; }
  // Whether the call had not ended at `ns`.
  [[nodiscard]] bool lasts_beyond(handle h, std::uint64_t ns) const { return calls_[h].end == 0 || calls_[h].end > ns; }
  // The call waited from its begin until then; an earlier finding of a wait stays.
  void waited(handle h, std::uint64_t until, time_state why) {
    call& c = calls_[h];
    if (c.end != 0) until = std::min(until, c.end);
    if (until <= c.waited_until || c.what == role::setup || c.what == role::files) return;
    time_.move(c.process, time_state::transfer, why, c.waited_until, until);
    c.waited_until = until;
  }

 private:
  struct call {
    std::uint64_t begin, end, waited_until;
    std::uint32_t process, region, holders;
    role what;
  };
  time_account& time_;
  std::vector<call> calls_;
  std::vector<handle> free_;
};

}  // namespace lull::trace
