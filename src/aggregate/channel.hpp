// What lies behind an aggregator: a route, its stages with their buffers, the rounds, and the choice of all these.
//
//   working   push(), turn_over()       finish() → stage after stage is closed when the one before is over → working
//
// Whoever waits for room in a stage lets that stage and all later ones go on meanwhile, and the answers' channel with
// them: nothing earlier can be needed for that, so no cycle of full buffers can stand still.
//
// A channel whose program takes items when it likes (channel_request::offer) waits nowhere: what cannot be taken or
// passed on stays in its buffer, and is offered again by the next call. One slot of each lane is kept for the end of
// the round, so that this needs no room either.
//
// A round in which every PE has so few items that aggregation would not pay is made directly, and ends with a meeting
// of all. All PEs must begin it in the same mode, because a handler that runs here is not atomic with respect to what
// others do directly; so the mode of a round follows from what all PEs did in the one before. A PE that finds the round
// too large for that leaves the mode and says so to all, those that wait in the meeting included; then the round is
// finished as any. A round with buffers also ends with a meeting when the next is to be direct: what others do directly
// must not meet handlers that still run.
//
// Threads. Two locks: `lanes_` is held while buffers are filled and sent, never while waiting; `duty_` by the thread
// that handles what has arrived, which also is the one that sleeps for more. So handlers run one at a time, in
// whichever thread is on duty, and who waits for room either is on duty or waits for one of the two. Duty comes before
// lanes. Requests and answers are one duty.
#pragma once
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "aggregate/choice.hpp"
#include "aggregate/direct_rounds.hpp"
#include "aggregate/policy_lock.hpp"
#include "aggregate/route.hpp"
#include "aggregate/stage.hpp"

namespace lull::detail {

class channel final : public aggregate::progress_of_later_stages {
 public:
  channel(fabric::world& world, const channel_request& wanted);
  ~channel();
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  [[nodiscard]] cursor* const* cursors() const { return entry_.data(); }
  [[nodiscard]] bool addressed() const { return items_.addressed; }
  [[nodiscard]] std::size_t items_under_way() const;
  [[nodiscard]] std::size_t largest_item() const;  // of any size, without its length and address: on every way

  // For threads with chunks of their own (producer.hpp).
  void producer_comes();
  void producer_goes(std::int64_t cpu_ns);
  [[nodiscard]] std::size_t chunk_bytes(std::size_t lanes) const;  // for each of so many lanes of a thread
  void take_chunk_memory(std::size_t bytes) { chunks_.fetch_add(bytes, std::memory_order_relaxed); }
  bool try_take_chunk_memory(std::size_t bytes);  // false: it would be more than there is for chunks
  void give_chunk_memory(std::size_t bytes) { chunks_.fetch_sub(bytes, std::memory_order_relaxed); }
  [[nodiscard]] const aggregate::item_format& items() const { return items_; }
  [[nodiscard]] std::int64_t flush_ns() const { return chosen_.flush_ns; }
  struct way_on {  // from here to a PE
    cursor* at;
    std::uint32_t stage, lane;
    [[nodiscard]] bool fits(std::size_t bytes) const { return static_cast<std::size_t>(at->end - at->next) >= bytes; }
  };
  [[nodiscard]] const std::vector<way_on>& ways() const { return ways_; }
  [[nodiscard]] std::size_t largest_item(const way_on& way) const;
  void must_fit(const way_on& way, std::size_t item_bytes) const;  // std::length_error
  void append(const way_on& way, std::span<const std::byte> items);

  void turn_over(int pe, std::size_t item_bytes);
  bool try_turn_over(int pe, std::size_t item_bytes);  // false: there is no room now
  bool advance();                                      // whether anything had arrived
  void finish();
  // A step of finish() that does not wait; true: the round is over.
  bool try_finish();
  [[nodiscard]] bool can_go_on() const;  // whether another step would do something besides consuming

  // Of a channel that waits nowhere, after a call that did what could be done: whether another would do more.
  [[nodiscard]] bool could_do_more() const;
  [[nodiscard]] bool room(int pe) const;

  [[nodiscard]] std::uint64_t direct_items() const { return direct_now_ ? direct_limit_ : 0; }
  void leave_direct();
  void finish_direct(std::uint64_t items);
  [[nodiscard]] aggregate_statistics statistics() const;

  void wait_for(int stage, bool (*ready)(const void*), const void* argument) override;

 private:
  struct passing {  // the sink of a stage that is not the last
    channel* self;
    int next_stage;
    std::vector<way_on> ways;     // by PE
    std::vector<way_on> refused;  // that had no room since the last consume()
  };
  struct handing {  // the sink of the last
    apply_batch apply;
    void* handler;
  };
  static std::size_t pass_on(void* passing, const batch& items);
  static std::size_t hand_over(void* handing, const batch& items);

  [[nodiscard]] std::vector<way_on> ways_from(int stage);
  bool consume(int from_stage);  // and of the answers
  [[nodiscard]] bool anything_arrived(int from_stage) const;
  void flush();
  void flush_if_due();
  void keep_pace();
  void begin_directly();
  void round_over(std::uint64_t most_pushed);
  void begin_timing();
  void begin_counting_sleep();
  [[nodiscard]] std::uint64_t pushed() const;  // by this PE, through buffers, since the beginning

  fabric::world& world_;
  aggregate::choice chosen_;
  aggregate::route route_;
  aggregate::item_format items_;
  channel* answers_;
  bool waits_;
  handing handing_;
  std::shared_ptr<aggregate::policy_lock> duty_;
  mutable aggregate::policy_lock lanes_;
  std::atomic<int> producers_{0};
  std::atomic<std::size_t> chunks_{0};  // bytes
  std::vector<std::unique_ptr<passing>> passing_;
  std::vector<std::unique_ptr<aggregate::stage>> stages_;
  std::vector<std::size_t> later_capacity_;  // by stage: the largest item that all lanes after it take
  std::vector<way_on> ways_;                 // by PE, for push()
  std::vector<cursor*> entry_;               // the same, for templates

  // The round.
  std::size_t closed_ = 0;           // stages
  std::uint64_t passed_on_ = 0;      // items of others, since the beginning
  std::uint64_t pushed_before_ = 0;  // this round
  std::uint64_t direct_here_ = 0;    // items of this round that went directly
  std::uint64_t most_pushed_ = 0;    // in this round, as far as known
  std::uint64_t rounds_ = 0, direct_rounds_ = 0, direct_items_ = 0;
  bool direct_now_ = false, left_direct_ = false;
  std::uint64_t direct_limit_ = 0;                    // with fewer items of each PE a round is made directly; 0: never
  std::unique_ptr<aggregate::direct_rounds> direct_;  // null when no round is ever made directly

  // Deadline and statistics.
  std::int64_t last_flush_ns_ = 0;
  bool timing_ = false, counting_sleep_ = false;
  std::int64_t cpu_begin_ns_ = 0, cpu_ns_ = 0;
  std::int64_t asleep_begin_ns_ = 0, asleep_ns_ = 0;
};

}  // namespace lull::detail
