// Predicts whether the next phase has few items, from whether the last ones had: programs alternate between short and
// long phases, or begin a step with a long one. For each history of eight phases it counts what followed, as the branch
// predictors of processors do. All PEs know the same outcomes, so their predictions are the same without a message.
// Until a history has been seen, the next phase is like the last.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace lull::aggregate {

class phase_predictor {
 public:
  // The outcome of the phase that is over; returns the prediction for the next.
  bool next(bool few) {
    std::int8_t& seen = followed_[history_];
    if (seen == 0)
      seen = few ? 1 : -1;
    else if (few)
      seen = static_cast<std::int8_t>(seen < most ? seen + (seen == -1 ? 2 : 1) : most);
    else
      seen = static_cast<std::int8_t>(seen > -most ? seen - (seen == 1 ? 2 : 1) : -most);
    history_ = static_cast<std::uint8_t>((unsigned{history_} << 1U) | (few ? 1U : 0U));
    const std::int8_t follows = followed_[history_];
    return follows == 0 ? few : follows > 0;
  }

 private:
  static constexpr std::int8_t most = 2;     // so one exception does not change a prediction
  std::array<std::int8_t, 256> followed_{};  // by history: > 0 few, < 0 many, 0 not seen
  std::uint8_t history_ = 0xFF;              // of the last phases, a bit each: few
};

}  // namespace lull::aggregate
