// The automatic rewriting of a program's puts to other nodes: which are coalesced with others into one message, and
// which blocking ones return because their source was copied. The program sees no difference except the time; order and
// completion are those of completion.hpp.
//
//   off        each put is a message of its own; a blocking one waits until its source may be reused
//   on         all small puts, and atomics without answer, are coalesced, all sources of medium size copied; contexts in a
//              session of the program, a batch, have this in place of `automatic`
//   automatic  where the model says that it pays (model/costs/transforming.hpp), given the past puts to each PE and the
//              costs of messages, copies and waits: the machine's constants, corrected by measurements
//              (model/machine/correction.hpp)
//
// A run is the puts to one PE between two moments at which they must leave: a wait, a test or a quiet of the program,
// another operation on that PE, a deadline. A put behind a fence is assumed to be a flag: it leaves at once, with all
// puts before it. A program that leaves puts lying until their deadline evidently computes in between: from then on a
// put behind a quiet is a flag too. If that does not help, nothing is coalesced for a while, longer each time. The same
// holds for puts that lie for less than that, but for longer than a message of each would have taken. What coalescing
// has saved lately counts against it: a program that lost its core has left its puts lying only once.
//
// With LULL_CHOOSE=off, every peer keeps its initial history, no source is copied, and nothing is measured.
//
// Call with the quick lock of the protocol held, except where a comment says otherwise.
#pragma once
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "model/choices/account.hpp"
#include "model/costs/transforming.hpp"
#include "model/machine/correction.hpp"

namespace lull::fabric {

enum class transforming : std::uint8_t { off, on, automatic };
constexpr std::array<std::string_view, 3> transforming_names{"off", "on", "auto"};
constexpr const char* transforming_choices = "off|on|auto";
[[nodiscard]] constexpr std::optional<transforming> transforming_named(std::string_view name) {
  for (std::size_t i = 0; i < transforming_names.size(); ++i)
    if (transforming_names[i] == name) return static_cast<transforming>(i);
  return std::nullopt;
}

// Counts of rewritten puts. Counts of several PEs add up to those of the job.
struct transforming_counts {
  std::uint64_t coalesced_puts = 0, coalesced_bytes = 0;
  std::uint64_t messages = 0;  // in which the coalesced puts left
  std::uint64_t late = 0;      // of these, those that left by their deadline
  std::uint64_t copied_puts = 0, copied_bytes = 0;
  std::uint64_t coalesced_atomics = 0;
  transforming_counts& operator+=(const transforming_counts& other);
};

class put_transformer {
 public:
  put_transformer(int pes, std::size_t message_bytes, const model::machine& on = {});

  static constexpr std::size_t least_timed_copy = 1024;

  enum class way { alone, coalesced, coalesced_and_sent };
  // Decides how a put leaves. Call for every put.
  [[nodiscard]] way next_put(pe_id to, std::size_t bytes, transforming how) {
    peer& p = of(to);
    if (const auto pauses = pauses_.load(std::memory_order_relaxed); p.pauses != pauses) {
      end_run(p);
      p.pauses = pauses;
    }
    ++p.run;
    const std::uint32_t orders = orders_seen_by(p);
    const bool flag = p.orders != orders;
    p.orders = orders;
    if (!takes(p, bytes, how)) return alone(bytes, how);
    return flag ? way::coalesced_and_sent : way::coalesced;
  }
  // Whether next_put() would return `coalesced`, as for the put before, with nothing in between. If so, call joined().
  [[nodiscard]] bool goes_on(pe_id to, std::size_t bytes, transforming how) const {
    const peer& p = peers_[static_cast<std::size_t>(to.index())];
    return p.pauses == pauses_.load(std::memory_order_relaxed) && p.orders == orders_seen_by(p) && takes(p, bytes, how);
  }
  void joined(pe_id to, std::size_t bytes) {
    ++of(to).run;
    count_coalesced(bytes);
  }
  void joined_by_atomic(pe_id to) {
    ++of(to).run;
    count_coalesced_atomic();
  }
  void count_coalesced_atomic() { ++counts_.coalesced_atomics; }
  // An operation of another kind on this PE has sent the puts coalesced for it.
  void interrupted(pe_id to) { end_run(of(to)); }
  // A coalesced message has left: in time, late (by its deadline), or left lying (late, and no put came for a while).
  enum class leaving { in_time, late, left_lying };
  void left(pe_id to, leaving why);
  // For how long a message of this number of puts that left in time had lain since its last put.
  void lay(pe_id to, std::uint32_t puts_in_it, std::int64_t ns);

  // Whether the source of this blocking put must be copied.
  [[nodiscard]] bool copies(std::size_t bytes, transforming how);
  void copy_gone(std::size_t bytes) { copied_under_way_ -= bytes; }

  // Measurements: the time to pass a small message to the transport, to copy `bytes` bytes into one, and that a
  // blocking put waited for its source because that was not copied.
  [[nodiscard]] bool measures() const { return !rules_.off; }
  void message_took(std::int64_t ns) { ns_per_message_.saw(static_cast<double>(ns)); }
  [[nodiscard]] bool times_copy(std::size_t bytes) {
    return bytes >= least_timed_copy && copies_seen_++ % copies_per_sample == 0 && measures();
  }
  void copy_took(std::size_t bytes, std::int64_t ns) {
    ns_per_copied_byte_.saw(static_cast<double>(ns) / static_cast<double>(bytes));
  }
  void waited_for_source(std::size_t bytes, std::int64_t ns);

  void count_coalesced(std::size_t bytes) {
    ++counts_.coalesced_puts;
    counts_.coalesced_bytes += bytes;
  }
  [[nodiscard]] const transforming_counts& counts() const { return counts_; }
  [[nodiscard]] model::put_costs costs() const { return {ns_per_message_.value(), ns_per_copied_byte_.value()}; }
  // The costs by the machine's constants; and their observed means, if there are any.
  [[nodiscard]] model::put_costs predicted_costs() const {
    return {ns_per_message_.predicted(), ns_per_copied_byte_.predicted()};
  }
  [[nodiscard]] std::optional<model::put_costs> observed_costs() const {
    const auto message = ns_per_message_.mean_seen();
    if (!message) return std::nullopt;
    return model::put_costs{*message, ns_per_copied_byte_.mean_seen().value_or(ns_per_copied_byte_.value())};
  }
  // The choices `coalesce` and `copy-source` under `automatic`, and how they turned out.
  [[nodiscard]] std::vector<model::choice_account> accounts() const;

  // Without the lock, from any thread: all runs end; later puts are behind a fence; behind a quiet.
  void paused() { pauses_.fetch_add(1, std::memory_order_relaxed); }
  void fenced() { fences_.fetch_add(1, std::memory_order_relaxed); }
  void quieted() { quiets_.fetch_add(1, std::memory_order_relaxed); }

 private:
  static constexpr unsigned copies_per_sample = 16;
  static constexpr unsigned copies_per_probe = 64;  // one of this many is not copied, to measure its wait

  struct peer {
    std::uint32_t pauses = 0, orders = 0, run = 0;
    std::uint32_t abstains = 0, last_abstention = 0;  // puts
    std::uint32_t in_time = 0;                        // messages
    double balance_ns = 0;                            // what coalescing has saved, less the delays of puts left lying
    double mean_run = 0;                              // not the median: the mean determines the number of messages
    std::size_t largest = 0;                          // put that is coalesced
    bool wary = false;                                // a put behind a quiet is a flag too
  };
  struct source {                                           // puts of similar size
    static constexpr std::size_t waits = 0, is_copied = 1;  // the alternatives
    explicit source(const model::correction_rules& how) : waited_ns(0, how), way(waits, how) {}
    model::corrected_term waited_ns;
    model::steady_choice way;
    unsigned since_probe = 0;
    std::uint64_t waiting_puts = 0, copied_puts = 0, bytes = 0;  // puts that had this choice
  };
  struct puts_alone {
    std::uint64_t puts = 0, bytes = 0;
    std::uint64_t runs = 0, puts_in_runs = 0;  // of all puts
    std::uint64_t switches = 0;                // PEs whose puts began or ceased to be coalesced
  };
  [[nodiscard]] peer& of(pe_id pe) { return peers_[static_cast<std::size_t>(pe.index())]; }
  [[nodiscard]] std::uint32_t orders_seen_by(const peer& p) const {
    return fences_.load(std::memory_order_relaxed) + (p.wary ? quiets_.load(std::memory_order_relaxed) : 0);
  }
  [[nodiscard]] source& source_of(std::size_t bytes) {
    return sources_[static_cast<std::size_t>(std::bit_width(bytes))];
  }
  way alone(std::size_t bytes, transforming how) {
    if (how == transforming::automatic) {
      ++alone_.puts;
      alone_.bytes += bytes;
    }
    return way::alone;
  }
  [[nodiscard]] bool takes(const peer& p, std::size_t bytes, transforming how) const {
    const std::size_t limit = how == transforming::automatic ? p.largest
                              : how == transforming::on      ? largest_when_on_
                                                             : 0;
    return limit != 0 && bytes <= limit;
  }
  void end_run(peer& p);
  void be_wary(peer& p);
  void abstain(peer& p);
  void delayed(peer& p, double ns);
  void coalesced_accounts(std::vector<model::choice_account>& all) const;

  model::transforming_costs costs_;
  model::correction_rules rules_;
  std::size_t message_bytes_, largest_when_on_;
  model::corrected_term ns_per_message_, ns_per_copied_byte_;
  std::vector<peer> peers_;
  std::vector<source> sources_;  // by std::bit_width of the size
  std::size_t copied_under_way_ = 0;
  unsigned copies_seen_ = 0;
  transforming_counts counts_;
  puts_alone alone_;
  std::atomic<std::uint32_t> pauses_{0}, fences_{0}, quiets_{0};
};

}  // namespace lull::fabric
