// The mode of the next phase: like the last one's until a pattern has been seen, then by the pattern; one exception
// changes nothing.
#include "aggregate/plan/phase_predictor.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace lull::aggregate {
namespace {

// Mistakes in `phases` phases that repeat `pattern`, f few and m many; the first is predicted as `few`.
int mistakes(phase_predictor& by, std::string_view pattern, int phases, bool predicted = true) {
  int wrong = 0;
  for (int i = 0; i < phases; ++i) {
    const bool few = pattern[static_cast<std::size_t>(i) % pattern.size()] == 'f';
    wrong += few == predicted ? 0 : 1;
    predicted = by.next(few);
  }
  return wrong;
}

TEST(aggregate_phase_predictor, phases_that_are_alike_are_predicted_from_the_second_on) {
  phase_predictor few, many;
  EXPECT_EQ(mistakes(few, "f", 100), 0);
  EXPECT_EQ(mistakes(many, "m", 100), 1);
}

TEST(aggregate_phase_predictor, short_and_long_phases_in_turn_are_learned) {
  for (const std::string_view pattern : {"fm", "mfff", "fffmm", "mfffffff", "ffmfffmm"}) {
    phase_predictor by;
    EXPECT_LE(mistakes(by, pattern, 200), 20) << pattern;
    EXPECT_EQ(mistakes(by, pattern, 200, pattern[0] == 'f'), 0) << pattern;
  }
}

TEST(aggregate_phase_predictor, an_exception_does_not_change_what_was_learned) {
  phase_predictor by;
  (void)mistakes(by, "f", 100);
  EXPECT_TRUE(by.next(true));
  (void)by.next(false);
  for (int i = 0; i < 8; ++i) (void)by.next(true);
  EXPECT_EQ(mistakes(by, "f", 100), 0);
}

TEST(aggregate_phase_predictor, a_program_that_changes_is_followed) {
  phase_predictor by;
  (void)mistakes(by, "f", 100);
  EXPECT_LE(mistakes(by, "m", 100), 12);
}

}  // namespace
}  // namespace lull::aggregate
