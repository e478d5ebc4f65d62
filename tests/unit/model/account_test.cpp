// How choices turned out: their regret, and sums over processes.
#include "model/choices/account.hpp"

#include <gtest/gtest.h>

#include <array>

namespace lull::model {
namespace {

choice_account of(std::uint64_t slow, std::uint64_t fast, std::optional<double> observed = std::nullopt) {
  return {.choice = "which",
          .per = "put",
          .switches = 1,
          .alternatives = {
              {.name = "slow", .predicted_ns = 10, .corrected_ns = 100, .operations = slow},
              {.name = "fast", .predicted_ns = 20, .corrected_ns = 30, .observed_ns = observed, .operations = fast}}};
}

TEST(model_account, the_regret_is_what_the_best_that_is_known_would_have_spared) {
  std::vector all{of(10, 5)};
  close(all);
  EXPECT_EQ(all.at(0).regret_ns, 10 * (100 - 30));
}

TEST(model_account, what_was_observed_counts_and_not_what_was_thought) {
  std::vector all{of(10, 5, 130)};
  close(all);
  EXPECT_EQ(all.at(0).regret_ns, 5 * (130 - 100));
}

TEST(model_account, of_what_nobody_knows_nothing_is_regretted) {
  std::vector all{of(10, 5)};
  all[0].alternatives[1].corrected_ns.reset();
  close(all);
  EXPECT_EQ(all.at(0).regret_ns, 0);
}

TEST(model_account, choices_without_an_operation_are_left_out) {
  std::vector all{of(0, 0)};
  close(all);
  EXPECT_TRUE(all.empty());
}

TEST(model_account, processes_add_up_each_with_the_weight_of_its_operations) {
  std::vector<choice_account> all;
  std::vector one{of(0, 10, 30)}, another{of(0, 30, 70)};
  one[0].regret_ns = 500;
  add(all, one);
  another[0].alternatives[0].corrected_ns = 200;
  another[0].regret_ns = 70;
  add(all, another);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].processes, 2);
  EXPECT_EQ(all[0].switches, 2U);
  EXPECT_EQ(all[0].regret_ns, 570);
  EXPECT_EQ(all[0].alternatives[1].operations, 40U);
  EXPECT_DOUBLE_EQ(all[0].alternatives[1].observed_ns.value(), 60);
  EXPECT_DOUBLE_EQ(all[0].alternatives[0].corrected_ns.value(), 175);
}

TEST(model_account, choices_of_another_kind_of_operations_stay_apart) {
  std::vector all{of(1, 1)};
  std::vector another{of(1, 1)};
  another[0].where = "up to 4 KiB";
  add(all, another);
  EXPECT_EQ(all.size(), 2U);
}

TEST(model_account, a_book_keeps_all_of_one_process) {
  account_book book;
  book.keep(std::array{of(1, 2)});
  book.keep(std::array{of(3, 4)});
  ASSERT_EQ(book.all().size(), 1U);
  EXPECT_EQ(book.all()[0].processes, 1);
  EXPECT_EQ(book.all()[0].alternatives[0].operations, 4U);
}

TEST(model_account, is_read_as_it_was_told) {
  std::vector all{of(10, 5, 31.5)};
  close(all);
  const auto read = from_text(as_text(all));
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(as_text(read), as_text(all));
  EXPECT_EQ(read[0].alternatives[1].observed_ns, 31.5);
  EXPECT_EQ(read[0].alternatives[0].observed_ns, std::nullopt);
}

TEST(model_account, the_record_has_seconds_and_no_figure_for_what_is_not_known) {
  std::vector all{of(10, 5)};
  close(all);
  const std::string json = in_json(all, 2'000'000'000);
  EXPECT_NE(json.find("\"wall_s\":2.0"), std::string::npos) << json;
  EXPECT_NE(json.find("\"observed_ns\":null"), std::string::npos) << json;
  EXPECT_EQ(up_to(12), "up to 4 KiB");
}

}  // namespace
}  // namespace lull::model
