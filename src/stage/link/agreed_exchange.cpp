#include "stage/link/agreed_exchange.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

namespace lull::stage {
namespace {

// The first byte of each message.
constexpr std::byte takes_part{0}, has_failed{1};

bool is_failure(const std::vector<std::byte>& message) { return !message.empty() && message[0] == has_failed; }

}  // namespace

std::vector<std::vector<std::byte>> agreed_exchange::call(std::byte state, std::span<const std::byte> mine) {
  std::vector<std::byte> message{state};
  message.insert(message.end(), mine.begin(), mine.end());
  return all_.all(message);
}

bool agreed_exchange::has_failure(std::span<const std::vector<std::byte>> messages) {
  return std::ranges::any_of(messages, is_failure);
}

std::vector<std::vector<std::byte>> agreed_exchange::all(std::span<const std::byte> mine) {
  auto messages = call(takes_part, mine);
  if (has_failure(messages)) throw joint_failure();
  // A process that was lost after the last call has no message.
  for (std::vector<std::byte>& one : messages)
    if (!one.empty()) one.erase(one.begin());
  is_over_ = is_last_;
  return messages;
}

void agreed_exchange::one_more() {
  is_last_ = true;
  all_.one_more();
}

void agreed_exchange::give_up(const std::string& why) {
  const auto messages = call(has_failed, std::as_bytes(std::span(why)));
  const auto first = std::ranges::find_if(messages, is_failure);
  if (first == messages.end() || first - messages.begin() != rank()) return;
  const bool all_have = std::ranges::all_of(messages, [&](const auto& one) { return one == *first; });
  fmt::print(stderr, "lull: {}{}; {}\n", all_have ? "" : fmt::format("rank {} of {}: ", rank(), size()), why,
             consequence_);
}

bool agreed_exchange::together(const std::function<void(exchange&)>& work) {
  std::string why;
  try {
    work(*this);
    return true;
  } catch (const joint_failure&) {
    return false;
  } catch (const std::exception& problem) {
    if (is_over_) throw;
    why = problem.what();
  }
  give_up(why);
  return false;
}

}  // namespace lull::stage
