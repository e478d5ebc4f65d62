// How the engine (core.hpp, which includes this file) exchanges packets, credits and numbers of messages with other
// parts.
#pragma once
#include "netsim/network/core.hpp"

namespace lull::netsim {

// The packet leaves this part. The reader has read these lines of memory last time, so they are fetched before they are
// written.
template <class Self, topology_shape T>
[[gnu::noinline]] void core<Self, T>::post(const port& o, std::uint32_t index, picoseconds at) {
  constexpr std::size_t ahead = 6;
  const packet& p = packets_[index];
  auto& arrivals = mail_to(o.leads_to - 1U).arrivals;
  __builtin_prefetch(arrivals.data() + arrivals.size() + ahead, 1);
  arrivals.push_back({.path = p.path,
                      .message = p.message,
                      .at = at,
                      .tail = p.tail,
                      .first_bit = p.first_bit,
                      .bytes = p.bytes,
                      .lp = o.far_lp,
                      .in = o.far,
                      .hops = p.hops,
                      .channel = p.channel,
                      .started = p.started});
  packets_.put_back(index);
  first_posted_ = std::min(first_posted_, queue_.window_of(at));
}

template <class Self, topology_shape T>
[[gnu::noinline]] void core<Self, T>::post_credit(packet& p, std::uint32_t what, picoseconds at) {
  constexpr std::size_t ahead = 16;
  auto& credits = mail_to(std::exchange(p.sent_by, std::uint8_t{0}) - 1U).credits;
  __builtin_prefetch(credits.data() + credits.size() + ahead, 1);
  credits.push_back({at, p.in, what});
  // Its sender may wait for it, and is then served in that window.
  first_posted_ = std::min(first_posted_, queue_.window_of(at));
}

template <class Self, topology_shape T>
void core<Self, T>::give_up(std::uint32_t message) {
  const std::uint32_t part = messages_.maker(message);
  if (part == part_)
    messages_.put_back(message);
  else
    mail_to(part).messages.push_back(message);
}

// Reads what the other parts have written since the last call, which all of them have finished, and begins to write the
// other set of mailboxes.
template <class Self, topology_shape T>
void core<Self, T>::collect_mail() {
  constexpr std::size_t ahead = 8;
  for (unsigned from = 0; from < shared_.parts; ++from) {
    if (from == part_) continue;
    const mailbox& mail = shared_.mail_of(mail_set_, from, part_);
    for (std::size_t i = 0; i < mail.arrivals.size(); ++i) {
      if (i + ahead < mail.arrivals.size()) __builtin_prefetch(&mail.arrivals[i + ahead]);
      const mailbox::arrival& a = mail.arrivals[i];
      const std::uint32_t index = packets_.take();
      packet& p = packets_[index];
      p.path = a.path;
      p.message = a.message;
      p.bytes = a.bytes;
      p.started = a.started;
      p.sent_by = static_cast<std::uint8_t>(from + 1);
      p.tail = a.tail;
      p.first_bit = a.first_bit;
      p.channel = a.channel;
      p.hops = a.hops;
      queue_.template schedule<windows::packets>(a.at, a.lp, 0, a.in, index | from_other_part);
    }
    if constexpr (Self::has_channels)
      for (const mailbox::credit& c : mail.credits) self().return_credit(c.in, c.what, c.at);
    for (const std::uint32_t message : mail.messages) messages_.put_back(message);
  }
  mail_set_ ^= 1U;
  for (unsigned to = 0; to < shared_.parts; ++to) mail_to(to).clear();
  first_posted_ = windows::no_window;
}

}  // namespace lull::netsim
