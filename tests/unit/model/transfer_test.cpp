// The cost of a message by its size; and a fit finds the terms that generated the observations.
#include "model/costs/transfer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "model/alike_terms.hpp"

namespace lull::model {
namespace {

const transfer_terms small{.latency_ns = 5000,
                           .send_ns = 800,
                           .receive_ns = 1200,
                           .gap_ns = 1500,
                           .ns_per_byte = 0.5,
                           .alone_ns_per_byte = 0.9,
                           .send_ns_per_byte = 0.1,
                           .receive_ns_per_byte = 0.2};
const transfer_terms large{.latency_ns = 60'000,
                           .send_ns = 4000,
                           .receive_ns = 9000,
                           .gap_ns = 20'000,
                           .ns_per_byte = 0.25,
                           .alone_ns_per_byte = 0.4,
                           .send_ns_per_byte = 0,
                           .receive_ns_per_byte = 0.05};
const transfer_pieces two_pieces{{0, small}, {1024, large}};

std::vector<double> up_to(int octave) {
  std::vector<double> sizes;
  for (int i = 0; i <= octave; ++i) sizes.push_back(std::exp2(i));
  return sizes;
}

std::vector<transfer_observation> seen_of(const transfer_pieces& truth, const std::vector<double>& sizes) {
  std::vector<transfer_observation> seen;
  for (const double bytes : sizes) {
    const transfer_terms& t = terms_of(truth, bytes);
    seen.push_back({.bytes = bytes,
                    .one_way_ns = one_way_ns(truth, bytes),
                    .send_ns = send_cpu_ns(truth, bytes),
                    .receive_ns = receive_cpu_ns(truth, bytes),
                    .gap_ns = t.gap_ns + bytes * t.ns_per_byte});
  }
  return seen;
}

using rounds = std::vector<std::vector<transfer_observation>>;

TEST(model_transfer, a_message_belongs_to_the_last_piece_that_begins_at_or_below_it) {
  EXPECT_EQ(terms_of(two_pieces, 1023).latency_ns, small.latency_ns);
  EXPECT_EQ(terms_of(two_pieces, 1024).latency_ns, large.latency_ns);
  EXPECT_EQ(terms_of(two_pieces, 1e9).latency_ns, large.latency_ns);
  EXPECT_EQ(terms_of({{64, small}, {1024, large}}, 8).latency_ns, small.latency_ns) << "smaller than any piece";
}

TEST(model_transfer, a_message_takes_its_overheads_the_latency_and_its_bytes) {
  EXPECT_DOUBLE_EQ(one_way_ns(two_pieces, 100), 800 + 5000 + 1200 + 90);
  EXPECT_DOUBLE_EQ(send_cpu_ns(two_pieces, 100), 800 + 10);
  EXPECT_DOUBLE_EQ(receive_cpu_ns(two_pieces, 100), 1200 + 20);
}

TEST(model_transfer, each_further_message_of_a_stream_adds_a_gap_and_its_bytes) {
  EXPECT_DOUBLE_EQ(stream_ns(two_pieces, 100, 1), one_way_ns(two_pieces, 100));
  EXPECT_DOUBLE_EQ(stream_ns(two_pieces, 100, 11), one_way_ns(two_pieces, 100) + 10 * (1500 + 50));
  EXPECT_DOUBLE_EQ(stream_ns(two_pieces, 100, 0), one_way_ns(two_pieces, 100)) << "none takes no less than one";
}

TEST(model_transfer, a_fit_finds_the_terms_of_one_piece) {
  const auto found = fit_transfer(rounds{seen_of({{0, small}}, up_to(20))});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].from_bytes, 0);
  expect_alike(found[0].terms, small);
  EXPECT_LT(found[0].worst_error, 1e-9);
}

TEST(model_transfer, a_fit_finds_where_another_piece_begins) {
  const auto found = fit_transfer(rounds{seen_of(two_pieces, up_to(20))});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].from_bytes, 1024);
  expect_alike(found[0].terms, small);
  expect_alike(found[1].terms, large);
}

TEST(model_transfer, a_fit_has_no_more_pieces_than_are_allowed) {
  const transfer_pieces three{{0, small}, {256, large}, {65'536, {.latency_ns = 1e6, .alone_ns_per_byte = 5}}};
  const rounds seen{seen_of(three, up_to(22))};
  EXPECT_EQ(fit_transfer(seen, 4).size(), 3U);
  EXPECT_EQ(fit_transfer(seen, 2).size(), 2U);
  EXPECT_EQ(fit_transfer(seen, 1).size(), 1U);
  EXPECT_EQ(fit_transfer(seen, 0).size(), 1U);
}

TEST(model_transfer, a_piece_has_three_sizes_at_least) {
  const transfer_pieces late{{0, small}, {1024, large}};
  EXPECT_EQ(fit_transfer(rounds{seen_of(late, {1, 64, 256, 1024, 4096, 65'536})}).size(), 2U);
  EXPECT_EQ(fit_transfer(rounds{seen_of(late, {1, 64, 256, 512, 1024, 65'536})}).front().from_bytes, 0);
  EXPECT_EQ(fit_transfer(rounds{seen_of(late, {64, 256, 1024, 4096, 65'536})}).size(), 1U);
  EXPECT_EQ(fit_transfer(rounds{seen_of(late, {64})}).size(), 1U);
}

TEST(model_transfer, a_deviation_of_a_hundredth_makes_no_piece) {
  std::vector<transfer_observation> seen = seen_of({{0, small}}, up_to(20));
  for (std::size_t i = 0; i < seen.size(); ++i) seen[i].one_way_ns *= i < 10 ? 0.995 : 1.005;
  EXPECT_EQ(fit_transfer(rounds{seen}).size(), 1U);
  for (std::size_t i = 10; i < seen.size(); ++i) seen[i].one_way_ns *= 2;
  EXPECT_EQ(fit_transfer(rounds{seen}).size(), 2U);
}

// For two observations at one size, least squares of relative errors give the mean weighted by 1 / value^2.
TEST(model_transfer, large_observations_count_by_their_relative_error) {
  std::vector<transfer_observation> seen{{.bytes = 8, .one_way_ns = 100}, {.bytes = 8, .one_way_ns = 200}};
  const auto found = fit_transfer(rounds{seen});
  // mean of 100 and 200 with weights 1/100^2 and 1/200^2
  EXPECT_DOUBLE_EQ(found[0].terms.latency_ns, (1.0 / 100 + 1.0 / 200) / (1.0 / 1e4 + 1.0 / 4e4));
  EXPECT_DOUBLE_EQ(found[0].terms.alone_ns_per_byte, 0);
  EXPECT_DOUBLE_EQ(found[0].worst_error, 0.4);
}

TEST(model_transfer, neither_the_begin_nor_the_slope_of_a_line_is_negative) {
  const auto falling = fit_transfer(rounds{{{.bytes = 1, .gap_ns = 30}, {.bytes = 2, .gap_ns = 20}}});
  EXPECT_DOUBLE_EQ(falling[0].terms.ns_per_byte, 0);
  EXPECT_GT(falling[0].terms.gap_ns, 20);
  EXPECT_LT(falling[0].terms.gap_ns, 30);
  const auto steep = fit_transfer(rounds{{{.bytes = 10, .gap_ns = 10}, {.bytes = 20, .gap_ns = 40}}});
  EXPECT_DOUBLE_EQ(steep[0].terms.gap_ns, 0);
  // through zero, by weights 1/10^2 and 1/40^2: sum w x y / sum w x^2
  EXPECT_DOUBLE_EQ(steep[0].terms.ns_per_byte, (1.0 + 0.5) / (1.0 + 0.25));
}

TEST(model_transfer, what_was_observed_as_nothing_counts_by_the_smallest_that_was_not) {
  const auto some = fit_transfer(rounds{{{.bytes = 4, .receive_ns = 0}, {.bytes = 4, .receive_ns = 10}}});
  EXPECT_DOUBLE_EQ(some[0].terms.receive_ns, 5);
  const auto none = fit_transfer(rounds{{{.bytes = 4, .gap_ns = 3}, {.bytes = 8, .gap_ns = 3}}});
  EXPECT_EQ(none[0].terms.receive_ns, 0);
  EXPECT_DOUBLE_EQ(none[0].terms.gap_ns, 3);
}

TEST(model_transfer, the_latency_is_what_the_overheads_leave_of_the_way_and_not_negative) {
  const auto found = fit_transfer(rounds{{{.bytes = 1, .one_way_ns = 100, .send_ns = 30, .receive_ns = 20}}});
  EXPECT_DOUBLE_EQ(found[0].terms.latency_ns, 50);
  const auto late = fit_transfer(rounds{{{.bytes = 1, .one_way_ns = 40, .send_ns = 30, .receive_ns = 20}}});
  EXPECT_DOUBLE_EQ(late[0].terms.latency_ns, 0);
}

TEST(model_transfer, terms_are_those_of_the_medians_between_the_quartiles_of_the_rounds) {
  rounds seen;
  for (const double gap : {10.0, 14.0, 20.0, 22.0}) seen.push_back({{.bytes = 1, .gap_ns = gap}});
  const auto found = fit_transfer(seen);
  EXPECT_DOUBLE_EQ(found[0].terms.gap_ns, 17);
  EXPECT_DOUBLE_EQ(found[0].low.gap_ns, 13);
  EXPECT_DOUBLE_EQ(found[0].high.gap_ns, 20.5);
}

}  // namespace
}  // namespace lull::model
