// lull-meterd: meters a node for all its users, without root, capabilities or network.
//
//   lull-meterd [--config FILE] [--socket-folder DIR] [--state FILE] [...]
//
// It needs to read the energy counters (packaging/service/60-lull-meters.rules gives them to its group) and cpu.stat of
// cgroups, which everybody may. It ends with SIGTERM or SIGINT, and saves what it knows; after SIGKILL, the next one
// goes on from the last state, and attributes what was counted meanwhile.
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <string>

#include "base/error.hpp"
#include "service/listening.hpp"
#include "service/node.hpp"
#include "service/server.hpp"

namespace {

using namespace lull;

struct options {
  std::string socket_folder = "/run/lull", state = "/var/lib/lull/state.json";
  std::string spool = "/var/lib/lull/spool", node;
  std::string sysroot = "/", cgroups = "/sys/fs/cgroup";
  std::vector<std::string> sources, idle_watts;
  std::string counters = "alone", admin_group = "lull-admin", scheduler_user = "root";
  double hz = 1, close_after_s = 600;
};

descriptor ending_signals() {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  sigprocmask(SIG_BLOCK, &ending, nullptr);
  return descriptor(signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
}

std::optional<std::int64_t> id_of_group(const std::string& name) {
  const group* const found = getgrnam(name.c_str());  // NOLINT(concurrency-mt-unsafe): there is one thread
  return found == nullptr ? std::nullopt : std::optional<std::int64_t>(found->gr_gid);
}

std::int64_t id_of_user(const std::string& name) {
  const passwd* const found = getpwnam(name.c_str());  // NOLINT(concurrency-mt-unsafe): there is one thread
  if (found == nullptr)
    throw usage_error("let " + name + " open accounts", "there is no such user", "name the user of the scheduler");
  return static_cast<std::int64_t>(found->pw_uid);
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::map<std::string, double> watts_by_domain(const std::vector<std::string>& given) {
  std::map<std::string, double> result;
  for (const std::string& one : given) {
    const auto equals = one.find('=');
    char* end = nullptr;
    const double watts = equals == std::string::npos ? -1 : std::strtod(one.c_str() + equals + 1, &end);
    if (!(watts >= 0 && watts <= 1e6) || end == nullptr || *end != '\0' || end == one.c_str() + equals + 1)
      throw usage_error("set the idle power", "'" + one + "' is not DOMAIN=WATTS", "write for example package=40");
    result[one.substr(0, equals)] = watts;
  }
  return result;
}

void meter_the_node(const options& o) {
  // It does not ask itself.
  setenv("LULL_SERVICE_SOCKET", "off", 1);  // NOLINT(concurrency-mt-unsafe): there is one thread
  const descriptor signals = ending_signals();
  const service::server_options rights{
      .hz = o.hz,
      .rights = {.serves_counters = o.counters == "alone", .scheduler_uid = id_of_user(o.scheduler_user)},
      .administrators = id_of_group(o.admin_group)};
  service::node node({.root = meter::sysroot(o.sysroot),
                      .sources = o.sources,
                      .cgroup_folder = o.cgroups,
                      .idle_watts = watts_by_domain(o.idle_watts),
                      .state_file = o.state,
                      .spool_folder = o.spool,
                      .name = o.node.empty() ? host_name() : o.node,
                      .close_after_ns = static_cast<std::int64_t>(o.close_after_s * 1e9)});
  const service::sockets sockets = service::open_sockets(o.socket_folder);
  fmt::print("lull-meterd: {} counters, {} of them served; {} open accounts\n", node.channels(),
             node.served_channels().size(), node.accounts().now().open.size());
  (void)std::fflush(stdout);
  service::server(node, sockets, rights).run(signals.get());
  service::remove_sockets(sockets, o.socket_folder);
}

}  // namespace

int main(int argc, char** argv) try {
  options o;
  CLI::App app{"Meters this node for all its users and jobs.", "lull-meterd"};
  app.set_config("--config", "", "File with these options, as KEY = VALUE")->check(CLI::ExistingFile);
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.add_option("--socket-folder", o.socket_folder, "Folder of the sockets meter and accounts")->capture_default_str();
  app.add_option("--state", o.state, "File from which a restart goes on; '' for none")->capture_default_str();
  app.add_option("--spool", o.spool, "Folder for the rows of closed accounts; '' for none")->capture_default_str();
  app.add_option("--node", o.node, "Name of this node in rows; by default its host name");
  app.add_option("--close-after", o.close_after_s,
                 "Seconds after which an account whose processes have gone is closed without a message")
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str();
  app.add_option("--counters", o.counters,
                 "Who may read counters besides administrators: the user who has the node alone, or never any")
      ->check(CLI::IsMember({"alone", "never"}))
      ->capture_default_str();
  app.add_option("--admin-group", o.admin_group, "Group that may read everything, if it exists")->capture_default_str();
  app.add_option("--scheduler-user", o.scheduler_user, "User who opens and closes accounts, besides root")
      ->capture_default_str();
  app.add_option("--idle-watts", o.idle_watts, "DOMAIN=WATTS, power of a domain of this node when nothing runs");
  app.add_option("--sources", o.sources, "Energy sources to read, instead of those of a measurement")->delimiter(',');
  app.add_option("--hz", o.hz, "Readings a second")->check(CLI::Range(0.1, 10.0))->capture_default_str();
  app.add_option("--cgroups", o.cgroups, "Where cgroup v2 is mounted")->capture_default_str();
  app.add_option("--sysroot", o.sysroot, "Root of the files that describe the machine, for tests")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  meter_the_node(o);
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "lull-meterd: {}\n", e.what());
  return 1;
}
