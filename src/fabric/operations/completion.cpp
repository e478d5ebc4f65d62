#include "fabric/operations/completion.hpp"

namespace lull::fabric {

std::uint64_t& completion::last(outstanding& of, pe_id to) const {
  if (of.last_.empty()) of.last_.resize(peers_.size());
  auto& number = of.last_[static_cast<std::size_t>(to.index())];
  if (number == 0) of.touched_.push_back(to);
  return number;
}

void completion::issue(outstanding& of, pe_id to, bool overtakable) {
  if (overtakable) of.overtakable_.store(true, std::memory_order_relaxed);
  peer& other = peers_[static_cast<std::size_t>(to.index())];
  const std::uint64_t number = other.issued.load(std::memory_order_relaxed) + 1;
  last(of, to) = number;
  other.issued.store(number, std::memory_order_relaxed);
  issued_.fetch_add(1, std::memory_order_relaxed);
  of.any_.store(true, std::memory_order_release);
}

void completion::share_number(outstanding& of, pe_id to, std::uint64_t number) {
  last(of, to) = number;
  of.any_.store(true, std::memory_order_release);
}

void completion::expect_reply(outstanding& of, pe_id by) {
  at(by).replies_due.fetch_add(1, std::memory_order_relaxed);
  replies_due_.fetch_add(1, std::memory_order_relaxed);
  of.replies_due_.fetch_add(1, std::memory_order_relaxed);
  of.any_.store(true, std::memory_order_release);
}

void completion::expect_overtakable(outstanding& of, pe_id by) {
  of.overtakable_.store(true, std::memory_order_relaxed);
  expect_reply(of, by);
}

void completion::replied(outstanding& of, pe_id by) {
  at(by).replies_due.fetch_sub(1, std::memory_order_release);
  replies_due_.fetch_sub(1, std::memory_order_release);
  of.replies_due_.fetch_sub(1, std::memory_order_release);  // last: its owner may be gone afterwards
}

void completion::acknowledged(pe_id by, std::uint32_t messages) {
  peers_[static_cast<std::size_t>(by.index())].acknowledged.fetch_add(messages, std::memory_order_release);
  acknowledged_.fetch_add(messages, std::memory_order_release);
}

void completion::tickets(const outstanding& of, std::vector<ticket>& result) const {
  for (const pe_id pe : of.touched_) result.push_back({pe, of.last_[static_cast<std::size_t>(pe.index())]});
}

void completion::add_ticket(const outstanding& of, pe_id pe, std::vector<ticket>& result) const {
  const auto index = static_cast<std::size_t>(pe.index());
  if (!of.last_.empty() && of.last_[index] != 0) result.push_back({pe, of.last_[index]});
}

bool completion::acknowledged(std::vector<ticket>& waiting) const {
  while (!waiting.empty()) {
    const ticket& one = waiting.back();
    if (peers_[static_cast<std::size_t>(one.pe.index())].acknowledged.load(std::memory_order_acquire) < one.number)
      return false;
    waiting.pop_back();
  }
  return true;
}

void completion::complete(outstanding& of) {
  std::erase_if(of.touched_, [&](pe_id pe) {
    auto& number = of.last_[static_cast<std::size_t>(pe.index())];
    if (peers_[static_cast<std::size_t>(pe.index())].acknowledged.load(std::memory_order_relaxed) < number)
      return false;
    number = 0;
    return true;
  });
  if (!of.touched_.empty() || of.replies_due_.load(std::memory_order_relaxed) != 0) return;
  of.overtakable_.store(false, std::memory_order_relaxed);
  of.any_.store(false, std::memory_order_release);
}

}  // namespace lull::fabric
