// Who used the energy of a node: attributes every microjoule that its counters count to the accounts that are open, to
// the system, or to no account. Pure: it reads no file and no clock.
//
// An account is what a job holds and does on this node. Each add() is one interval. Per channel, whatever was counted
// in it becomes
//
//   held     the idle power times the time, divided by allocated CPUs (dram: by memory); what no account holds is
//            `unheld`
//   active   the rest, divided by CPU time; what no account used is the `system`'s. A GPU's energy is its holder's
//
// in whole microjoules, by largest remainders. Always, for each channel:
//
//   all accounts, open and closed + system + unheld = node        exactly
//
// A channel that does not move (a failed reading, a slow meter) keeps the weights of the interval until it moves, so
// that its energy goes to those who ran meanwhile. If an account closes before that, its share is the system's and its
// figures are a lower bound (`gap`).
//
// CPU time comes from cumulative counters by cgroup, which may be read at any times. If an account's cgroup has vanished,
// the last of its CPU time is what its parent's counter has beyond that of all others: exact if one vanished, else the
// sum is exact and the division is `unsure`. This remainder is kept cumulatively, and the parent must be read before its
// children, so that running children cannot make it too large. The same holds for the machine and the system's time.
//
// That CPU time is a fair key is a convention: two jobs of equal CPU time whose CPU seconds cost 30 W and 15 W get the
// same. The interval of a figure does not include this; its kind `derived` says it. An account that had the node alone
// has the node's energy, with the kind of the channel.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "account/idle_power.hpp"
#include "meter/source.hpp"

namespace lull::account {

// A counter of the node. No two of them count the same energy (meter/totals.hpp).
struct shared_channel {
  std::string name;
  meter::domain covers = meter::domain::package;
  meter::kind kind = meter::kind::estimated;
  double low = 1, high = 1;  // band of its coefficients, relative to the middle
  double interval_s = 0;     // how often it changes
  double most_w = 0;         // the most that it can count in a second; 0: unknown
};
[[nodiscard]] shared_channel shared(const meter::channel& c);

// What the node has, and what an account holds of it.
struct resources {
  std::int64_t cpus = 0;
  std::int64_t memory_mib = 0;    // 0: unknown, then in proportion to the CPUs
  std::vector<std::string> gpus;  // names of channels
};

struct opening {
  std::string key;  // one account with this key is open at a time
  // As the scheduler names it; `job` is the key if it has no other name.
  std::string cluster, job;
  std::int64_t restart = -1;  // how often the job was started before; negative: unknown
  std::int64_t nodes = 0;     // of the job; 0: unknown
  std::int64_t uid = -1;
  std::string project;
  std::string cgroup;  // path of the job's, for example /system.slice/slurmstepd.scope/job_7; empty: unknown
  resources holds;
};

// One channel of one account, or of the system and what is unheld.
struct share {
  std::int64_t active_uj = 0, held_uj = 0;
  std::int64_t node_uj = 0;     // counted on the node while the account was open
  double per_idle_watt_uj = 0;  // by how much the share would grow if the idle power were 1 W higher
  double missing_uj = 0;        // may have been counted in addition
  [[nodiscard]] std::int64_t uj() const { return active_uj + held_uj; }
};

// Since a channel moved last: what its next energy is divided by.
struct weights {
  std::int64_t cpu_us = 0;
  std::int64_t held = 0;  // CPUs, or MiB of memory, times microseconds
};

struct account {
  opening opened;
  std::int64_t begin_ns = 0;
  std::optional<std::int64_t> end_ns;   // it has ended, and is closed after the next observation
  std::optional<std::int64_t> gone_ns;  // since then its cgroup has not been there
  std::int64_t cpu_us = 0;              // used since it was opened
  std::int64_t at_us = 0;               // the cgroup's counter, up to which cpu_us is counted
  std::int64_t reported_us = 0;         // its last value that a message has reported
  std::int64_t unsure_less_us = 0;      // of cpu_us, so much may be others'
  std::int64_t unsure_more_us = 0;      // so much of others' may be its
  bool seen = false;                    // the cgroup has been read
  int unseen_for = 0;                   // readings since it has vanished
  bool alone = true;                    // no other account was open meanwhile
  bool gap = false;                     // energy of its time is missing
  bool unclosed = false;                // it is closed without a message of the scheduler
  std::vector<share> shares;            // by channel
  std::vector<weights> waiting;         // by channel
};

// What the counters said at one moment.
struct observation {
  std::int64_t time_ns = 0;
  struct energy {
    std::int64_t uj = 0;    // since the last observation
    double missing_uj = 0;  // may have been counted in addition
    bool lost = false;
  };
  std::vector<energy> channels;                // as given to the constructor
  std::optional<std::int64_t> node_cpu_us;     // of the root cgroup, cumulative
  std::map<std::string, std::int64_t> cpu_us;  // by path of cgroup, cumulative; without those that cannot be read
};

struct energy_figure {
  std::string channel;
  meter::domain covers = meter::domain::package;
  meter::kind kind = meter::kind::derived;
  std::int64_t active_uj = 0, held_uj = 0;
  std::int64_t overhead_uj = 0;  // of an account that was alone: the system's and the unheld energy of its time
  double low_uj = 0, high_uj = 0;
  [[nodiscard]] std::int64_t uj() const { return active_uj + held_uj + overhead_uj; }
};

struct figures {
  opening opened;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int64_t cpu_us = 0;
  bool alone = true, unsure = false, gap = false, unclosed = false;
  std::vector<energy_figure> energy;
};

class attribution {
 public:
  // Everything that a later process needs to go on.
  struct state {
    resources node;
    std::vector<shared_channel> channels;
    std::vector<idle_power> idle;
    std::map<std::string, account> open;
    // Of a parent of accounts' cgroups: its counter when the first was opened, plus what has since been used by others
    // in it; and what accounts in it were given.
    struct parent {
      std::int64_t base_us = 0, given_us = 0;
    };
    std::map<std::string, parent> parents;
    std::vector<share> system, unheld;  // active, and held
    std::vector<weights> system_waiting, unheld_waiting;
    std::vector<std::int64_t> waiting_ns;          // since the channel moved last
    std::vector<std::int64_t> node_uj, closed_uj;  // in all
    std::int64_t time_ns = 0;
    // CPU time of the machine when it was first read, and what of it accounts and the system were given since.
    std::optional<std::int64_t> node_base_us;
    std::int64_t node_us = 0, accounts_us = 0, system_us = 0;
  };

  attribution(resources node, std::vector<shared_channel> channels, std::int64_t time_ns);
  // Goes on from an earlier state. Channels that are no longer there keep their sums, after the others.
  attribution(resources node, std::vector<shared_channel> channels, state earlier);

  void set_idle_power(std::string_view channel, double watts);

  // The paths whose CPU time an observation should contain, in the order in which they must be read.
  [[nodiscard]] std::vector<std::string> cgroups() const;

  // Opens an account; false if its key is open already. `usage_us` is the counter of its cgroup, `parent_us` that of the
  // parent, if they exist: what was used before is not the account's. The energy so far must have been added, or
  // `time_ns` lies in the interval that add() will end: then the account shares that interval from this time on.
  bool open(const opening& what, std::optional<std::int64_t> usage_us, std::optional<std::int64_t> parent_us,
            std::int64_t time_ns);
  // Fills in what the opening of an open account left empty: another message knows more of its names, resources and
  // cgroup. All that such a cgroup has used, `usage_us`, is the account's: it was made for the job.
  void complete(const opening& more, std::optional<std::int64_t> usage_us = {},
                std::optional<std::int64_t> parent_us = {});
  // A message about CPU time, which may arrive after the cgroup has gone; false if there is no such account.
  bool report_cpu(const std::string& key, std::int64_t usage_us);
  // The account ended at `time_ns`, which lies in the interval that the next add() ends: it shares that interval up to
  // this time, and must be closed after it. False if there is no such account.
  bool end(const std::string& key, std::int64_t time_ns);
  // The account will be closed without a message of the scheduler.
  void set_unclosed(const std::string& key);
  void add(const observation& seen);
  // The figures so far, or at the end; without a value there is no such account.
  [[nodiscard]] std::optional<figures> of(const std::string& key) const;
  std::optional<figures> close(const std::string& key);

  [[nodiscard]] const state& now() const { return state_; }

 private:
  void count_cpu_time(const observation& seen, std::int64_t passed_ns);
  void give_remainders(const observation& seen);
  std::int64_t used_by_system(std::int64_t node_us);
  void divide(std::size_t channel, std::int64_t uj);
  void divide_gpu(std::size_t channel, std::int64_t uj);

  state state_;
};

// The folder above a path of a cgroup; empty for the root and its children.
[[nodiscard]] std::string parent_of(const std::string& cgroup);

}  // namespace lull::account
