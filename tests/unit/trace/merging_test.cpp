#include <gmock/gmock.h>

#include "folded_programs.hpp"
#include "trace/folding/folder.hpp"
#include "trace/merging/definition_lines.hpp"
#include "trace/merging/log_classes.hpp"

namespace lull::trace::merging {
namespace {

using folding::byte_reader;

// What a rank of a job records.
using rank_program = std::function<void(recorded_thread&, int rank, int size)>;

folded_structure fold_rank(const recorded_thread& t, int rank, int size) {
  folding::folder f;
  folded_structure made;
  const std::span<const record> all = t.records;
  for (std::size_t at = 0; at < all.size();) {
    const auto window = all.subspan(at, std::min<std::size_t>(2048, all.size() - at));
    at += f.fold(window, at + window.size() == all.size());
    made.structure.insert(made.structure.end(), f.structure().begin(), f.structure().end());
    f.clear_output();
  }
  made.records = f.records();
  made.where = [rank, size](scope) { return place{rank, size}; };
  return made;
}

std::vector<folded_structure> fold_job(int size, const rank_program& program) {
  std::vector<folded_structure> logs;
  for (int rank = 0; rank < size; ++rank) {
    recorded_thread t(static_cast<unsigned>(rank) + 1);
    program(t, rank, size);
    logs.push_back(fold_rank(t, rank, size));
  }
  return logs;
}

std::size_t bytes_of(const std::vector<bytes>& classes) {
  std::size_t sum = 0;
  for (const bytes& one : classes) sum += one.size();
  return sum;
}
std::size_t bytes_of(const std::vector<folded_structure>& logs) {
  std::size_t sum = 0;
  for (const folded_structure& log : logs) sum += log.structure.size();
  return sum;
}

// Merges the logs, and compares each with what is read back.
std::vector<bytes> check(const std::vector<folded_structure>& logs) {
  std::vector<bytes> classes = merge_logs(logs);
  std::vector<int> found(logs.size());
  for (const bytes& one : classes) {
    const auto read = log_class::read(one, logs.size());
    EXPECT_TRUE(read);
    if (!read) continue;
    for (std::size_t member = 0; member < read->logs().size(); ++member) {
      const std::uint64_t number = read->logs()[member];
      ++found[number];
      EXPECT_EQ(read->records(), logs[number].records);
      EXPECT_EQ(read->structure_of(member, logs[number].where), logs[number].structure) << "log " << number;
    }
  }
  EXPECT_THAT(found, testing::Each(1));
  return classes;
}

void ring_of(recorded_thread& t, int rank, int size) {
  for (int i = 0; i < 500; ++i) {
    t.send((rank + 1) % size, 7, 8);
    t.receive((rank + size - 1) % size, 7, 8);
  }
}

// As CG of NPB: exchanges with partners whose numbers differ in one bit.
rank_program cg_of(int steps) {
  return [steps](recorded_thread& t, int rank, int size) {
    for (int i = 0; i < steps; ++i) {
      for (int k = 0; k < 25; ++k)
        for (int bit = 1; bit < size; bit *= 2) {
          const std::uint64_t handle = t.irecv(rank ^ bit, 0, 56000);
          t.send(rank ^ bit, 0, 56000);
          t.wait();
          t.complete(handle, rank ^ bit, 0, 56000);
        }
      t.collective(8);
      t.collective(16);
    }
  };
}

// All neighbours, also diagonal ones, in a grid of `width` x `width` ranks.
rank_program stencil_of(int steps, bool is_open, bool names_missing = false) {
  return [=](recorded_thread& t, int rank, int size) {
    int width = 1;
    while (width * width < size) ++width;
    std::vector<int> neighbours;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) {
        const int x = rank % width + dx, y = rank / width + dy;
        const bool is_inside = x >= 0 && y >= 0 && x < width && y < width;
        if (dx == 0 && dy == 0) continue;
        if (is_inside || !is_open)
          neighbours.push_back((y + width) % width * width + (x + width) % width);
        else if (names_missing)
          neighbours.push_back(-2);
      }
    for (int i = 0; i < steps; ++i) {
      std::vector<std::uint64_t> open;
      for (const int n : neighbours) open.push_back(t.irecv(n, 3, 4096));
      for (const int n : neighbours) open.push_back(t.isend(n, 3, 4096));
      t.wait();
      for (std::size_t n = 0; n < open.size(); ++n) t.complete(open[n], neighbours[n % neighbours.size()], 3, 4096);
      if (i % 10 == 9) t.collective(8);
    }
  };
}

TEST(merging, a_ring_is_one_class_whatever_its_size) {
  const auto few = check(fold_job(4, ring_of)), many = check(fold_job(400, ring_of));
  EXPECT_EQ(few.size(), 1U);
  EXPECT_EQ(many.size(), 1U);
  EXPECT_LE(bytes_of(many), bytes_of(few) + 8);
}

TEST(merging, cg_takes_as_many_bytes_however_long_it_runs) {
  const auto few = check(fold_job(4, cg_of(150))), many = check(fold_job(4, cg_of(1500)));
  EXPECT_EQ(few.size(), 1U);
  EXPECT_LE(bytes_of(few), 512U);
  EXPECT_LE(bytes_of(many), bytes_of(few) + 8);
  EXPECT_EQ(check(fold_job(64, cg_of(20))).size(), 1U);
}

TEST(merging, a_stencil_of_64_ranks_takes_little_more_than_one_of_9) {
  for (const bool names_missing : {false, true}) {
    const auto few = fold_job(9, stencil_of(100, true, names_missing));
    const auto many = fold_job(64, stencil_of(100, true, names_missing));
    EXPECT_LE(bytes_of(check(many)) * 10, bytes_of(check(few)) * 13) << names_missing;
    EXPECT_LE(bytes_of(check(many)) * 8, bytes_of(many)) << names_missing;
  }
}

TEST(merging, a_torus_is_one_class) { EXPECT_EQ(check(fold_job(64, stencil_of(50, false))).size(), 1U); }

TEST(merging, neighbours_in_three_dimensions_follow_one_law) {
  const auto logs = fold_job(4 * 3 * 5, [](recorded_thread& t, int rank, int) {
    const int x = rank % 4, y = rank / 4 % 3, z = rank / 12;
    for (int i = 0; i < 100; ++i)
      for (int d = 1; d <= 2; ++d) t.send((x + d) % 4 + 4 * ((y + 1) % 3) + 12 * ((z + 4) % 5), d, 100);
  });
  const auto merged = check(logs);
  EXPECT_EQ(merged.size(), 1U);
  EXPECT_LE(bytes_of(merged), logs[0].structure.size() + 48);
}

TEST(merging, equal_logs_are_stored_once) {
  const auto logs = fold_job(200, [](recorded_thread& t, int, int) { halo(t, 100, 4); });
  EXPECT_LE(bytes_of(check(logs)), logs[0].structure.size() + 64);
}

TEST(merging, parameters_that_follow_no_law_are_a_table) {
  std::mt19937 random(3);
  std::vector<int> peers(64);
  for (int& p : peers) p = static_cast<int>(random() % 64);
  const auto logs = fold_job(64, [&](recorded_thread& t, int rank, int) {
    for (int i = 0; i < 200; ++i) {
      t.send(peers[static_cast<std::size_t>(rank)], 1, 1000 + static_cast<unsigned>(rank) / 60);
      t.receive(-1, 1, 8);
    }
  });
  const auto merged = check(logs);
  EXPECT_EQ(merged.size(), 1U);
  EXPECT_LE(bytes_of(merged), 64U * 4);
}

// Nothing is gained there, and next to nothing lost.
TEST(merging, a_master_and_its_workers_take_no_more_than_apart) {
  const auto logs = fold_job(8, [](recorded_thread& t, int rank, int size) {
    for (int i = 0; i < 500; ++i)
      if (rank == 0) {
        const int worker = 1 + static_cast<int>(t.random(static_cast<unsigned>(size) - 1));
        t.receive(worker, 1, t.random(5000));
        t.send(worker, 2, 8);
      } else {
        t.send(0, 1, t.random(5000));
        t.receive(0, 2, 8);
      }
  });
  EXPECT_LE(bytes_of(check(logs)), bytes_of(logs) + 8 * logs.size());
}

TEST(merging, chaos_takes_no_more_than_apart) {
  const auto logs = fold_job(5, [](recorded_thread& t, int, int) {
    for (int i = 0; i < 20'000; ++i)
      t.call(kind::send, static_cast<std::uint16_t>(t.random(16)), static_cast<int>(t.random(8)), 0,
             t.random(1U << 30));
  });
  EXPECT_LE(bytes_of(check(logs)), bytes_of(logs) + 8 * logs.size());
}

TEST(merging, logs_of_no_job_and_empty_ones_are_kept) {
  std::vector<folded_structure> logs = fold_job(3, [](recorded_thread& t, int, int) { halo(t, 10, 2); });
  logs.push_back({{}, 0, [](scope) { return place{}; }});
  logs.push_back({{}, 0, [](scope) { return place{}; }});
  logs[1].where = [](scope) { return place{}; };
  check(logs);
  EXPECT_TRUE(merge_logs({}).empty());
}

class random_jobs : public testing::TestWithParam<unsigned> {};

TEST_P(random_jobs, are_read_back_as_they_were_recorded) {
  std::mt19937 random(GetParam());
  const int size = 1 + static_cast<int>(random() % 20);
  std::vector<unsigned> parts(2 + random() % 5);
  for (unsigned& part : parts) part = static_cast<unsigned>(random());
  const auto logs = fold_job(size, [&](recorded_thread& t, int rank, int of) {
    for (const unsigned part : parts) {
      const int steps = 1 + static_cast<int>(part / 8 % 100), shift = static_cast<int>(part / 1000 % 7);
      switch (part % 8) {
        case 0:
          ring_of(t, rank, of);
          break;
        case 1:
          stencil_of(steps, part % 16 < 8)(t, rank, of);
          break;
        case 2:
          cg_of(1 + steps / 20)(t, rank, of);
          break;
        case 3:
          for (int i = 0; i < steps; ++i) t.send((rank + shift) % of, rank, static_cast<unsigned>(8 * rank));
          break;
        case 4:  // only some take part, as often as they like
          if (rank % (1 + shift) == 0) solver(t, 1 + rank % 3);
          break;
        case 5:
          for (int i = 0; i < steps * 10; ++i) t.send(rank ^ shift, i, t.random(1000));
          break;
        default:
          anything(t, steps);
      }
    }
  });
  const auto merged = check(logs);
  EXPECT_LE(bytes_of(merged), bytes_of(logs) + 8 * logs.size());
}

INSTANTIATE_TEST_SUITE_P(seeds, random_jobs, testing::Range(0U, 60U));

TEST(merging, damaged_classes_are_refused_or_end_early) {
  const auto logs = fold_job(9, stencil_of(30, true));
  const std::vector<bytes> classes = merge_logs(logs);
  std::mt19937 random(5);
  for (int trial = 0; trial < 3000; ++trial) {
    bytes broken = classes[random() % classes.size()];
    if (trial % 2 == 0)
      broken[random() % broken.size()] ^= static_cast<std::uint8_t>(1 + random() % 255);
    else
      broken.resize(random() % broken.size());
    const auto read = log_class::read(broken, logs.size());
    if (!read) continue;
    for (std::size_t member = 0; member < read->logs().size(); ++member)
      (void)read->structure_of(member, logs[read->logs()[member]].where);
  }
}

TEST(definition_lines, differ_by_numbers_only_and_are_kept_to_the_letter) {
  const std::vector<std::string> texts{"{\"ticks\": 123456789012, \"pid\": 17}\n{\"is\": \"end\"}\n",
                                       "{\"ticks\": 123456789999, \"pid\": 18}\n",
                                       "",
                                       "no end of line 007 0 -5 1e9 18446744073709551615",
                                       "\n\n\x01 7\n",
                                       "{\"ticks\": 5, \"pid\": 0}\n{\"tic"};
  definition_lines lines;
  bytes made, templates;
  for (const std::string& text : texts) lines.put(made, text);
  lines.put_templates(templates);
  const auto read = definition_lines::read_templates(templates);
  ASSERT_TRUE(read);
  byte_reader from({made});
  for (const std::string& text : texts) EXPECT_EQ(read->read(from), text);
  EXPECT_TRUE(from.at_end());
}

}  // namespace
}  // namespace lull::trace::merging
