#include <gmock/gmock.h>

#include <map>

#include "folded_programs.hpp"
#include "trace/folding/expander.hpp"
#include "trace/folding/folder.hpp"

namespace lull::trace::folding {
namespace {

constexpr std::size_t window = 2048;

struct folded {
  std::vector<bytes> structure = {}, times = {};
  std::uint64_t records = 0;
  expander::handles given_up = {};
  std::size_t memory = 0;
  double share_foreseen = 0;

  [[nodiscard]] std::size_t structure_bytes() const {
    std::size_t sum = 0;
    for (const bytes& piece : structure) sum += piece.size();
    return sum;
  }
  [[nodiscard]] expander expand() const {
    expander::pieces s(structure.begin(), structure.end()), t(times.begin(), times.end());
    return {s, t, records, given_up};
  }
};

// As a thread does it: window after window. From the window `several_from` on, the process has several logs.
folded fold(std::span<const record> all, std::size_t several_from = ~std::size_t{0}) {
  folder f;
  folded made;
  for (std::size_t at = 0, number = 0; at < all.size(); ++number) {
    if (number == several_from) f.name_by_handles();
    const auto next = all.subspan(at, std::min(window, all.size() - at));
    at += f.fold(next, at + next.size() == all.size());
    made.structure.push_back(f.structure());
    made.times.emplace_back(f.times().begin(), f.times().end());
    f.clear_output();
    for (const auto& [life, handle] : f.take_given_up()) made.given_up[life] = handle;
  }
  made.records = f.records();
  made.memory = f.memory();
  made.share_foreseen = static_cast<double>(f.foreseen()) / static_cast<double>(f.units());
  return made;
}

std::vector<record> expand(const folded& from) {
  std::vector<record> all;
  expander e = from.expand();
  while (e.next(all)) {
  }
  EXPECT_FALSE(e.is_damaged());
  return all;
}

// Records in which each life of a request has a handle of its own, by the rules by which replay.cpp finds requests, and
// a status only what it means.
std::vector<record> with_lives(std::span<const record> all) {
  std::vector<record> made(all.begin(), all.end());
  std::map<std::uint64_t, record> open;  // by handle: how it was posted, with its life
  std::uint64_t lives = 0;
  for (record& r : made) {
    if (!names_request(r.what)) continue;
    const std::uint64_t handle = r.begin;
    if (posts(r.what) || prepares(r.what)) {
      r.begin = ++lives;
      open[handle] = r;
    } else if (const auto found = open.find(handle); found != open.end()) {
      const record& of = found->second;
      r.begin = of.begin;
      if (r.what != kind::completed || (of.what != kind::posted_receive && of.what != kind::prepared_receive)) {
        r.peer = of.peer;
        r.tag = of.tag;
        r.bytes = of.bytes;
      }
      if (prepares(of.what) ? r.what == kind::freed : ends(r.what)) open.erase(found);
    } else {
      r.begin = 0;
    }
  }
  return made;
}

void expect_same(std::span<const record> left, std::span<const record> right) {
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i)
    ASSERT_EQ(words_of(left[i]), words_of(right[i])) << "record " << i << ", kind " << static_cast<int>(left[i].what);
}

// Folds, expands, and compares.
folded check(const recorded_thread& t) {
  folded made = fold(t.records);
  EXPECT_EQ(made.records, t.records.size());
  expect_same(with_lives(t.records), with_lives(expand(made)));
  return made;
}

TEST(folding, a_loop_takes_as_many_bytes_however_often_it_runs) {
  std::vector<std::size_t> sizes;
  for (const int steps : {150, 1500, 15000}) {
    recorded_thread t;
    cg(t, steps, 5);
    const folded made = check(t);
    sizes.push_back(made.structure_bytes());
    EXPECT_LT(made.memory, 256U << 10);
  }
  EXPECT_LE(sizes[0], 400U);
  EXPECT_EQ(sizes[1], sizes[0]);
  EXPECT_EQ(sizes[2], sizes[0]);
}

TEST(folding, a_ring_and_a_halo_are_some_bytes) {
  recorded_thread in_ring, in_halo;
  ring(in_ring, 100'000);
  EXPECT_LE(check(in_ring).structure_bytes(), 64U);
  halo(in_halo, 10'000, 8);
  const folded made = check(in_halo);
  EXPECT_LE(made.structure_bytes(), 800U);
  EXPECT_GT(made.share_foreseen, 0.99);
}

TEST(folding, the_end_of_a_loop_costs_bytes_only_where_its_length_varies) {
  recorded_thread t;
  solver(t, 2000);
  EXPECT_LE(check(t).structure_bytes(), 2000U * 8);
}

TEST(folding, tags_that_count_up_become_varying_and_take_no_bytes) {
  recorded_thread t;
  for (int i = 0; i < 50'000; ++i) {
    t.send(1, i, 8);
    t.receive(1, i, 8);
  }
  EXPECT_LE(check(t).structure_bytes(), 4000U);
}

TEST(folding, sizes_at_random_cost_their_entropy_and_some) {
  recorded_thread t;
  for (int i = 0; i < 20'000; ++i) {
    t.send(1, 1, t.random(10'000));
    t.receive(1, 1, 8);
    t.collective(8);
  }
  EXPECT_LE(check(t).structure_bytes(), 20'000U * 6);
}

TEST(folding, chaos_is_copied_and_costs_no_memory) {
  recorded_thread t;
  for (int i = 0; i < 100'000; ++i)
    t.call(kind::send, static_cast<std::uint16_t>(t.random(16)), static_cast<int>(t.random(8)), 0, t.random(1U << 30));
  const folded made = check(t);
  EXPECT_LE(made.structure_bytes(), 100'000U * 33);
  EXPECT_LT(made.memory, 4U << 20);
}

TEST(folding, ever_new_communicators_do_not_use_up_memory) {
  recorded_thread t;
  for (std::uint32_t i = 0; i < 20'000; ++i)
    for (int k = 0; k < 8; ++k) {
      t.collective(8);
      t.records.back().comm = static_cast<std::uint16_t>(i);
    }
  EXPECT_LT(check(t).memory, 6U << 20);
}

TEST(folding, many_open_requests_are_found_again) {
  recorded_thread t;
  std::vector<std::uint64_t> open;
  for (int i = 0; i < 40'000; ++i) open.push_back(t.irecv(-1, i, 8));  // more than the ring holds
  for (std::size_t i = 0; i < open.size(); ++i) {
    t.wait();
    t.complete(open[(i * 7919) % open.size()], static_cast<int>(i % 3), 5, 8);
  }
  const folded made = fold(t.records);
  EXPECT_FALSE(made.given_up.empty());
  const auto all = expand(made);
  expect_same(with_lives(t.records), with_lives(all));
}

TEST(folding, from_the_second_thread_on_handles_are_the_library_s) {
  recorded_thread t;
  const std::uint64_t early = t.irecv(2, 1, 8);  // open when the second thread begins, which may complete it
  const std::uint64_t kept = t.prepare(kind::prepared_send, 1, 1, 8);
  halo(t, 1000, 2);
  const folded made = fold(t.records, 3);
  const auto all = expand(made);
  ASSERT_EQ(all.size(), t.records.size());
  EXPECT_EQ(all[1].begin, early);
  EXPECT_EQ(all[3].begin, kept);
  for (std::size_t i = 3 * window; i < all.size(); ++i) ASSERT_EQ(words_of(all[i]), words_of(t.records[i])) << i;
}

TEST(folding, records_that_no_signature_describes_are_kept) {
  recorded_thread t;
  ring(t, 100);
  t.records.push_back({.begin = 5, .duration = 3, .region = 7, .comm = 2, .what = kind::more_received});
  t.records.push_back({.begin = 7, .what = static_cast<kind>(200)});
  ring(t, 100);
  check(t);
}

TEST(folding, an_empty_log_and_a_single_record_are_kept) {
  recorded_thread t;
  check(t);
  t.send(1, 2, 3);
  check(t);
}

class random_programs : public testing::TestWithParam<unsigned> {};

TEST_P(random_programs, are_expanded_to_what_was_recorded) {
  recorded_thread t(GetParam());
  for (unsigned parts = 3 + t.random(8); parts > 0; --parts) {
    const int steps = 1 + static_cast<int>(t.random(300));
    switch (t.random(6)) {
      case 0:
        ring(t, steps * 5);
        break;
      case 1:
        halo(t, steps, 1 + static_cast<int>(t.random(8)));
        break;
      case 2:
        cg(t, 1 + steps / 20, 3 + static_cast<int>(t.random(30)));
        break;
      case 3:
        solver(t, 1 + steps / 5);
        break;
      default:
        anything(t, steps * 10);
    }
  }
  check(t);
}

INSTANTIATE_TEST_SUITE_P(seeds, random_programs, testing::Range(0U, 40U));

TEST(folding, damaged_bytes_only_end_the_records_early) {
  recorded_thread t(3);
  halo(t, 300, 3);
  anything(t, 2000);
  const folded whole = fold(t.records);
  std::mt19937 random(5);
  for (int trial = 0; trial < 300; ++trial) {
    folded broken = whole;
    auto& pieces = trial % 3 == 0 ? broken.times : broken.structure;
    bytes& piece = pieces[random() % pieces.size()];
    if (piece.empty()) continue;
    if (trial % 2 == 0)
      piece[random() % piece.size()] ^= static_cast<std::uint8_t>(1 + random() % 255);
    else
      piece.resize(random() % piece.size());
    std::vector<record> all;
    expander e = broken.expand();
    while (e.next(all)) {
    }
    EXPECT_LE(all.size(), whole.records);
  }
}

}  // namespace
}  // namespace lull::trace::folding
