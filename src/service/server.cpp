#include "service/server.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/clock.hpp"

namespace lull::service {
namespace {

using json = nlohmann::json;

constexpr int most_of_a_user = 32;
constexpr int most_in_turn = 64;  // messages of a connection of the scheduler
constexpr std::size_t most_connections = 4096;
constexpr std::int64_t per_message_ns = 1'000'000'000 / 12;
constexpr std::int64_t burst_ns = 8 * per_message_ns;
constexpr std::int64_t save_interval_ns = 10'000'000'000;
// After the last question for counters, publications go on for so long.
constexpr std::int64_t wanted_ns = 2'000'000'000;

std::string with_version(json message) {
  message["v"] = protocol_version;
  return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool send_to(int fd, const std::string& text) {
  return ::send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(text.size());
}

json totals_of(const account::attribution::state& s) {
  json all = json::array();
  for (std::size_t c = 0; c < s.channels.size(); ++c) {
    std::int64_t open = 0;
    for (const auto& [key, a] : s.open) open += a.shares[c].uj();
    all.push_back({{"channel", s.channels[c].name},
                   {"domain", name_of(s.channels[c].covers)},
                   {"kind", name_of(s.channels[c].kind)},
                   {"node_uj", s.node_uj[c]},
                   {"open_uj", open},
                   {"closed_uj", s.closed_uj[c]},
                   {"system_uj", s.system[c].uj()},
                   {"unheld_uj", s.unheld[c].uj()},
                   {"idle_w", s.idle[c].used_w()}});
  }
  return all;
}

}  // namespace

server::server(node& n, const sockets& s, server_options options)
    : node_(n), sockets_(s), options_(options), publication_(fmt::format("{:x}", now_ns())) {
  publication_.set_users(node_.users());
}

void server::accept_from(int listening, bool is_scheduler) {
  for (;;) {
    descriptor fd(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    const auto who = peer_of(fd.get(), options_.administrators);
    if (!who) continue;
    if (!is_scheduler && !who->is_administrator()) {
      if (connections_of_[who->uid] >= most_of_a_user || connections_.size() >= most_connections) {
        (void)send_to(fd.get(), refusal(fmt::format("a user may have {} connections", most_of_a_user)));
        continue;
      }
    }
    ++connections_of_[who->uid];
    connections_.push_back({.fd = std::move(fd), .who = *who, .is_scheduler = is_scheduler});
  }
}

bool server::is_read(const connection& c) const {
  return c.is_scheduler || c.who.is_administrator() || c.busy_until_ns - now_ns() < burst_ns;
}

bool server::serve(connection& c) {
  if (!c.is_scheduler) return serve_one(c) != outcome::ended;
  // All that waits, before the reading that is due.
  for (int i = 0; i < most_in_turn; ++i)
    if (const outcome o = serve_one(c); o != outcome::served) return o != outcome::ended;
  return true;
}

server::outcome server::serve_one(connection& c) {
  std::array<char, longest_request + 1> buffer;
  const ssize_t n = ::recv(c.fd.get(), buffer.data(), buffer.size(), MSG_TRUNC);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return outcome::nothing;
  // Its sender has gone without reading an answer; messages may be left.
  if (n < 0 && errno == ECONNRESET && c.is_scheduler) return outcome::served;
  if (n <= 0) return outcome::ended;
  c.busy_until_ns = std::max(c.busy_until_ns, now_ns()) + per_message_ns;
  if (static_cast<std::size_t>(n) > longest_request) {
    (void)send_to(c.fd.get(), mistake(fmt::format("a message has at most {} bytes", longest_request)));
    return outcome::ended;
  }
  const parsed message = parse({buffer.data(), static_cast<std::size_t>(n)});
  const std::string text = message.wanted ? answer(c, *message.wanted) : mistake(message.mistake);
  return text.empty() || send_to(c.fd.get(), text) || c.is_scheduler ? outcome::served : outcome::ended;
}

// An empty answer follows with the next publication.
std::string server::answer(connection& c, const request& r) {
  switch (r.ask) {
    case verb::open:
    case verb::used:
    case verb::figures:
    case verb::close: {
      if (!c.is_scheduler) return refusal("accounts change over the socket of the scheduler");
      const verdict v = may_change_accounts(c.who, options_.rights);
      return v.allowed ? answer_scheduler(c, r) : refusal(v.reason);
    }
    case verb::channels:
      return channels();
    case verb::mine:
      return mine(c.who);
    case verb::node: {
      const verdict v = may_see_node(c.who);
      return v.allowed ? whole_node() : refusal(v.reason);
    }
    case verb::counters: {
      const verdict v = may_read_counters(c.who, options_.rights, node_.users());
      if (!v.allowed) return refusal(v.reason);
      const std::int64_t now = now_ns();
      if (now >= wanted_until_ns_) {  // what was published may be a second old
        c.had_number = publication_.number();
        next_publication_ns_ = std::min(next_publication_ns_, now + publication_interval_ns);
      }
      wanted_until_ns_ = now + wanted_ns;
      c.waits_for_counters = true;
      return {};
    }
  }
  return {};
}

std::string server::answer_scheduler(connection& c, const request& r) {
  if (r.ask == verb::used) {
    if (!node_.used(r)) return mistake(fmt::format("no account {} is open", r.account.key));
    node_.save();
    return done();
  }
  if (r.ask == verb::figures) {
    const auto so_far = node_.figures(r.account.key);
    return so_far ? text_of(*so_far) : mistake(fmt::format("no account {} is open", r.account.key));
  }
  if (r.ask == verb::open) {
    if (!node_.open(r)) return mistake(fmt::format("account {} is open already", r.account.key));
    publication_.set_users(node_.users());
    node_.save();
    return done();
  }
  if (!node_.is_open(r.account.key)) return mistake(fmt::format("no account {} is open", r.account.key));
  const auto row = node_.close(r);
  publication_.set_users(node_.users());
  node_.save();
  if (row) return text_of(*row);
  c.waits_for_row = r.account.key;
  return {};
}

void server::answer_rows() {
  const auto rows = node_.finish_ended();
  if (rows.empty()) return;
  node_.save();
  for (const account::figures& row : rows)
    for (connection& c : connections_)
      if (c.fd && c.waits_for_row == row.opened.key) {
        c.waits_for_row.clear();
        (void)send_to(c.fd.get(), text_of(row));
      }
}

std::string server::channels() const {
  json all = json::array();
  for (const meter::channel& c : node_.served_channels())
    all.push_back({{"name", c.name},
                   {"domain", name_of(c.covers)},
                   {"kind", name_of(c.kind)},
                   {"interval_s", c.interval.value()},
                   {"most_w", c.limits.max_per_second * c.joules_per_unit.high},
                   {"band", {account::shared(c).low, account::shared(c).high}}});
  return with_version(
      {{"channels", all}, {"interval_s", from_ns(publication_interval_ns).value()}, {"step_uj", step_uj}});
}

std::string server::mine(const peer& who) const {
  const auto users = node_.users();
  json all = json::array();
  for (const auto& [key, a] : node_.accounts().now().open) {
    if (a.opened.uid != who.uid) continue;
    if (const verdict v = may_see_share(who, a.opened.uid, users); v.allowed)
      all.push_back(json::parse(text_of(*node_.accounts().of(key))));
    else
      all.push_back({{"key", key}, {"refused", v.reason}});
  }
  return with_version({{"accounts", all}});
}

std::string server::whole_node() const {
  const auto& s = node_.accounts().now();
  return with_version({{"channels", totals_of(s)},
                       {"accounts", s.open.size()},
                       {"readings", node_.readings()},
                       {"lost", node_.lost()},
                       {"rows_waiting", node_.rows().waiting().size()},
                       {"rows_lost", node_.rows().lost()},
                       {"age_s", from_ns(node_.now_ns() - s.time_ns).value()}});
}

// False if the connection has ended.
bool server::answer_if_published(connection& c) {
  if (!c.waits_for_counters) return true;
  const verdict v = may_read_counters(c.who, options_.rights, node_.users());
  if (!v.allowed) {
    c.waits_for_counters = false;
    return send_to(c.fd.get(), refusal(v.reason));
  }
  const auto p = publication_.of(c.who.is_administrator());
  if (!p || p->number <= c.had_number) return true;
  c.had_number = p->number;
  c.waits_for_counters = false;
  return send_to(c.fd.get(), text_of(*p));
}

// Publications are at least an interval apart, also if one was late: a reader that has one does not ask for another
// before (meter/sources/served.cpp).
void server::publish(bool is_wanted) {
  publication_.publish(node_.served_values(), node_.now_ns());
  next_publication_ns_ = is_wanted ? now_ns() + publication_interval_ns : next_reading_ns_;
}

void server::do_what_is_due() {
  const std::int64_t now = now_ns();
  const auto period = static_cast<std::int64_t>(1e9 / options_.hz);
  const bool is_wanted = now < wanted_until_ns_;
  const bool attributes = now >= next_reading_ns_, publishes = now >= next_publication_ns_;
  if (!attributes && !publishes) return;
  if (attributes) {
    node_.advance();
    node_.close_abandoned();
    publication_.set_users(node_.users());
    next_reading_ns_ = next_reading_ns_ + period > now ? next_reading_ns_ + period : now + period;  // skip missed ones
  } else {
    node_.read_counters();
  }
  if (publishes || !is_wanted || publication_.begins()) publish(is_wanted);
  if (now >= next_save_ns_) {
    node_.save();
    next_save_ns_ = now + save_interval_ns;
  }
}

int server::next_due_ms() const {
  std::int64_t due = std::min(next_reading_ns_, next_publication_ns_);
  for (const connection& c : connections_)
    if (!is_read(c)) due = std::min(due, c.busy_until_ns - burst_ns);
  return static_cast<int>(std::max<std::int64_t>(due - now_ns(), 0) / 1'000'000 + 1);
}

void server::run(int signal_fd) {
  next_reading_ns_ = next_publication_ns_ = now_ns();
  for (int wait_ms = 0;;) {
    std::vector<pollfd> polled{
        {signal_fd, POLLIN, 0}, {sockets_.of_scheduler.get(), POLLIN, 0}, {sockets_.of_users.get(), POLLIN, 0}};
    for (const connection& c : connections_)
      polled.push_back({c.fd.get(), static_cast<short>(is_read(c) ? POLLIN : 0), 0});
    if (::poll(polled.data(), polled.size(), wait_ms) < 0 && errno != EINTR) break;
    if (polled[0].revents != 0) break;
    const std::size_t before = connections_.size();
    accept_from(sockets_.of_scheduler.get(), true);
    // Messages of the scheduler first: those that waited for the service come before the reading that is due.
    const auto serve_all = [&](bool of_scheduler) {
      for (std::size_t i = 0; i < connections_.size(); ++i) {
        connection& c = connections_[i];
        const bool is_new = i >= before;
        if (!c.fd || c.is_scheduler != of_scheduler) continue;
        if (!is_new && polled[3 + i].revents == 0) continue;
        if (!serve(c)) c.fd.close();
      }
    };
    serve_all(true);
    answer_rows();
    do_what_is_due();
    accept_from(sockets_.of_users.get(), false);
    serve_all(false);
    for (connection& c : connections_)
      if (c.fd && !answer_if_published(c)) c.fd.close();
    std::erase_if(connections_, [&](const connection& c) {
      if (c.fd) return false;
      if (--connections_of_[c.who.uid] == 0) connections_of_.erase(c.who.uid);
      return true;
    });
    wait_ms = next_due_ms();
  }
  node_.advance();
  node_.save();
}

}  // namespace lull::service
