// Files that processes of several nodes write together: one order of all writes, and nodes that are lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "stage/files.hpp"
#include "stage/shared/nodes/follower.hpp"
#include "stage/shared/nodes/home.hpp"
#include "stage/shared_files.hpp"
#include "surroundings.hpp"

namespace lull::stage {
namespace {

// Nodes, and a thread that carries their messages, as their links do.
class nodes {
 public:
  nodes(int count, int clients, int servers, std::size_t arena_bytes = 64 * KiB, bool close_waits = true) {
    for (int i = 0; i < count; ++i)
      all_.push_back(
          std::make_unique<node>(clients, servers, arena_bytes, close_waits, place_of_node{.node = i, .nodes = count}));
    for (auto& one : all_) one->view(clients).linking().lock();  // never abandoned
    home_ = std::make_unique<home_of_files>(all_[0]->view(clients), [this](int node, packet text) {
      keep(to_nodes_[static_cast<std::size_t>(node)], text);
    });
    for (int i = 1; i < count; ++i)
      followers_.push_back(std::make_unique<follower_of_home>(
          all_[static_cast<std::size_t>(i)]->view(clients),
          [this, i](int, packet text) { keep(to_home_[static_cast<std::size_t>(i)], text); }));
    to_home_.resize(static_cast<std::size_t>(count));
    to_nodes_.resize(static_cast<std::size_t>(count));
    carrier_ = std::jthread([this](const std::stop_token& end) {
      while (!end.stop_requested()) {
        carry();
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
    });
  }
  ~nodes() {
    carrier_.request_stop();
    carrier_.join();
    for (auto& one : all_) one->view(one->clients()).linking().unlock();
  }
  nodes(const nodes&) = delete;
  nodes& operator=(const nodes&) = delete;

  [[nodiscard]] node& operator[](int i) { return *all_[static_cast<std::size_t>(i)]; }
  void serve() {
    for (auto& one : all_) one->serve();
  }
  void finish() {
    for (auto& one : all_)
      for (int i = 0; i < one->clients(); ++i) one->client(i).finish();
    for (auto& one : all_) (void)one->finish();
  }
  // The home and this node hear no more of each other.
  void cut_off(int node) { cut_off_ = node; }

 private:
  static void keep(std::deque<std::vector<std::byte>>& in, const packet& text) {
    in.emplace_back(text.bytes().begin(), text.bytes().end());
  }
  void carry() {
    if (const int node = cut_off_.exchange(0); node != 0) {
      is_cut_off_ = node;
      home_->lost(node);
      followers_[static_cast<std::size_t>(node - 1)]->lost_home();
    }
    for (int i = 1; i < static_cast<int>(all_.size()); ++i) {
      follower_of_home& follower = *followers_[static_cast<std::size_t>(i - 1)];
      follower.look();
      auto& there = to_home_[static_cast<std::size_t>(i)];
      auto& back = to_nodes_[static_cast<std::size_t>(i)];
      if (i == is_cut_off_) there.clear(), back.clear();
      for (; !there.empty(); there.pop_front()) home_->take(i, packet_reader(there.front()));
      for (; !back.empty(); back.pop_front()) follower.take(packet_reader(back.front()));
    }
    home_->look();
  }

  std::vector<std::unique_ptr<node>> all_;
  std::unique_ptr<home_of_files> home_;
  std::vector<std::unique_ptr<follower_of_home>> followers_;
  std::vector<std::deque<std::vector<std::byte>>> to_home_, to_nodes_;
  std::atomic<int> cut_off_ = 0;
  int is_cut_off_ = 0;
  std::jthread carrier_;
};

class files_of_nodes : public testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name = "file") const {
    const std::string path = (folder_.path() / name).string();
    descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    return path;
  }

  temporary_folder folder_;
  std::optional<packet> known_;
};

TEST_F(files_of_nodes, the_last_writer_wins_on_whichever_node) {
  nodes job(3, 2, 2);
  job.serve();
  const std::string path = file();
  std::vector<std::pair<node_files*, int>> ranks;
  for (int i = 0; i < 6; ++i) {
    node_files& by = job[i / 2].client(i % 2);
    ranks.emplace_back(&by, by.open(path, true).value());
  }
  std::mt19937 random(5);
  std::string expected(4000, '\0');
  for (int i = 0; i < 600; ++i) {
    auto& [by, number] = ranks[random() % 6];
    const std::size_t offset = random() % 3900, bytes = 1 + random() % 100;
    const std::string text(bytes, static_cast<char>('a' + i % 26));
    write(*by, number, static_cast<std::int64_t>(offset), text);
    expected.replace(offset, bytes, text);
    auto& [reader, its] = ranks[random() % 6];
    if (i % 20 == 19) {
      const range wanted{static_cast<std::int64_t>(offset), static_cast<std::int64_t>(offset + bytes)};
      (void)reader->wait(its, wanted);
      EXPECT_EQ(text_of(path).substr(offset, bytes), text) << i;
    }
    if (i % 100 == 99) {
      reader->set_size(its, 2000);
      expected.replace(2000, 2000, std::string(2000, '\0'));
      for (auto& [any, same] : ranks) EXPECT_EQ(any->size(same), 2000);
    }
  }
  ranks[5].first->set_size(ranks[5].second, 4000);
  for (auto& [by, number] : ranks) EXPECT_EQ(by->close(number), 0);
  EXPECT_EQ(text_of(path), expected);  // close waits
  job.finish();
}

TEST_F(files_of_nodes, pieces_of_two_nodes_that_do_not_touch_do_not_wait_for_each_other) {
  nodes job(2, 1, 1);
  const std::string path = file();
  const int here = job[0].client(0).open(path, true).value(), there = job[1].client(0).open(path, true).value();
  const std::vector<piece> even{{0, 4}, {8, 4}}, odd{{4, 4}, {12, 4}}, across{{6, 4}};
  const auto hand_over = [](node_files& by, int number, const std::vector<piece>& pieces) {
    by.write(number, pieces, by.room(pieces.size(), 8), {});
  };
  hand_over(job[0].client(0), here, even);
  hand_over(job[1].client(0), there, odd);
  hand_over(job[1].client(0), there, across);
  const directory& table = job[1].view(0);
  std::vector<bool> may_begin;
  {
    const auto hold = table.lock();
    for (std::uint64_t number = table.oldest(); number < table.next(); ++number)
      if (table.entry(number).pieces > 0) may_begin.push_back(table.entry(number).may_begin);
  }
  EXPECT_THAT(may_begin, testing::ElementsAre(true, false));
  job.serve();
  (void)job[0].client(0).close(here);
  (void)job[1].client(0).close(there);
  job.finish();
}

TEST_F(files_of_nodes, the_size_is_known_while_nothing_is_written) {
  nodes job(2, 1, 1);
  const std::string path = file();
  const int here = job[0].client(0).open(path, true).value(), there = job[1].client(0).open(path, true).value();
  write(job[1].client(0), there, 1000, "far");
  EXPECT_EQ(job[0].client(0).size(here), 1003);
  write(job[0].client(0), here, 2000, "far");
  EXPECT_EQ(job[1].client(0).size(there), 2003);
  EXPECT_EQ(text_of(path).size(), 0);
  job.serve();
  (void)job[0].client(0).close(here);
  (void)job[1].client(0).close(there);
  job.finish();
}

// Each node writes thousands of bytes, also over those of others. `serve`: begins to write at some time.
void write_many_small(nodes& job, const std::string& path, const std::function<void()>& serve) {
  std::vector<int> numbers;
  for (int i = 0; i < 3; ++i) numbers.push_back(job[i].client(0).open(path, true).value());
  std::vector<std::jthread> ranks;
  for (int i = 1; i < 3; ++i)
    ranks.emplace_back([&, i] {
      for (int n = 0; n < 800; ++n)
        for (int part = 0; part < 4; ++part)
          write(job[i].client(0), numbers[static_cast<std::size_t>(i)], (n * 8 + i * 4 + part), std::string(1, 'x'),
                {static_cast<std::uint64_t>(n + 1), 1, part == 3});
    });
  for (int part = 0; part < 3000; ++part) write(job[0].client(0), numbers[0], part, "o");
  serve();
  ranks.clear();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(job[i].client(0).close(numbers[static_cast<std::size_t>(i)]), 0);
  EXPECT_EQ(text_of(path).size(), 799 * 8 + 12);
  job.finish();
}

TEST_F(files_of_nodes, path_calls_of_all_nodes_wait_for_a_closed_file) {
  for (const int writer : {0, 1}) {
    nodes job(3, 1, 1, 64 * KiB, false);
    const std::string path = file(std::to_string(writer));
    for (int i = 0; i < 3; ++i) job[i].view(0).writing(1).lock();  // the servers are slow
    const int number = job[writer].client(0).open(path, true).value();
    write(job[writer].client(0), number, 0, "text");
    EXPECT_EQ(job[writer].client(0).close(number), 0);
    EXPECT_EQ(text_of(path), "");
    struct stat found {};
    ASSERT_EQ(stat(path.c_str(), &found), 0);
    const file_identity which{found.st_dev, found.st_ino};
    std::vector<std::jthread> lookers;
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(job[i].view(0).find(which)) << i;
      lookers.emplace_back([&, i] {
        job[i].client(0).wait_outside(&which);
        EXPECT_EQ(text_of(path), "text") << i;
      });
    }
    for (int i = 0; i < 3; ++i) job[i].view(0).writing(1).unlock();
    job.serve();
    lookers.clear();
    job.finish();
  }
}

TEST_F(files_of_nodes, close_waits_if_a_node_sees_another_file) {
  node first(1, 1, 64 * KiB, false, place_of_node{.node = 0, .nodes = 2});
  first.view(1).linking().lock();
  home_of_files home(first.view(1), [&](int, const packet& text) {
    packet_reader read(text.bytes());
    if (read.take<from_home>() != from_home::pending) return;
    known_ = packet().put(to_home::known).put(read.take<std::uint64_t>()).put(false);
  });
  const std::string path = file();
  const int number = first.client(0).open(path, true).value();
  write(first.client(0), number, 0, "text");
  std::jthread closer([&] {
    EXPECT_EQ(first.client(0).close(number), 0);
    EXPECT_EQ(text_of(path), "text");
  });
  while (!known_) {
    home.look();
    std::this_thread::yield();
  }
  home.take(1, packet_reader(known_->bytes()));
  closer.join();
  first.serve();
  (void)first.finish();
  first.view(1).linking().unlock();
}

TEST_F(files_of_nodes, many_small_writes_of_all_nodes_are_written) {
  nodes job(3, 1, 1, std::size_t{4} << 20U);
  job.serve();
  write_many_small(job, file(), [] {});
}

TEST_F(files_of_nodes, many_small_writes_come_before_the_servers) {
  nodes job(3, 1, 1, std::size_t{4} << 20U);
  write_many_small(job, file(), [&] { job.serve(); });
}

TEST_F(files_of_nodes, a_failure_reaches_the_other_nodes) {
  nodes job(3, 1, 1);
  job.serve();
  const std::string path = file();
  std::vector<int> numbers;
  for (int i = 0; i < 3; ++i) numbers.push_back(job[i].client(0).open(path, true).value());
  testing::internal::CaptureStderr();
  write(job[1].client(0), numbers[1], std::numeric_limits<std::int64_t>::max() - 10, "far");
  for (int i = 2; i >= 0; --i) EXPECT_EQ(job[i].client(0).close(numbers[static_cast<std::size_t>(i)]), EFBIG);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr(path + ": File too large"));
  job.finish();
}

TEST_F(files_of_nodes, a_node_that_is_cut_off_fails_and_stops_nobody) {
  nodes job(3, 1, 1);
  const std::string path = file();
  std::vector<int> numbers;
  for (int i = 0; i < 3; ++i) numbers.push_back(job[i].client(0).open(path, true).value());
  write(job[2].client(0), numbers[2], 0, "cut off");
  job.cut_off(2);
  job.serve();
  testing::internal::CaptureStderr();
  EXPECT_EQ(job[2].client(0).close(numbers[2]), EIO);
  EXPECT_EQ(job[0].client(0).close(numbers[0]), EIO);
  EXPECT_EQ(job[1].client(0).close(numbers[1]), EIO);
  EXPECT_EQ(job[2].client(0).open(path, true), std::nullopt);
  job.finish();
  EXPECT_EQ(text_of(path), "cut off");  // all is written, though the order is lost
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr(path + ": Input/output error"));
}

TEST_F(files_of_nodes, an_entry_ends_though_others_wait_for_room_before_its_end) {
  node first(1, 1, 64 * KiB, false, place_of_node{.node = 0, .nodes = 2});
  std::int64_t file_at_home = -1;
  std::vector<std::uint64_t> ordered;
  home_of_files home(first.view(1), [&](int, const packet& text) {
    packet_reader read(text.bytes());
    const auto what = read.take<from_home>();
    const auto number = read.take<std::uint64_t>();
    if (what == from_home::answer) file_at_home = read.take<std::int64_t>();
    if (what == from_home::ordered) ordered.push_back(number);
  });
  const std::string path = file();
  struct stat found {};
  ASSERT_EQ(stat(path.c_str(), &found), 0);
  const auto say = [&](const packet& text) { home.take(1, packet_reader(text.bytes())); };
  say(packet().put(to_home::join).put(std::uint64_t{1}).put(std::uint64_t{found.st_ino}).put(path));
  const std::uint64_t first_number = 2, last_number = first_number + directory::most_entries;
  for (std::uint64_t number = first_number; number <= last_number; ++number) {
    const piece one{static_cast<std::int64_t>(number), 1};
    say(packet()
            .put(to_home::write)
            .put(number)
            .put(static_cast<std::int32_t>(file_at_home))
            .put(range{one.offset, one.end()})
            .put_bytes(std::as_bytes(std::span(&one, 1))));
  }
  EXPECT_EQ(ordered.back(), last_number - 1);  // the table is full
  say(packet().put(to_home::done).put(first_number).put(std::int32_t{0}));
  EXPECT_EQ(ordered.back(), last_number);
  for (std::uint64_t number = first_number + 1; number <= last_number; ++number)
    say(packet().put(to_home::done).put(number).put(std::int32_t{0}));
  EXPECT_FALSE(first.view(1).any_pending());
}

TEST_F(files_of_nodes, the_home_must_see_the_same_file) {
  node first(1, 1, 64 * KiB, false, place_of_node{.node = 0, .nodes = 2});
  std::vector<std::int64_t> answers;
  home_of_files home(first.view(1), [&](int, const packet& text) {
    packet_reader read(text.bytes());
    EXPECT_EQ(read.take<from_home>(), from_home::answer);
    EXPECT_EQ(read.take<std::uint64_t>(), 7);
    answers.push_back(read.take<std::int64_t>());
  });
  const std::string path = file();
  struct stat found {};
  ASSERT_EQ(stat(path.c_str(), &found), 0);
  for (const std::uint64_t inode : {found.st_ino + 1, found.st_ino}) {
    const packet text = packet().put(to_home::join).put(std::uint64_t{7}).put(inode).put(path);
    home.take(1, packet_reader(text.bytes()));
  }
  EXPECT_THAT(answers, testing::ElementsAre(-1, testing::Ge(0)));
}

}  // namespace
}  // namespace lull::stage
