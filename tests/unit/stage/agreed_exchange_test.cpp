// A process that cannot take part in staging: all processes stop together, and none waits for it.
#include "stage/link/agreed_exchange.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <optional>

#include "base/error.hpp"
#include "stage/processes.hpp"
#include "stage/processes/client.hpp"
#include "stage/processes/server.hpp"

namespace lull::stage {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Each;
using testing::HasSubstr;

constexpr int took_part = 0, stopped = 1;

std::function<int(exchange&, meeting_place&)> together(const std::function<void(exchange&)>& work) {
  return [work](exchange& others, meeting_place&) {
    return agreed_exchange(others, "it ends").together(work) ? took_part : stopped;
  };
}

TEST(agreed_exchange, passes_messages_on) {
  processes job({"n", "n", "n"}, together([](exchange& others) {
                  const int rank = others.rank();
                  const auto messages =
                      others.all(std::as_bytes(std::span(&rank, 1)).first(static_cast<std::size_t>(rank)));
                  for (std::size_t other = 0; other < 3; ++other) EXPECT_EQ(messages[other].size(), other);
                }));
  EXPECT_THAT(job.wait_all(), Each(took_part)) << job.said();
}

TEST(agreed_exchange, one_that_fails_stops_all_at_their_next_call) {
  for (const int calls : {0, 1, 2}) {
    processes job({"n", "n", "n"}, together([calls](exchange& others) {
                    for (int call = 0; call < 3; ++call) {
                      if (others.rank() == 1 && call == calls) throw error("join", "no room", "make some");
                      (void)others.all({});
                    }
                  }));
    EXPECT_THAT(job.wait_all(), Each(stopped));
    EXPECT_EQ(job.said(), "lull: rank 1 of 3: join: no room; make some; it ends\n");
  }
}

TEST(agreed_exchange, a_failure_of_all_has_one_line) {
  processes job({"n", "n"}, together([](exchange&) { throw error("join", "no room"); }));
  EXPECT_THAT(job.wait_all(), Each(stopped));
  EXPECT_EQ(job.said(), "lull: join: no room; it ends\n");
}

TEST(agreed_exchange, after_the_last_call_each_is_on_its_own) {
  processes job({"n", "n"}, [](exchange& others, meeting_place&) {
    try {
      return agreed_exchange(others, "").together([](exchange& all) {
        all.one_more();
        (void)all.all({});
        if (all.rank() == 1) throw error("write", "no room");
      })
                 ? took_part
                 : stopped;
    } catch (const error&) {
      return 2;
    }
  });
  EXPECT_EQ(job.wait_all(), (std::vector{took_part, 2}));
}

// From now on this process can open so many descriptors more.
void leave_descriptors(int count) {
  std::vector<int> opened;
  for (int i = 0; i < count; ++i) opened.push_back(open("/dev/null", O_RDONLY));
  const int next = open("/dev/null", O_RDONLY);
  const rlimit limit{static_cast<rlim_t>(next), static_cast<rlim_t>(next)};
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  for (const int one : opened) close(one);
  close(next);
}

class lack_of_descriptors : public testing::TestWithParam<approach> {};

// With any number of them: clients, servers, and both kinds of files.
TEST_P(lack_of_descriptors, in_one_process_lets_all_stage_or_none) {
  const bool nodes = GetParam() == approach::dedicated_nodes;
  // The network's library ends a process that has none.
  const std::vector<int> numbers =
      nodes ? std::vector{25, 100} : std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 100};
  int all_staged = 0, none_staged = 0;
  for (const int victim : {0, 1, 3})
    for (const int left : numbers) {
      const plan wanted{
          .how = GetParam(), .count = nodes ? 1 : 2, .buffer_bytes = std::size_t{1} << 20U, .sync = false};
      processes job({"n", "n", nodes ? "m" : "n", nodes ? "m" : "n"}, [&](exchange& others, meeting_place&) {
        const roles all(wanted, nodes_by_rank(others));
        if (others.rank() == victim) leave_descriptors(left);
        std::unique_ptr<client> mine;
        const bool takes_part = agreed_exchange(others, "none stages").together([&](exchange& agreed) {
          if (all.is_server(agreed.rank()))
            (void)serve(wanted, all, agreed);
          else
            mine = client::join(wanted, all, agreed);
        });
        if (mine) mine->leave();
        return takes_part ? took_part : stopped;
      });
      const std::vector<int> codes = job.wait_all();
      EXPECT_THAT(codes, AnyOf(Each(took_part), Each(stopped))) << victim << ' ' << left << job.said();
      ++(codes[0] == took_part ? all_staged : none_staged);
      if (codes[0] == stopped) {
        EXPECT_THAT(job.said(), AllOf(HasSubstr(" of 4: "), HasSubstr("; none stages\n"))) << victim << ' ' << left;
      }
    }
  EXPECT_GT(all_staged, 0);
  EXPECT_GT(none_staged, 0);
}

INSTANTIATE_TEST_SUITE_P(approaches, lack_of_descriptors,
                         testing::Values(approach::dedicated_cores, approach::dedicated_nodes), [](const auto& one) {
                           return one.param == approach::dedicated_cores ? "dedicated_cores" : "dedicated_nodes";
                         });

}  // namespace
}  // namespace lull::stage
