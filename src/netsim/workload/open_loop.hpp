// Open loop: a process creates messages at its own times, whatever happens to them; they wait at the source.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "netsim/simulation.hpp"
#include "netsim/workload/workload.hpp"

namespace lull::netsim {

// The state from which a process draws its messages. A copy draws the same messages.
struct drawing {
  std::uint32_t rank = 0;
  std::uint32_t turn = 0;  // used by the pattern: the next partner
  generator random{0};
  picoseconds next = never;      // creation of the next message
  std::uint64_t burst_left = 0;  // bursty: messages left in this burst
  std::uint64_t left = 0;        // messages left to create
};

// When messages are created, for any destination.
class arrival_times {
 public:
  explicit arrival_times(const job_setup& setup)
      : arrivals_(setup.job().arrivals), load_(setup.job().load), burst_(static_cast<double>(setup.job().burst)) {
    const double picoseconds_per_byte = 1e12 / setup.asked.network.nic_bandwidth;
    const double time = static_cast<double>(setup.job().message) * picoseconds_per_byte;
    message_time_ = static_cast<picoseconds>(std::llround(time));
    mean_gap_ = time / load_;
  }

  void draw_first(drawing& d) const {
    // A periodic source begins anywhere in its period, so that the sources do not all send at once.
    if (arrivals_ == arrivals::periodic)
      d.next += static_cast<picoseconds>(d.random.uniform() * mean_gap_);
    else
      draw_next(d);
  }
  void draw_next(drawing& d) const;

 private:
  netsim::arrivals arrivals_;
  double load_;
  double burst_;                  // mean length, picoseconds
  picoseconds message_time_ = 0;  // at nic_bandwidth
  double mean_gap_ = 0;           // between creations, picoseconds
};

template <class P>
class open_loop final : public workload {
 public:
  open_loop(const job_setup& setup, P pattern, generator& random);

  [[nodiscard]] process& of(std::uint32_t rank) override { return processes_[rank]; }
  [[nodiscard]] std::optional<std::uint64_t> expected() const override { return expected_; }

 private:
  class alignas(64) sender final : public process {
   public:
    sender(const open_loop& of, const drawing& d) : of_(of), d_(d) {}
    [[nodiscard]] picoseconds next_at() const override { return d_.left == 0 ? never : d_.next; }
    [[nodiscard]] message take() override;
    [[nodiscard]] std::int64_t waiting_bytes(picoseconds now, std::int64_t enough) const override;

   private:
    const open_loop& of_;
    drawing d_;
  };
  static_assert(sizeof(sender) == 64);

  const job& job_;
  std::uint32_t index_;
  P pattern_;
  arrival_times times_;
  std::optional<std::uint64_t> expected_ = 0;
  std::vector<sender> processes_;
};

template <class P>
open_loop<P>::open_loop(const job_setup& setup, P pattern, generator& random)
    : job_(setup.job()), index_(setup.index), pattern_(std::move(pattern)), times_(setup) {
  setup.require(job_.load > 0 && job_.load <= 1, "load", fmt::format("is {}", job_.load),
                "it must be more than 0 and at most 1");
  setup.require(job_.messages > 0 || setup.asked.end != never, "messages", "is 0, but end is not set",
                "set end, or a number of messages");
  if (job_.messages == 0) expected_.reset();
  processes_.reserve(setup.size());
  for (std::uint32_t rank = 0; rank < setup.size(); ++rank) {
    drawing d{.rank = rank, .random = generator(random())};
    if (pattern_.sends(rank)) {
      d.left =
          job_.messages > 0 ? static_cast<std::uint64_t>(job_.messages) : std::numeric_limits<std::uint64_t>::max();
      if (expected_) *expected_ += d.left;
      d.next = job_.start;
      times_.draw_first(d);
    }
    processes_.emplace_back(*this, d);
  }
}

template <class P>
message open_loop<P>::sender::take() {
  const auto bytes = static_cast<std::uint32_t>(of_.job_.message);
  message m{.created = d_.next, .to = 0, .bytes = bytes, .left = bytes, .label = 0, .job = of_.index_};
  m.to = of_.job_.nodes[of_.pattern_.next_partner(d_)];
  if (--d_.left > 0) of_.times_.draw_next(d_);
  return m;
}

// Messages are drawn when they are taken, so a copy of the state draws the waiting ones.
template <class P>
std::int64_t open_loop<P>::sender::waiting_bytes(picoseconds now, std::int64_t enough) const {
  drawing d = d_;
  std::int64_t bytes = 0;
  for (; d.left > 0 && d.next <= now && bytes < enough; --d.left) {
    bytes += of_.job_.message;
    (void)of_.pattern_.next_partner(d);
    if (d.left > 1) of_.times_.draw_next(d);
  }
  return bytes;
}

}  // namespace lull::netsim
