#include "fabric/transforming.hpp"

#include <algorithm>

#include "fabric/messages.hpp"

namespace lull::fabric {

transforming_counts& transforming_counts::operator+=(const transforming_counts& other) {
  coalesced_puts += other.coalesced_puts;
  coalesced_bytes += other.coalesced_bytes;
  messages += other.messages;
  late += other.late;
  copied_puts += other.copied_puts;
  copied_bytes += other.copied_bytes;
  return *this;
}

// Of a PE nothing is known at first: its puts are taken for a run that just pays.
put_transformer::put_transformer(int pes, std::size_t message_bytes, const model::transforming_costs& costs)
    : costs_(costs),
      message_bytes_(message_bytes),
      largest_when_on_(std::min(message_bytes / 4, coalesced_put::most_bytes)),
      seen_{costs.ns_per_message, costs.ns_per_copied_byte},
      peers_(static_cast<std::size_t>(pes)) {
  for (peer& p : peers_) {
    p.mean_run = 2 * costs_.fewest_in_a_run_to_begin;
    end_run(p);
  }
}

void put_transformer::end_run(peer& p) {
  if (p.run != 0) {
    p.mean_run = mixed(p.mean_run, std::min(p.run, static_cast<std::uint32_t>(costs_.most_of_a_run)));
    p.abstains -= std::min(p.abstains, p.run);
    p.run = 0;
  }
  p.largest = p.abstains != 0
                  ? 0
                  : std::min(model::largest_coalesced(p.mean_run, seen_, message_bytes_, p.largest != 0, costs_),
                             coalesced_put::most_bytes);
}

void put_transformer::left(pe_id to, leaving why) {
  ++counts_.messages;
  peer& p = of(to);
  if (why == leaving::in_time) {
    if (++p.in_time % costs_.messages_to_forgive == 0) p.last_abstention /= 2;
    return;
  }
  ++counts_.late;
  if (why == leaving::late) return;
  if (!p.wary) {
    p.wary = true;
    p.orders = orders_seen_by(p);
    return;
  }
  p.last_abstention = std::clamp(2 * p.last_abstention, costs_.first_abstention_puts, costs_.longest_abstention_puts);
  end_run(p);
  p.abstains = p.last_abstention;
  end_run(p);
}

bool put_transformer::copies(std::size_t bytes, transforming how) {
  if (how == transforming::off || bytes == 0 || bytes > costs_.most_copied_bytes ||
      copied_under_way_ + bytes > costs_.most_copied_bytes_under_way)
    return false;
  if (how == transforming::automatic) {
    source_waits& w = waits_of(bytes);
    if (!w.copies) return false;
    if (++w.since_probe % copies_per_probe == 0) return false;
  }
  copied_under_way_ += bytes;
  ++counts_.copied_puts;
  counts_.copied_bytes += bytes;
  return true;
}

void put_transformer::waited_for_source(std::size_t bytes, std::int64_t ns) {
  source_waits& w = waits_of(bytes);
  w.mean_ns = mixed(w.mean_ns, static_cast<double>(ns));
  w.copies = model::copying_pays(w.mean_ns, bytes, seen_, w.copies, costs_);
}

}  // namespace lull::fabric
