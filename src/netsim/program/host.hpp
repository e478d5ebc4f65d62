// A node that runs processes of a program, as the network sees it: the events due there, and the messages ready to
// send.
//
// The network calls `arrived` and `sent` ahead of time, and not in order of time. Both therefore only record what is
// due, and computed() handles it in order of time; entries due at the same time are handled in the order in which they
// were recorded, including those that the handling itself adds. A message that no process waits for only matters when a
// process looks for it: the node requests no call for it, and handles it together with the next entry.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "netsim/workload/workload.hpp"

namespace lull::netsim {

// Identifies a request.
struct completion {
  std::uint32_t rank = nowhere;
  std::uint32_t activity = 0;
  std::uint32_t slot = 0;
};

class alignas(64) host final : public process {
 public:
  class listener {
   public:
    // Ahead of time: the whole message will have left, or will have arrived, by `at`. The listener records what is due
    // then.
    virtual void will_have_sent(std::uint32_t label, picoseconds at) = 0;
    virtual void will_have_arrived(std::uint32_t label, picoseconds at) = 0;
    // See process::crossed.
    virtual void crossed(std::uint32_t /*label*/, std::span<const std::uint32_t> /*links*/) {}
    // The network takes a message to send, and will take `next` afterwards: an opportunity to prefetch its records.
    virtual void takes(std::uint32_t label, std::uint32_t next) const = 0;
    // Whether a process waits for the message now, or its arrival has any other effect.
    [[nodiscard]] virtual bool wants_arrival(std::uint32_t label) const = 0;
    // Due events, in order of time.
    virtual void has_arrived(std::uint32_t label, picoseconds now) = 0;
    virtual void completed(const completion& what, picoseconds now) = 0;
    virtual void resume(std::uint32_t rank, std::uint32_t activity, picoseconds now) = 0;

   protected:
    ~listener() = default;
  };

  explicit host(listener& tells) : tells_(&tells) {}

  // Called before the simulation: a process begins at `when`.
  void begin(picoseconds when, std::uint32_t rank, std::uint32_t activity = 0) {
    note({when, 0, {rank, activity, 0}, kind::resumed});
    wake_ = when;
  }
  // Whether no due event has any effect.
  [[nodiscard]] bool idle() const {
    return std::ranges::none_of(due_, [this](const due& d) { return is_wanted(d); });
  }
  // The listener calls these from the functions above.
  void offer(const message& m) { ready_.push_back(m); }
  void note_arrival(std::uint32_t label, picoseconds at) { note({at, 0, {label, 0, 0}, kind::arrived}); }
  void note_completion(const completion& of, picoseconds at) { note({at, 0, of, kind::completed}); }
  void note_resume(std::uint32_t rank, std::uint32_t activity, picoseconds at) {
    note({at, 0, {rank, activity, 0}, kind::resumed});
  }

  [[nodiscard]] picoseconds next_at() const override {
    return first_ready_ == ready_.size() ? never : ready_[first_ready_].created;
  }
  [[nodiscard]] message take() override;
  [[nodiscard]] std::int64_t waiting_bytes(picoseconds now, std::int64_t enough) const override;
  [[nodiscard]] picoseconds first_computed() const override { return wake_; }
  [[nodiscard]] picoseconds computed(picoseconds now) override;
  [[nodiscard]] picoseconds sent(picoseconds now) override {
    latest_.at = never;
    tells_->will_have_sent(taken_, now);
    return wake_for_latest();
  }
  [[nodiscard]] picoseconds arrived(std::uint32_t label, picoseconds now) override {
    latest_.at = never;
    tells_->will_have_arrived(label, now);
    return wake_for_latest();
  }

  void crossed(std::uint32_t label, std::span<const std::uint32_t> links) override { tells_->crossed(label, links); }

 private:
  enum class kind : std::uint8_t { arrived, completed, resumed };
  struct due {
    picoseconds at;
    std::uint64_t order;
    completion of;  // for an arrival: the message's label instead of the rank
    kind what;
    bool operator<(const due& other) const {  // for a heap whose top is the earliest
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  void note(due d) {
    d.order = order_++;
    latest_ = d;
    due_.push_back(d);
    std::ranges::push_heap(due_, std::less<>());
  }
  [[nodiscard]] bool is_wanted(const due& d) const {
    return d.what != kind::arrived || tells_->wants_arrival(d.of.rank);
  }
  // When computed() must be called for the entry just recorded; `never` if a call is due by then anyway.
  [[nodiscard]] picoseconds wake_for_latest() {
    if (latest_.at >= wake_ || !is_wanted(latest_)) return never;
    return wake_ = latest_.at;
  }
  // The same for all due entries.
  [[nodiscard]] picoseconds next_wake() {
    picoseconds first = wake_;
    for (const due& d : due_)
      if (d.at < first && is_wanted(d)) first = d.at;
    if (first == wake_) return never;
    return wake_ = first;
  }

  listener* tells_;
  std::vector<due> due_;         // heap
  std::vector<message> ready_;   // in order of creation
  std::size_t first_ready_ = 0;  // the messages before it have been taken
  due latest_{.at = never, .order = 0, .of = {}, .what = kind::resumed};
  std::uint64_t order_ = 0;
  picoseconds wake_ = never;  // the next requested call of computed()
  std::uint32_t taken_ = 0;   // label of the message that the interface is sending
};

inline message host::take() {
  const message m = ready_[first_ready_++];
  taken_ = m.label;
  __builtin_prefetch(ready_.data() + first_ready_ + 3);  // one or two cache lines ahead
  const bool last = first_ready_ == ready_.size();
  tells_->takes(taken_, last ? taken_ : ready_[first_ready_].label);
  if (last) {
    ready_.clear();
    first_ready_ = 0;
  } else if (first_ready_ >= 64 && 2 * first_ready_ >= ready_.size()) {
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(first_ready_));
    first_ready_ = 0;
  }
  return m;
}

inline std::int64_t host::waiting_bytes(picoseconds now, std::int64_t enough) const {
  std::int64_t bytes = 0;
  for (std::size_t i = first_ready_; i < ready_.size() && bytes < enough && ready_[i].created <= now; ++i)
    bytes += ready_[i].bytes;
  return bytes;
}

inline picoseconds host::computed(picoseconds now) {
  if (now >= wake_) wake_ = never;
  while (!due_.empty() && due_.front().at <= now) {
    const due d = due_.front();
    std::ranges::pop_heap(due_, std::less<>());
    due_.pop_back();
    switch (d.what) {
      case kind::arrived:
        tells_->has_arrived(d.of.rank, d.at);
        break;
      case kind::completed:
        tells_->completed(d.of, d.at);
        break;
      case kind::resumed:
        tells_->resume(d.of.rank, d.of.activity, d.at);
        break;
    }
  }
  return next_wake();
}

}  // namespace lull::netsim
