#include "aggregate/channel.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>

#include "aggregate/node_stage.hpp"
#include "aggregate/pe_stage.hpp"
#include "base/clock.hpp"
#include "fabric/team.hpp"
#include "lull/gatherer.hpp"
#include "shmem/current.hpp"

namespace lull::detail {
namespace {

using aggregate::item_format;
using aggregate::sink;

item_format format_of(const aggregate::route& way, std::size_t item_bytes, bool compress) {
  item_format f{.stride = 0, .addressed = !way.is_direct(), .compressed = compress};
  if (item_bytes != 0) f.stride = item_bytes + (f.addressed ? address_bytes : 0);
  return f;
}

}  // namespace

channel::channel(fabric::world& world, const channel_request& wanted)
    : world_(world),
      chosen_(aggregate::choose(world, *wanted.options, wanted.item_bytes)),
      route_(world.places(), world.pes(), chosen_.how),
      items_(format_of(route_, wanted.item_bytes, chosen_.compress)),
      answers_(wanted.answers),
      waits_(!wanted.offer),
      handing_{items_.addressed ? wanted.addressed : wanted.plain, wanted.handler},
      duty_(std::make_shared<aggregate::policy_lock>(world)),
      lanes_(world) {
  chosen_.sizes.reserved = waits_ ? 0 : 1;
  if (answers_) answers_->duty_ = duty_;
  const int last = route_.stages() - 1;
  for (int number = 0; number <= last; ++number) {
    sink to = waits_ ? sink{&channel::hand_over, &handing_} : sink{wanted.offer, wanted.handler};
    if (number != last) {
      passing_.push_back(std::make_unique<passing>(passing{this, number + 1, {}, {}}));
      to = {&channel::pass_on, passing_.back().get()};
    }
    if (route_.between_nodes(number))
      stages_.push_back(
          std::make_unique<aggregate::node_stage>(world, *this, route_, number, items_, chosen_.sizes, to));
    else
      stages_.push_back(std::make_unique<aggregate::pe_stage>(world, *this, route_, number, items_, chosen_.sizes, to));
  }
  later_capacity_.assign(stages_.size(), std::numeric_limits<std::size_t>::max());
  for (std::size_t i = stages_.size() - 1; i > 0; --i) {
    later_capacity_[i - 1] = later_capacity_[i];
    for (std::size_t lane = 0; lane < stages_[i]->lanes(); ++lane)
      later_capacity_[i - 1] = std::min(later_capacity_[i - 1], stages_[i]->capacity(lane));
  }
  for (auto& p : passing_) p->ways = ways_from(p->next_stage);
  ways_ = ways_from(0);
  entry_.reserve(ways_.size());
  for (const way_on& way : ways_) entry_.push_back(way.at);
  if (chosen_.bypass && wanted.has_direct) begin_directly();
}

channel::~channel() = default;

std::vector<channel::way_on> channel::ways_from(int stage) {
  const pe_id me = world_.me();
  std::vector<std::vector<pe_id>> targets(stages_.size());
  std::vector<std::vector<node_id>> nodes(stages_.size());
  for (int i = 0; i < route_.stages(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (route_.between_nodes(i))
      nodes[at] = route_.targets(i, world_.places().my_node());
    else
      targets[at] = route_.targets(i, me);
  }
  std::vector<way_on> ways;
  ways.reserve(static_cast<std::size_t>(world_.pes()));
  for (int pe = 0; pe < world_.pes(); ++pe) {
    const auto step = route_.next(stage, me, pe_id{pe});
    const auto at = static_cast<std::size_t>(step.stage);
    const auto lane = static_cast<std::size_t>(
        route_.between_nodes(step.stage)
            ? std::ranges::lower_bound(nodes[at], world_.places().node_of(step.next)) - nodes[at].begin()
            : std::ranges::lower_bound(targets[at], step.next) - targets[at].begin());
    ways.push_back(
        {stages_[at]->cursors() + lane, static_cast<std::uint32_t>(step.stage), static_cast<std::uint32_t>(lane)});
  }
  return ways;
}

std::size_t channel::hand_over(void* self, const batch& items) {
  const auto& to = *static_cast<const handing*>(self);
  to.apply(to.handler, items);
  return items.count;
}

std::size_t channel::pass_on(void* self, const batch& items) {
  passing& on = *static_cast<passing*>(self);
  channel& c = *on.self;
  const std::byte* at = items.items;
  const std::byte* const end = at + c.items_.bytes(items.count);
  const std::lock_guard hold(c.lanes_);
  while (at != end) {
    const std::size_t bytes = c.items_.size_of(at);
    const way_on& way = on.ways[read<std::uint32_t>(at)];
    while (!way.fits(bytes) && c.waits_) c.stages_[way.stage]->turn_over(way.lane);
    if (!way.fits(bytes) && !c.stages_[way.stage]->try_turn_over(way.lane)) {
      on.refused.push_back(way);
      break;
    }
    std::memcpy(way.at->next, at, bytes);
    way.at->next += bytes;
    at += bytes;
    ++c.passed_on_;
  }
  return c.items_.count(static_cast<std::size_t>(at - items.items));
}

bool channel::consume(int from_stage) {
  bool any = false;
  if (world_.places().nodes() > 1) world_.transfers().drive();
  for (const auto& p : passing_) p->refused.clear();
  for (auto i = static_cast<std::size_t>(from_stage); i < stages_.size(); ++i) any |= stages_[i]->consume();
  if (answers_) any |= answers_->consume(0);
  return any;
}

bool channel::anything_arrived(int from_stage) const {
  for (auto i = static_cast<std::size_t>(from_stage); i < stages_.size(); ++i)
    if (stages_[i]->anything_arrived()) return true;
  return answers_ && answers_->anything_arrived(0);
}

// Called with lanes_, which others may have meanwhile.
void channel::wait_for(int stage, bool (*ready)(const void*), const void* argument) {
  lanes_.unlock();
  const auto go_on = [&] {
    while (!ready(argument))
      if (!consume(stage)) duty_->wait([&] { return ready(argument) || anything_arrived(stage); });
  };
  if (duty_->is_mine()) {
    go_on();
  } else if (duty_->lock_unless([&] { return ready(argument); })) {
    go_on();
    duty_->unlock();
  }
  lanes_.lock();
}

std::size_t channel::items_under_way() const { return items_.count(chosen_.sizes.under_way()); }

std::size_t channel::largest_item() const {
  std::size_t largest = std::numeric_limits<std::size_t>::max();
  for (const way_on& way : ways_) largest = std::min(largest, largest_item(way));
  return largest - sizeof(std::uint32_t) - (items_.addressed ? address_bytes : 0);
}

void channel::turn_over(int pe, std::size_t item_bytes) {
  if (!timing_) begin_timing();
  const way_on& way = ways_[static_cast<std::size_t>(pe)];
  const auto turn = [&] {
    const std::lock_guard hold(lanes_);
    stages_[way.stage]->turn_over(way.lane);
  };
  must_fit(way, item_bytes);
  const bool was_open = way.at->next != nullptr;
  turn();
  if (was_open || chosen_.flush_ns != 0) keep_pace();
  if (!way.fits(item_bytes)) turn();  // what was passed on filled this one
}

std::size_t channel::largest_item(const way_on& way) const {
  return std::min(stages_[way.stage]->capacity(way.lane), later_capacity_[way.stage]);
}

void channel::must_fit(const way_on& way, std::size_t item_bytes) const {
  if (items_.stride != 0) return;
  if (const std::size_t largest = largest_item(way); item_bytes > largest)
    throw std::length_error("an item of " + std::to_string(item_bytes) +
                            " bytes does not fit an aggregation buffer of " + std::to_string(largest) +
                            " bytes; raise LULL_AGGREGATE_SLOT");
}

void channel::append(const way_on& way, std::span<const std::byte> items) {
  aggregate::stage& to = *stages_[way.stage];
  struct wanted {
    const aggregate::stage* stage;
    std::size_t lane;
  } const what{&to, way.lane};
  bool sent = false;
  {
    const std::lock_guard hold(lanes_);
    const std::uint64_t before = to.counts().buffers;
    while (!items.empty()) {
      const std::size_t bytes = to.append(way.lane, items);
      items = items.subspan(bytes);
      if (bytes == 0)
        wait_for(
            static_cast<int>(way.stage),
            [](const void* w) {
              const auto* const wants = static_cast<const wanted*>(w);
              return wants->stage->room(wants->lane);
            },
            &what);
    }
    sent = to.counts().buffers != before;
  }
  if (sent || chosen_.flush_ns != 0) keep_pace();
}

// With the senders, once per buffer.
void channel::keep_pace() {
  if (duty_->is_mine()) {  // answers given meanwhile
    if (chosen_.flush_ns != 0) flush_if_due();
    consume(0);
    return;
  }
  const std::unique_lock duty(*duty_, std::try_to_lock);
  if (!duty) return;  // another thread does
  if (chosen_.flush_ns != 0) flush_if_due();
  consume(0);
}

bool channel::try_turn_over(int pe, std::size_t item_bytes) {
  if (!timing_) begin_timing();
  const way_on& way = ways_[static_cast<std::size_t>(pe)];
  const auto turn = [&] {
    const std::lock_guard hold(lanes_);
    stages_[way.stage]->try_turn_over(way.lane);
  };
  if (chosen_.flush_ns != 0) flush_if_due();
  turn();
  consume(0);
  if (!way.fits(item_bytes)) turn();  // what was passed on filled this one
  return way.fits(item_bytes);
}

bool channel::room(int pe) const {
  const way_on& way = ways_[static_cast<std::size_t>(pe)];
  return stages_[way.stage]->room(way.lane);
}

bool channel::could_do_more() const {
  for (const auto& s : stages_)
    if (s->anything_arrived() || s->could_send_more()) return true;
  for (const auto& p : passing_)
    for (const way_on& way : p->refused)
      if (stages_[way.stage]->room(way.lane)) return true;
  return false;
}

void channel::flush() {
  for (auto& s : stages_) {
    const std::lock_guard hold(lanes_);
    if (waits_)
      s->flush();
    else
      s->try_flush();
  }
  if (answers_) answers_->flush();
  last_flush_ns_ = now_ns();
}

void channel::flush_if_due() {
  if (now_ns() - last_flush_ns_ >= chosen_.flush_ns) flush();
}

bool channel::advance() {
  const std::unique_lock duty(*duty_, std::try_to_lock);
  if (!duty) return false;
  const bool any = consume(0);
  if (!any)
    flush();  // idle
  else if (chosen_.flush_ns != 0)
    flush_if_due();
  return any;
}

std::uint64_t channel::pushed() const {
  std::uint64_t items = 0;
  for (const auto& s : stages_) items += s->counts().items + s->waiting_items();
  return items - passed_on_;
}

bool channel::try_finish() {
  consume(0);
  while (closed_ < stages_.size()) {
    if (closed_ > 0) {
      if (!stages_[closed_ - 1]->over()) return false;
      most_pushed_ = std::max(most_pushed_, stages_[closed_ - 1]->most_pushed());
    } else {
      most_pushed_ = pushed() - pushed_before_ + direct_here_;
    }
    {
      const std::lock_guard hold(lanes_);
      if (!waits_ && !stages_[closed_]->try_flush()) return false;
      stages_[closed_++]->close(most_pushed_);
    }
    consume(0);
  }
  if (!stages_.back()->over()) return false;
  if (answers_ && !answers_->try_finish()) return false;
  round_over(std::max(most_pushed_, stages_.back()->most_pushed()));
  return true;
}

void channel::finish() {
  if (const int left = producers_.load(std::memory_order_acquire); left != 0)
    throw std::logic_error("done() of an aggregator: " + std::to_string(left) +
                           " pushers or pullers still exist; destroy them before");
  const std::lock_guard duty(*duty_);
  if (!timing_) begin_timing();
  while (!try_finish())
    world_.wait().until({wait::operation::aggregate}, [&] { return anything_arrived(0) || can_go_on(); });
  if (direct_now_) direct_->meet(rounds_ + 1);  // handlers of this round may still run elsewhere
}

bool channel::can_go_on() const {
  if (closed_ != 0 && !stages_[closed_ - 1]->over()) return false;
  if (closed_ < stages_.size()) return waits_ || !stages_[closed_]->holds_back();
  return !answers_ || answers_->can_go_on();
}

void channel::round_over(std::uint64_t most_pushed) {
  for (auto& s : stages_) s->reopen();
  closed_ = 0;
  pushed_before_ = pushed();
  most_pushed_ = direct_here_ = 0;
  left_direct_ = false;
  ++rounds_;
  direct_now_ = most_pushed < direct_limit_;  // who comes to the limit has left
  if (timing_) cpu_ns_ += thread_cpu_ns() - cpu_begin_ns_;
  if (counting_sleep_) asleep_ns_ += world_.wait().statistics().ns_asleep - asleep_begin_ns_;
  timing_ = counting_sleep_ = false;
}

void channel::begin_timing() {
  timing_ = true;
  cpu_begin_ns_ = thread_cpu_ns();
  begin_counting_sleep();
  last_flush_ns_ = now_ns();
}

void channel::begin_counting_sleep() {
  if (!counting_sleep_) asleep_begin_ns_ = world_.wait().statistics().ns_asleep;
  counting_sleep_ = true;
}

void channel::producer_comes() {
  int level = SHMEM_THREAD_SINGLE;
  shmem_query_thread(&level);
  if (level != SHMEM_THREAD_MULTIPLE)
    throw std::logic_error(
        "a pusher or puller of a thread: the program was begun without SHMEM_THREAD_MULTIPLE; begin it with "
        "shmem_init_thread()");
  const auto here = world_.places().members(world_.places().my_node()).size();
  const auto threads = static_cast<std::size_t>(producers_.fetch_add(1, std::memory_order_relaxed) + 1) * here;
  const bool crowded = threads > static_cast<std::size_t>(world_.cores_of_host());
  lanes_.expect_crowd(crowded);
  duty_->expect_crowd(crowded);
  const std::lock_guard hold(lanes_);
  begin_counting_sleep();
  if (direct_now_ && !left_direct_) leave_direct();  // what threads push goes by buffers
}

void channel::producer_goes(std::int64_t cpu_ns) {
  {
    const std::lock_guard hold(lanes_);
    cpu_ns_ += cpu_ns;
  }
  producers_.fetch_sub(1, std::memory_order_release);
}

std::size_t channel::chunk_bytes(std::size_t lanes) const {
  constexpr std::size_t usual = 1024;
  const std::size_t here = world_.places().members(world_.places().my_node()).size();
  const std::size_t threads =
      std::max<std::size_t>(static_cast<std::size_t>(world_.cores_of_host()) / here,
                            static_cast<std::size_t>(producers_.load(std::memory_order_relaxed)));
  return std::min(usual, chosen_.chunk_memory / std::max<std::size_t>(1, threads) / std::max<std::size_t>(1, lanes));
}

bool channel::try_take_chunk_memory(std::size_t bytes) {
  const bool there_is = chunks_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= chosen_.chunk_memory;
  if (!there_is) give_chunk_memory(bytes);
  return there_is;
}

void channel::begin_directly() {
  direct_ = std::make_unique<aggregate::direct_rounds>(world_);
  const double aggregated = chosen_.ns_per_item * (answers_ ? 2 : 1);  // a request and its answer are two
  direct_limit_ = direct_->measure(answers_ != nullptr, aggregated, [this] { finish(); });
  direct_now_ = direct_limit_ != 0;
  rounds_ = 0;
  if (answers_) answers_->rounds_ = 0;
  cpu_ns_ = asleep_ns_ = 0;
}

void channel::leave_direct() {
  left_direct_ = true;
  direct_->leave(rounds_ + 1);
}

void channel::finish_direct(std::uint64_t items) {
  direct_items_ += items;
  direct_here_ = items;
  world_.transfers().quiet(world_.transfers().default_context());
  direct_->meet(rounds_ + 1);
  if (direct_->somebody_left(rounds_ + 1)) return finish();  // who left did so before arriving
  direct_here_ = 0;
  ++rounds_;
  ++direct_rounds_;
  if (answers_) ++answers_->rounds_;
}

aggregate_statistics channel::statistics() const {
  aggregate_statistics now;
  const std::lock_guard hold(lanes_);
  std::uint64_t room = 0, filled = 0;
  for (const auto& s : stages_) {
    const aggregate::stage_counts& c = s->counts();
    now.hops += c.items;
    now.buffers += c.buffers;
    now.bytes += c.bytes;
    now.remote_buffers += c.far_buffers;
    now.remote_bytes += c.far_bytes;
    room += c.room;
    filled += c.bytes - c.buffers * sizeof(aggregate::slot_header);
  }
  now.direct_items = direct_items_;
  now.items = pushed() + direct_items_;
  now.fill = room == 0 ? 0 : static_cast<double>(filled) / static_cast<double>(room);
  now.rounds = rounds_;
  now.direct_rounds = direct_rounds_;
  const std::int64_t cpu = cpu_ns_ + (timing_ ? thread_cpu_ns() - cpu_begin_ns_ : 0);
  now.cpu_ns_per_item = now.items == 0 ? 0 : static_cast<double>(cpu) / static_cast<double>(now.items);
  now.seconds_asleep = static_cast<double>(asleep_ns_) * 1e-9;
  now.memory_bytes = chosen_.memory_bytes + chunks_.load(std::memory_order_relaxed);
  now.route_hops = chosen_.how.hops;
  now.per_node = chosen_.how.buffers == aggregate::buffering::per_node;
  now.buffer_bytes = world_.places().nodes() > 1 ? chosen_.sizes.far_bytes : chosen_.sizes.near_bytes;
  return now;
}

// What templates call.
channel* open_channel(const channel_request& wanted) {
  return std::make_unique<channel>(shmem::here("lull::aggregator"), wanted).release();
}
void close_channel(channel* c) noexcept { delete c; }  // NOLINT(cppcoreguidelines-owning-memory)
cursor* const* cursors_of(channel* c) noexcept { return c->cursors(); }
bool is_addressed(const channel* c) noexcept { return c->addressed(); }
void turn_over(channel* c, int pe, std::size_t item_bytes) { c->turn_over(pe, item_bytes); }
void advance(channel* c) { c->advance(); }
void finish(channel* c) { c->finish(); }
std::uint64_t direct_items(const channel* c) noexcept { return c->direct_items(); }
void leave_direct(channel* c) { c->leave_direct(); }
void finish_direct(channel* c, std::uint64_t items) { c->finish_direct(items); }
aggregate_statistics statistics_of(const channel* c) noexcept { return c->statistics(); }
std::size_t items_under_way(const channel* c) noexcept { return c->items_under_way(); }
std::size_t largest_item(const channel* c) noexcept { return c->largest_item(); }
aggregate_options with_route(const aggregate_options& options, std::size_t item_bytes) {
  const aggregate::choice chosen = aggregate::choose(shmem::here("lull::aggregator"), options, item_bytes);
  aggregate_options fixed = options;
  fixed.hops = chosen.how.hops;
  fixed.buffers =
      chosen.how.buffers == aggregate::buffering::per_node ? aggregate_buffers::per_node : aggregate_buffers::per_pe;
  return fixed;
}
aggregate_options of_either_way(const aggregate_options& options, const answered_items& items) {
  fabric::world& world = shmem::here("lull::gatherer");
  const std::size_t allowed = aggregate::memory_allowed(options);
  const bool any_size = items.least_answer_bytes != items.usual_answer_bytes;
  aggregate_options part = options;
  for (part.memory_bytes = allowed / 5 * 2;; part.memory_bytes -= part.memory_bytes / 4) {
    const aggregate_options way = with_route(part, std::max(items.request_bytes, items.usual_answer_bytes));
    std::size_t places = 0;
    if (!options.pullers && way.buffers == aggregate_buffers::per_pe && way.hops == 1) {
      const auto under_way = [&](std::size_t item) { return aggregate::choose(world, way, item).sizes.under_way(); };
      places = bytes_of_places(under_way(items.request_bytes) / items.request_bytes +
                               under_way(any_size ? 0 : items.usual_answer_bytes) / items.least_answer_bytes) *
               static_cast<std::size_t>(world.pes());
    }
    if (2 * part.memory_bytes + places <= allowed) return way;
  }
}

}  // namespace lull::detail
