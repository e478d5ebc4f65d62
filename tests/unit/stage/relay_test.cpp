// A rank that is set aside and the process that serves for it: the rank's result, however that process ends.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "stage/programs/relay.hpp"
#include "stage/programs/staging.hpp"

namespace lull::stage {
namespace {

class alone final : public exchange {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] std::string node() const override { return "n"; }
  [[nodiscard]] std::vector<std::vector<std::byte>> all(std::span<const std::byte> mine) override {
    return {{mine.begin(), mine.end()}};
  }
};

// The result of the rank if the server does this and ends.
template <class Server>
std::optional<int> result_of(Server&& server) {
  int sockets[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
  std::thread process([&] {
    server(sockets[1]);
    close(sockets[1]);
  });
  alone all;
  const std::vector<std::string> nodes{"n"};
  const auto result = relay(sockets[0], all, nodes);
  process.join();
  close(sockets[0]);
  return result;
}

TEST(relay, gives_the_servers_exit_code) {
  EXPECT_EQ(result_of([](int socket) {
              relayed_exchange all(socket);
              EXPECT_EQ(all.all({}).size(), 1U);
              all.one_more();
              EXPECT_EQ(all.all({}).size(), 1U);
              say_exit_code(socket, 7);
            }),
            7);
}

TEST(relay, a_server_that_is_killed_while_it_serves_is_no_failure_of_the_rank) {
  EXPECT_EQ(result_of([](int socket) {
              relayed_exchange all(socket);
              all.one_more();
              (void)all.all({});
            }),
            std::nullopt);
}

TEST(relay, a_rank_that_is_killed_after_the_last_call_does_not_stop_its_server) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
  const int ranks[2] = {0, 1};
  const std::uint64_t no_bytes = 0;  // the name of its node
  ASSERT_EQ(send(sockets[0], ranks, sizeof ranks, 0), ssize_t{sizeof ranks});
  ASSERT_EQ(send(sockets[0], &no_bytes, sizeof no_bytes, 0), ssize_t{sizeof no_bytes});
  relayed_exchange all(sockets[1]);
  close(sockets[0]);
  EXPECT_THROW((void)all.all({}), error);
  all.one_more();
  EXPECT_EQ(all.all({}).size(), 1U);
  close(sockets[1]);
}

TEST(relay, a_server_that_is_killed_before_holds_nobody_up) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(result_of([](int socket) { (void)relayed_exchange(socket).all({}); }), std::nullopt);
  EXPECT_EQ(result_of([](int socket) { relayed_exchange(socket).one_more(); }), std::nullopt);
  EXPECT_EQ(result_of([](int) {}), std::nullopt);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(said, '\n'), 3) << said;
  EXPECT_NE(said.find("the server ended before it had started; the program writes its output itself"), said.npos);
}

}  // namespace
}  // namespace lull::stage
