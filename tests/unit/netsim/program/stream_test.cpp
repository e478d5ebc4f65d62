// Streams inside streams yield the same operations as their concatenation, at any depth.
#include "netsim/program/stream.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <tuple>
#include <vector>

namespace lull::netsim {
namespace {

stream nothing() { co_return; }

stream one(std::uint32_t request) { co_yield does::wait(request); }

stream tree(std::uint32_t depth, std::uint32_t number) {
  if (depth == 0) co_return;
  co_yield tree(depth - 1, 2 * number);
  co_yield does::wait(number);
  co_yield nothing();
  co_yield tree(depth - 1, 2 * number + 1);
}

stream breaks(std::uint32_t after) {
  for (std::uint32_t i = 0; i < after; ++i) co_yield one(i);
  throw std::runtime_error("here");
}

stream recomputes(std::uint32_t after) {
  bool failed = false;
  try {
    co_yield breaks(after);
  } catch (const std::runtime_error&) {
    failed = true;
  }
  if (failed) co_yield does::wait(100);
}

std::vector<std::uint32_t> requests_of(stream s) {
  std::vector<std::uint32_t> found;
  while (const operation* o = s.next()) found.push_back(o->request);
  EXPECT_EQ(s.next(), nullptr);
  return found;
}

TEST(Stream, OneInsideAnotherComesInItsPlace) {
  EXPECT_EQ(requests_of(tree(3, 1)), (std::vector<std::uint32_t>{4, 2, 5, 1, 6, 3, 7}));
  EXPECT_TRUE(requests_of(nothing()).empty());
  EXPECT_TRUE(requests_of(stream()).empty());
}

TEST(Stream, WhatFailsInsideComesOutOfNext) {
  stream s = breaks(2);
  EXPECT_EQ(s.next()->request, 0U);
  EXPECT_EQ(s.next()->request, 1U);
  EXPECT_THROW((void)s.next(), std::runtime_error);
  EXPECT_EQ(s.next(), nullptr);
}

TEST(Stream, WhatFailsInsideMayBeCaughtAround) {
  EXPECT_EQ(requests_of(recomputes(2)), (std::vector<std::uint32_t>{0, 1, 100}));
}

const std::vector<partner> one_way_each{{7, 10, 0}, {8, 0, 20}, {9, 30, 40}};

stream exchanges(bool inside) {
  co_yield does::wait(50);
  co_yield exchange({}, 0);
  if (inside) co_yield exchanges(false);
  co_yield exchange(one_way_each, 1);
  co_yield exchange(one_way_each, 2, exchange::sends::blocking);
}

TEST(Stream, AnExchangeIsAPart) {
  const std::vector<std::uint32_t> once{50, 1, 2, 3, 5, 1, 2, 3, 5, 1, 2, no_request, no_request, 1, 2};
  EXPECT_EQ(requests_of(exchanges(false)), once);
  std::vector<std::uint32_t> twice = once;
  twice.insert(twice.begin() + 1, once.begin(), once.end());
  EXPECT_EQ(requests_of(exchanges(true)), twice);
}

TEST(Stream, AnExchangeReceivesThenSendsThenWaits) {
  exchange all(one_way_each, 3);
  for (const auto& [what, peer, bytes] : {std::tuple{operation::kind::receive, 8U, 20U},
                                          {operation::kind::receive, 9U, 40U},
                                          {operation::kind::send, 7U, 10U},
                                          {operation::kind::send, 9U, 30U}}) {
    const operation* o = all.next();
    ASSERT_NE(o, nullptr);
    EXPECT_EQ(o->what, what);
    EXPECT_EQ(o->peer, peer);
    EXPECT_EQ(o->bytes, bytes);
    EXPECT_EQ(o->tag, 3U);
    EXPECT_EQ(o->group, everybody);
  }
  for (int i = 0; i < 4; ++i) {
    const operation* o = all.next();
    ASSERT_NE(o, nullptr);
    EXPECT_EQ(o->what, operation::kind::wait);
  }
  EXPECT_EQ(all.next(), nullptr);
}

TEST(Stream, MayBeLeftHalfway) {
  stream s = tree(20, 1);
  for (int i = 0; i < 1000; ++i) ASSERT_NE(s.next(), nullptr);
}

}  // namespace
}  // namespace lull::netsim
