// Iterations of several processes, handed over by clients to servers: through full buffers, by clients that diverge,
// and in large numbers.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/error.hpp"
#include "stage/blocks/block_file.hpp"
#include "stage/blocks/buffers.hpp"
#include "stage/files.hpp"
#include "stage/processes.hpp"
#include "stage/processes/client.hpp"
#include "stage/processes/server.hpp"
#include "surroundings.hpp"

namespace lull::stage {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr std::size_t KiB = 1024, values = 8 * KiB;  // 64 KiB per process and iteration

class blocks_handed_over : public testing::TestWithParam<approach> {
 protected:
  [[nodiscard]] fs::path at(const std::string& name) const { return folder_.path() / name; }

  using simulation = std::function<int(client&, int rank, meeting_place&)>;
  static std::function<int(exchange&, meeting_place&)> with(const plan& wanted, const simulation& body) {
    return [wanted, body](exchange& others, meeting_place& place) {
      const roles all(wanted, nodes_by_rank(others));
      if (all.is_server(others.rank())) return serve(wanted, all, others);
      const auto mine = client::join(wanted, all, others);
      return body(*mine, others.rank(), place);
    };
  }
  static plan aside(std::size_t buffer, when_full policy = when_full::wait) {
    return {.how = GetParam(), .count = 1, .buffer_bytes = buffer, .policy = policy, .sync = false};
  }
  // The places of `clients` clients and one server.
  static std::vector<std::string> places(int clients) {
    std::vector<std::string> nodes(static_cast<std::size_t>(clients), "n");
    nodes.emplace_back(GetParam() == approach::dedicated_nodes ? "m" : "n");
    return nodes;
  }

  // As in blocks::output, for two processes. False: it was dropped.
  bool hand_over(client& to, blocks::buffers& memory, int process, int iteration) const {
    blocks::head about;
    about.iteration = iteration;
    about.process = process;
    about.processes = 2;
    about.one_file = true;
    blocks::block one;
    one.variable = "values";
    one.all = {2, values};
    one.offset = {process, 0};
    one.count = {1, values};
    about.blocks.push_back(one);
    const std::size_t begin = blocks::begin_of_blocks(about), bytes = begin + one.bytes();
    about.blocks[0].position = begin;
    const auto kept = memory.take(bytes, [&] { (void)to.failures(); });
    blocks::write_head(kept->data(), about, bytes);
    std::memset(kept->data() + begin, iteration, one.bytes());
    const fs::path place = at(std::to_string(iteration));
    return to.hand_over_as_it_is(
        {place / ("p000" + std::to_string(process) + ".h5"), form::blocks, {kept->descriptor(), bytes, kept}, place});
  }
  // The files of an iteration.
  [[nodiscard]] std::vector<std::string> files(int iteration) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(at(std::to_string(iteration))))
      names.push_back(entry.path().filename());
    return names;
  }

 private:
  temporary_folder folder_;
};

TEST_P(blocks_handed_over, of_all_clients_become_one_file) {
  processes job(places(2), with(aside(KiB * KiB), [&](client& mine, int rank, meeting_place&) {
                  blocks::buffers memory;
                  for (int i = 0; i < 20; ++i) EXPECT_TRUE(hand_over(mine, memory, rank, i));
                  mine.leave();
                  return 0;
                }));
  EXPECT_THAT(job.wait_all(), Each(0)) << job.said();
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(fs::exists(at(std::to_string(i) + ".h5")));
    std::vector<std::string> names = files(i);
    // If a client waits for its buffer, its own iteration is written at once.
    EXPECT_THAT(names, testing::AnyOf(ElementsAre("p0000+1.h5"), UnorderedElementsAre("p0000.h5", "p0001.h5")));
  }
}

TEST_P(blocks_handed_over, are_together_when_no_client_has_to_wait) {
  processes job(places(2), with(aside(64 * KiB * KiB), [&](client& mine, int rank, meeting_place& place) {
                  blocks::buffers memory;
                  if (rank == 1) await([&] { return place.flags[0] == 1; });
                  for (int i = 0; i < 20; ++i) EXPECT_TRUE(hand_over(mine, memory, rank, i));
                  place.flags[0] = 1;
                  mine.leave();
                  return 0;
                }));
  EXPECT_THAT(job.wait_all(), Each(0)) << job.said();
  for (int i = 0; i < 20; ++i) EXPECT_THAT(files(i), ElementsAre("p0000+1.h5"));
}

TEST_P(blocks_handed_over, never_keep_a_client_waiting_for_another) {
  // Room for one iteration of each; the second client begins when the first has ended its own.
  processes job(places(2), with(aside(2 * 80 * KiB), [&](client& mine, int rank, meeting_place& place) {
                  blocks::buffers memory;
                  if (rank == 1) await([&] { return place.flags[0] == 1; });
                  for (int i = 0; i < 5; ++i) EXPECT_TRUE(hand_over(mine, memory, rank, i));
                  place.flags[0] = 1;
                  mine.leave();
                  return 0;
                }));
  EXPECT_THAT(job.wait_all(), Each(0)) << job.said();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(fs::exists(at(std::to_string(i) + ".h5"))) << i;
  EXPECT_THAT(files(0), UnorderedElementsAre("p0000.h5", "p0001.h5"));
}

TEST_P(blocks_handed_over, that_only_some_clients_have_are_written_at_the_end) {
  processes job(places(2), with(aside(KiB * KiB), [&](client& mine, int rank, meeting_place&) {
                  blocks::buffers memory;
                  EXPECT_TRUE(rank == 1 || hand_over(mine, memory, rank, 3));
                  mine.leave();
                  return 0;
                }));
  EXPECT_THAT(job.wait_all(), Each(0)) << job.said();
  EXPECT_THAT(files(3), ElementsAre("p0000.h5"));
  EXPECT_FALSE(fs::exists(at("3.h5")));
}

TEST_P(blocks_handed_over, are_dropped_and_counted_when_so_asked) {
  processes job(places(1), with(aside(80 * KiB, when_full::drop), [&](client& mine, int rank, meeting_place& place) {
                  blocks::buffers memory;
                  stop(place.pids[1]);
                  EXPECT_TRUE(hand_over(mine, memory, rank, 0));
                  EXPECT_FALSE(hand_over(mine, memory, rank, 1));
                  kill(place.pids[1], SIGCONT);
                  mine.leave();
                  return 0;
                }));
  EXPECT_THAT(job.wait_all(), Each(0)) << job.said();
  EXPECT_THAT(job.said(), HasSubstr("1 file dropped"));
  EXPECT_TRUE(fs::exists(at("0") / "p0000.h5"));
  EXPECT_FALSE(fs::exists(at("1")));
}

TEST_P(blocks_handed_over, are_the_clients_own_when_they_do_not_fit) {
  for (const auto& [buffer, policy] : {std::pair(50 * KiB, when_full::wait), {80 * KiB, when_full::write_yourself}}) {
    processes job(places(1), with(aside(buffer, policy), [&](client& mine, int rank, meeting_place& place) {
                    blocks::buffers memory;
                    stop(place.pids[1]);
                    EXPECT_TRUE(hand_over(mine, memory, rank, 5));
                    EXPECT_TRUE(hand_over(mine, memory, rank, 6));
                    EXPECT_TRUE(fs::exists(at("6") / "p0000.h5"));
                    kill(place.pids[1], SIGCONT);
                    mine.leave();
                    return 0;
                  }));
    EXPECT_THAT(job.wait_all(), Each(0)) << job.said();
    EXPECT_TRUE(fs::exists(at("5") / "p0000.h5"));
    EXPECT_THAT(job.said(), HasSubstr("written by the clients themselves"));
    fs::remove_all(at("6"));
  }
}

TEST_P(blocks_handed_over, leave_nothing_behind_however_many) {
  const plan wanted = aside(200 * KiB);
  const auto descriptors = [] { return entries("/proc/self/fd"); };
  processes job(places(1), [&](exchange& others, meeting_place&) {
    const roles all(wanted, nodes_by_rank(others));
    if (all.is_server(others.rank())) return serve(wanted, all, others);
    const auto mine = client::join(wanted, all, others);
    blocks::buffers memory;
    std::ptrdiff_t early = 0;
    for (int i = 0; i < 300; ++i) {
      EXPECT_TRUE(hand_over(*mine, memory, 0, i % 3));
      if (i == 20) early = descriptors();
    }
    EXPECT_LE(descriptors(), early + 3);  // as many as may be outstanding
    mine->leave();
    return 0;
  });
  EXPECT_THAT(job.wait_all(), Each(0)) << job.said();
  EXPECT_EQ(entries(at("2")), 1);
}

INSTANTIATE_TEST_SUITE_P(dedicated, blocks_handed_over,
                         testing::Values(approach::dedicated_cores, approach::dedicated_nodes),
                         [](const testing::TestParamInfo<approach>& of) {
                           return of.param == approach::dedicated_nodes ? "nodes" : "cores";
                         });

}  // namespace
}  // namespace lull::stage
