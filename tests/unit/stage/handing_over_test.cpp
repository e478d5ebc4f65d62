// Clients and servers as processes: files handed over, under faults, through full buffers.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <fstream>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "stage/files.hpp"
#include "stage/processes.hpp"
#include "stage/processes/client.hpp"
#include "stage/processes/server.hpp"
#include "stage/writing/kept_files.hpp"
#include "surroundings.hpp"

namespace lull::stage {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::HasSubstr;

constexpr std::size_t KiB = 1024, MiB = 1024 * KiB;

std::string content_of(int rank, int file, std::size_t bytes = 100 * KiB) {
  std::string text = std::to_string(rank) + " " + std::to_string(file) + " ";
  while (text.size() < bytes) text += text;
  return text.substr(0, bytes);
}

void write_into(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

descriptor fork_keeper() {
  int sockets[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
  descriptor mine(sockets[0]);
  descriptor its(sockets[1]);
  if (fork() == 0) {
    (void)mine.close();
    _exit(keep_files(its, false));
  }
  return mine;
}

// Writes an output like a program.
void output(client& to, const fs::path& path, const std::string& text) {
  auto begun = to.begin_file(path, false);
  write_into(begun ? begun->path() : path.string(), text);
  if (begun) to.hand_over(std::move(*begun));
}

class handing_over : public testing::TestWithParam<approach> {
 protected:
  [[nodiscard]] fs::path at(const std::string& name) const { return folder_.path() / name; }
  [[nodiscard]] const fs::path& folder() const { return folder_.path(); }

  // `simulation` runs in the clients; all other processes serve.
  using simulation = std::function<int(client&, int rank, meeting_place&)>;
  static std::function<int(exchange&, meeting_place&)> with(const plan& wanted, const simulation& body) {
    return [wanted, body](exchange& others, meeting_place& place) {
      const roles all(wanted, nodes_by_rank(others));
      if (all.is_server(others.rank())) return serve(wanted, all, others);
      const auto mine = client::join(wanted, all, others);
      return body(*mine, others.rank(), place);
    };
  }
  static plan aside(std::size_t buffer = MiB, when_full policy = when_full::wait) {
    return {.how = GetParam(),
            .count = 1,
            .buffer_bytes = buffer,
            .policy = policy,
            .sync = false,
            .start_keeper = fork_keeper};
  }
  // Clients first.
  static std::vector<std::string> places(int clients, int servers) {
    std::vector<std::string> nodes(static_cast<std::size_t>(clients), "n");
    nodes.resize(static_cast<std::size_t>(clients + servers), GetParam() == approach::dedicated_nodes ? "m" : "n");
    return nodes;
  }
  // One client, rank 0, and its server, rank 1.
  const std::vector<std::string> pair = places(1, 1);

 private:
  temporary_folder folder_;
};

TEST_P(handing_over, any_count_of_clients_writes_through_any_count_of_servers) {
  for (const int clients : {1, 2, 3, 5})
    for (const int servers : {1, 2}) {
      const fs::path here = at(std::to_string(clients) + "-" + std::to_string(servers));
      fs::create_directory(here);
      plan wanted = aside();
      if (wanted.how == approach::dedicated_cores) wanted.count = servers;
      processes job(places(clients, servers), with(wanted, [&](client& mine, int rank, meeting_place&) {
                      for (int i = 0; i < 10; ++i)
                        output(mine, here / (std::to_string(rank) + "." + std::to_string(i)), content_of(rank, i));
                      mine.leave();
                      return 0;
                    }));
      EXPECT_THAT(job.wait_all(), Each(0)) << job.said();
      EXPECT_EQ(entries(here), clients * 10);
      for (int rank = 0; rank < clients; ++rank)
        for (int i = 0; i < 10; ++i)
          EXPECT_TRUE(text_of(here / (std::to_string(rank) + "." + std::to_string(i))) == content_of(rank, i));
      const std::string said = job.said();  // one table
      EXPECT_EQ(said.find(name_of(wanted)), said.rfind(name_of(wanted)));
      EXPECT_THAT(said, testing::ContainsRegex("client +" + std::to_string(clients) + " "));
      EXPECT_THAT(said, testing::ContainsRegex("server +" + std::to_string(servers) + " "));
    }
}

TEST_P(handing_over, who_may_choose_takes_what_has_cost_less) {
  processes job(pair, with(aside(MiB, when_full::cheapest), [&](client& mine, int, meeting_place&) {
                  output(mine, at("first"), content_of(0, 0));
                  EXPECT_TRUE(mine.written(at("first"), true));
                  (void)mine.wrote_itself(now_ns(), MiB);
                  EXPECT_FALSE(mine.begin_file(at("second"), false));
                  for (int i = 0; i < 20; ++i) (void)mine.wrote_itself(now_ns() - (std::int64_t{1} << 40U), MiB);
                  EXPECT_TRUE(mine.begin_file(at("third"), false));
                  mine.leave();
                  return 0;
                }));
  EXPECT_THAT(job.wait_all(), Each(0)) << job.said();
}

TEST_P(handing_over, servers_of_several_nodes_report_together) {
  const bool cores = GetParam() == approach::dedicated_cores;
  const std::vector<std::string> nodes =
      cores ? std::vector<std::string>{"a", "a", "b", "b", "b"} : std::vector<std::string>{"a", "a", "b", "c", "c"};
  plan wanted = aside();
  wanted.count = cores ? 1 : 2;
  const int clients = cores ? 3 : 2;
  processes job(nodes, with(wanted, [&](client& mine, int rank, meeting_place&) {
                  output(mine, at(std::to_string(rank)), content_of(rank, 0));
                  mine.leave();
                  return 0;
                }));
  EXPECT_THAT(job.wait_all(), Each(0)) << job.said();
  const std::string said = job.said();
  EXPECT_EQ(said.find(name_of(wanted)), said.rfind(name_of(wanted)));
  EXPECT_THAT(said, testing::ContainsRegex("client +" + std::to_string(clients) + " "));
  EXPECT_THAT(said, testing::ContainsRegex("server +" + std::to_string(5 - clients) + " "));
}

TEST_P(handing_over, the_first_server_of_all_dies_and_the_other_node_reports_its_own) {
  if (GetParam() != approach::dedicated_cores) return;  // the code is the same for all approaches
  processes job({"a", "a", "b", "b"}, with(aside(), [&](client& mine, int rank, meeting_place& place) {
                  if (rank == 0) {
                    kill(place.pids[1], SIGKILL);
                    place.flags[0] = 1;
                  }
                  await([&] { return place.flags[0] == 1; });
                  output(mine, at(std::to_string(rank)), content_of(rank, 0));
                  mine.leave();
                  return 0;
                }));
  EXPECT_THAT(job.wait_all(), testing::ElementsAre(0, 128 + SIGKILL, 0, 0)) << job.said();
  EXPECT_THAT(job.said(), testing::ContainsRegex("server +1 "));
  EXPECT_EQ(entries(folder()), 2);
}

TEST_P(handing_over, a_name_is_written_in_the_order_of_its_files) {
  const auto bytes = [](int file) {
    return file % 2 == 0 ? 3 * MiB : 100 * KiB;
  };  // the network lets small ones overtake
  processes job(pair, with(aside(16 * MiB), [&](client& mine, int rank, meeting_place&) {
                  for (int i = 0; i < 20; ++i) {
                    output(mine, at("restart"), content_of(rank, i, bytes(i)));
                    if (i % 5 != 4) continue;
                    EXPECT_TRUE(mine.written(at("restart"), true));
                    EXPECT_TRUE(text_of(at("restart")) == content_of(rank, i, bytes(i)));
                  }
                  mine.leave();
                  return 0;
                }));
  EXPECT_THAT(job.wait_all(), Each(0));
}

TEST_P(handing_over, an_exclusive_file_meets_the_one_that_is_on_its_way) {
  processes job(pair, with(aside(), [&](client& mine, int, meeting_place&) {
                  auto first = mine.begin_file(at("a"), true);
                  EXPECT_TRUE(first.has_value());
                  mine.hand_over(std::move(*first));
                  EXPECT_EQ(mine.begin_file(at("a"), true), std::nullopt);
                  mine.leave();
                  return 0;
                }));
  EXPECT_THAT(job.wait_all(), Each(0));
  EXPECT_TRUE(fs::exists(at("a")));
}

TEST_P(handing_over, files_get_the_mode_that_the_client_gives_them) {
  processes job(pair, with(aside(), [&](client& mine, int, meeting_place&) {
                  umask(027);
                  output(mine, at("a"), "text");
                  mine.leave();
                  return 0;
                }));
  EXPECT_THAT(job.wait_all(), Each(0));
  EXPECT_EQ(fs::status(at("a")).permissions(), fs::perms(0640));
}

TEST_P(handing_over, a_full_buffer_makes_the_client_wait) {
  processes job(pair, with(aside(150 * KiB), [&](client& mine, int rank, meeting_place& place) {
                  output(mine, at("a0"), content_of(rank, 0));
                  EXPECT_TRUE(mine.written(at("a0"), true));
                  stop(place.pids[1]);
                  output(mine, at("a1"), content_of(rank, 1));
                  EXPECT_FALSE(mine.written(at("a1"), false));
                  place.flags[0] = 1;
                  const auto next = mine.begin_file(at("a2"), false);  // until the test lets the server continue
                  EXPECT_TRUE(next.has_value());
                  EXPECT_TRUE(mine.written(at("a1"), false));
                  mine.leave();
                  return 0;
                }));
  await([&] {
    std::ifstream stat("/proc/" + std::to_string(job.pid(0)) + "/stat");
    std::string pid, name, state;
    return (job.place().flags[0] == 1 && stat >> pid >> name >> state && state == "S") || stat.fail();
  });
  kill(job.pid(1), SIGCONT);
  EXPECT_THAT(job.wait_all(), Each(0)) << job.said();
}

TEST_P(handing_over, a_full_buffer_makes_the_client_write_itself) {
  processes job(pair,
                with(aside(150 * KiB, when_full::write_yourself), [&](client& mine, int rank, meeting_place& place) {
                  output(mine, at("a0"), content_of(rank, 0));
                  EXPECT_TRUE(mine.written(at("a0"), true));
                  stop(place.pids[1]);
                  output(mine, at("a1"), content_of(rank, 1));
                  EXPECT_EQ(mine.begin_file(at("a2"), false), std::nullopt);
                  kill(place.pids[1], SIGCONT);
                  mine.leave();
                  return 0;
                }));
  EXPECT_THAT(job.wait_all(), Each(0));
  EXPECT_THAT(job.said(), HasSubstr("1 file written by the clients themselves"));
}

TEST_P(handing_over, a_full_buffer_drops_and_counts) {
  processes job(pair, with(aside(150 * KiB, when_full::drop), [&](client& mine, int rank, meeting_place& place) {
                  output(mine, at("a0"), content_of(rank, 0));
                  EXPECT_TRUE(mine.written(at("a0"), true));
                  stop(place.pids[1]);
                  output(mine, at("a1"), content_of(rank, 1));
                  output(mine, at("a2"), content_of(rank, 2));
                  kill(place.pids[1], SIGCONT);
                  mine.leave();
                  return 0;
                }));
  EXPECT_THAT(job.wait_all(), Each(0));
  EXPECT_TRUE(fs::exists(at("a1")));
  EXPECT_FALSE(fs::exists(at("a2")));
  EXPECT_THAT(job.said(), HasSubstr("1 file dropped"));
}

TEST_P(handing_over, files_larger_than_the_buffer_are_the_clients_own) {
  processes job(pair, with(aside(50 * KiB), [&](client& mine, int rank, meeting_place&) {
                  for (int i = 0; i < 4; ++i) output(mine, at("a" + std::to_string(i)), content_of(rank, i));
                  mine.leave();
                  return 0;
                }));
  EXPECT_THAT(job.wait_all(), Each(0));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(text_of(at("a" + std::to_string(i))) == content_of(0, i));
  EXPECT_THAT(job.said(), HasSubstr("3 files written by the clients themselves, 3 of them larger"));
}

TEST_P(handing_over, a_client_writes_what_its_killed_server_had_not) {
  processes job(pair, with(aside(), [&](client& mine, int rank, meeting_place& place) {
                  output(mine, at("a0"), content_of(rank, 0));
                  EXPECT_TRUE(mine.written(at("a0"), true));
                  stop(place.pids[1]);
                  for (int i = 1; i < 4; ++i) output(mine, at("a" + std::to_string(i)), content_of(rank, i));
                  kill(place.pids[1], SIGKILL);
                  output(mine, at("a4"), content_of(rank, 4));
                  EXPECT_TRUE(mine.written(at("a3"), true));
                  EXPECT_EQ(mine.begin_file(at("a5"), false), std::nullopt);
                  mine.leave();
                  return 0;
                }));
  EXPECT_THAT(job.wait_all(), testing::ElementsAre(0, 128 + SIGKILL));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(text_of(at("a" + std::to_string(i))) == content_of(0, i));
  EXPECT_EQ(entries(folder()), 5);
  EXPECT_THAT(job.said(), HasSubstr("has lost its server"));
}

TEST_P(handing_over, an_idle_client_sees_that_its_server_is_gone) {
  processes job(pair, with(aside(), [&](client& mine, int, meeting_place& place) {
                  EXPECT_TRUE(mine.begin_file(at("a"), false).has_value());
                  kill(place.pids[1], SIGKILL);
                  await([&] { return !mine.begin_file(at("a"), false).has_value(); });
                  mine.leave();
                  return 0;
                }));
  EXPECT_THAT(job.wait_all(), testing::ElementsAre(0, 128 + SIGKILL));
}

TEST_P(handing_over, the_table_does_not_wait_for_a_killed_server) {
  plan wanted = aside();
  if (wanted.how == approach::dedicated_cores) wanted.count = 2;
  for (const int killed : {2, 3}) {
    processes job(places(2, 2), with(wanted, [&](client& mine, int rank, meeting_place& place) {
                    if (rank == killed - 2) kill(place.pids[static_cast<std::size_t>(killed)], SIGKILL);
                    output(mine, at(std::to_string(rank)), content_of(rank, 0));
                    mine.leave();
                    return 0;
                  }));
    EXPECT_EQ(job.wait(0) + job.wait(1), 0);
    EXPECT_EQ(job.wait(killed), 128 + SIGKILL);
    EXPECT_EQ(job.wait(5 - killed), 0);
    EXPECT_THAT(job.said(), testing::ContainsRegex("server +1 ")) << job.said();
  }
}

TEST_P(handing_over, files_are_whole_whenever_a_server_is_killed) {
  for (int when = 0; when < 10; ++when) {
    const fs::path here = at(std::to_string(when));
    fs::create_directory(here);
    processes job(places(2, 1), with(aside(64 * MiB), [&](client& mine, int rank, meeting_place& place) {
                    for (int i = 0; i < 10; ++i) {
                      const std::string name = std::to_string(rank) + "." + std::to_string(i % 4);
                      output(mine, here / name, content_of(rank, i, MiB));
                      if (i == when) kill(place.pids[2], SIGKILL);
                    }
                    mine.leave();
                    return 0;
                  }));
    EXPECT_THAT(job.wait_all(), testing::ElementsAre(0, 0, 128 + SIGKILL)) << job.said();
    EXPECT_EQ(entries(here), 8);
    for (int rank = 0; rank < 2; ++rank)
      for (int i = 6; i < 10; ++i)
        EXPECT_TRUE(text_of(here / (std::to_string(rank) + "." + std::to_string(i % 4))) == content_of(rank, i, MiB));
  }
}

TEST_P(handing_over, a_thousand_files_leave_nothing_behind) {
  const auto descriptors = [] { return entries("/proc/self/fd"); };
  const auto allocated = [] { return mallinfo2().uordblks; };
  const plan wanted = aside();
  processes job(pair, [&](exchange& others, meeting_place&) {
    const roles all(wanted, nodes_by_rank(others));
    const auto before = descriptors();
    if (all.is_server(others.rank())) {
      EXPECT_EQ(serve(wanted, all, others), 0);
    } else {
      const auto mine = client::join(wanted, all, others);
      std::size_t early = 0;
      std::ptrdiff_t open_early = 0;
      for (int i = 0; i < 1000; ++i) {
        output(*mine, at("a" + std::to_string(i % 100)), content_of(0, i, KiB));
        if (i != 99 && i != 999) continue;
        EXPECT_TRUE(mine->written(at("a99"), true));
        if (i == 99) early = allocated(), open_early = descriptors();
      }
      EXPECT_LT(allocated(),
                early + 40 * KiB);  // 48 bytes for each of 900 files are more; files that wait for an answer are less
      EXPECT_EQ(descriptors(), open_early);
      mine->leave();
    }
    EXPECT_EQ(descriptors(), before);
    return 0;
  });
  EXPECT_THAT(job.wait_all(), Each(0)) << job.said();
  EXPECT_EQ(entries(folder()), 100);
}

std::string short_name(const testing::TestParamInfo<approach>& of) {
  return of.param == approach::dedicated_nodes ? "nodes" : "cores";
}
INSTANTIATE_TEST_SUITE_P(dedicated, handing_over, testing::Values(approach::dedicated_cores, approach::dedicated_nodes),
                         short_name);

// ---- on one node ----

using dedicated_cores_only = handing_over;

TEST_P(dedicated_cores_only, time_partitioning_leaves_the_program_alone) {
  const plan wanted{.how = approach::time_partitioning};
  processes job(pair, with(wanted, [&](client& mine, int rank, meeting_place&) {
                  EXPECT_EQ(mine.begin_file(at("a"), false), std::nullopt);
                  output(mine, at(std::to_string(rank)), "text");
                  EXPECT_TRUE(mine.written(at("0"), true));
                  mine.leave();
                  return 0;
                }));
  EXPECT_THAT(job.wait_all(), Each(0));
  EXPECT_EQ(text_of(at("1")), "text");
}

TEST_P(dedicated_cores_only, a_process_alone_on_its_node_writes_for_itself) {
  processes job({"a", "b", "b"}, with(aside(), [&](client& mine, int rank, meeting_place&) {
                  EXPECT_EQ(mine.begin_file(at("x"), false).has_value(), rank == 1);
                  mine.leave();
                  return 0;
                }));
  EXPECT_THAT(job.wait_all(), Each(0));
}

TEST_P(dedicated_cores_only, a_server_writes_what_its_killed_client_had_handed_over) {
  processes job(places(2, 1), with(aside(), [&](client& mine, int rank, meeting_place& place) {
                  if (rank == 1) {
                    await([&] { return place.flags[0] == 1; });
                    output(mine, at("other"), "text");
                    mine.leave();
                    return 0;
                  }
                  stop(place.pids[2]);
                  for (int i = 0; i < 5; ++i) output(mine, at("a" + std::to_string(i)), content_of(rank, i));
                  const auto unfinished = mine.begin_file(at("unfinished"), false);
                  raise(SIGKILL);
                  return 1;
                }));
  EXPECT_EQ(job.wait(0), 128 + SIGKILL);
  kill(job.pid(2), SIGCONT);
  job.place().flags[0] = 1;
  EXPECT_EQ(job.wait(1), 0);
  EXPECT_EQ(job.wait(2), 0);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(text_of(at("a" + std::to_string(i))) == content_of(0, i));
  EXPECT_EQ(entries(folder()), 6);
}

INSTANTIATE_TEST_SUITE_P(dedicated, dedicated_cores_only, testing::Values(approach::dedicated_cores), short_name);

// ---- between nodes ----

using dedicated_nodes_only = handing_over;

TEST_P(dedicated_nodes_only, files_are_whole_whenever_a_client_is_killed) {
  for (int when = 0; when < 5; ++when) {
    const fs::path here = at(std::to_string(when));
    fs::create_directory(here);
    processes job(places(2, 1), with(aside(64 * MiB), [&](client& mine, int rank, meeting_place&) {
                    for (int i = 0; i < 5; ++i) {
                      const std::string name = std::to_string(rank) + "." + std::to_string(i);
                      output(mine, here / name, content_of(rank, i, 2 * MiB));
                      if (rank != 0 || i != when) continue;
                      EXPECT_TRUE(mine.written(here / ("0." + std::to_string(i / 2)), true));
                      raise(SIGKILL);
                    }
                    mine.leave();
                    return 0;
                  }));
    EXPECT_THAT(job.wait_all(), testing::ElementsAre(128 + SIGKILL, 0, 0)) << job.said();
    EXPECT_GE(entries(here), 5 + when / 2 + 1);
    for (const auto& file : fs::directory_iterator(here)) {
      const std::string name = file.path().filename();
      await([&] { return text_of(file) == content_of(name[0] - '0', name[2] - '0', 2 * MiB); });  // the keeper's work
    }
  }
}
INSTANTIATE_TEST_SUITE_P(dedicated, dedicated_nodes_only, testing::Values(approach::dedicated_nodes), short_name);

// ---- storage that fails ----

// A small file system visible only to this process and its children.
class small_disk : public handing_over {
 protected:
  void SetUp() override {
    fs::create_directory(disk());
    if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
        mount(nullptr, "/", nullptr, MS_PRIVATE | MS_REC, nullptr) != 0 ||
        mount("tmpfs", disk().c_str(), "tmpfs", 0, "size=1m") != 0)
      GTEST_SKIP() << "needs root and mounts of its own";
  }
  void TearDown() override { umount(disk().c_str()); }
  [[nodiscard]] fs::path disk() const { return at("disk"); }
};

TEST_P(small_disk, a_full_one_is_said_and_leaves_no_half_file) {
  processes job(pair, with(aside(8 * MiB), [&](client& mine, int rank, meeting_place&) {
                  output(mine, disk() / "fits", content_of(rank, 0));
                  output(mine, disk() / "large", content_of(rank, 1, 2 * MiB));
                  EXPECT_TRUE(mine.written(disk() / "large", true));
                  EXPECT_THAT(mine.failures(), testing::ElementsAre(testing::AllOf(
                                                   HasSubstr("disk/large"), HasSubstr("No space left on device"))));
                  EXPECT_TRUE(mine.failures().empty());
                  output(mine, disk() / "fits too", content_of(rank, 2));
                  try {
                    mine.leave();
                  } catch (const error& why) {
                    EXPECT_THAT(why.what(), HasSubstr("1 file of process 0 could not be written; the first: write"));
                    return 3;
                  }
                  return 0;
                }));
  EXPECT_THAT(job.wait_all(), testing::ElementsAre(3, 1)) << job.said();
  EXPECT_EQ(entries(disk()), 2);
  EXPECT_TRUE(text_of(disk() / "fits too") == content_of(0, 2));
  EXPECT_THAT(job.said(), HasSubstr("1 file could not be written"));
}

TEST_P(small_disk, a_file_that_does_not_fit_leaves_the_old_one) {
  std::ofstream(disk() / "a") << "old";
  processes job(pair, with(aside(8 * MiB), [&](client& mine, int rank, meeting_place&) {
                  output(mine, disk() / "a", content_of(rank, 1, 2 * MiB));
                  EXPECT_THROW(mine.leave(), error);
                  return 0;
                }));
  EXPECT_EQ(job.wait(0), 0);
  EXPECT_EQ(job.wait(1), 1);
  EXPECT_EQ(text_of(disk() / "a"), "old");
}

TEST_P(small_disk, a_client_that_has_lost_its_server_says_that_it_is_full) {
  processes job(pair, with(aside(8 * MiB), [&](client& mine, int rank, meeting_place& place) {
                  stop(place.pids[1]);
                  output(mine, disk() / "large", content_of(rank, 1, 2 * MiB));
                  kill(place.pids[1], SIGKILL);
                  EXPECT_THROW(mine.leave(), error);
                  return 0;
                }));
  EXPECT_EQ(job.wait(0), 0);
  EXPECT_EQ(entries(disk()), 0);
}

INSTANTIATE_TEST_SUITE_P(dedicated, small_disk, testing::Values(approach::dedicated_cores, approach::dedicated_nodes),
                         short_name);

}  // namespace
}  // namespace lull::stage
