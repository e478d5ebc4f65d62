// Files that several processes of a node write together: the order of their writes, waits, and servers that die.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "stage/files.hpp"
#include "stage/shared/arena.hpp"
#include "stage/shared/node_files.hpp"
#include "stage/shared_files.hpp"
#include "surroundings.hpp"

namespace lull::stage {
namespace {

TEST(arena, takes_the_lowest_free_place) {
  arena places(4 * KiB);
  EXPECT_EQ(places.take(1 * KiB), 0);
  EXPECT_EQ(places.take(1 * KiB), 1 * KiB);
  EXPECT_EQ(places.take(3 * KiB), std::nullopt);
  places.belongs_to(0, 7);
  places.belongs_to(1 * KiB, 8);
  places.release([](std::uint64_t number) { return number == 8; });
  EXPECT_EQ(places.take(2 * KiB), 2 * KiB);
  EXPECT_EQ(places.take(10), 0);
}

TEST(arena, takes_no_place_behind_its_limit) {
  arena places(4 * KiB);
  EXPECT_EQ(places.take(2 * KiB), 0);
  places.limit(3 * KiB);
  EXPECT_EQ(places.take(2 * KiB), std::nullopt);
  EXPECT_EQ(places.take(1 * KiB), 2 * KiB);
}

TEST(pieces, overlap_is_exact_for_ascending_lists) {
  const std::vector<piece> even{{0, 4}, {8, 4}}, odd{{4, 4}, {12, 4}}, late{{11, 1}};
  EXPECT_FALSE(overlap(even, odd));
  EXPECT_TRUE(overlap(even, late));
  EXPECT_FALSE(overlap(odd, late));
}

TEST_F(shared_files_of_a_node, the_last_writer_wins_whoever_its_server_is) {
  node here(3, 2);
  here.serve();
  const std::string path = file();
  std::vector<int> numbers;
  for (int i = 0; i < 3; ++i) numbers.push_back(here.client(i).open(path, true).value());
  EXPECT_THAT(numbers, testing::Each(numbers[0]));
  std::mt19937 random(1);
  std::string expected(4000, '\0');
  for (int i = 0; i < 2000; ++i) {
    const int by = static_cast<int>(random() % 3);
    const std::size_t offset = random() % 3900, bytes = 1 + random() % 100;
    const std::string text(bytes, static_cast<char>('a' + i % 26));
    write(here.client(by), numbers[0], static_cast<std::int64_t>(offset), text);
    expected.replace(offset, bytes, text);
    if (i % 500 == 499) {
      here.client(i % 3).set_size(numbers[0], 2000);
      expected.replace(2000, 2000, std::string(2000, '\0'));
      EXPECT_EQ(here.client(0).size(numbers[0]), 2000);
    }
  }
  here.client(0).set_size(numbers[0], 4000);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(here.client(i).close(numbers[0]), 0);
  for (int i = 0; i < 3; ++i) here.client(i).finish();
  const server_figures done = here.finish();
  EXPECT_EQ(text_of(path), expected);
  EXPECT_EQ(done.failed, 0);
  EXPECT_EQ(done.written.files, 1);
}

TEST_F(shared_files_of_a_node, a_collective_call_becomes_one_write) {
  node here(3, 1);
  const std::string path = file();
  const int number = here.client(0).open(path, true).value();
  for (int i = 1; i < 3; ++i) ASSERT_EQ(here.client(i).open(path, true), number);
  for (int call = 1; call <= 4; ++call)
    for (int i = 2; i >= 0; --i)
      write(here.client(i), number, call * 3000 + i * 1000, std::string(1000, static_cast<char>('a' + i)),
            {static_cast<std::uint64_t>(call), 3, true});
  here.serve();
  for (int i = 0; i < 3; ++i) (void)here.client(i).close(number);
  const server_figures done = here.finish();
  EXPECT_EQ(done.shared_writes, 1);  // of all calls: they touch each other
  EXPECT_EQ(text_of(path).size(), 15000);
}

TEST_F(shared_files_of_a_node, a_part_of_a_collective_call_does_not_wait_for_ever) {
  node here(2, 1);
  here.serve();
  const int number = here.client(0).open(file(), true).value();
  write(here.client(0), number, 0, "alone", {1, 2, true});
  EXPECT_TRUE(here.client(0).wait(number, {0, 1}) || here.client(0).size(number) == 5);
  EXPECT_EQ(text_of(file()), "alone");
  (void)here.client(0).close(number);
  (void)here.finish();
}

TEST_F(shared_files_of_a_node, waits_for_what_overlaps_only) {
  node here(2, 1);
  ASSERT_EQ(truncate(file().c_str(), 2000), 0);
  const int number = here.client(0).open(file(), true).value();
  write(here.client(0), number, 1000, "late");
  EXPECT_FALSE(here.client(1).wait(number, {0, 1000}));
  EXPECT_FALSE(here.client(1).wait(number, {1004, 2000}));
  std::thread server([&] { here.serve(); });
  (void)here.client(1).wait(number, {1003, 1004});
  EXPECT_EQ(text_of(file()).substr(1000, 4), "late");
  server.join();
  (void)here.client(0).close(number);
  (void)here.finish();
}

TEST_F(shared_files_of_a_node, a_hole_belongs_to_the_file_as_soon_as_something_behind_it_does) {
  node here(1, 1);
  const int number = here.client(0).open(file(), true).value();
  write(here.client(0), number, 1000, "end");
  EXPECT_EQ(here.client(0).size(number), 1003);
  std::thread server([&] { here.serve(); });
  (void)here.client(0).wait(number, {500, 510});
  EXPECT_EQ(text_of(file()).size(), 1003);
  server.join();
  (void)here.client(0).close(number);
  (void)here.finish();
}

TEST_F(shared_files_of_a_node, a_read_waits_for_the_end_that_follows_a_smaller_one) {
  node here(2, 2);
  const std::string path = file();
  ASSERT_EQ(truncate(path.c_str(), 2000), 0);
  const int number = here.client(0).open(path, true).value();
  ASSERT_EQ(here.client(1).open(path, true), number);
  here.client(0).set_size(number, 100);
  write(here.client(1), number, 1000, "end");
  for (const int server : {2, 3}) here.view(0).writing(server).lock();  // they live, and are slow
  std::thread reader([&] {
    (void)here.client(0).wait(number, {500, 510});
    EXPECT_EQ(text_of(path).size(), 1003);
  });
  here.view(0).writing(2).unlock();
  here.serve(2);  // it makes the file smaller
  while (text_of(path).size() != 100) std::this_thread::yield();
  here.view(0).writing(3).unlock();
  here.serve(3);
  reader.join();
  for (int i = 0; i < 2; ++i) (void)here.client(i).close(number);
  (void)here.finish();
}

TEST_F(shared_files_of_a_node, a_full_arena_waits) {
  node here(1, 1);
  here.serve();
  const int number = here.client(0).open(file(), true).value();
  const std::string text(30 * KiB, 'x');
  for (int i = 0; i < 50; ++i) write(here.client(0), number, i * 1000, text);
  EXPECT_EQ(here.client(0).close(number), 0);
  here.client(0).finish();
  (void)here.finish();
  EXPECT_EQ(text_of(file()).size(), 49 * 1000 + text.size());
}

TEST_F(shared_files_of_a_node, a_client_writes_in_the_place_of_a_server_that_died) {
  node here(1, 1);
  const std::string path = file();
  const int number = here.client(0).open(path, true).value();
  const pid_t server = fork();
  if (server == 0) {
    here.serve();
    pause();
    _exit(0);
  }
  write(here.client(0), number, 0, "first");
  (void)here.client(0).wait(number, {});
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
  for (int i = 0; i < 10; ++i) write(here.client(0), number, 5 + i, "x");
  EXPECT_EQ(here.client(0).close(number), 0);
  here.client(0).finish();
  EXPECT_EQ(text_of(path), "firstxxxxxxxxxx");
}

TEST_F(shared_files_of_a_node, what_comes_first_is_written_for_a_server_that_has_not_begun) {
  node here(2, 2);
  const std::string path = file();
  const int number = here.client(0).open(path, true).value();
  ASSERT_EQ(here.client(1).open(path, true), number);
  write(here.client(0), number, 0, "first of one server");
  write(here.client(1), number, 0, "then");
  here.client(1).finish();  // its own entry waits for that of the other server, for which nobody else waits
  EXPECT_EQ(text_of(path), "thent of one server");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(here.client(i).close(number), 0);
  here.serve();
  (void)here.finish();
}

// The part of a rank that has nothing to write. It overlaps nothing, so only who waits for every entry writes it.
TEST_F(shared_files_of_a_node, a_part_without_bytes_is_ended_for_a_server_that_is_away) {
  node here(2, 2);
  const std::string path = file();
  const int number = here.client(0).open(path, true).value();
  here.client(0).write(number, {}, here.client(0).room(0, 0), {1, 2, true});
  here.client(0).look_at_size(number);
  EXPECT_EQ(here.client(0).size(number), 0);
  EXPECT_EQ(here.client(0).close(number), 0);
  here.serve();
  (void)here.finish();
}

TEST_F(shared_files_of_a_node, a_client_that_dies_with_the_lock_stops_nobody) {
  node here(2, 1);
  const int number = here.client(0).open(file(), true).value();
  write(here.client(0), number, 0, "before");
  const pid_t other = fork();
  if (other == 0) {
    const auto hold = here.view(1).lock();
    here.view(1).row(number).pending = 17;  // half changed
    _exit(0);
  }
  waitpid(other, nullptr, 0);
  here.serve();
  EXPECT_EQ(here.client(0).close(number), 0);
  here.client(0).finish();
  EXPECT_EQ(text_of(file()), "before");
  (void)here.finish();
}

TEST_F(shared_files_of_a_node, a_failure_reaches_every_process_and_is_reported_once) {
  node here(2, 1);
  here.serve();
  const std::string path = file();
  const int number = here.client(0).open(path, true).value();
  ASSERT_EQ(here.client(1).open(path, true), number);
  write(here.client(0), number, std::numeric_limits<std::int64_t>::max() - 10, "far");  // beyond any file system
  (void)here.client(1).wait(number, {});
  testing::internal::CaptureStderr();
  EXPECT_EQ(here.client(1).error(number), EFBIG);
  EXPECT_EQ(here.client(0).error(number), EFBIG);
  const std::string lines = testing::internal::GetCapturedStderr();
  EXPECT_EQ(lines, "lull: write " + path + ": File too large\n");
  EXPECT_THAT(here.client(0).failures(), testing::IsEmpty());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(here.client(i).close(number), EFBIG);
  EXPECT_EQ(here.finish().failed, 1);
}

TEST_F(shared_files_of_a_node, a_file_that_was_removed_is_still_written) {
  node here(1, 1);
  here.serve();
  const std::string path = file();
  const descriptor own(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const int number = here.client(0).open(path, true).value();
  here.client(0).wait_for(path);  // as a removal does
  ASSERT_EQ(unlink(path.c_str()), 0);
  write(here.client(0), number, 0, "scratch");
  (void)here.client(0).wait(number, {});
  std::string text(7, ' ');
  EXPECT_EQ(pread(own.get(), text.data(), text.size(), 0), 7);
  EXPECT_EQ(text, "scratch");
  EXPECT_EQ(here.client(0).close(number), 0);
  (void)here.finish();
}

TEST_F(shared_files_of_a_node, rows_are_used_again) {
  node here(1, 1);
  here.serve();
  for (int i = 0; i < 600; ++i) {
    const std::string path = file("f" + std::to_string(i % 3));
    const auto number = here.client(0).open(path, true);
    ASSERT_TRUE(number);
    write(here.client(0), *number, 0, std::to_string(i));
    EXPECT_EQ(here.client(0).close(*number), 0);
  }
  here.client(0).finish();
  EXPECT_EQ(here.finish().written.files, 600);
  EXPECT_EQ(text_of(file("f2")), "599");
}

}  // namespace
}  // namespace lull::stage
