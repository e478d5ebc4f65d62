#include "shmem/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/settings.hpp"
#include "fabric/team.hpp"
#include "meter/sampler.hpp"
#include "meter/totals.hpp"

namespace lull::shmem {
namespace {

using wait::wait_counts;

// Energy that counts nothing twice, as direct as its least direct part.
struct energy_sum {
  bool present = false, lower_bound = false;
  meter::kind kind = meter::kind::measured;
  double joules = 0;
  energy_sum& operator+=(const energy_sum& other) {
    present |= other.present;
    lower_bound |= other.lower_bound;
    kind = std::max(kind, other.kind);
    joules += other.joules;
    return *this;
  }
};

constexpr std::array domains{meter::domain::node, meter::domain::package, meter::domain::dram,
                             meter::domain::gpu,  meter::domain::nic,     meter::domain::wire};

// Of one host or of several.
struct energies {
  std::array<energy_sum, domains.size()> of;
  energy_sum processors;  // the packages and their memory; where only the whole node is metered, that
};

// What a PE tells PE 0, as bytes: this, then `rows` rows.
struct told {
  std::int64_t ns, ns_cpu, ns_progress_cpu, ns_changing_frequency;
  std::uint64_t frequency_changes;
  std::uint32_t rows;
  bool metered;  // it read its host's meter
  energies host;
};
struct told_row {
  std::uint32_t what, size_class;
  wait_counts counts;
};

template <class T>
void append(std::vector<std::byte>& bytes, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto* const first = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof value);
}

template <class T>
T take(std::span<const std::byte>& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes = bytes.subspan(sizeof value);
  return value;
}

energies energies_of_host(std::span<const meter::channel> channels, std::span<const meter::channel_total> totals) {
  std::vector<meter::channel_label> labels;
  for (const meter::channel& c : channels) labels.push_back({c.name, c.covers, c.kind});
  energies host;
  const auto at = [&](meter::domain d) -> energy_sum& { return host.of[static_cast<std::size_t>(d)]; };
  for (const meter::domain d : domains)
    for (const std::size_t i : meter::counted_of(labels, d))
      at(d) += {true, totals[i].lower_bound, labels[i].kind, totals[i].joules};
  host.processors = at(meter::domain::package);
  if (host.processors.present)
    host.processors += at(meter::domain::dram);
  else
    host.processors = at(meter::domain::node);
  return host;
}

struct job_sums {
  wait::wait_table table;
  double seconds = 0;
  int hosts = 0;            // whose meters were read
  std::int64_t ns_cpu = 0;  // of the PEs, their progress threads included
  energies energy;
};

double in_s(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

std::string size_words(std::size_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < units.size()) bytes /= 1024, ++unit;
  return fmt::format("{} {}", bytes, units[unit]);
}

std::string row_words(std::string_view what, std::string_view size, const wait_counts& c, const job_sums& sums) {
  const energy_sum& energy = sums.energy.processors;
  std::string joules = "-";
  if (energy.present && sums.ns_cpu > 0)
    joules = fmt::format("{:.3g}", energy.joules * static_cast<double>(c.ns_cpu) / static_cast<double>(sums.ns_cpu));
  return fmt::format("{:<11} {:>8} {:>10} {:>12} {:>9} {:>9.3f} {:>9.3f} {:>8.3f} {:>8} {:>9} {:>6} {:>9}\n", what,
                     size, c.operations, c.bytes, c.waits, in_s(c.ns_waited), in_s(c.ns_asleep), in_s(c.ns_cpu),
                     c.sleeps, c.timeouts, c.missed, joules);
}

std::string energy_words(const job_sums& sums) {
  std::string text, beside;
  for (const auto d : domains) {
    const energy_sum& e = sums.energy.of[static_cast<std::size_t>(d)];
    if (!e.present) continue;
    std::string& list = d == meter::domain::nic || d == meter::domain::wire ? beside : text;
    list += fmt::format("{}{} {}{:.4g} J ({})", list.empty() ? "" : ", ", meter::name_of(d), e.lower_bound ? ">= " : "",
                        e.joules, meter::name_of(e.kind));
  }
  if (!beside.empty()) text += fmt::format("{}in no total: {}", text.empty() ? "" : "; ", beside);
  if (text.empty()) return "energy: no meter is readable (lull sources says why)\n";
  const auto kind = std::max(meter::kind::derived, sums.energy.processors.kind);
  return fmt::format(
      "energy of {} as a whole: {}\n"
      "energy of an operation: the processors' energy by its share of the PEs' CPU time ({})\n",
      counted(sums.hosts, "host"), text, meter::name_of(kind));
}

std::string table_words(const job_sums& sums, fabric::world& world) {
  const auto policy = wait::wait_policy_names[static_cast<std::size_t>(world.wait().policy())];
  std::string text = fmt::format(
      "lull: waiting of {} on {} in {:.3f} s, policy {}; "
      "CPU time of the PEs {:.3f} s, {:.3f} s of it their progress threads'\n",
      counted(world.pes(), "PE"), counted(world.places().nodes(), "node"), sums.seconds, policy, in_s(sums.ns_cpu),
      in_s(sums.table.ns_progress_cpu));
  text += fmt::format("{:<11} {:>8} {:>10} {:>12} {:>9} {:>9} {:>9} {:>8} {:>8} {:>9} {:>6} {:>9}\n", "operation",
                      "up to", "count", "bytes", "waits", "waited s", "asleep s", "CPU s", "sleeps", "time-outs",
                      "missed", "energy J");
  wait_counts all;
  for (std::size_t what = 0; what < sums.table.rows.size(); ++what)
    for (std::size_t size = 0; size < wait::size_classes; ++size) {
      const wait_counts& c = sums.table.rows[what][size];
      if (c.operations == 0 && c.waits == 0) continue;
      text +=
          row_words(wait::operation_names[what], size == 0 ? "" : size_words(wait::largest_of_class(size)), c, sums);
      all += c;
    }
  text += row_words("all", "", all, sums);
  if (sums.table.frequency_changes > 0)
    text += fmt::format("frequency: {} changes of {:.1f} us\n", sums.table.frequency_changes,
                        static_cast<double>(sums.table.ns_changing_frequency) * 1e-3 /
                            static_cast<double>(sums.table.frequency_changes));
  return text + energy_words(sums);
}

}  // namespace

job_statistics::job_statistics(fabric::world& world)
    : world_(world), begin_ns_(now_ns()), cpu_begin_ns_(process_cpu_ns()) {
  const job::layout& places = world.places();
  if (!world.wait().has_table() || !places.first_on_host()) return;
  try {
    meter_ =
        std::make_unique<meter::sampler>(meter::sysroot(setting_text("LULL_SYSROOT")), setting_real("LULL_METER_HZ"),
                                         std::span<const std::string>(), meter::commands::left_out);
    meter_->start();
  } catch (const error&) {
    meter_.reset();  // no meter is readable: the table says so
  }
}

job_statistics::~job_statistics() = default;

void job_statistics::report() {
  if (!world_.wait().has_table()) return;
  world_.transfers().quiet(world_.transfers().default_context());
  world_.everybody().sync();  // what others still waited for belongs to the table
  const wait::wait_table table = world_.wait().table();
  told mine{now_ns() - begin_ns_,    process_cpu_ns() - cpu_begin_ns_,
            table.ns_progress_cpu,   table.ns_changing_frequency,
            table.frequency_changes, 0,
            meter_ != nullptr,       {}};
  std::vector<std::byte> rows;
  for (std::size_t what = 0; what < table.rows.size(); ++what)
    for (std::size_t size = 0; size < wait::size_classes; ++size) {
      const wait_counts& c = table.rows[what][size];
      if (c.operations == 0 && c.waits == 0) continue;
      append(rows, told_row{static_cast<std::uint32_t>(what), static_cast<std::uint32_t>(size), c});
      ++mine.rows;
    }
  if (meter_) mine.host = energies_of_host(meter_->channels(), meter_->stop().totals);
  std::vector<std::byte> blob;
  append(blob, mine);
  blob.insert(blob.end(), rows.begin(), rows.end());

  job_sums sums;
  std::string lines;
  const auto all = world_.tell_first_pe("lull.statistics", blob);
  for (std::size_t pe = 0; pe < all.size(); ++pe) {
    std::span<const std::byte> left = all[pe];
    const auto theirs = take<told>(left);
    sums.seconds = std::max(sums.seconds, in_s(theirs.ns));
    sums.ns_cpu += theirs.ns_cpu;
    sums.table.ns_progress_cpu += theirs.ns_progress_cpu;
    sums.table.ns_changing_frequency += theirs.ns_changing_frequency;
    sums.table.frequency_changes += theirs.frequency_changes;
    if (theirs.metered) ++sums.hosts;
    for (std::size_t d = 0; d < domains.size(); ++d) sums.energy.of[d] += theirs.host.of[d];
    sums.energy.processors += theirs.host.processors;
    wait_counts total;
    for (std::uint32_t i = 0; i < theirs.rows; ++i) {
      const auto row = take<told_row>(left);
      sums.table.rows[row.what][row.size_class] += row.counts;
      total += row.counts;
    }
    lines += fmt::format(
        "PE {}: {} waits, {:.3f} s waited, {:.3f} s asleep, {:.3f} s CPU of {:.3f} s, {} sleeps, {} time-outs, "
        "{} missed\n",
        pe, total.waits, in_s(total.ns_waited), in_s(total.ns_asleep), in_s(total.ns_cpu), in_s(theirs.ns_cpu),
        total.sleeps, total.timeouts, total.missed);
  }
  if (all.empty()) return;
  std::string text = table_words(sums, world_);
  if (setting_text("LULL_STATS") == "pe") text += lines;
  std::fputs(text.c_str(), stderr);
}

}  // namespace lull::shmem
