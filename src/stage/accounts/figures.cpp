#include "stage/accounts/figures.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/counted.hpp"
#include "base/counters.hpp"
#include "base/error.hpp"
#include "base/settings.hpp"
#include "regions/record_folder.hpp"
#include "stage/accounts/choice.hpp"

namespace lull::stage {
namespace {

std::string row(const char* role, int processes, std::int64_t compute, std::int64_t stall, std::int64_t idle,
                std::int64_t write, std::int64_t cpu, const amount& output) {
  const auto cell = [](std::int64_t ns) { return ns < 0 ? std::string("-") : fmt::format("{:.3f}", seconds(ns)); };
  return fmt::format("  {:<8}{:>9}{:>12}{:>10}{:>10}{:>10}{:>10}{:>8}{:>12.1f}\n", role, processes, cell(compute),
                     cell(stall), cell(idle), cell(write), cell(cpu), output.files,
                     static_cast<double>(output.bytes) * 1e-6);
}

constexpr std::int64_t none = -1;

std::string head_of(const plan& how) {
  return fmt::format(
      "lull stage: {}; seconds are sums over the processes of a role\n  {:<8}{:>9}{:>12}{:>10}{:>10}{:>10}"
      "{:>10}{:>8}{:>12}\n",
      name_of(how), "role", "processes", "compute s", "stall s", "idle s", "write s", "CPU s", "files", "MB");
}

std::string row_of_clients(const client_figures& clients, const amount& output) {
  return row("client", clients.processes, clients.computing_ns(), clients.stalled_ns, none, clients.writing_ns,
             clients.cpu_ns, output);
}

void write_figures(const std::string& file, const std::string& json) {
  const std::string aside = fmt::format("{}.{}.aside", file, getpid());
  std::ofstream out(aside);
  out << json;
  out.close();
  const int failed = out && std::rename(aside.c_str(), file.c_str()) == 0 ? 0 : errno;
  if (failed == 0) return;
  std::remove(aside.c_str());
  std::fprintf(stderr, "lull: write the figures of the output to %s: %s\n", file.c_str(),
               describe_errno(failed).c_str());
}

}  // namespace

amount& amount::operator+=(const amount& other) { return add_fields(*this, other); }
other_files& other_files::operator+=(const other_files& other) { return add_fields(*this, other); }
shared_figures& shared_figures::operator+=(const shared_figures& other) { return add_fields(*this, other); }
client_figures& client_figures::operator+=(const client_figures& other) { return add_fields(*this, other); }
server_figures& server_figures::operator+=(const server_figures& other) { return add_fields(*this, other); }

std::string table_of(const plan& how, const job_figures& all) {
  const client_figures& clients = all.clients;
  const server_figures& servers = all.servers;
  const bool served = servers.processes > 0;
  std::string text = head_of(how) + row_of_clients(clients, served ? clients.handed_over : clients.wrote_itself);
  if (served)
    text += row("server", servers.processes, none, none, servers.wall_ns - servers.writing_ns, servers.writing_ns,
                servers.cpu_ns, servers.written);
  if (served && clients.wrote_itself.files > 0) {
    text += fmt::format("  {} written by the clients themselves", counted(clients.wrote_itself.files, "file"));
    if (clients.too_large > 0)
      text +=
          fmt::format(", {} of them larger than a client's share of the buffer (LULL_STAGE_BUFFER)", clients.too_large);
    text += '\n';
  }
  const other_files& others = clients.others;
  if (others.declined + others.late + others.appended > 0)
    text += fmt::format("  {} of kinds that are not staged, {} open when MPI ended, {} opened again to be changed\n",
                        counted(others.declined, "file"), others.late, others.appended);
  if (const shared_figures& shared = clients.shared; shared.calls + shared.declined > 0)
    text += fmt::format(
        "  files of several processes: {} of {} became {} of the servers; {} of {} waited; {} left to the MPI "
        "library\n",
        counted(shared.calls, "write"), counted(shared.pieces, "piece"), counted(servers.shared_writes, "write"),
        shared.reads_waited, counted(shared.reads, "read"), counted(shared.declined, "call"));
  if (clients.dropped.files > 0)
    text += fmt::format("  {} dropped, {:.1f} MB: the buffer was full\n", counted(clients.dropped.files, "file"),
                        static_cast<double>(clients.dropped.bytes) * 1e-6);
  if (servers.failed > 0) text += fmt::format("  {} could not be written\n", counted(servers.failed, "file"));
  text.pop_back();
  return text;
}

std::string json_of(const plan& how, const job_figures& all) {
  const client_figures& clients = all.clients;
  const server_figures& servers = all.servers;
  const auto output = [](const amount& of) { return nlohmann::ordered_json{{"files", of.files}, {"bytes", of.bytes}}; };
  return nlohmann::ordered_json{{"schema", 1},
                                {"approach", name_of(how)},
                                {"nodes", all.nodes},
                                {"outputs", std::llround(clients.outputs())},
                                {"clients",
                                 {{"processes", clients.processes},
                                  {"wall_s", seconds(clients.wall_ns)},
                                  {"compute_s", seconds(clients.computing_ns())},
                                  {"stall_s", seconds(clients.stalled_ns)},
                                  {"write_s", seconds(clients.writing_ns)},
                                  {"cpu_s", seconds(clients.cpu_ns)},
                                  {"handed_over", output(clients.handed_over)},
                                  {"wrote_itself", output(clients.wrote_itself)},
                                  {"dropped", output(clients.dropped)},
                                  {"too_large", clients.too_large},
                                  {"declined", clients.others.declined},
                                  {"late", clients.others.late},
                                  {"appended", clients.others.appended},
                                  {"shared",
                                   {{"calls", clients.shared.calls},
                                    {"pieces", clients.shared.pieces},
                                    {"bytes", clients.shared.bytes},
                                    {"reads", clients.shared.reads},
                                    {"reads_waited", clients.shared.reads_waited},
                                    {"declined", clients.shared.declined}}}}},
                                {"servers",
                                 {{"processes", servers.processes},
                                  {"wall_s", seconds(servers.wall_ns)},
                                  {"idle_s", seconds(servers.wall_ns - servers.writing_ns)},
                                  {"write_s", seconds(servers.writing_ns)},
                                  {"cpu_s", seconds(servers.cpu_ns)},
                                  {"written", output(servers.written)},
                                  {"failed", servers.failed},
                                  {"shared_writes", servers.shared_writes}}}}
             .dump() +
         "\n";
}

void report(const plan& how, const job_figures& all) {
  if (all.clients.processes == 0 && all.servers.written.files == 0) return;
  const std::string advice = advice_of(how, all);
  std::fprintf(stderr, "%s\n%s%s", table_of(how, all).c_str(), advice.c_str(), advice.empty() ? "" : "\n");
  const std::string json = json_of(how, all);
  regions::leave_in_record("the cost of output", "output", json);
  const auto choices = accounts_of(how, all);
  if (!choices.empty())
    regions::leave_in_record("the outcome of choices", "choices-output",
                             model::in_json(choices, all.clients.wall_ns / std::max(1, all.clients.processes)));
  std::istringstream files(setting_text("LULL_STAGE_FIGURES"));
  for (std::string file; std::getline(files, file, ':');)
    if (!file.empty()) write_figures(file, json);
}

}  // namespace lull::stage
