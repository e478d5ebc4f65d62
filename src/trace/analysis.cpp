#include "trace/analysis.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/hash.hpp"
#include "trace/functions.hpp"
#include "trace/time_account.hpp"

namespace lull::trace {
namespace {

constexpr std::size_t most_cells = 4'000'000;  // processes times bins
constexpr std::uint64_t no_request = ~std::uint64_t{0};

struct channel_key {
  std::uint32_t communicator, from, to, tag;
  bool operator==(const channel_key&) const = default;
};
struct channel_hash {
  std::size_t operator()(const channel_key& k) const {
    std::uint64_t h = spread(std::uint64_t{k.communicator} << 32 | k.tag);
    h ^= (std::uint64_t{k.from} << 32 | k.to) + 0x7f4a7c159e3779b9 + (h << 6) + (h >> 2);
    return h * 0xff51afd7ed558ccd >> 7;
  }
};
struct pair_hash {
  std::size_t operator()(std::uint64_t k) const { return spread(k) >> 13; }
};

// A queue that reuses its memory.
template <class T>
class fifo {
 public:
  [[nodiscard]] bool empty() const { return head_ == items_.size(); }
  [[nodiscard]] std::size_t size() const { return items_.size() - head_; }
  void push(const T& item) { items_.push_back(item); }
  T pop() {
    T item = items_[head_++];
    if (head_ == items_.size()) {
      items_.clear();
      head_ = 0;
    } else if (head_ > 64 && 2 * head_ > items_.size()) {
      items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
    return item;
  }

 private:
  std::vector<T> items_;
  std::size_t head_ = 0;
};

struct sent_message {
  std::uint64_t at;
  call_pool::handle call;  // the call that lasts until the message has left; none: no call waits, or not yet
  std::uint64_t request;   // of a non-blocking send
};

struct early_receive {
  std::uint64_t at, posted;
};

struct channel {
  fifo<sent_message> sent;
  fifo<early_receive> received;  // their messages are sent later, according to the clocks
};

// A non-blocking send: the call in which it ended, or the time when its receive was posted, whichever is known first.
struct pending_send {
  call_pool::handle call = call_pool::none;
  std::uint64_t posted = 0;  // 0: unknown
};

struct pending_collective {
  std::uint64_t at;
  role what;
};

struct participant {
  std::uint64_t arrived;
  call_pool::handle call;  // the waiting call, or none
  bool is_root;
};

// The k-th collective operation of a communicator.
struct collective_instance {
  std::vector<participant> there;
};

struct collectives_of_communicator {
  std::unordered_map<std::uint32_t, std::uint64_t> count;  // by process
  std::deque<collective_instance> open;                    // from number `first` on
  std::uint64_t first = 0;
};

struct open_region {
  std::uint32_t region;
  std::uint64_t begin;
};

struct location_state {
  std::vector<open_region> open;
  std::size_t call_depth = 0;  // depth in `open` at which the call begins; 0: in none
  bool found = false;          // an operation has completed, or a message has arrived, in this call
  call_pool::handle call = call_pool::none;
  std::uint64_t since = 0;  // when the program's own code continued
  std::uint64_t last = 0;
  bool begun = false;
};

struct process_state {
  std::unordered_map<std::uint64_t, std::uint64_t> receives;  // by request: when it was posted
  std::unordered_map<std::uint64_t, pending_send> sends;
  std::unordered_map<std::uint64_t, pending_collective> collectives;
  std::uint64_t last_sent = 0;
};

// Whether the event is a success of a test or probe.
constexpr bool finds(happening what) {
  return what == happening::isend_complete || what == happening::receive || what == happening::irecv ||
         what == happening::icollective_complete || what == happening::request_cancelled;
}

constexpr std::uint64_t pair_key(std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} << 32 | b; }

}  // namespace

class analyser::worker {
 public:
  worker(const definitions& all, std::size_t bins)
      : all_(all),
        bins_(std::clamp<std::size_t>(most_cells / std::max<std::size_t>(all.processes.size(), 1), 1,
                                      std::max<std::size_t>(bins, 1))),
        time_(all.processes.size(), bins_, all.length_ns),
        calls_(time_),
        locations_(all.locations.size()),
        processes_(all.processes.size()) {
    made_.bins = bins_;
    made_.processes.resize(all.processes.size());
    made_.message_bytes_in_bins.resize(bins_);
    made_.collective_bytes_in_bins.resize(bins_);
    made_.functions.resize(all.regions.size());
    for (const definitions::region& r : all.regions) polls_.push_back(is_polling(r.paradigm, r.name));
    made_.metrics_in_bins.assign(all.metrics.size(),
                                 std::vector<double>(bins_, std::numeric_limits<double>::quiet_NaN()));
  }

  void on(const event& e) {
    location_state& l = locations_[e.location];
    const std::uint32_t p = all_.locations[e.location].process;
    if (e.what == happening::metric) {
      if (e.region < made_.metrics_in_bins.size()) made_.metrics_in_bins[e.region][time_.bin(e.time_ns)] = e.value;
      return;
    }
    if (!l.begun) {
      l.begun = true;
      l.since = e.time_ns;
    }
    l.last = e.time_ns;
    l.found = l.found || finds(e.what);
    switch (e.what) {
      case happening::enter:
        enter(l, p, e);
        break;
      case happening::leave:
        leave(l, p, e);
        break;
      case happening::send:
      case happening::isend:
        send(l, p, e);
        break;
      case happening::isend_complete:
        sent(l, p, e);
        break;
      case happening::irecv_request:
        processes_[p].receives[e.request] = e.time_ns;
        break;
      case happening::request_cancelled:
        processes_[p].receives.erase(e.request);
        forget_send(p, e.request);
        break;
      case happening::receive:
        receive(l, p, e, l.call == call_pool::none ? e.time_ns : calls_.begun(l.call));
        break;
      case happening::irecv: {
        const auto posted = processes_[p].receives.find(e.request);
        receive(l, p, e, posted == processes_[p].receives.end() ? e.time_ns : posted->second);
        if (posted != processes_[p].receives.end()) processes_[p].receives.erase(posted);
        break;
      }
      case happening::collective_end:
      case happening::window_collective_end:
        collective_ends(l, p, e);
        break;
      case happening::icollective_request:
        processes_[p].collectives[e.request] = {e.time_ns, l.call == call_pool::none ? role::library : role_of_call(l)};
        break;
      case happening::icollective_complete:
        icollective_ends(l, p, e);
        break;
      case happening::put:
      case happening::atomic:
        one_sided(p, window_peer(p, e), p, e);
        break;
      case happening::get:
        one_sided(window_peer(p, e), p, p, e);
        break;
      default:
        break;
    }
  }

  analysis result() {
    for (std::size_t i = 0; i < locations_.size(); ++i) {
      location_state& l = locations_[i];
      if (!l.begun || !all_.locations[i].is_thread) continue;
      if (l.call != call_pool::none)
        calls_.end(l.call, l.last);
      else
        time_.add(all_.locations[i].process, time_state::compute, l.since, l.last);
    }
    for (const auto& [key, c] : channels_) {
      made_.unmatched_sends += c.sent.size();
      made_.unmatched_receives += c.received.size();
    }
    for (const auto& [key, c] : collectives_) made_.incomplete_collectives += c.open.size();
    for (const auto& [key, t] : pairs_) made_.pairs.push_back(t);
    for (std::size_t p = 0; p < processes_.size(); ++p) made_.processes[p].seconds = time_.whole()[p];
    made_.in_bins = time_.take_bins();
    made_.seconds = static_cast<double>(all_.length_ns) * 1e-9;
    for (const definitions::location& l : all_.locations) made_.events += l.events;
    return std::move(made_);
  }

 private:
  [[nodiscard]] role what(std::uint32_t region) const {
    return region < all_.regions.size() ? all_.regions[region].what : role::code;
  }
  [[nodiscard]] role role_of_call(const location_state& l) const { return what(calls_.region(l.call)); }

  void enter(location_state& l, std::uint32_t p, const event& e) {
    l.open.push_back({e.region, e.time_ns});
    if (l.call != call_pool::none || !is_communication(what(e.region))) return;
    time_.add(p, time_state::compute, l.since, e.time_ns);
    l.call = calls_.begin(p, e.time_ns, what(e.region), e.region);
    l.call_depth = l.open.size();
    l.found = false;
  }

  void leave(location_state& l, std::uint32_t, const event& e) {
    if (l.open.empty()) return;
    const open_region ended = l.open.back();
    if (ended.region < made_.functions.size()) {
      function_account& f = made_.functions[ended.region];
      ++f.calls;
      f.seconds += static_cast<double>(e.time_ns - ended.begin) * 1e-9;
    }
    if (l.call != call_pool::none && l.call_depth == l.open.size()) {
      if (ended.region < polls_.size() && polls_[ended.region] && !l.found)
        calls_.waited(l.call, e.time_ns, time_state::polling);
      calls_.end(l.call, e.time_ns);
      l.call = call_pool::none;
      l.since = e.time_ns;
    }
    l.open.pop_back();
  }

  void count_sent(std::uint32_t p, const event& e) {
    process_state& s = processes_[p];
    process_account& a = made_.processes[p];
    if (s.last_sent != 0) {
      const double gap = static_cast<double>(e.time_ns - s.last_sent) * 1e-9;
      const double off = gap - a.gap_mean;
      a.gap_mean += off / static_cast<double>(++a.gaps);
      a.gap_squares += off * (gap - a.gap_mean);
    }
    s.last_sent = std::max<std::uint64_t>(e.time_ns, 1);
    made_.message_bytes_in_bins[time_.bin(e.time_ns)] += e.bytes;
  }

  traffic& pair(std::uint32_t from, std::uint32_t to) {
    return pairs_.try_emplace(pair_key(from, to), traffic{.from = from, .to = to}).first->second;
  }

  void send(const location_state& l, std::uint32_t p, const event& e) {
    const std::uint32_t to = peer(e.communicator, p, e.peer);
    count_sent(p, e);
    ++made_.processes[p].sent;
    made_.processes[p].sent_bytes += e.bytes;
    const auto size = static_cast<std::size_t>(std::bit_width(e.bytes));
    ++made_.sizes[size];
    made_.size_bytes[size] += e.bytes;
    if (to == no_one) return;
    traffic& t = pair(p, to);
    ++t.messages;
    t.bytes += e.bytes;
    channel& c = channels_[{e.communicator, p, to, e.tag}];
    if (!c.received.empty()) {
      const early_receive early = c.received.pop();
      if (early.at < e.time_ns) {
        ++made_.too_early;
        made_.most_too_early_s = std::max(made_.most_too_early_s, static_cast<double>(e.time_ns - early.at) * 1e-9);
      }
      return;
    }
    if (e.what == happening::isend) {
      processes_[p].sends[e.request] = {};
      c.sent.push({e.time_ns, call_pool::none, e.request});
    } else {
      calls_.hold(l.call);
      c.sent.push({e.time_ns, l.call, no_request});
    }
  }

  // A non-blocking send ends in the current call.
  void sent(const location_state& l, std::uint32_t p, const event& e) {
    const auto found = processes_[p].sends.find(e.request);
    if (found == processes_[p].sends.end()) return;
    if (found->second.posted != 0) {  // it has been received already
      if (l.call != call_pool::none) late_receiver(l.call, found->second.posted);
      processes_[p].sends.erase(found);
    } else {
      calls_.hold(l.call);
      found->second.call = l.call;
      if (l.call == call_pool::none) processes_[p].sends.erase(found);
    }
  }

  void forget_send(std::uint32_t p, std::uint64_t request) {
    const auto found = processes_[p].sends.find(request);
    if (found == processes_[p].sends.end()) return;
    calls_.release(found->second.call);
    processes_[p].sends.erase(found);
  }

  void late_receiver(call_pool::handle sender, std::uint64_t posted) {
    if (posted > calls_.begun(sender) && calls_.lasts_beyond(sender, posted))
      calls_.waited(sender, posted, time_state::late_receiver);
  }

  void receive(const location_state& l, std::uint32_t p, const event& e, std::uint64_t posted) {
    const std::uint32_t from = peer(e.communicator, p, e.peer);
    ++made_.processes[p].received;
    made_.processes[p].received_bytes += e.bytes;
    if (from == no_one) return;
    channel& c = channels_[{e.communicator, from, p, e.tag}];
    if (c.sent.empty()) {
      c.received.push({e.time_ns, posted});
      return;
    }
    const sent_message m = c.sent.pop();
    if (l.call != call_pool::none && m.at > calls_.begun(l.call))
      calls_.waited(l.call, std::min(m.at, e.time_ns), time_state::late_sender);
    if (m.call != call_pool::none) {
      late_receiver(m.call, posted);
      calls_.release(m.call);
    } else if (const auto found = processes_[from].sends.find(m.request); found != processes_[from].sends.end()) {
      if (found->second.call != call_pool::none) {
        late_receiver(found->second.call, posted);
        forget_send(from, m.request);
      } else {
        found->second.posted = std::max<std::uint64_t>(posted, 1);
      }
    }
  }

  [[nodiscard]] std::uint32_t peer(std::uint32_t communicator, std::uint32_t mine, std::int32_t rank) const {
    if (communicator < all_.communicators.size() && all_.communicators[communicator].members.empty())
      return mine;  // self
    return all_.peer_of(communicator, mine, rank);
  }
  [[nodiscard]] std::uint32_t window_peer(std::uint32_t p, const event& e) const {
    return e.communicator < all_.windows.size() ? peer(all_.windows[e.communicator].communicator, p, e.peer) : no_one;
  }

  void one_sided(std::uint32_t from, std::uint32_t to, std::uint32_t origin, const event& e) {
    count_sent(origin, e);
    if (from == no_one || to == no_one) return;
    traffic& t = pair(from, to);
    ++t.one_sided;
    t.one_sided_bytes += e.bytes;
    if (e.what == happening::atomic && e.received > 0) pair(to, from).one_sided_bytes += e.received;
  }

  void count_collective(const event& e) {
    const auto operation = static_cast<std::size_t>(e.operation);
    if (operation < collectives) {
      collective_account& a = made_.by_collective[operation];
      ++a.calls;
      a.sent_bytes += e.bytes;
      a.received_bytes += e.received;
    }
    made_.collective_bytes_in_bins[time_.bin(e.time_ns)] += e.bytes;
  }

  void collective_ends(const location_state& l, std::uint32_t p, const event& e) {
    count_collective(e);
    const std::uint64_t arrived = l.call == call_pool::none ? e.time_ns : calls_.begun(l.call);
    role how = role_of(e.operation);
    if (l.call != call_pool::none && role_of_call(l) == role::other_collective) how = role::other_collective;
    arrive(l, p, e, arrived, how);
  }

  void icollective_ends(const location_state& l, std::uint32_t p, const event& e) {
    count_collective(e);
    const auto found = processes_[p].collectives.find(e.request);
    if (found == processes_[p].collectives.end()) return;
    const role how = found->second.what == role::other_collective ? role::other_collective : role_of(e.operation);
    arrive(l, p, e, found->second.at, how);
    processes_[p].collectives.erase(found);
  }

  void arrive(const location_state& l, std::uint32_t p, const event& e, std::uint64_t arrived, role how) {
    const bool of_window = e.what == happening::window_collective_end;
    const std::uint32_t communicator =
        !of_window ? e.communicator
                   : (e.communicator < all_.windows.size() ? all_.windows[e.communicator].communicator : no_one);
    if (communicator >= all_.communicators.size()) return;
    const auto& c = all_.communicators[communicator];
    const std::size_t members = c.members.size() + c.remote.size();
    if (members < 2) return;
    // Collectives of a window are counted separately from those of its communicator, and so are blocking and
    // non-blocking ones, because the latter end in a different order than they began.
    const std::uint64_t key = std::uint64_t{of_window                                   ? 1U
                                            : e.what == happening::icollective_complete ? 2U
                                                                                        : 0U}
                                  << 32 |
                              e.communicator;
    collectives_of_communicator& all = collectives_[key];
    const std::uint64_t number = all.count[p]++;
    if (number < all.first) return;
    while (all.open.size() <= number - all.first) all.open.emplace_back();
    collective_instance& instance = all.open[number - all.first];
    calls_.hold(l.call);
    instance.there.push_back({arrived, l.call, e.peer >= 0 && peer(communicator, p, e.peer) == p});
    if (instance.there.size() == members) {
      attribute_waiting(instance, how);
      instance.there.clear();
      instance.there.shrink_to_fit();
      finished_[key].push_back(number);
      forget_finished(all, finished_[key]);
    }
  }

  // Drops finished instances in order; most end in order.
  static void forget_finished(collectives_of_communicator& all, std::vector<std::uint64_t>& finished) {
    while (!all.open.empty()) {
      const auto found = std::ranges::find(finished, all.first);
      if (found == finished.end()) return;
      finished.erase(found);
      all.open.pop_front();
      ++all.first;
    }
  }

  void attribute_waiting(const collective_instance& instance, role how) {
    std::uint64_t last = 0, of_root = 0;
    for (const participant& one : instance.there) {
      last = std::max(last, one.arrived);
      if (one.is_root) of_root = one.arrived;
    }
    for (const participant& one : instance.there) {
      if (one.call == call_pool::none) continue;
      const std::uint64_t until = how == role::all_to_all                  ? last
                                  : how == role::one_to_all                ? of_root
                                  : how == role::all_to_one && one.is_root ? last
                                                                           : 0;
      calls_.waited(one.call, until, time_state::imbalance);
      calls_.release(one.call);
    }
  }

  const definitions& all_;
  const std::size_t bins_;
  time_account time_;
  call_pool calls_;
  std::vector<location_state> locations_;
  std::vector<process_state> processes_;
  std::unordered_map<channel_key, channel, channel_hash> channels_;
  std::unordered_map<std::uint64_t, traffic, pair_hash> pairs_;
  std::unordered_map<std::uint64_t, collectives_of_communicator> collectives_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> finished_;
  std::vector<bool> polls_;  // by region
  analysis made_;
};

analyser::analyser(const definitions& all, std::size_t bins) : worker_(std::make_unique<worker>(all, bins)) {}
analyser::~analyser() = default;
void analyser::on(const event& e) { worker_->on(e); }
analysis analyser::result() { return worker_->result(); }

}  // namespace lull::trace
