// The meters and the accounts of this node, with their state on disk: everything that the service does but talk.
//
// advance() reads all counters and CPU times and attributes what was counted since the last time. read_counters() reads
// the counters alone, more often, for the publication; the attribution gets the sum with the next advance(). A reading
// that fails, a group that has gone and a full disk stop nothing else: the first is a gap, and a state that cannot be
// written is reported once, until it can be written again.
//
// A closed account becomes a row, which is in the state or in the spool from then on, whether or not anybody waits for the
// answer. A message `close` that has waited ends its account at the time at which it was sent; the account is closed by
// the next finish_ended(), after all messages that waited have been read.
//
// If the state is of this boot, the constructor goes on from it: the first advance() then attributes what was counted
// meanwhile. Messages that waited meanwhile must come before that.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "account/attribution.hpp"
#include "account/checkpoint.hpp"
#include "account/cpu_time.hpp"
#include "account/whole_counter.hpp"
#include "meter/source.hpp"
#include "service/messages.hpp"
#include "service/publication.hpp"
#include "service/spool.hpp"

namespace lull::service {

class node {
 public:
  struct setup {
    meter::sysroot root;
    std::vector<std::string> sources;  // empty: those that a measurement would read
    std::string cgroup_folder;
    std::map<std::string, double> idle_watts;       // by domain
    std::string state_file;                         // empty: none
    std::string spool_folder;                       // of rows; empty: none
    std::string name;                               // of this node, in rows
    std::int64_t close_after_ns = 600'000'000'000;  // an account whose cgroup has been gone for so long
  };

  // Throws lull::error if nothing can be read, or the idle power is of a domain that is not counted.
  explicit node(setup s);

  void read_counters();
  void advance();
  // False if the key is open already for another user, or no such account is. A second opening of the same start of a job
  // adds what the first did not know; one of a later start closes the account of the earlier.
  bool open(const request& r);
  bool used(const request& r);
  // So far, at a reading that it makes; without a value there is no such account.
  std::optional<account::figures> figures(const std::string& key);
  [[nodiscard]] bool is_open(const std::string& key) const;
  // Without a value there is no such account, or it is closed by finish_ended().
  std::optional<account::figures> close(const request& r);
  // The accounts that have ended, at a reading that it makes if there are any.
  std::vector<account::figures> finish_ended();
  // Closes accounts whose processes have gone long ago, without a message.
  void close_abandoned();
  void save();

  [[nodiscard]] std::set<std::int64_t> users() const;
  [[nodiscard]] const spool& rows() const { return spool_; }
  [[nodiscard]] const account::attribution& accounts() const { return accounts_; }
  // Channels that ordinary users cannot read themselves, none of which counts what another does.
  [[nodiscard]] std::vector<meter::channel> served_channels() const;
  [[nodiscard]] std::vector<counter_value> served_values() const;
  [[nodiscard]] std::int64_t readings() const { return readings_; }
  [[nodiscard]] std::int64_t lost() const;  // how often counters have lost energy
  [[nodiscard]] std::int64_t now_ns() const { return setup_.root.now(); }
  [[nodiscard]] std::size_t channels() const { return counters_.size(); }

 private:
  void find_channels();
  void restore();
  void close_ended_by_reboot(const account::checkpoint& before);
  account::figures finish(const std::string& key);
  [[nodiscard]] bool is_late(const request& r) const;
  std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>> cpu_time_of(const request& r);
  void write_state();
  void apply_idle_power();

  setup setup_;
  std::string boot_id_;
  account::resources resources_;
  std::vector<std::unique_ptr<meter::source>> sources_;
  std::vector<meter::reading> readings_of_all_;
  // Of the channels that are shared: their place among all, their counter, and what waits for the attribution.
  std::vector<std::size_t> place_;
  std::vector<account::whole_counter> counters_;
  std::vector<account::observation::energy> waiting_;
  std::vector<bool> failed_;
  std::vector<std::int64_t> lost_;
  std::vector<std::size_t> served_;  // places in counters_
  account::attribution accounts_;
  account::cpu_time_reader cpu_time_;
  spool spool_;
  std::int64_t readings_ = 0;
  bool state_is_refused_ = false;  // the last attempt to write it failed
};

}  // namespace lull::service
