#include "meter/sampler.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace lull::meter {
namespace {

double checked_rate(double hz) {
  if (!(hz >= lowest_hz && hz <= highest_hz))
    throw error("sample the energy meter",
                fmt::format("{} samples per second are not in {}..{}", hz, lowest_hz, highest_hz),
                "unset LULL_METER_HZ for 10");
  return hz;
}

}  // namespace

sampler::sampler(const sysroot& root, double hz, std::span<const std::string> names)
    : sampler((checked_rate(hz), choose_sources(root, names)), hz) {}

sampler::sampler(chosen_sources chosen, double hz)
    : hz_(hz), sources_(std::move(chosen.to_read)), not_read_(std::move(chosen.not_read)) {
  for (const auto& s : sources_)
    channels_.insert(channels_.end(), s->description().channels.begin(), s->description().channels.end());
  readings_.resize(channels_.size());
}

void sampler::take_sample() {
  std::span<reading> left = readings_;
  for (const auto& s : sources_) {
    const std::size_t count = s->description().channels.size();
    s->read(left.first(count));
    left = left.subspan(count);
  }
  const std::int64_t time_ns = now_ns();
  for (std::size_t i = 0; i < tallies_.size(); ++i) tallies_[i].add(readings_[i]);
  const std::scoped_lock lock(series_lock_);
  series_.time_ns.push_back(time_ns);
  newest_bytes_.clear();
  newest_is_gap_.clear();
  for (const reading& r : readings_) newest_is_gap_.push_back(!r.value);
  for (const tally& t : tallies_) {
    series_.joules.push_back(t.joules());
    newest_bytes_.push_back(t.bytes());
  }
}

void sampler::start() {
  const std::scoped_lock control(control_);
  {
    const std::scoped_lock lock(series_lock_);
    if (running_) throw error("start the energy meter", "it is running already", "stop it first");
    series_ = {};
  }
  tallies_.clear();
  for (const channel& c : channels_) tallies_.emplace_back(c);
  for (const auto& s : sources_) (void)s->complaint();  // discards earlier ones
  failure_ = nullptr;
  take_sample();
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  const std::scoped_lock lock(series_lock_);
  running_ = true;
}

void sampler::run(const std::stop_token& stop) try {
  using clock = std::chrono::steady_clock;
  const auto period = std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(1 / hz_));
  std::mutex mutex;  // never notified: the condition variable is only interrupted by the stop token
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  for (auto deadline = clock::now() + period;; deadline += period) {
    if (const auto late = clock::now() - deadline; late > period) deadline += late / period * period;
    never.wait_until(lock, stop, deadline, [] { return false; });
    if (stop.stop_requested()) return;
    take_sample();
  }
} catch (...) {
  failure_ = std::current_exception();  // out of memory; stop() reports it
}

series sampler::stop() {
  const std::scoped_lock control(control_);
  {
    const std::scoped_lock lock(series_lock_);
    if (!running_) throw error("stop the energy meter", "it is not running", "start it first");
    running_ = false;
  }
  thread_.request_stop();
  thread_.join();
  if (failure_) std::rethrow_exception(failure_);
  take_sample();
  for (const tally& t : tallies_) series_.totals.push_back(t.total());
  for (const auto& s : sources_)
    if (const std::string complaint = s->complaint(); !complaint.empty())
      series_.complaints.push_back(fmt::format("{}: a reading is missing: {}", s->description().name, complaint));
  return std::exchange(series_, {});
}

latest_sample sampler::latest() const {
  const std::scoped_lock lock(series_lock_);
  if (!running_) throw error("read the energy meter", "it is not running", "start it first");
  const auto newest = series_.joules.end() - static_cast<std::ptrdiff_t>(channels_.size());
  return {.time_ns = series_.time_ns.back(),
          .joules = {newest, series_.joules.end()},
          .bytes = newest_bytes_,
          .is_gap = newest_is_gap_};
}

}  // namespace lull::meter
