// Programs of 8 and 16 processes extrapolated to 32, compared with the same programs made for 32.
#include "netsim/extrapolation/extrapolation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "base/error.hpp"
#include "netsim/traces/listed_programs.hpp"

namespace lull::netsim {
namespace {

using testing::HasSubstr;
using kind = operation::kind;
using operations = std::vector<operation>;

// With requests numbered in the order of their begin, because the numbers that a program uses do not matter.
std::vector<std::string> told(const program& p, std::uint32_t rank) {
  const never_complete none;
  stream s = p.of(rank, none);
  std::map<std::uint32_t, std::uint32_t> numbers;
  std::uint32_t begun = 0;
  std::vector<std::string> found;
  while (const operation* next = s.next()) {
    operation o = *next;
    if (o.what == kind::wait)
      o.request = numbers.at(o.request);
    else if (o.request != no_request)
      o.request = numbers[o.request] = begun++;
    found.push_back(as_text(o));
  }
  return found;
}
std::vector<std::string> sorted(std::vector<std::string> texts) {
  for (std::string& t : texts) t = t.substr(0, t.find(" request"));
  std::erase_if(texts, [](const std::string& t) { return t.starts_with("wait"); });
  std::ranges::sort(texts);
  return texts;
}

operation with(operation o, std::uint32_t request) {
  o.request = request;
  return o;
}

// `make` returns the operations of a rank of a grid.
using maker = std::function<operations(const rank_grid&, std::uint32_t rank)>;
listed_program program_on(const rank_grid& grid, const maker& make,
                          std::vector<std::vector<std::uint32_t>> groups = {{}}) {
  std::vector<operations> all;
  for (std::uint32_t rank = 0; rank < grid.ranks(); ++rank) all.push_back(make(grid, rank));
  return listed_program(std::move(all), std::move(groups));
}
std::unique_ptr<program> continued_to(std::uint32_t processes, const listed_program& smaller,
                                      const listed_program& larger) {
  return extrapolate({smaller, smaller.size()}, {larger, larger.size()}, processes, "replay the trace x");
}
std::string failure_of(const listed_program& smaller, const listed_program& larger, std::uint32_t processes = 32) {
  try {
    (void)continued_to(processes, smaller, larger);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

// Messages to all neighbours in both directions of each dimension, all outstanding at once, and a sum.
operations exchange(const rank_grid& g, std::uint32_t rank) {
  operations all;
  for (int round = 0; round < 3; ++round) {
    std::uint32_t requests = 0;
    all.push_back(does::compute(1'000'000 * (round + 1)));
    for (const bool sends : {false, true})
      for (std::size_t d = 0; d < g.dimensions(); ++d)
        for (const int way : {-1, 1}) {
          grid_offset by{};
          by[d] = way;
          const auto other = g.neighbour(rank, by);
          const std::uint32_t tag = 2 * static_cast<std::uint32_t>(d) + (sends == (way > 0) ? 1 : 0);
          if (other)
            all.push_back(sends ? does::send(*other, 1024, tag, requests++)
                                : does::receive(*other, 1024, tag, requests++));
        }
    for (std::uint32_t r = 0; r < requests; ++r) all.push_back(does::wait(r));
    all.push_back(does::all_of(collective::allreduce, 8));
    all.push_back(does::iteration());
  }
  all.push_back(does::compute(500'000));
  return all;
}

TEST(extrapolation, of_a_ring_is_the_longer_ring) {
  const auto ring = [](std::uint32_t ranks) {
    return rank_grid{.size = {ranks, 1, 1}, .closed = {true, false, false}};
  };
  const auto made = continued_to(32, program_on(ring(8), exchange), program_on(ring(16), exchange));
  const listed_program expected = program_on(ring(32), exchange);
  for (std::uint32_t rank = 0; rank < 32; ++rank) EXPECT_EQ(told(*made, rank), told(expected, rank)) << rank;
  EXPECT_THAT(made->remarks().back(), HasSubstr("a grid of 32 extrapolates those of 8 and 16"));
}

TEST(extrapolation, does_not_care_which_request_was_complete_first) {
  const maker shuffled = [](const rank_grid& g, std::uint32_t rank) {
    operations all = exchange(g, rank);
    const auto is_wait = [](const operation& o) { return o.what == kind::wait; };
    for (auto at = std::ranges::find_if(all, is_wait); at != all.end();) {
      const auto end = std::find_if_not(at, all.end(), is_wait);
      if (g.ranks() < 32) std::rotate(at, at + rank % (end - at), end);
      at = std::find_if(end, all.end(), is_wait);
    }
    return all;
  };
  const auto made =
      continued_to(32, program_on({.size = {2, 4, 1}}, shuffled), program_on({.size = {4, 4, 1}}, shuffled));
  const listed_program expected = program_on({.size = {4, 8, 1}}, shuffled);
  for (std::uint32_t rank = 0; rank < 32; ++rank) EXPECT_EQ(told(*made, rank), told(expected, rank)) << rank;
}

TEST(extrapolation, of_a_grid_with_open_ends_is_the_larger_grid) {
  const auto made =
      continued_to(32, program_on({.size = {2, 4, 1}}, exchange), program_on({.size = {4, 4, 1}}, exchange));
  const listed_program expected = program_on({.size = {4, 8, 1}}, exchange);
  for (std::uint32_t rank = 0; rank < 32; ++rank) EXPECT_EQ(told(*made, rank), told(expected, rank)) << rank;
}

TEST(extrapolation, knows_places_that_neither_program_had) {
  const auto made =
      continued_to(32, program_on({.size = {2, 2, 2}}, exchange), program_on({.size = {2, 2, 4}}, exchange));
  const listed_program expected = program_on({.size = {2, 4, 4}}, exchange);
  for (std::uint32_t rank = 0; rank < 32; ++rank)
    EXPECT_EQ(sorted(told(*made, rank)), sorted(told(expected, rank))) << rank;
}

TEST(extrapolation, lets_sizes_and_times_follow_the_processes) {
  const maker shared = [](const rank_grid& g, std::uint32_t rank) -> operations {
    const std::uint32_t right = (rank + 1) % g.ranks(), left = (rank + g.ranks() - 1) % g.ranks();
    return {does::compute(640'000'000 / g.ranks()),
            with(does::send(right, 65536 / g.ranks(), 0), 0),
            does::receive(left, 65536 / g.ranks(), 0),
            does::wait(0),
            does::all_of(collective::allgather, 4096 / g.ranks()),
            does::compute(7'000)};
  };
  const auto made = continued_to(64, program_on({.size = {8, 1, 1}}, shared), program_on({.size = {16, 1, 1}}, shared));
  const listed_program expected = program_on({.size = {64, 1, 1}}, shared);
  for (const std::uint32_t rank : {0U, 31U, 63U}) EXPECT_EQ(told(*made, rank), told(expected, rank)) << rank;
}

TEST(extrapolation, continues_rows_and_columns) {
  struct rows_and_columns {
    explicit rows_and_columns(const rank_grid& g) : grid(g) {
      for (std::uint32_t y = 0; y < g.size[1]; ++y) groups.push_back(g.section(y * g.size[0], 1));
      for (std::uint32_t x = 0; x < g.size[0]; ++x) groups.push_back(g.section(x, 2));
    }
    [[nodiscard]] listed_program made() const {
      return program_on(
          grid,
          [this](const rank_grid& g, std::uint32_t rank) -> operations {
            const std::uint32_t row = 1 + g.place(rank)[1], column = 1 + g.size[1] + g.place(rank)[0];
            operations all = exchange(g, rank);
            all.push_back(does::all_of(collective::broadcast, 64, groups[row].front(), row));
            all.push_back(does::all_of(collective::allreduce, 16, groups[column].front(), column));
            return all;
          },
          groups);
    }
    rank_grid grid;
    std::vector<std::vector<std::uint32_t>> groups{{}};
  };
  const auto of = [](std::uint32_t x, std::uint32_t y) { return rows_and_columns({.size = {x, y, 1}}).made(); };
  const listed_program smaller = of(2, 4), larger = of(4, 4), expected = of(4, 8);
  const auto made = continued_to(32, smaller, larger);
  const never_complete none;
  for (std::uint32_t rank = 0; rank < 32; ++rank) {
    stream a = made->of(rank, none), b = expected.of(rank, none);
    while (const operation* o = a.next()) {
      const operation* const e = b.next();
      ASSERT_NE(e, nullptr);
      if (e->group == everybody) continue;
      EXPECT_EQ(o->peer, e->peer);
      EXPECT_TRUE(std::ranges::equal(made->group(o->group), expected.group(e->group))) << rank;
    }
  }
}

TEST(extrapolation, refuses_a_program_that_is_not_regular) {
  const maker to_all = [](const rank_grid& g, std::uint32_t rank) {
    operations all;
    for (std::uint32_t other = 0; other < g.ranks(); ++other)
      if (other != rank) all.push_back(does::send(other, 8, 0));
    for (std::uint32_t other = 0; other < g.ranks(); ++other)
      if (other != rank) all.push_back(does::receive(other, 8, 0));
    return all;
  };
  const auto line = [](std::uint32_t ranks) { return rank_grid{.size = {ranks, 1, 1}}; };
  EXPECT_THAT(
      failure_of(program_on(line(8), to_all), program_on(line(16), to_all)),
      HasSubstr("replay the trace x with 32 processes: the partners of its ranks are not at the same positions"));

  const maker by_rank = [](const rank_grid& g, std::uint32_t rank) -> operations {
    return {does::send((rank + 1) % g.ranks(), 8, rank, 0),
            does::receive((rank + g.ranks() - 1) % g.ranks(), 8, (rank + g.ranks() - 1) % g.ranks()), does::wait(0)};
  };
  EXPECT_THAT(failure_of(program_on(line(8), by_rank), program_on(line(16), by_rank)),
              HasSubstr("of rank 1 of the larger program is: send at offset (1, 0, 0) with tag 1"));

  const maker by_size = [](const rank_grid& g, std::uint32_t) {
    return operations(g.ranks(), does::all_of(collective::barrier, 0));
  };
  EXPECT_THAT(failure_of(program_on(line(8), by_size), program_on(line(16), by_size)),
              HasSubstr("rank 0 of the smaller program"));
  EXPECT_THAT(failure_of(program_on(line(16), by_size), program_on(line(8), by_size)),
              HasSubstr("the traces have 16 and 8 processes"));
}

TEST(exponents, are_the_usual_ones_where_they_are_near) {
  EXPECT_EQ(exponent_between(100, 200, 2), 1);
  EXPECT_EQ(exponent_between(100, 50, 2), -1);
  EXPECT_EQ(exponent_between(100, 101, 2), 0);
  EXPECT_NEAR(exponent_between(100, 63, 2), -2.0 / 3, 1e-9);
  EXPECT_NEAR(exponent_between(100, 120, 2), 0.263, 1e-3);
  EXPECT_EQ(exponent_between(0, 50, 2), 0);
}

TEST(rank_grids, continue_by_the_balance_that_they_have_or_by_their_longer_side) {
  const auto next = [](std::array<std::uint32_t, 3> a, std::array<std::uint32_t, 3> b, std::uint32_t ranks) {
    const auto found = continued({.size = a}, {.size = b}, ranks);
    return found ? found->in_words() : "none";
  };
  EXPECT_EQ(next({8, 1, 1}, {16, 1, 1}, 100), "100");
  EXPECT_EQ(next({2, 4, 1}, {4, 4, 1}, 32), "4 x 8");
  EXPECT_EQ(next({4, 2, 1}, {4, 4, 1}, 32), "8 x 4");
  EXPECT_EQ(next({2, 4, 1}, {2, 8, 1}, 32), "2 x 16");
  EXPECT_EQ(next({2, 2, 2}, {2, 2, 4}, 64), "4 x 4 x 4");
  EXPECT_EQ(next({2, 4, 1}, {2, 8, 1}, 33), "none");
  EXPECT_EQ(next({2, 8, 1}, {4, 16, 1}, 128), "none");
}

TEST(rank_grids, end_or_close_to_a_ring) {
  const rank_grid g{.size = {4, 3, 1}, .closed = {true, false, false}};
  EXPECT_EQ(g.neighbour(3, {1, 0, 0}), 0U);
  EXPECT_EQ(g.neighbour(3, {0, -1, 0}), std::nullopt);
  EXPECT_EQ(g.between(0, 3), (grid_offset{-1, 0, 0}));
  EXPECT_EQ(g.between(0, 9), (grid_offset{1, 2, 0}));
  EXPECT_THAT(g.section(5, 1), testing::ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(g.section(5, 2), testing::ElementsAre(1, 5, 9));
}

}  // namespace
}  // namespace lull::netsim
