#include "base/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "base/error.hpp"

namespace lull {
namespace {

constexpr std::array table{
    setting{"LULL_WAIT", setting_type::choice, "interrupt", "poll|interrupt|poll+dvfs|interrupt+dvfs|adaptive",
            "How a PE waits: poll spins until the data is there; interrupt spins about the price of a wake-up and then "
            "sleeps; +dvfs lowers the core's frequency meanwhile; adaptive sleeps until shortly before the end that "
            "it predicts."},
    setting{"LULL_WAIT_THRESHOLD", setting_type::size, "16K", "",
            "Bytes from which a transfer's wait may be taken to be long: below, adaptive waits like interrupt, +dvfs "
            "leaves the frequency alone, and traffic begins interrupt's spin anew."},
    setting{"LULL_WAIT_SPIN_US", setting_type::integer, "50", "0..1000000",
            "Microseconds that interrupt spins before it sleeps, while PEs do not outnumber cores."},
    setting{"LULL_WAIT_YIELDS", setting_type::integer, "20", "0..1000000",
            "Times that interrupt yields the core before it sleeps, when PEs outnumber cores (it does not spin then)."},
    setting{"LULL_WAIT_TIMEOUT_MS", setting_type::integer, "100", "1..10000",
            "Longest sleep in milliseconds before a sleeper looks again by itself; each such time-out is counted."},
    setting{"LULL_STATS", setting_type::choice, "0", "0|1|pe",
            "What waiting has cost, printed by PE 0 at shmem_finalize by operation and size: 1 sums over all PEs, pe "
            "adds a line for each PE."},
    setting{"LULL_SYSROOT", setting_type::text, "/", "",
            "Folder below which the files of cpufreq and of the meter of LULL_STATS are looked for, for trying them on "
            "a copy of /sys."},
    setting{"LULL_NODES", setting_type::integer, "1", "1..4096",
            "Emulated nodes: the PEs of one host are split into so many groups that only talk through UCX."},
    setting{"SHMEM_SYMMETRIC_SIZE", setting_type::size, "1G", "",
            "Size of the symmetric heap of each PE; memory is used only where it is touched."},
    setting{"SHMEM_VERSION", setting_type::text, "", "",
            "Any value: PE 0 prints the version of the library and of OpenSHMEM at shmem_init."},
    setting{"SHMEM_INFO", setting_type::text, "", "",
            "Any value: PE 0 prints the variables of OpenSHMEM and their meaning at shmem_init."},
    setting{"SHMEM_DEBUG", setting_type::text, "", "",
            "Any value: each PE says where it stands at shmem_init, how it has waited at shmem_finalize, and why an "
            "allocation failed."},
    setting{"LULL_STATIC_DATA", setting_type::choice, "symmetric", "symmetric|private",
            "Whether the program's global and static variables are symmetric, as OpenSHMEM says; private leaves them "
            "where they are, and only the symmetric heap can be reached by other PEs."},
    setting{"LULL_TEAMS", setting_type::integer, "64", "4..65536",
            "Most teams of which one PE can be a member at a time."},
    setting{"LULL_CHECK", setting_type::integer, "0", "0..1",
            "1 looks for mistakes in each call: a PE out of range, an address that is not symmetric, overlapping "
            "arguments, collective calls that do not match. The job ends with a line that names the call."},
    setting{"LULL_COMBINE", setting_type::size, "16K", "",
            "Bytes of one message in which small non-blocking puts to a PE of another node are combined; 0 sends each "
            "by itself."},
    setting{"LULL_COMBINE_US", setting_type::integer, "1000", "1..1000000",
            "Microseconds after which combined puts are sent even if nobody called fence or quiet."},
    setting{"LULL_UNACKNOWLEDGED", setting_type::integer, "1024", "1..1000000",
            "Transfers to one PE on another node that may be under way before the sender waits."},
    setting{"LULL_AGGREGATE", setting_type::choice, "auto", "auto|per-pe|per-node",
            "Whose aggregation buffers are: each PE's own, or shared by the PEs and threads of a node; auto takes what "
            "costs least."},
    setting{"LULL_AGGREGATE_HOPS", setting_type::integer, "0", "0..3",
            "Hops in which an aggregated item comes to its PE; more need fewer buffers. 0 takes what costs least."},
    setting{"LULL_AGGREGATE_SLOT", setting_type::size, "0", "",
            "Bytes of one aggregation buffer; 0 takes what costs least within LULL_AGGREGATE_MEMORY."},
    setting{"LULL_AGGREGATE_SLOTS", setting_type::integer, "8", "2..4096",
            "Aggregation buffers of one lane: from one PE to another, or from one node to another."},
    setting{
        "LULL_AGGREGATE_MEMORY", setting_type::size, "64M", "",
        "Most bytes of one aggregator or gatherer on each PE, chunks of threads included; buffers become smaller, or "
        "hops more, to keep to it."},
    setting{"LULL_AGGREGATE_FLUSH_US", setting_type::integer, "0", "0..1000000000",
            "Microseconds after which an aggregation buffer is sent even if it is not full, at the next call that may; "
            "0: when full, when idle, and at done()."},
    setting{"LULL_AGGREGATE_COMPRESS", setting_type::integer, "0", "0..1",
            "1 leaves out, between nodes, the bytes that are zero in all items of a buffer."},
    setting{"LULL_AGGREGATE_BYPASS", setting_type::integer, "1", "0..1",
            "1 makes rounds of few items without aggregation, where the operation allows it; how few is measured."},
    setting{"LULL_AGGREGATE_CACHE", setting_type::size, "1M", "",
            "Bytes of the cache in which a lull::table_reader keeps what it has read from other nodes; 0: none."},
    setting{"LULL_AGGREGATE_CACHE_LINE", setting_type::integer, "64", "8..1024",
            "Bytes of one line of that cache, which are asked for together."},
    setting{"LULL_METER_HZ", setting_type::real, "10", "0.1..100", "Samples per second of the energy meter."},
    setting{"LULL_METER_SOURCES", setting_type::text, "", "",
            "Comma-separated names of the energy sources to read (see lull sources); empty: all that are readable."},
    setting{
        "LULL_WIRE_INTERFACES", setting_type::text, "", "",
        "Comma-separated network interfaces, InfiniBand or cxi devices whose bytes count as wire traffic; empty: every "
        "physical one, each wire once. Naming lo lets the loopback stand for the link between emulated nodes; NAME@PID "
        "is an interface of the network namespace that process is in, a container's for example, and =LABEL behind it "
        "names its channel."},
    setting{
        "LULL_WIRE_WATTS", setting_type::real, "15", "0..10000",
        "Power of one network interface in watts while it transfers (15 W: one of the four NICs of a Frontier node, "
        "60 W together, in the aggregation study)."},
    setting{"LULL_WIRE_GBPS", setting_type::real, "200", "0.001..100000",
            "One-way bandwidth of one network interface in Gbit/s, to which its watts belong (200: Slingshot-11)."},
    setting{"LULL_WIRE_CONVENTION", setting_type::choice, "paper", "paper|full-duplex|clamped",
            "How bytes become time on the wire: paper divides sent + received bytes by the one-way bandwidth, "
            "full-duplex by twice that, clamped is paper but never more than the interface's power times the time."},
    setting{"LULL_WIRE_PER", setting_type::choice, "endpoint", "endpoint|delivered",
            "What wire bytes and joules of a node stand for: endpoint counts each byte sent or received at this end; "
            "delivered counts each byte received, with the cost of both of its ends."},
    setting{"LULL_ESTIMATE_CPU", setting_type::text, "auto", "",
            "Processor family of the labelled estimate (see lull sources), or auto to recognise it."},
    setting{"LULL_SITE", setting_type::text, "", "",
            "TOML file with this site's own power figures and calibration, in place of the built-in ones."},
    setting{"LULL_HWMON_CHANNELS", setting_type::text, "", "",
            "Further hwmon sensors to read, as comma-separated CHIP/SENSOR=DOMAIN, e.g. ina226/power1=node."},
    setting{"LULL_NVML_LIBRARY", setting_type::text, "libnvidia-ml.so.1", "",
            "NVIDIA's management library, loaded when the meter starts."},
    setting{"LULL_ROCM_LIBRARY", setting_type::text, "librocm_smi64.so", "",
            "AMD's ROCm SMI library, loaded when the meter starts; without a path also looked for in /opt/rocm/lib."},
    setting{"LULL_IPMI_COMMAND", setting_type::text, "ipmitool dcmi power reading", "",
            "Command that prints the node's power as ipmitool dcmi power reading does; when set it is run even where "
            "there is no /dev/ipmi0."},
    setting{"LULL_REDFISH_URL", setting_type::text, "", "",
            "URL of the Power or EnvironmentMetrics of this node's chassis, asked by curl with ~/.netrc."},
    setting{"LULL_REDFISH_COMMAND", setting_type::text, "", "",
            "Command that prints that JSON, in place of curl. It is kept in records: put no password in it."},
    setting{"LULL_SNMP_COMMAND", setting_type::text, "", "",
            "Command whose output ends with the power or energy of this node's outlet, e.g. snmpget."},
    setting{"LULL_SNMP_UNIT", setting_type::choice, "W", "W|Wh", "What the number of LULL_SNMP_COMMAND is in."},
    setting{"LULL_COMMAND_INTERVAL_S", setting_type::real, "1", "0.05..3600",
            "Seconds between two runs of a command that asks a meter (ipmi, redfish, snmp)."},
    setting{"LULL_COMMAND_TIMEOUT_S", setting_type::real, "5", "0.05..600",
            "Seconds after which such a command is killed and its reading counts as a gap."},
    setting{"LULL_NODE_TIMEOUT_S", setting_type::real, "60", "0.2..3600",
            "Seconds that lull measure, started by a launcher, waits for a rank or a node of its job of which it hears "
            "nothing."},
    setting{"LULL_RECORD", setting_type::text, "", "",
            "Folder where a program leaves its regions and metrics; lull measure sets it."},
    setting{"LULL_HOSTS", setting_type::text, "", "", "The virtual hosts for lull run --hosts; lull hosts sets it."},
};

const setting& find(std::string_view variable) {
  const auto found = std::ranges::find_if(table, [&](const setting& s) { return variable == s.variable; });
  if (found == table.end())
    throw usage_error("read setting " + std::string(variable), "there is no such setting",
                      "lull settings lists them all");
  return *found;
}

[[noreturn]] void refuse(const setting& s, const std::string& text, const std::string& wanted) {
  throw usage_error("read setting " + std::string(s.variable), "'" + text + "' is not " + wanted,
                    "unset it for the default, " + std::string(*s.default_value ? s.default_value : "none"));
}

template <class Number>
Number number_in_range(const setting& s, const std::string& text, const char* wanted) {
  Number value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) refuse(s, text, wanted);
  const std::string_view range = s.choices;
  const auto dots = range.find("..");
  Number low{}, high{};
  std::from_chars(range.data(), range.data() + dots, low);
  std::from_chars(range.data() + dots + 2, range.data() + range.size(), high);
  if (!(value >= low && value <= high)) refuse(s, text, "in the range " + std::string(range));
  return value;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row.back();
}

std::span<const setting> all_settings() { return table; }

const char* given(const setting& s) {
  const char* text = std::getenv(s.variable);  // NOLINT(concurrency-mt-unsafe): read before threads start
  constexpr std::string_view prefix = "SHMEM_";
  const std::string_view name = s.variable;
  if ((!text || !*text) && name.starts_with(prefix)) {
    const std::string old_name = "SMA_" + std::string(name.substr(prefix.size()));
    text = std::getenv(old_name.c_str());  // NOLINT(concurrency-mt-unsafe): the same
  }
  return text && *text ? text : nullptr;
}

std::string setting_text(std::string_view variable) {
  const setting& s = find(variable);
  const char* const text = given(s);
  std::string value = text ? text : s.default_value;
  if (s.type == setting_type::choice) {
    const std::string all = "|" + std::string(s.choices) + "|";
    if (value.find('|') != std::string::npos || all.find("|" + value + "|") == std::string::npos)
      refuse(s, value, "one of " + std::string(s.choices));
  }
  return value;
}

bool setting_is_set(std::string_view variable) { return given(find(variable)) != nullptr; }

std::int64_t setting_integer(std::string_view variable) {
  return number_in_range<std::int64_t>(find(variable), setting_text(variable), "a whole number");
}

double setting_real(std::string_view variable) {
  return number_in_range<double>(find(variable), setting_text(variable), "a number");
}

std::size_t setting_size(std::string_view variable) {
  const std::string text = setting_text(variable);
  try {
    return parse_size(text);
  } catch (const error&) {
    refuse(find(variable), text, "a size such as 65536, 64K, 16M or 1.5G");
  }
}

void check_setting(const setting& row) {
  switch (row.type) {
    case setting_type::integer:
      (void)setting_integer(row.variable);
      break;
    case setting_type::real:
      (void)setting_real(row.variable);
      break;
    case setting_type::size:
      (void)setting_size(row.variable);
      break;
    case setting_type::text:
    case setting_type::choice:
      (void)setting_text(row.variable);
      break;
  }
}

std::size_t parse_size(std::string_view text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (suffix.ends_with('B') || suffix.ends_with('b')) suffix.remove_suffix(1);
  if (suffix.ends_with('i')) suffix.remove_suffix(1);
  static constexpr std::string_view steps = "KMGT";
  int exponent = 0;
  if (suffix.size() == 1) {
    const auto at = steps.find(static_cast<char>(suffix[0] & ~0x20));
    exponent = at == std::string_view::npos ? -1 : 10 * (static_cast<int>(at) + 1);
  } else if (!suffix.empty()) {
    exponent = -1;
  }
  const double bytes = std::ldexp(value, exponent);
  if (status != std::errc{} || exponent < 0 || !(bytes >= 0 && bytes < 0x1p63))
    throw error("read a size", "'" + std::string(text) + "' is not one", "write 65536, 64K, 16M or 1.5G");
  return static_cast<std::size_t>(std::ceil(bytes));  // OpenSHMEM: never less than was asked for
}

std::vector<unknown_variable> unknown_variables() {
  std::vector<unknown_variable> unknown;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (!name.starts_with("LULL_")) continue;
    if (std::ranges::any_of(table, [&](const setting& s) { return name == s.variable; })) continue;
    const auto nearest =
        std::ranges::min_element(table, {}, [&](const setting& s) { return edit_distance(name, s.variable); });
    unknown.push_back({std::string(name), nearest->variable});
  }
  std::ranges::sort(unknown, {}, &unknown_variable::variable);
  return unknown;
}

}  // namespace lull
