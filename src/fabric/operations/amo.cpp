#include "fabric/operations/amo.hpp"

namespace lull::fabric {
namespace {

template <class Word>
std::uint64_t apply_word(const amo& u, void* where) {
  const std::atomic_ref<Word> word(*static_cast<Word*>(where));
  const auto operand = static_cast<Word>(u.operand);
  switch (u.op) {
    case amo_op::add:
      return word.fetch_add(operand);
    case amo_op::set:
      return word.exchange(operand);
    case amo_op::fetch:
      return word.load();
    case amo_op::bit_and:
      return word.fetch_and(operand);
    case amo_op::bit_or:
      return word.fetch_or(operand);
    case amo_op::bit_xor:
      return word.fetch_xor(operand);
    case amo_op::max: {
      Word now = word.load();
      while (now < operand && !word.compare_exchange_weak(now, operand)) {
      }
      return now;
    }
    case amo_op::compare_swap: {
      auto expected = static_cast<Word>(u.compare);
      word.compare_exchange_strong(expected, operand);
      return expected;
    }
  }
  return 0;
}

}  // namespace

std::uint64_t apply_amo(const amo& u, void* where) {
  return u.width == 4 ? apply_word<std::uint32_t>(u, where) : apply_word<std::uint64_t>(u, where);
}

}  // namespace lull::fabric
