// The procedure and the fit on a link in virtual time with known terms: the fit finds these terms.
#include "calibrate/transfer_procedure.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/alike_terms.hpp"

namespace {

using namespace lull;
using namespace lull::calibrate;

// Two LogGP processes. A message leaves when the call has assembled it, but no sooner than a gap after the previous
// one; the receiver handles each message when it has arrived and the previous one has been handled.
class virtual_link final : public link_under_test {
 public:
  virtual_link(model::transfer_pieces truth, double clock_ns = 0) : truth_(std::move(truth)), clock_ns_(clock_ns) {}

  double now_ns() override { return now_ += clock_ns_; }
  double round_trips_ns(std::size_t bytes, int count) override {
    const double one = 2 * model::one_way_ns(truth_, static_cast<double>(bytes));
    now_ += one * count;
    return one * count;
  }
  void post(std::size_t size) override {
    const auto bytes = static_cast<double>(size);
    const model::transfer_terms& t = model::terms_of(truth_, bytes);
    now_ += t.send_ns + bytes * t.send_ns_per_byte;
    left_ = std::max(now_, left_ + t.gap_ns + bytes * t.ns_per_byte);
    last_comes_ = left_ + t.latency_ns + bytes * t.alone_ns_per_byte;
    receiver_cpu_ += t.receive_ns + bytes * t.receive_ns_per_byte;
  }
  void drain() override { now_ = std::max(now_, last_comes_ + answer_ns); }
  double receiver_cpu_ns() override { return receiver_cpu_ += telling_ns; }

 private:
  static constexpr double answer_ns = 700, telling_ns = 300;  // not part of a message's cost
  model::transfer_pieces truth_;
  double clock_ns_;
  double now_ = 0, left_ = 0, last_comes_ = 0, receiver_cpu_ = 0;
};

std::vector<std::vector<model::transfer_observation>> observed(const model::transfer_pieces& truth,
                                                               double clock_ns = 0) {
  const std::vector<std::size_t> sizes = sizes_up_to(std::size_t{4} << 20U);
  std::vector<std::vector<model::transfer_observation>> rounds;
  for (int round = 0; round < 3; ++round) {
    virtual_link link(truth, clock_ns), of_receiver(truth);
    rounds.push_back(observe_times(link, sizes, {}));
    const auto receiver = observe_receiver(of_receiver, sizes, {});
    for (std::size_t i = 0; i < sizes.size(); ++i) rounds.back()[i].receive_ns = receiver[i].receive_ns;
  }
  return rounds;
}

const model::transfer_terms small{.latency_ns = 5000,
                                  .send_ns = 800,
                                  .receive_ns = 1200,
                                  .gap_ns = 1500,
                                  .ns_per_byte = 0.5,
                                  .alone_ns_per_byte = 0.9,
                                  .send_ns_per_byte = 0.1,
                                  .receive_ns_per_byte = 0.2};
const model::transfer_terms large{.latency_ns = 60'000,
                                  .send_ns = 4000,
                                  .receive_ns = 9000,
                                  .gap_ns = 20'000,
                                  .ns_per_byte = 0.25,
                                  .alone_ns_per_byte = 0.4,
                                  .send_ns_per_byte = 0,
                                  .receive_ns_per_byte = 0.05};

TEST(transfer_procedure, finds_the_terms_of_a_link_of_one_piece) {
  const auto found = model::fit_transfer(observed({{0, small}}));
  ASSERT_EQ(found.size(), 1U);
  expect_alike(found[0].terms, small);
  expect_alike(found[0].low, small);
  expect_alike(found[0].high, small);
  EXPECT_LT(found[0].worst_error, 1e-9);
}

TEST(transfer_procedure, finds_where_another_piece_begins) {
  const auto found = model::fit_transfer(observed({{0, small}, {65'536, large}}));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].from_bytes, 0);
  EXPECT_EQ(found[1].from_bytes, 65'536);
  expect_alike(found[0].terms, small);
  expect_alike(found[1].terms, large);
}

TEST(transfer_procedure, does_not_count_the_clock) {
  const auto found = model::fit_transfer(observed({{0, small}}, 40));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].terms.send_ns, small.send_ns, 1);
}

TEST(transfer_procedure, finds_that_a_receiver_does_nothing) {
  model::transfer_terms one_sided = small;
  one_sided.receive_ns = one_sided.receive_ns_per_byte = 0;
  const auto found = model::fit_transfer(observed({{0, one_sided}}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].terms.receive_ns, 0);
  EXPECT_EQ(found[0].terms.receive_ns_per_byte, 0);
}

TEST(transfer_procedure, tells_the_quartiles_of_rounds_that_differ) {
  auto rounds = observed({{0, small}});
  for (auto& one : rounds[0]) one.gap_ns *= 0.8;
  for (auto& one : rounds[2]) one.gap_ns *= 1.4;
  const auto found = model::fit_transfer(rounds);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].terms.gap_ns, 1500, 1e-3);
  EXPECT_NEAR(found[0].low.gap_ns, 1500 * 0.9, 1e-3);
  EXPECT_NEAR(found[0].high.gap_ns, 1500 * 1.2, 1e-3);
}

TEST(transfer_procedure, predicts_what_the_link_does) {
  const model::transfer_pieces truth{{0, small}, {65'536, large}};
  model::transfer_pieces pieces;
  for (const auto& piece : model::fit_transfer(observed(truth))) pieces.push_back({piece.from_bytes, piece.terms});
  for (const double bytes : {1.0, 1000.0, 65'535.0, 65'536.0, 1e6, 1e8}) {
    EXPECT_NEAR(model::one_way_ns(pieces, bytes), model::one_way_ns(truth, bytes),
                1e-7 * model::one_way_ns(truth, bytes));
    EXPECT_NEAR(model::stream_ns(pieces, bytes, 100), model::stream_ns(truth, bytes, 100),
                1e-7 * model::stream_ns(truth, bytes, 100));
  }
  EXPECT_DOUBLE_EQ(model::stream_ns(truth, 8, 1), model::one_way_ns(truth, 8));
}

TEST(transfer_fit, is_one_piece_where_there_are_few_sizes) {
  std::vector<model::transfer_observation> round;
  for (const double bytes : {8.0, 64.0, 1024.0, 8192.0, 1e6})
    round.push_back(
        {.bytes = bytes, .one_way_ns = bytes > 5000 ? 9e5 : 100, .send_ns = 5, .receive_ns = 0, .gap_ns = 7});
  const auto found = model::fit_transfer(std::vector<std::vector<model::transfer_observation>>{round});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_GE(found[0].terms.latency_ns, 0);
  EXPECT_GT(found[0].worst_error, 0.5);
}

TEST(transfer_fit, gives_no_term_below_nothing) {
  std::vector<model::transfer_observation> round;
  for (const double bytes : {8.0, 16.0, 32.0, 64.0, 128.0})  // falls, and is less than the overheads of both ends
    round.push_back({.bytes = bytes, .one_way_ns = 100 - bytes / 4, .send_ns = 90, .receive_ns = 80, .gap_ns = bytes});
  const auto found = model::fit_transfer(std::vector<std::vector<model::transfer_observation>>{round});
  EXPECT_EQ(found[0].terms.latency_ns, 0);
  EXPECT_EQ(found[0].terms.alone_ns_per_byte, 0);
  EXPECT_EQ(found[0].terms.gap_ns, 0);
  EXPECT_DOUBLE_EQ(found[0].terms.ns_per_byte, 1);
}

}  // namespace
