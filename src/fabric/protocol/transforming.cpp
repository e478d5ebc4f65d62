#include "fabric/protocol/transforming.hpp"

#include <algorithm>
#include <array>

#include "base/counters.hpp"
#include "fabric/protocol/messages.hpp"

namespace lull::fabric {
namespace {

double share(std::uint64_t sum, std::uint64_t of) { return static_cast<double>(sum) / static_cast<double>(of); }

}  // namespace

transforming_counts& transforming_counts::operator+=(const transforming_counts& other) {
  return add_fields(*this, other);
}

// A new peer starts with the history of a run that breaks even.
put_transformer::put_transformer(int pes, std::size_t message_bytes, const model::machine& on)
    : costs_(on.transforming),
      rules_(on.correction),
      message_bytes_(message_bytes),
      largest_when_on_(std::min(message_bytes / 4, coalesced_put::most_bytes)),
      ns_per_message_(costs_.ns_per_message, rules_),
      ns_per_copied_byte_(costs_.ns_per_copied_byte, rules_),
      peers_(static_cast<std::size_t>(pes)),
      sources_(65, source(rules_)) {
  for (peer& p : peers_) {
    p.mean_run = 2 * costs_.fewest_in_a_run_to_begin;
    end_run(p);
  }
  alone_ = {};
}

void put_transformer::end_run(peer& p) {
  if (p.run != 0) {
    ++alone_.runs;
    alone_.puts_in_runs += p.run;
    const double run = std::min(p.run, static_cast<std::uint32_t>(costs_.most_of_a_run));
    if (!rules_.off) p.mean_run += rules_.weight_of_the_last * (run - p.mean_run);
    p.abstains -= std::min(p.abstains, p.run);
    p.run = 0;
  }
  const bool coalesced = p.largest != 0;
  const model::message_room room{.bytes = message_bytes_, .beside_each = coalesced_put::room_for(0)};
  p.largest = p.abstains != 0 ? 0
                              : std::min(model::largest_coalesced(p.mean_run, costs(), room, coalesced, costs_),
                                         coalesced_put::most_bytes);
  if ((p.largest != 0) != coalesced) ++alone_.switches;
}

void put_transformer::left(pe_id to, leaving why) {
  ++counts_.messages;
  peer& p = of(to);
  if (why == leaving::in_time) {
    if (++p.in_time % costs_.messages_to_forgive == 0) p.last_abstention /= 2;
    return;
  }
  ++counts_.late;
  if (why == leaving::late || rules_.off) return;
  delayed(p, static_cast<double>(costs_.first_abstention_puts) * ns_per_message_.value());
}

void put_transformer::be_wary(peer& p) {
  p.wary = true;
  p.orders = orders_seen_by(p);
}

void put_transformer::abstain(peer& p) {
  p.last_abstention = std::clamp(2 * p.last_abstention, costs_.first_abstention_puts, costs_.longest_abstention_puts);
  end_run(p);
  p.abstains = p.last_abstention;
  end_run(p);
}

void put_transformer::delayed(peer& p, double ns) {
  p.balance_ns -= ns;
  const double once = costs_.first_delay_in_messages * ns_per_message_.value();
  if (p.balance_ns >= -(p.wary ? costs_.delay_over_saving : 1) * once) return;
  p.balance_ns = 0;
  if (p.wary)
    abstain(p);
  else
    be_wary(p);
}

void put_transformer::lay(pe_id to, std::uint32_t puts_in_it, std::int64_t ns) {
  if (rules_.off) return;
  peer& p = of(to);
  const double message = ns_per_message_.value(), lain = static_cast<double>(ns);
  if (lain > puts_in_it * message) return delayed(p, lain);
  if (!p.wary) return;  // to be wary costs a message in each run: nothing needs to make up for it
  const double most = static_cast<double>(costs_.first_abstention_puts) * message;
  p.balance_ns = std::min(most, p.balance_ns + (puts_in_it - 1) * message);
}

bool put_transformer::copies(std::size_t bytes, transforming how) {
  if (how == transforming::off || bytes == 0 || bytes > costs_.most_copied_bytes ||
      copied_under_way_ + bytes > costs_.most_copied_bytes_under_way)
    return false;
  if (how == transforming::automatic) {
    source& its = source_of(bytes);
    if (its.way.taken() != source::is_copied) return false;
    if (++its.since_probe % copies_per_probe == 0) return false;
    ++its.copied_puts;
    its.bytes += bytes;
  }
  copied_under_way_ += bytes;
  ++counts_.copied_puts;
  counts_.copied_bytes += bytes;
  return true;
}

void put_transformer::waited_for_source(std::size_t bytes, std::int64_t ns) {
  if (bytes == 0) return;
  source& its = source_of(bytes);
  ++its.waiting_puts;
  its.bytes += bytes;
  its.waited_ns.saw(static_cast<double>(ns));
  its.way.look(std::array{its.waited_ns.value(), static_cast<double>(bytes) * ns_per_copied_byte_.value()});
}

// ---- How the choices turned out

// Puts that were coalesced and puts that were not differ in size and in the length of their runs.
void put_transformer::coalesced_accounts(std::vector<model::choice_account>& all) const {
  const auto seen = observed_costs();
  const auto keep = [&](const char* where, std::uint64_t by_itself, std::uint64_t together, double bytes,
                        double in_one) {
    const auto in_message = [&](const model::put_costs& by) {
      return model::ns_of_coalesced(bytes, in_one, by, costs_);
    };
    model::alternative_account one{.name = "alone",
                                   .predicted_ns = ns_per_message_.predicted(),
                                   .corrected_ns = ns_per_message_.value(),
                                   .operations = by_itself};
    model::alternative_account many{.name = "coalesced",
                                    .predicted_ns = in_message(predicted_costs()),
                                    .corrected_ns = in_message(costs()),
                                    .operations = together};
    if (seen) one.observed_ns = seen->ns_per_message, many.observed_ns = in_message(*seen);
    all.push_back({.choice = "coalesce",
                   .where = where,
                   .per = "put",
                   .switches = together != 0 ? alone_.switches : 0,
                   .alternatives = {one, many}});
  };
  const transforming_counts& c = counts_;
  if (c.coalesced_puts != 0 && c.messages != 0)
    keep("puts that were coalesced", 0, c.coalesced_puts, share(c.coalesced_bytes, c.coalesced_puts),
         share(c.coalesced_puts, c.messages));
  if (alone_.puts != 0)
    keep("puts that were not", alone_.puts, 0, share(alone_.bytes, alone_.puts),
         alone_.runs == 0 ? 1 : share(alone_.puts_in_runs, alone_.runs));
}

std::vector<model::choice_account> put_transformer::accounts() const {
  std::vector<model::choice_account> all;
  coalesced_accounts(all);
  for (unsigned width = 0; width < sources_.size(); ++width) {
    const source& of = sources_[width];
    const std::uint64_t puts = of.waiting_puts + of.copied_puts;
    if (puts == 0) continue;
    const double bytes = share(of.bytes, puts);
    model::alternative_account copy{.name = "copy",
                                    .predicted_ns = bytes * ns_per_copied_byte_.predicted(),
                                    .corrected_ns = bytes * ns_per_copied_byte_.value(),
                                    .operations = of.copied_puts};
    if (const auto seen = ns_per_copied_byte_.mean_seen()) copy.observed_ns = bytes * *seen;
    all.push_back({.choice = "copy-source",
                   .where = model::up_to(width),
                   .per = "put",
                   .switches = of.way.switches(),
                   .alternatives = {{.name = "wait",
                                     .corrected_ns = of.waited_ns.value(),
                                     .observed_ns = of.waited_ns.mean_seen(),
                                     .operations = of.waiting_puts},
                                    copy}});
  }
  return all;
}

}  // namespace lull::fabric
