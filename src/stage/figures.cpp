#include "stage/figures.hpp"

#include <fmt/format.h>

#include "base/counted.hpp"

namespace lull::stage {
namespace {

double seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

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
  return row("client", clients.processes, clients.wall_ns - clients.stalled_ns - clients.writing_ns, clients.stalled_ns,
             none, clients.writing_ns, clients.cpu_ns, output);
}

}  // namespace

amount& amount::operator+=(const amount& other) {
  files += other.files;
  bytes += other.bytes;
  return *this;
}

client_figures& client_figures::operator+=(const client_figures& other) {
  processes += other.processes;
  wall_ns += other.wall_ns;
  stalled_ns += other.stalled_ns;
  writing_ns += other.writing_ns;
  cpu_ns += other.cpu_ns;
  handed_over += other.handed_over;
  wrote_itself += other.wrote_itself;
  dropped += other.dropped;
  too_large += other.too_large;
  return *this;
}

server_figures& server_figures::operator+=(const server_figures& other) {
  processes += other.processes;
  wall_ns += other.wall_ns;
  writing_ns += other.writing_ns;
  cpu_ns += other.cpu_ns;
  written += other.written;
  failed += other.failed;
  return *this;
}

std::string table_of(const plan& how, const client_figures& clients, const server_figures& server) {
  std::string text = head_of(how) + row_of_clients(clients, clients.handed_over);
  text += row("server", server.processes, none, none, server.wall_ns - server.writing_ns, server.writing_ns,
              server.cpu_ns, server.written);
  if (clients.wrote_itself.files > 0) {
    text += fmt::format("  {} written by the clients themselves", counted(clients.wrote_itself.files, "file"));
    if (clients.too_large > 0)
      text +=
          fmt::format(", {} of them larger than a client's share of the buffer (LULL_STAGE_BUFFER)", clients.too_large);
    text += '\n';
  }
  if (clients.dropped.files > 0)
    text += fmt::format("  {} dropped, {:.1f} MB: the buffer was full\n", counted(clients.dropped.files, "file"),
                        static_cast<double>(clients.dropped.bytes) * 1e-6);
  if (server.failed > 0) text += fmt::format("  {} could not be written\n", counted(server.failed, "file"));
  text.pop_back();
  return text;
}

std::string table_of(const plan& how, const client_figures& clients) {
  std::string text = head_of(how) + row_of_clients(clients, clients.wrote_itself);
  text.pop_back();
  return text;
}

}  // namespace lull::stage
