#include "aggregate/plan/aggregation.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <string>

#include "aggregate/plan/agreed.hpp"
#include "aggregate/plan/producer.hpp"
#include "aggregate/plan/route_ends.hpp"
#include "base/clock.hpp"
#include "model/machine/machine_file.hpp"
#include "shmem.h"

namespace lull {
inline namespace cpp_abi_1 {
namespace detail {
namespace {

// Starts the time of construction, after the measurements that are made once per job.
std::int64_t begin(fabric::world& world, const aggregation_request& wanted) {
  aggregate::begin_plan(world);
  if (wanted.requested_options && !wanted.past && world.places().nodes() > 1 && !aggregate::ends_are_measured()) {
    const auto how = aggregate::make_plan(world, *wanted.options, wanted.item_bytes, wanted.requested_options);
    if (how.may_change) aggregate::measure_ends(world, how.routes, *wanted.options);
  }
  return now_ns();
}

aggregate::plan plan_of(fabric::world& world, const aggregation_request& wanted) {
  aggregate::plan how = aggregate::make_plan(world, *wanted.options, wanted.item_bytes, wanted.requested_options);
  how.sizes.reserved = wanted.offer ? 1 : 0;
  return how;
}

std::unique_ptr<aggregate::thread_exchange> exchange_for(fabric::world& world, const aggregation_request& wanted,
                                                         const aggregate::plan& how, const item_format& items,
                                                         aggregate::chunk_budget& memory) {
  using handling = aggregate::thread_exchange::handling;
  if (how.chunk_memory == 0 || wanted.offer) return nullptr;
  const apply_batch plain = wanted.apply_local ? wanted.apply_local : wanted.apply;
  const apply_batch addressed = wanted.apply_local_addressed ? wanted.apply_local_addressed : wanted.apply_addressed;
  return std::make_unique<aggregate::thread_exchange>(
      world, items, aggregate::thread_exchange::delivery{how.addressed() ? addressed : plain, wanted.handler},
      wanted.has_parts                      ? handling::by_parts
      : wanted.options->concurrent_handlers ? handling::at_once
                                            : handling::one_at_a_time,
      static_cast<std::size_t>(world.cores_of_pe()), how.blocks, memory);
}

}  // namespace

aggregation::aggregation(fabric::world& world, const aggregation_request& wanted)
    : aggregation(world, wanted, begin(world, wanted)) {}

aggregation::aggregation(fabric::world& world, const aggregation_request& wanted, std::int64_t begun_ns)
    : world_(world),
      plan_(plan_of(world, wanted)),
      delivery_{plan_.addressed() ? wanted.apply_addressed : wanted.apply, wanted.handler},
      replies_(wanted.replies),
      pipeline_(
          world, plan_, item_format(wanted.item_bytes, plan_.addressed(), plan_.compress),
          wanted.offer ? aggregate::sink{wanted.offer, wanted.handler} : aggregate::sink{&aggregation::deliver, this},
          !wanted.offer, replies_ ? &replies_->pipeline_ : nullptr),
      tags_{wanted.detach, wanted.handler, wanted.item_bytes + wanted.tag_bytes},
      items_of_threads_(wanted.tag_bytes == 0 ? pipeline_.items() : item_format(tags_.bytes, false, false)),
      clock_(world, wanted.offer && aggregate::has_threads()),
      phases_(world, pipeline_, clock_, replies_ ? &replies_->phases_ : nullptr),
      chunks_(plan_.chunk_memory, static_cast<std::size_t>(world.cores_of_pe())),
      threads_(exchange_for(world, wanted, plan_, items_of_threads_, chunks_)),
      history_(std::make_unique<history>()) {
  pipeline_.include(threads_.get());
  // Where replies go to their PE without another hop, one thread at a time pushes those to one PE.
  if (threads_ && wanted.options->concurrent_handlers && !wanted.has_parts && !(replies_ && plan_.addressed()))
    pipeline_.let_threads_help();
  const int ways = replies_ ? 2 : 1;  // paths that an item travels
  const auto made_ns = static_cast<double>(now_ns() - begun_ns);
  const bool direct = plan_.direct && wanted.has_direct;
  const model::correction_rules& rules = model::this_machine().correction;
  const double end_ns = plan_.end_of_phase_ns();
  if (direct) {
    const auto least = std::ranges::min_element(plan_.routes, {}, [](const auto& r) { return r.found.ns_per_phase; });
    phases_.allow_direct_path(
        {.gets = replies_ != nullptr,
         .item_bytes = wanted.item_bytes,
         .ns_per_item = ways * plan_.ns_per_item,
         .ns_per_phase = ways * plan_.ns_per_phase,
         .measured_ns_per_phase = plan_.may_change ? ways * end_ns
                                  : rules.off      ? ways * plan_.ns_per_phase
                                              : phases_.ns_of_empty([this] { finish(); }, plan_.sizes.per_channel, 7),
         .share_of_phase = plan_.may_change ? least->found.ns_per_phase / end_ns : 1},
        wanted.past ? wanted.past->direct : std::nullopt);
  }
  clock_.clear();
  const double price_ns = plan_.may_change ? aggregate::as_first_finds(world_, ways * made_ns) : 0;
  if (wanted.past) history_.reset(wanted.past);  // nothing below throws
  if (plan_.routes.empty()) {
    history_->route.reset();
    return;
  }
  if (history_->route) {
    history_->route->changed(plan_, price_ns);
  } else {
    history_->route.emplace(
        plan_, price_ns, rules,
        aggregate::route_choice::items{
            .in_one = wanted.item_bytes == 0 ? static_cast<double>(aggregate::usual_bytes_of_any_size) : 1,
            .both_ways = replies_ != nullptr,
            .turns = world.pes_per_core()});
  }
  if (!plan_.may_change) history_->route->stay();
}

aggregation::~aggregation() {
  if (history_) leave_accounts();
}

void aggregation::leave_accounts() const {
  if (!world_.wait().has_table()) return;
  auto all = phases_.accounts();
  const std::uint64_t pushed = pipeline_.pushed();
  if (history_->route && pushed != 0)
    if (const auto route = history_->route->account(plan_, phases_.seen().all - phases_.seen().direct, pushed,
                                                    static_cast<double>(clock_.cpu_ns()) / static_cast<double>(pushed)))
      all.push_back(*route);
  model::book_of_this_process().keep(all);
}

std::size_t aggregation::deliver(void* self, const batch& items) {
  const aggregation& me = *static_cast<const aggregation*>(self);
  const auto apply = [&] { me.delivery_.apply(me.delivery_.handler, items); };
  if (me.threads_)
    me.threads_->exclusively(apply);
  else
    apply();
  return items.count;
}

std::size_t aggregation::max_items_in_flight() const { return pipeline_.items().count(plan_.sizes.under_way()); }

void aggregation::make_room(int pe, std::size_t item_bytes) {
  if (!clock_.runs()) begin_timing();
  const aggregate::first_channel& way = pipeline_.ways()[static_cast<std::size_t>(pe)];
  pipeline_.must_fit(way, item_bytes);
  if (pipeline_.make_room(way, item_bytes) || plan_.flush_ns != 0) keep_pace();
  if (!way.fits(item_bytes)) pipeline_.make_room(way, item_bytes);  // forwarding may have filled it
}

bool aggregation::try_make_room(int pe, std::size_t item_bytes) {
  if (!clock_.runs()) begin_timing();
  const aggregate::first_channel& way = pipeline_.ways()[static_cast<std::size_t>(pe)];
  if (plan_.flush_ns != 0) flush_if_due();
  pipeline_.make_room(way, item_bytes);
  pipeline_.consume();
  if (!way.fits(item_bytes)) pipeline_.make_room(way, item_bytes);  // forwarding may have filled it
  return way.fits(item_bytes);
}

void aggregation::append(const aggregate::first_channel& way, int pe, std::span<const std::byte> items) {
  const bool tagged = items_of_threads_.stride != pipeline_.items().stride;
  const bool sent = tagged ? pipeline_.append(way, pe, tags_, items) : pipeline_.append(way, items);
  if (sent || plan_.flush_ns != 0) keep_pace();
}

// Called once per buffer sent.
void aggregation::keep_pace() {
  std::unique_lock duty(pipeline_.duty(), std::defer_lock);
  // This thread is already on duty when handlers push replies. If another thread is, it handles most of the arrivals.
  if (!pipeline_.duty().is_mine() && !duty.try_lock()) return (void)pipeline_.help();
  if (plan_.flush_ns != 0) flush_if_due();
  pipeline_.consume();
}

void aggregation::flush() {
  pipeline_.flush();
  const std::int64_t now = now_ns();
  last_flush_ns_.store(now, std::memory_order_relaxed);
  if (replies_) replies_->last_flush_ns_.store(now, std::memory_order_relaxed);
}

void aggregation::flush_if_due() {
  if (now_ns() - last_flush_ns_.load(std::memory_order_relaxed) >= plan_.flush_ns) flush();
}

bool aggregation::advance() {
  const std::unique_lock duty(pipeline_.duty(), std::try_to_lock);
  if (!duty) return pipeline_.help();
  const bool any = pipeline_.consume();
  if (!any)
    flush();  // idle
  else if (plan_.flush_ns != 0)
    flush_if_due();
  return any;
}

void aggregation::finish() {
  if (const int left = chunks_.producers(); left != 0)
    throw std::logic_error("done() of an aggregator: " + std::to_string(left) +
                           " pushers or getters still exist; destroy them first");
  const std::lock_guard duty(pipeline_.duty());
  if (!clock_.runs()) begin_timing();
  // All threads of this PE have pushed. A PE that is alone on its node waits for messages, and sleeps on the network.
  const bool alone = world_.places().members(world_.places().my_node()).size() == 1;
  while (!try_finish())
    world_.wait().until({.what = wait::operation::aggregate, .by_messages_only = alone},
                        [&] { return pipeline_.anything_arrived() || can_go_on(); });
  phases_.barrier_before_direct_phase();
  if (history_ && history_->route) learn_from_phase();
}

void aggregation::learn_from_phase() {
  aggregate::route_choice& choice = *history_->route;
  const std::int64_t now = now_ns();
  choice.phase_over(phases_.most_of_the_last(), now - std::exchange(history_->last_phase_ended_ns, now));
  const auto mine = choice.compares();
  if (!mine) return;
  try {
    choice.judge(aggregate::as_first_finds(world_, *mine));
  } catch (const std::bad_alloc&) {  // the program has filled the symmetric heap
    choice.stay();
  }
}

std::optional<aggregate::scheme> aggregation::wanted_route() const {
  return history_->route ? history_->route->wanted() : std::nullopt;
}

std::unique_ptr<history> aggregation::give_history() {
  leave_accounts();
  history_->direct = phases_.direct_costs();
  const aggregate::phases::counts& seen = phases_.seen();
  history_->sent += pipeline_.counts();
  history_->phases += seen;
  history_->pushed += pipeline_.pushed();
  history_->cpu_ns += clock_.cpu_ns();
  history_->asleep_ns += clock_.asleep_ns();
  return std::move(history_);
}

detail::direct_path_budget aggregation::direct_path_budget() {
  const model::direct_budget now = phases_.direct_path_budget();
  if (now.whole != 0 && direct_prices_.empty())
    for (int pe = 0; pe < world_.pes(); ++pe)
      direct_prices_.push_back(world_.places().shares_memory(pe_id{pe}) ? now.near : now.far);
  return {now.whole, direct_prices_.data()};
}

void aggregation::finish_direct_phase(std::uint64_t items, std::uint64_t spent) {
  if (!phases_.finish_direct_phase(items, spent))
    finish();
  else if (history_->route)
    history_->last_phase_ended_ns = now_ns();
}

void aggregation::begin_timing() {
  if (clock_.begin()) last_flush_ns_.store(now_ns(), std::memory_order_relaxed);
}

// Pushes to this PE itself must handle arrivals too: other PEs may still send to it.
void aggregation::keep_pace_inside() {
  if (world_.pes() > 1) keep_pace();
}

producer& aggregation::producer_comes() {
  if (!threads_)
    throw std::logic_error(
        "a pusher or getter of a thread: the program was initialised without SHMEM_THREAD_MULTIPLE; initialise it with "
        "shmem_init_thread()");
  const bool oversubscribed = chunks_.come() > world_.cores_of_pe();
  pipeline_.filling().set_oversubscribed(oversubscribed);
  pipeline_.duty().set_oversubscribed(oversubscribed);
  threads_->set_oversubscribed(oversubscribed);
  producer* its = nullptr;
  {
    const std::lock_guard hold(pipeline_.filling());
    clock_.begin_sleep();
    if (phases_.takes_direct_path()) leave_direct_path();  // items of other threads go through buffers
    for (const auto& each : producers_)
      if (each->is_free() && (!its || each->was_of(aggregate::this_thread()))) its = each.get();
    if (!its) its = producers_.emplace_back(std::make_unique<producer>(*this, *threads_)).get();
    its->take(aggregate::this_thread());
  }
  its->begin();
  return *its;
}

void aggregation::producer_goes(producer& its) {
  its.end();
  {
    const std::lock_guard hold(pipeline_.filling());
    clock_.add_cpu(its.cpu_ns());
    its.leave();
  }
  chunks_.go();
}

aggregate_statistics aggregation::statistics() const {
  const std::lock_guard hold(pipeline_.filling());
  aggregate::hop_counts sent = history_->sent;
  sent += pipeline_.counts();
  aggregate::phases::counts seen = history_->phases;
  seen += phases_.seen();
  const std::uint64_t items = history_->pushed + pipeline_.pushed() + seen.direct_items;
  const std::int64_t cpu_ns = history_->cpu_ns + clock_.cpu_ns(), asleep_ns = history_->asleep_ns + clock_.asleep_ns();
  return {.items = items,
          .direct_items = seen.direct_items,
          .hops = sent.items,
          .buffers = sent.buffers,
          .bytes = sent.bytes,
          .remote_buffers = sent.inter_node_buffers,
          .remote_bytes = sent.inter_node_bytes,
          .fill = sent.room == 0 ? 0 : static_cast<double>(sent.filled) / static_cast<double>(sent.room),
          .phases = seen.all,
          .direct_phases = seen.direct,
          .cpu_ns_per_item = items == 0 ? 0 : static_cast<double>(cpu_ns) / static_cast<double>(items),
          .seconds_asleep = static_cast<double>(asleep_ns) * 1e-9,
          .memory_bytes = plan_.memory_bytes + chunks_.taken(),
          .route_hops = plan_.how.hops,
          .per_node = plan_.per_node,
          .buffer_bytes = world_.places().nodes() > 1 ? plan_.sizes.inter_node_bytes : plan_.sizes.intra_node_bytes};
}

}  // namespace detail
}  // namespace cpp_abi_1
}  // namespace lull
