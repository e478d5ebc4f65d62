// The implementation of an aggregator: a plan, the pipeline that it describes, the phases, and their statistics.
//
// All PEs construct, finish and destroy it together. pipeline.hpp says which calls may run concurrently, and phases.hpp
// how a phase runs. Here the pushing thread does two more things: it handles arrivals once per buffer that it sends,
// and enforces the deadline of buffers that are not full. The route is fixed; when another route becomes worth a
// change, all PEs destroy the aggregation together and make the next one, which inherits its history.
#pragma once
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "aggregate/plan/history.hpp"
#include "aggregate/plan/phase_clock.hpp"
#include "aggregate/plan/phases.hpp"
#include "aggregate/plan/pipeline.hpp"
#include "aggregate/plan/plan.hpp"
#include "aggregate/threads/chunk_budget.hpp"
#include "aggregate/threads/thread_exchange.hpp"

namespace lull {
inline namespace cpp_abi_1 {
namespace detail {

class producer;

class aggregation {
 public:
  aggregation(fabric::world& world, const aggregation_request& wanted);
  aggregation(const aggregation&) = delete;
  aggregation& operator=(const aggregation&) = delete;
  ~aggregation();

  [[nodiscard]] int me() const { return world_.me().index(); }
  [[nodiscard]] const aggregate::pipeline& pipeline() const { return pipeline_; }
  [[nodiscard]] std::size_t max_items_in_flight() const;  // from one PE to another, at most

  void make_room(int pe, std::size_t item_bytes);
  bool try_make_room(int pe, std::size_t item_bytes);  // false: there is no room now
  bool advance();                                      // whether anything had arrived
  void finish();
  bool try_finish() { return phases_.try_finish(); }  // a step that does not wait; true: the phase is over
  [[nodiscard]] bool can_go_on() const { return phases_.can_go_on(); }

  [[nodiscard]] detail::direct_path_budget direct_path_budget();
  void leave_direct_path() { phases_.leave_direct_path(); }
  void finish_direct_phase(std::uint64_t items, std::uint64_t spent);

  // For threads with chunks of their own (producer.hpp).
  producer& producer_comes();  // std::logic_error in a program that has no threads
  void producer_goes(producer& its);
  void keep_pace_inside();
  void append(const aggregate::first_channel& way, int pe, std::span<const std::byte> items);  // `pe`: for tagged items
  [[nodiscard]] const aggregate::item_format& items_of_threads() const { return items_of_threads_; }
  [[nodiscard]] aggregate::chunk_budget& chunks() { return chunks_; }
  [[nodiscard]] std::int64_t flush_ns() const { return plan_.flush_ns; }

  [[nodiscard]] aggregate_statistics statistics() const;  // its history included

  [[nodiscard]] bool route_change_due() const { return wanted_route().has_value(); }
  [[nodiscard]] std::optional<aggregate::scheme> wanted_route() const;
  [[nodiscard]] const aggregate::scheme& route() const { return plan_.how; }
  // Moves the history to the next aggregation; this one must be destroyed then.
  [[nodiscard]] std::unique_ptr<history> give_history();

 private:
  aggregation(fabric::world& world, const aggregation_request& wanted, std::int64_t begun_ns);
  static std::size_t deliver(void* self, const batch& items);  // the sink of the last hop

  void learn_from_phase();
  void leave_accounts() const;
  void begin_timing();
  void flush();
  void flush_if_due();
  void keep_pace();

  fabric::world& world_;
  aggregate::plan plan_;
  aggregate::thread_exchange::delivery delivery_;
  aggregation* replies_;
  aggregate::pipeline pipeline_;
  aggregate::tagged_items tags_;
  aggregate::item_format items_of_threads_;  // those of the pipeline, with their tags
  aggregate::phase_clock clock_;
  aggregate::phases phases_;
  aggregate::chunk_budget chunks_;
  std::unique_ptr<aggregate::thread_exchange> threads_;  // null in a program that has none
  std::vector<std::unique_ptr<producer>> producers_;     // under filling()
  std::atomic<std::int64_t> last_flush_ns_{0};           // by the thread on duty
  std::unique_ptr<history> history_;
  std::vector<std::uint32_t> direct_prices_;  // by PE; empty before the first phase that begins directly
};

}  // namespace detail
}  // namespace cpp_abi_1
}  // namespace lull
