// Counters that this node's service, lull-meterd, reads for users who may not read them themselves.
//
// The service publishes them every 0.1 s, in steps, to whoever has the node alone and to administrators; a question
// causes no reading. A channel has the kind of the one behind it, the interval of the publications, and the step as its
// uncertainty at both ends. When others come onto the node or leave it, a new epoch begins: the counters then begin
// anew, and totals are lower bounds.
//
// A service that is stopped, slow or gone costs a measurement at most one wait of a second: the readings are gaps, and
// the next reading looks for a late answer, or for a new service, without waiting.
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/settings.hpp"
#include "meter/source.hpp"

namespace lull::meter {
namespace {

using json = nlohmann::json;

constexpr int version = 1;
constexpr int longest_wait_ms = 1000;
constexpr const char* how_to = "ask the administrator about lull-meterd";

// A connection to the service; answers come in the order of the questions.
class service_link {
 public:
  explicit service_link(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

  // An object, or null with the reason in trouble().
  json ask(const char* what) {
    if (!socket_ && !connect()) return nullptr;
    if (!is_pending_) {
      const std::string text = json{{"v", version}, {"ask", what}}.dump();
      if (::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return broken(describe_errno(errno));
    }
    // After an answer that did not come, further readings do not wait.
    pollfd ready{socket_.get(), POLLIN, 0};
    const int got = ::poll(&ready, 1, std::exchange(is_pending_, true) ? 0 : longest_wait_ms);
    if (got == 0) {
      trouble_ = fmt::format("the service at {} does not answer", path_);
      return nullptr;
    }
    is_pending_ = false;
    std::string text(1 << 16, '\0');
    const ssize_t length = ::recv(socket_.get(), text.data(), text.size(), MSG_DONTWAIT);
    if (length <= 0) return broken(length < 0 ? describe_errno(errno) : "it has ended");
    json answer = json::parse(text.begin(), text.begin() + length, nullptr, false);
    if (!answer.is_object() || answer.value("v", json()) != version)
      return broken("it has another version of the messages");
    if (const auto refused = answer.find("refused"); refused != answer.end() && refused->is_string()) {
      trouble_ = refused->get<std::string>();
      return nullptr;
    }
    if (answer.contains("error")) return broken("it does not know the question");
    trouble_.clear();
    return answer;
  }

 private:
  json broken(const std::string& why) {
    socket_.close();
    is_pending_ = false;
    trouble_ = fmt::format("the service at {}: {}", path_, why);
    return nullptr;
  }
  bool connect() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path_.size() >= sizeof address.sun_path) return broken("the path is too long"), false;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    socket_ = descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket_) return broken(describe_errno(errno)), false;
    if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      const int failed = errno;
      return broken(failed == ECONNREFUSED || failed == ENOENT ? "it does not run" : describe_errno(failed)), false;
    }
    if (!is_trusted()) return broken("its folder belongs to another user than the one who serves there"), false;
    return true;
  }
  // A user could take the name while the service is not there, but only in a folder of one's own.
  [[nodiscard]] bool is_trusted() const {
    ucred who{};
    socklen_t length = sizeof who;
    struct stat folder {};
    const std::string above = path_.substr(0, path_.rfind('/'));
    return ::getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &who, &length) == 0 &&
           (who.uid == 0 || (::stat(above.c_str(), &folder) == 0 && who.uid == folder.st_uid));
  }

  std::string path_;
  std::string trouble_;
  descriptor socket_;
  bool is_pending_ = false;  // an answer has not come yet
};

template <class E>
E enumerator(const json& name, E last) {
  for (int i = 0; i <= static_cast<int>(last); ++i)
    if (name == name_of(static_cast<E>(i))) return static_cast<E>(i);
  return last;
}

// "powercap:package-0" -> "served:package-0"
std::string served_name(const std::string& name) { return "served:" + name.substr(name.find(':') + 1); }

channel channel_in(const json& c, seconds interval, const service_link& from, double step_j) {
  const std::string name = c.at("name").get<std::string>();
  const double low = c.at("band").at(0).get<double>(), high = c.at("band").at(1).get<double>();
  return {.name = served_name(name),
          .covers = enumerator(c.at("domain"), domain::wire),
          .kind = enumerator(c.at("kind"), kind::simulated),
          .interval = seconds{std::max(interval.value(), c.at("interval_s").get<double>())},
          .basis = fmt::format("{} by the service at {}, in steps of {:g} J", name, from.path(), step_j),
          .limits = {.range = 0,
                     .max_per_second = c.at("most_w").get<double>() * 1e6,
                     .slack_ns = 2'000'000'000,
                     .may_rest = true},
          .joules_per_unit = {low * 1e-6, 1e-6, high * 1e-6},
          .watts = {}};
}

class served final : public source {
 public:
  // `first` is an answer with counters, or null.
  served(source_description description, service_link link, sysroot root, double step_uj, const json& first)
      : source(std::move(description)), link_(std::move(link)), root_(std::move(root)), step_uj_(step_uj) {
    std::vector<reading> into(this->description().channels.size());
    if (!into.empty()) (void)take(first, into);
  }

  void read(std::span<reading> into) override {
    const std::int64_t now = root_.now();
    const auto interval_ns = static_cast<std::int64_t>(description().interval.value() * 1e9);
    // There is nothing newer than a publication of this interval.
    if (last_.size() == into.size() && now < last_.front().time_ns + interval_ns) {
      std::ranges::copy(last_, into.begin());
      return;
    }
    const json answer = link_.ask("counters");
    if (!take(answer, into)) {
      complaint_ = link_.trouble();
      for (reading& r : into) r = {.value = {}, .error = EIO, .time_ns = std::max(now, latest_ns_)};
    }
    latest_ns_ = into.front().time_ns;
  }
  std::string complaint() override { return std::exchange(complaint_, {}); }

 private:
  bool take(const json& answer, std::span<reading> into) try {
    last_.clear();
    if (answer.is_null()) return false;
    const auto epoch = answer.at("epoch").get<std::string>();
    const auto lost = answer.at("lost").get<std::vector<std::int64_t>>();
    const std::int64_t time_ns = std::max(answer.at("time_ns").get<std::int64_t>(), latest_ns_);
    for (std::size_t i = 0; i < into.size(); ++i) {
      const json& uj = answer.at("uj").at(i);
      into[i] = {.value = {}, .error = uj.is_null() ? EIO : 0, .time_ns = time_ns};
      if (!uj.is_null()) into[i].value = uj.get<std::uint64_t>();
      into[i].pending = step_uj_;
      if (!lost_.empty() && lost.at(i) != lost_.at(i)) into[i].since = continuity::doubtful;
      if (!epoch_.empty() && epoch != epoch_) into[i].since = continuity::broken;
    }
    epoch_ = epoch;
    lost_ = lost;
    last_.assign(into.begin(), into.end());
    for (reading& r : last_) r.since = continuity::kept;
    return true;
  } catch (const json::exception&) {
    complaint_ = "the service's answer is not as described";
    return false;
  }

  service_link link_;
  sysroot root_;
  double step_uj_;
  std::vector<reading> last_;  // a publication that may still be the newest
  std::int64_t latest_ns_ = 0;
  std::string epoch_;
  std::vector<std::int64_t> lost_;
  std::string complaint_;
};

}  // namespace

std::unique_ptr<source> make_served(const sysroot& root) {
  source_description description{.name = "served",
                                 .kind = kind::vendor_model,
                                 .unit = "uJ",
                                 .interval = seconds{0.1},
                                 .range = {},
                                 .permission = "a job that has the node alone, or the group of administrators",
                                 .channels = {},
                                 .state = {}};
  service_link link(setting_text("LULL_SERVICE_SOCKET"));
  const auto unavailable = [&](std::string reason, std::string fix) {
    description.channels.clear();
    description.state = {.readable = false, .reason = std::move(reason), .fix = std::move(fix)};
    return std::make_unique<served>(std::move(description), std::move(link), root, 0, nullptr);
  };
  if (link.path() == "off") return unavailable("LULL_SERVICE_SOCKET is off", "");
  if (!root.is_this_machine()) return unavailable("the service meters this machine only", "");
  struct stat unused {};
  const bool is_there = ::stat(link.path().c_str(), &unused) == 0;
  if (!is_there && !setting_is_set("LULL_SERVICE_SOCKET"))
    return unavailable(fmt::format("no service of Lull runs on this node: there is no {}", link.path()), "");
  description.asked_for = true;
  const json channels = link.ask("channels");
  if (channels.is_null()) return unavailable(link.trouble(), how_to);
  double step_uj = 0;
  try {
    step_uj = channels.at("step_uj").get<double>();
    description.interval = seconds{channels.at("interval_s").get<double>()};
    for (const json& c : channels.at("channels"))
      description.channels.push_back(channel_in(c, description.interval, link, step_uj * 1e-6));
  } catch (const json::exception&) {
    return unavailable("the service's answer is not as described", how_to);
  }
  if (description.channels.empty())
    return unavailable("the service has no counters that you could not read yourself", "");
  description.kind = std::ranges::max(description.channels, {}, &channel::kind).kind;
  const json first = link.ask("counters");
  if (first.is_null()) return unavailable(link.trouble(), how_to);
  description.state.readable = true;
  return std::make_unique<served>(std::move(description), std::move(link), root, step_uj, first);
}

}  // namespace lull::meter
