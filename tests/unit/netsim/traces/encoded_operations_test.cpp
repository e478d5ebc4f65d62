#include "netsim/traces/encoded_operations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "netsim/traces/listed_programs.hpp"

namespace lull::netsim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using kind = operation::kind;

operation with(operation o, std::uint32_t request) {
  o.request = request;
  return o;
}

TEST(encoded_operations, are_read_as_they_were_written) {
  const std::vector<operation> all{
      does::compute(1'000),
      does::send(3, 64, 5),
      does::send(3, 64, 5, 7),
      does::send(3, 1ULL << 40, 5),
      does::receive(2, 0, 0, 300),
      {.what = kind::synchronous_send, .peer = 70'000, .group = 9, .tag = 0xffff'fffe, .bytes = 1},
      does::wait(300),
      does::wait_any(),
      does::all_of(collective::broadcast, 1000, 4, 2),
      with(does::all_of(collective::allreduce, 8), 1),
      {.what = kind::put, .peer = 1, .request = 2, .bytes = 8},
      {.what = kind::get, .peer = 1, .bytes = 16},
      {.what = kind::atomic, .peer = 1, .bytes = 8},
      {.what = kind::await_put, .peer = 2, .bytes = 12},
      does::iteration(),
      does::compute(5'000'000'000'000'000'000),
  };
  encoded_operations encoded(2, "test");
  std::vector<std::string> expected;
  for (const operation& o : all) {
    encoded.add(1, o);
    expected.push_back(as_text(o));
  }
  for (const std::uint32_t process : {0U, 1U}) encoded.end(process);
  EXPECT_EQ(texts(encoded.of(1)), expected);
  EXPECT_EQ(texts(encoded.of(1)), expected);  // any number of times
  EXPECT_THAT(texts(encoded.of(0)), IsEmpty());
}

TEST(encoded_operations, what_is_known_later_is_where_it_belongs) {
  encoded_operations encoded(1, "test");
  const auto received = encoded.add_gap(0, 0);
  const auto never = encoded.add_gap(0, 1);
  const auto joined = encoded.add_gap(0, 2);
  encoded.add(0, does::wait(0));
  const auto both = encoded.make_shared();
  encoded.add(0, both, no_request);
  encoded.end(0);
  encoded.fill(received, does::receive(4, 32, 1));
  encoded.fill(joined, both);
  encoded.set(both, does::all_of(collective::barrier, 0));
  (void)never;
  EXPECT_THAT(texts(encoded.of(0)), ElementsAre("receive 32 B from 4 tag 1 request 0", "barrier 0 B root 0 request 2",
                                                "wait 0", "barrier 0 B root 0"));
}

TEST(encoded_operations, of_many_processes_and_blocks_stay_apart) {
  constexpr std::uint32_t processes = 40, rounds = 2'000;
  encoded_operations encoded(processes, "test");
  std::vector<encoded_operations::gap> gaps;
  for (std::uint32_t i = 0; i < rounds; ++i)
    for (std::uint32_t p = 0; p < processes; ++p) {
      encoded.add(p, does::compute(static_cast<picoseconds>(1000) * (i + p)));
      gaps.push_back(encoded.add_gap(p, p));
      encoded.add(p, does::send((p + i) % 97, i % 3 * 1000, i % 5));
    }
  for (std::uint32_t p = 0; p < processes; ++p) encoded.end(p);
  for (std::uint32_t i = 0; i < gaps.size(); ++i) encoded.fill(gaps[i], does::receive(i % 1013, i, 0));
  for (std::uint32_t p = 0; p < processes; ++p) {
    stream s = encoded.of(p);
    for (std::uint32_t i = 0; i < rounds; ++i) {
      const std::uint32_t gap = i * processes + p;
      ASSERT_EQ(as_text(*s.next()), fmt::format("compute {} ns", i + p));
      ASSERT_EQ(as_text(*s.next()), fmt::format("receive {} B from {} tag 0 request {}", gap, gap % 1013, p));
      ASSERT_EQ(as_text(*s.next()), fmt::format("send {} B to {} tag {}", i % 3 * 1000, (p + i) % 97, i % 5));
    }
    EXPECT_EQ(s.next(), nullptr);
  }
}

TEST(encoded_operations, of_a_regular_program_take_a_few_bytes_each) {
  constexpr std::uint64_t rounds = 100'000;
  encoded_operations encoded(1, "test");
  for (std::uint64_t i = 0; i < rounds; ++i) {
    encoded.add(0, does::compute(static_cast<picoseconds>(i % 1000) * 1'000'000));
    encoded.add(0, does::send(1, 1024, 5, 0));
    encoded.add(0, does::receive(2, 1024, 5));
    encoded.add(0, does::wait(0));
  }
  encoded.end(0);
  EXPECT_LT(encoded.bytes(), rounds * 4 * 4);
}

}  // namespace
}  // namespace lull::netsim
