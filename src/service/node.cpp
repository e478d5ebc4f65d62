#include "service/node.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "meter/choice.hpp"
#include "meter/totals.hpp"
#include "service/row.hpp"

namespace lull::service {
namespace {

// A message that is older than this waited for the service.
constexpr std::int64_t late_ns = 1'000'000'000;

// Sources whose counters a site may have closed to its users. What everybody may read is not served.
constexpr std::array<std::string_view, 7> closed_sources{"powercap", "perf",    "amd_energy", "hwmon",
                                                         "ipmi",     "redfish", "snmp"};

std::int64_t memory_mib(const meter::sysroot& root) {
  const std::string text = root.text("/proc/meminfo");
  constexpr std::string_view name = "MemTotal:";
  if (!text.starts_with(name)) return 0;
  const std::size_t begin = text.find_first_not_of(' ', name.size());
  std::int64_t kib = 0;
  if (begin != std::string::npos) std::from_chars(text.data() + begin, text.data() + text.size(), kib);
  return kib / 1024;
}

bool counts_energy_of_the_node(const meter::channel& c) {
  return c.covers != meter::domain::nic && c.covers != meter::domain::wire;
}

std::string source_of(const std::string& channel) { return channel.substr(0, channel.find(':')); }

// Of a job that was started again, whose first end was not reported.
bool is_of_earlier_start(const account::account& a, const account::opening& now) {
  return a.gone_ns || (a.opened.restart >= 0 && now.restart >= 0 && a.opened.restart != now.restart);
}

// What CLOCK_REALTIME is beyond the clock of the accounts.
std::int64_t unix_offset_ns(std::int64_t now_ns) { return ns_on(CLOCK_REALTIME) - now_ns; }

// Whole or not at all; 0, or an errno.
int write_whole(const std::string& path, const std::string& text) {
  const std::string aside = path + ".new";
  descriptor file(::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return errno;
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(file.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : ENOSPC;
    done += static_cast<std::size_t>(n);
  }
  if (const int error = file.close(); error != 0) return error;
  return ::rename(aside.c_str(), path.c_str()) == 0 ? 0 : errno;
}

}  // namespace

node::node(setup s)
    : setup_(std::move(s)),
      boot_id_(setup_.root.text("/proc/sys/kernel/random/boot_id")),
      resources_{.cpus = sysconf(_SC_NPROCESSORS_ONLN), .memory_mib = memory_mib(setup_.root), .gpus = {}},
      accounts_(resources_, {}, setup_.root.now()),
      cpu_time_(setup_.root, setup_.cgroup_folder),
      spool_(setup_.spool_folder) {
  find_channels();
  std::vector<account::shared_channel> shared;
  for (const account::whole_counter& c : counters_) shared.push_back(account::shared(c.channel()));
  accounts_ = account::attribution(resources_, shared, now_ns());
  restore();
  apply_idle_power();
}

void node::find_channels() {
  for (auto& s : meter::sources_to_read(setup_.root, setup_.sources))
    if (std::ranges::any_of(s->description().channels, counts_energy_of_the_node)) sources_.push_back(std::move(s));
  std::vector<meter::channel> all;
  for (const auto& s : sources_)
    all.insert(all.end(), s->description().channels.begin(), s->description().channels.end());
  readings_of_all_.resize(all.size());
  std::vector<meter::channel_label> labels;
  labels.reserve(all.size());
  for (const meter::channel& c : all) labels.push_back({.name = c.name, .covers = c.covers, .kind = c.kind});
  const std::vector<std::size_t> counted = meter::counted(labels);
  if (counted.empty())
    throw error("meter this node", "no energy counter is readable", "lull sources shows the reasons");
  place_ = counted;
  const auto serve = [&](std::size_t i) {
    if (std::ranges::find(closed_sources, source_of(all[i].name)) == closed_sources.end()) return;
    auto at = std::ranges::find(place_, i);
    if (at == place_.end()) at = place_.insert(place_.end(), i);
    served_.push_back(static_cast<std::size_t>(at - place_.begin()));
  };
  for (const auto covers : {meter::domain::node, meter::domain::package, meter::domain::dram})
    for (const std::size_t i : meter::counted_of(labels, covers)) serve(i);
  // The attribution gets the first ones, those that count nothing twice; the others are only served.
  waiting_.resize(counted.size());
  for (const std::size_t i : place_) counters_.emplace_back(all[i]);
  failed_.resize(counters_.size());
  lost_.resize(counters_.size());
}

void node::restore() {
  std::ifstream file(setup_.state_file);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto saved = account::checkpoint_in(text);
  if (saved)
    for (const std::string& row : saved->rows)
      if (!spool_.contains(row)) spool_.add(row);
  if (!saved || saved->boot_id != boot_id_) {
    if (saved) close_ended_by_reboot(*saved);
    read_counters();  // what is counted from here on
    return;
  }
  for (account::whole_counter& c : counters_)
    if (const auto found = saved->counters.find(c.channel().name); found != saved->counters.end())
      c = account::whole_counter(c.channel(), found->second);
  accounts_ = account::attribution(resources_, accounts_.now().channels, saved->accounts);
}

void node::close_ended_by_reboot(const account::checkpoint& before) {
  const account::attribution then(resources_, before.accounts.channels, before.accounts);
  for (const auto& [key, a] : before.accounts.open) {
    std::int64_t uj = 0;
    auto so_far = *then.of(key);
    so_far.gap = so_far.unclosed = true;
    spool_.add(row_of(so_far, setup_.name, before.unix_offset_ns));
    for (const account::energy_figure& e : so_far.energy) uj += e.uj();
    fmt::print(stderr,
               "lull-meterd: the machine stopped while account {} of user {} was open: it used at least {:.1f} J\n",
               key, a.opened.uid, static_cast<double>(uj) * 1e-6);
  }
}

void node::apply_idle_power() {
  for (const auto& [domain, watts] : setup_.idle_watts) {
    std::vector<std::string> of_domain;
    for (const account::shared_channel& c : accounts_.now().channels)
      if (name_of(c.covers) == domain) of_domain.push_back(c.name);
    if (of_domain.empty())
      throw error(fmt::format("set the idle power of {}", domain), "no counter of this domain is counted",
                  "lull sources shows the domains");
    for (const std::string& name : of_domain)
      accounts_.set_idle_power(name, watts / static_cast<double>(of_domain.size()));
  }
}

void node::read_counters() {
  std::span<meter::reading> left = readings_of_all_;
  for (const auto& s : sources_) {
    const std::size_t count = s->description().channels.size();
    s->read(left.first(count));
    left = left.subspan(count);
  }
  ++readings_;
  for (std::size_t c = 0; c < counters_.size(); ++c) {
    const auto counted = counters_[c].add(readings_of_all_[place_[c]]);
    failed_[c] = counted.failed;
    if (counted.lost) ++lost_[c];
    if (c >= waiting_.size()) continue;
    waiting_[c].uj += counted.uj;
    waiting_[c].missing_uj += counted.missing_uj;
    waiting_[c].lost = waiting_[c].lost || counted.lost;
  }
}

void node::advance() {
  account::observation seen;
  seen.node_cpu_us = cpu_time_.usage_us("");
  seen.cpu_us = cpu_time_.usages_us(accounts_.cgroups());
  read_counters();
  seen.time_ns = now_ns();
  seen.channels = waiting_;
  std::ranges::fill(waiting_, account::observation::energy{});
  accounts_.add(seen);
}

bool node::is_late(const request& r) const { return r.time_ns && *r.time_ns + late_ns < now_ns(); }

// Of the cgroup in a message, and of its parent.
std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>> node::cpu_time_of(const request& r) {
  const std::string& cgroup = r.account.cgroup;
  const std::string parent = account::parent_of(cgroup);
  std::optional<std::int64_t> usage = r.usage_us, of_parent;
  if (!parent.empty()) of_parent = cpu_time_.usage_us(parent);
  if (!cgroup.empty() && !usage) usage = cpu_time_.usage_us(cgroup);
  return {usage, of_parent};
}

bool node::open(const request& r) {
  if (const auto same = accounts_.now().open.find(r.account.key); same != accounts_.now().open.end()) {
    if (same->second.end_ns) {
      finish_ended();
    } else if (is_of_earlier_start(same->second, r.account)) {
      accounts_.set_unclosed(r.account.key);
      advance();
      finish(r.account.key);
    } else if (same->second.opened.uid == r.account.uid) {
      const auto [usage, of_parent] = cpu_time_of(r);
      accounts_.complete(r.account, usage, of_parent);
      return true;
    } else {
      return false;
    }
  }
  const bool late = is_late(r);
  if (!late) advance();
  const std::int64_t begin = late ? std::max(*r.time_ns, accounts_.now().time_ns) : accounts_.now().time_ns;
  const auto [usage, of_parent] = cpu_time_of(r);
  return accounts_.open(r.account, usage, of_parent, begin);
}

bool node::used(const request& r) {
  accounts_.complete(r.account);
  return accounts_.report_cpu(r.account.key, r.usage_us.value_or(0));
}

std::optional<account::figures> node::figures(const std::string& key) {
  if (!is_open(key)) return std::nullopt;
  advance();
  return accounts_.of(key);
}

bool node::is_open(const std::string& key) const {
  const auto found = accounts_.now().open.find(key);
  return found != accounts_.now().open.end() && !found->second.end_ns;
}

std::optional<account::figures> node::close(const request& r) {
  if (!is_open(r.account.key)) return std::nullopt;
  accounts_.complete(r.account);
  if (r.usage_us) accounts_.report_cpu(r.account.key, *r.usage_us);
  if (is_late(r)) {
    accounts_.end(r.account.key, *r.time_ns);
    return std::nullopt;
  }
  advance();
  return finish(r.account.key);
}

account::figures node::finish(const std::string& key) {
  account::figures f = *accounts_.close(key);
  spool_.add(row_of(f, setup_.name, unix_offset_ns(now_ns())));
  return f;
}

std::vector<account::figures> node::finish_ended() {
  std::vector<std::string> ended;
  for (const auto& [key, a] : accounts_.now().open)
    if (a.end_ns) ended.push_back(key);
  std::vector<account::figures> all;
  if (ended.empty()) return all;
  advance();
  for (const std::string& key : ended) all.push_back(finish(key));
  return all;
}

void node::close_abandoned() {
  std::vector<std::string> abandoned;
  for (const auto& [key, a] : accounts_.now().open)
    if (a.gone_ns && accounts_.now().time_ns - *a.gone_ns >= setup_.close_after_ns) abandoned.push_back(key);
  for (const std::string& key : abandoned) {
    accounts_.set_unclosed(key);
    finish(key);
  }
}

void node::save() {
  // What was read since the last advance() would be lost otherwise.
  if (std::ranges::any_of(waiting_, [](const auto& e) { return e.uj > 0 || e.lost; })) advance();
  const std::int64_t now = now_ns();
  write_state();
  for (bool moves = true; moves;) {
    // No row of its file is in the state on the disk, so that a crash writes none again.
    if (spool_.is_due(now)) spool_.hand_on();
    const std::size_t before = spool_.waiting().size();
    spool_.write(now);
    moves = spool_.waiting().size() < before && spool_.is_due(now);
    if (moves) write_state();
  }
}

void node::write_state() {
  if (setup_.state_file.empty()) return;
  account::checkpoint c{.boot_id = boot_id_,
                        .unix_offset_ns = unix_offset_ns(now_ns()),
                        .rows = {spool_.waiting().begin(), spool_.waiting().end()},
                        .accounts = accounts_.now(),
                        .counters = {}};
  for (const account::whole_counter& one : counters_) c.counters[one.channel().name] = one.now();
  const int error = write_whole(setup_.state_file, account::text_of(std::move(c)));
  if (error != 0 && !state_is_refused_)
    fmt::print(stderr, "lull-meterd: cannot write {}: {}; accounts go on, but a restart would lose them\n",
               setup_.state_file, describe_errno(error));
  state_is_refused_ = error != 0;
}

std::set<std::int64_t> node::users() const {
  std::set<std::int64_t> found;
  for (const auto& [key, a] : accounts_.now().open)
    if (!a.end_ns) found.insert(a.opened.uid);
  return found;
}

std::vector<meter::channel> node::served_channels() const {
  std::vector<meter::channel> found;
  for (const std::size_t i : served_) found.push_back(counters_[i].channel());
  return found;
}

std::vector<counter_value> node::served_values() const {
  std::vector<counter_value> values;
  for (const std::size_t i : served_)
    values.push_back({.uj = counters_[i].uj(), .lost = lost_[i], .failed = failed_[i]});
  return values;
}

std::int64_t node::lost() const {
  std::int64_t sum = 0;
  for (const std::int64_t one : lost_) sum += one;
  return sum;
}

}  // namespace lull::service
