#include "job/members.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/settings.hpp"
#include "base/topology.hpp"
#include "job/modex.hpp"

namespace lull::job {
namespace {

core_set set_of(std::span<const int> cores) {
  core_set found;
  for (const int core : cores) {
    const auto word = static_cast<std::size_t>(core) / 64;
    if (word >= found.size()) found.resize(word + 1);
    found[word] |= std::uint64_t{1} << (static_cast<unsigned>(core) % 64);
  }
  return found;
}

int cores_in(const core_set& cores) {
  int count = 0;
  for (const std::uint64_t word : cores) count += std::popcount(word);
  return count;
}

// The number of processes on a host, and the cores on which any of them may run.
struct occupied_host {
  int processes = 0;
  core_set cores{};
  void add(const core_set& of_process) {
    ++processes;
    cores.resize(std::max(cores.size(), of_process.size()));
    for (std::size_t word = 0; word < of_process.size(); ++word) cores[word] |= of_process[word];
  }
};

place place_of(const bootstrap& boot, int blocks) {
  const auto& here = boot.host_ranks();
  const auto count = static_cast<int>(here.size());
  if (blocks > count)
    throw usage_error("split the PEs of this host into " + counted(blocks, "emulated node") + " (LULL_NODES)",
                      "there " + std::string(count == 1 ? "is" : "are") + " only " + counted(count, "PE"),
                      "request at most as many nodes as PEs");
  const auto position = std::ranges::lower_bound(here, boot.rank().index()) - here.begin();
  return {boot.host(), block_of(static_cast<int>(position), count, blocks)};
}

}  // namespace

members::members(bootstrap& boot) : boot_(boot), emulated_nodes_(static_cast<int>(setting_integer("LULL_NODES"))) {
  (void)place_of(boot_, emulated_nodes_);
}

bool members::several_nodes() const { return boot_.spans_hosts() || emulates_nodes(); }

std::vector<std::vector<std::byte>> members::exchange(std::span<const std::byte> mine) {
  const core_set my_cores = set_of(allowed_cores());
  const modex_data me{
      .where = place_of(boot_, emulated_nodes_), .cores = my_cores, .added = std::vector(mine.begin(), mine.end())};
  exchanged_.emplace(boot_, modex_key, to_bytes(me));

  std::vector<std::vector<std::byte>> added;
  std::vector<place> places;
  std::map<int, occupied_host> hosts;
  for (int process = 0; process < boot_.size(); ++process) {
    const pe_id pe{process};
    modex_data other = modex_data_from(exchanged_->of(pe), pe);
    places.push_back(other.where);
    hosts[other.where.host].add(other.cores);
    added.push_back(std::move(other.added));
  }
  layout_.emplace(places, boot_.rank());
  const occupied_host& here = hosts.at(me.where.host);
  processes_here_ = here.processes;
  cores_of_host_ = cores_in(here.cores);
  for (const auto& [number, host] : hosts)
    most_processes_per_core_ =
        std::max(most_processes_per_core_, static_cast<double>(host.processes) / std::max(1, cores_in(host.cores)));
  cores_of_process_ = std::max(1, std::min(cores_of_host_ / processes_here_, cores_in(my_cores)));
  return added;
}

}  // namespace lull::job
