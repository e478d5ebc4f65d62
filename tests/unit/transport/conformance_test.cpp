// What transport.hpp and remote_memory.hpp promise, over every network of this machine, between processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <thread>

#include "transport/processes.hpp"
#include "transport/remote_memory.hpp"

namespace lull::transport {
namespace {

constexpr options on_this_host{.processes = 0, .one_host = true, .emulated = true};
constexpr std::size_t large = std::size_t{1} << 20U;  // from here on a payload may be announced

std::vector<std::byte> pattern(std::size_t bytes, std::uint64_t seed) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    made[i] = static_cast<std::byte>(seed >> 56U);
  }
  return made;
}

class transport_over : public testing::TestWithParam<network> {
 protected:
  static void run(int count, const std::function<void(process&)>& body, const options& wanted = on_this_host,
                  const std::vector<int>& killed = {}) {
    in_processes(count, GetParam(), wanted, body, killed);
  }
};

// Sizes around the limits of an injected message, of a piece and of a payload that is sent in place.
TEST_P(transport_over, carries_messages_of_every_size) {
  run(2, [](process& mine) {
    std::vector<std::size_t> sizes;
    for (const std::size_t limit :
         {std::size_t{0}, std::size_t{64}, std::size_t{192}, std::size_t{256}, std::size_t{4096},
          std::size_t{12} << 10U, std::size_t{16} << 10U, std::size_t{64} << 10U, large, 3 * large})
      for (std::size_t bytes = limit < 200 ? 0 : limit - 200; bytes <= limit + 1; bytes += limit < 300 ? 1 : 67)
        sizes.push_back(bytes);
    for (const order wanted : {order::kept, order::free}) {
      if (mine.me() == 0) {
        for (std::size_t i = 0; i < sizes.size(); ++i) {
          auto& one = mine.send(1, i, pattern(sizes[i], i), wanted);
          mine.drive_until([&] { return one.was_sent; });
          std::ranges::fill(one.payload, std::byte{0xEE});  // the source may be reused
        }
      } else {
        mine.drive_until([&] { return mine.received_messages.size() == sizes.size(); });
        for (const auto& one : mine.received_messages) {
          EXPECT_EQ(one.payload.size(), sizes[one.number]);
          EXPECT_EQ(one.payload, pattern(sizes[one.number], one.number)) << sizes[one.number];
        }
        mine.received_messages.clear();
      }
      mine.meet();
    }
  });
}

TEST_P(transport_over, keeps_the_order_of_messages_both_ways) {
  run(2, [](process& mine) {
    constexpr std::uint64_t count = 5000;
    constexpr std::array sizes{8, 8, 8, 8, 300, 8, 5000, 8, 20'000, 8, 8, 70'000};
    for (std::uint64_t i = 0; i < count; ++i) {
      mine.send(1 - mine.me(), i, std::vector(static_cast<std::size_t>(sizes[i % sizes.size()]), std::byte{7}));
      if (i % 16 == 0) mine.over().progress();
    }
    mine.drive_until([&] { return mine.received_messages.size() == count && mine.all_sent(); });
    for (std::uint64_t i = 0; i < count; ++i) EXPECT_EQ(mine.received_messages[i].number, i);
    mine.meet();
  });
}

TEST_P(transport_over, ends_the_sending_of_payloads_that_are_never_fetched) {
  run(2, [](process& mine) {
    mine.fetches = false;
    if (mine.me() == 0) {
      for (std::uint64_t i = 0; i < 20; ++i) mine.send(1, i, pattern(large + i, i), order::free);
      mine.send(1, 20, pattern(8, 20));
      mine.drive_until([&] { return mine.all_sent(); });
    } else {
      mine.drive_until([&] { return mine.received_messages.size() == 1; });
      EXPECT_EQ(mine.received_messages.front().number, 20U);
    }
    mine.meet();
  });
}

TEST_P(transport_over, takes_many_messages_before_it_can_send_them) {
  run(2, [](process& mine) {
    constexpr std::uint64_t count = 20'000;
    if (mine.me() == 0) {
      for (std::uint64_t i = 0; i < count; ++i) mine.send(1, i, {});
      mine.drive_until([&] { return mine.all_sent(); });
    } else {
      mine.drive_until([&] { return mine.received_messages.size() == count; });
      for (std::uint64_t i = 0; i < count; ++i) EXPECT_EQ(mine.received_messages[i].number, i);
    }
    mine.meet();
  });
}

TEST_P(transport_over, connects_all_processes_at_once) {
  run(meeting::most_processes, [](process& mine) {
    for (int peer = 0; peer < mine.count(); ++peer)
      if (peer != mine.me()) mine.send(peer, 1, pattern(2000, static_cast<std::uint64_t>(mine.me())));
    mine.drive_until([&] { return mine.received_messages.size() + 1 == static_cast<std::size_t>(mine.count()); });
    for (const auto& one : mine.received_messages)
      EXPECT_EQ(one.payload, pattern(2000, static_cast<std::uint64_t>(one.from)));
    mine.drive_until([&] { return mine.all_sent(); });
    mine.meet();
  });
}

// Each process sleeps until the message of the other one comes. A time-out means that a wake-up was missed.
// `exchanged`: the number of messages that have come.
void exchange_asleep(process& mine, std::mutex& one_at_a_time, std::uint64_t count,
                     std::atomic<std::uint64_t>& exchanged) {
  constexpr int timeout_ms = 20'000;
  const auto has = [&](std::uint64_t number) {
    return std::ranges::any_of(mine.received_messages, [&](const auto& one) { return one.number == number; });
  };
  const auto send = [&](std::uint64_t number) {
    const std::lock_guard hold(one_at_a_time);
    mine.send(1 - mine.me(), number, {});
  };
  for (std::uint64_t i = 0; i < count; ++i) {
    if (mine.me() == 0) send(i);
    for (;;) {
      {
        const std::lock_guard hold(one_at_a_time);
        while (mine.over().progress()) {
        }
        if (has(i)) break;
        if (!mine.over().arm()) continue;
      }
      pollfd wanted{mine.over().event_fd(), POLLIN, 0};
      ASSERT_EQ(poll(&wanted, 1, timeout_ms), 1) << "a wake-up was missed, at message " << i;
    }
    mine.received_messages.clear();
    exchanged.store(i + 1);
    if (mine.me() == 1) send(i);
  }
}

TEST_P(transport_over, wakes_a_sleeper_at_each_message) {
  run(2, [](process& mine) {
    std::mutex one_at_a_time;
    std::atomic<std::uint64_t> exchanged{0};
    exchange_asleep(mine, one_at_a_time, 1000, exchanged);
    mine.meet();
  });
}

TEST_P(transport_over, wakes_a_sleeper_while_another_thread_sends) {
  run(2, [](process& mine) {
    std::mutex one_at_a_time;
    std::atomic<std::uint64_t> exchanged{0};
    std::atomic<bool> ends{false};
    std::thread sends([&] {  // few more than the exchange: transports accept messages without limit
      for (std::uint64_t sent = 0; !ends.load(); std::this_thread::yield()) {
        if (sent > 4 * exchanged.load()) continue;
        const std::lock_guard hold(one_at_a_time);
        mine.send(1 - mine.me(), ~std::uint64_t{0}, {});
        ++sent;
      }
    });
    exchange_asleep(mine, one_at_a_time, 1000, exchanged);
    ends.store(true);
    sends.join();
    mine.meet();
  });
}

struct access final : accessing {
  bool is_done = false, is_lost = false;
  void done() override { is_done = true; }
  void lost(const char*) override { is_lost = true; }
};

TEST_P(transport_over, reads_and_writes_the_memory_of_a_peer) {
  constexpr std::size_t bytes = std::size_t{4} << 20U;
  static std::byte* memory = nullptr;
  memory = static_cast<std::byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  options wanted = on_this_host;
  wanted.rdma = rdma_use::on;
  wanted.memory = {memory, bytes};
  run(
      2,
      [](process& mine) {
        remote_memory* const there = mine.over().remote();
        ASSERT_NE(there, nullptr);
        const int other = 1 - mine.me();
        std::span own(there->exposed(), there->bytes());
        mine.send(other, 0, {});  // accesses begin after a message
        mine.drive_until([&] { return !mine.received_messages.empty(); });
        EXPECT_NE(there->reaches(other), reach::nothing);
        mine.meet();
        std::uint64_t seed = static_cast<std::uint64_t>(mine.me());
        std::size_t offset = mine.me() == 0 ? 0 : bytes / 2;  // each writes one half of the other's memory
        for (const std::size_t size : {1, 8, 63, 4096, 5000, 65'536, 1'000'003}) {
          const auto data = pattern(size, ++seed);
          access put, flush, get;
          there->put(other, offset + 3, data.data(), size, put);
          mine.drive_until([&] { return put.is_done; });
          there->flush(other, flush);
          mine.drive_until([&] { return flush.is_done; });
          std::vector<std::byte> back(size);
          there->get(other, offset + 3, back.data(), size, get);
          mine.drive_until([&] { return get.is_done; });
          EXPECT_EQ(back, data) << size;
          const std::array place{offset + 3, size, seed};  // the other one sees it, too
          const auto as_bytes = std::as_bytes(std::span(place));
          mine.received_messages.clear();
          mine.meet();
          mine.send(other, 1, {as_bytes.begin(), as_bytes.end()});
          mine.drive_until([&] { return !mine.received_messages.empty(); });
          std::array<std::size_t, 3> seen{};
          std::memcpy(seen.data(), mine.received_messages.front().payload.data(), sizeof seen);
          const auto here = own.subspan(seen[0], seen[1]);
          EXPECT_EQ(std::vector(here.begin(), here.end()), pattern(seen[1], seen[2])) << size;
          mine.meet();
          offset += size;
        }
      },
      wanted);
  munmap(memory, bytes);
}

TEST_P(transport_over, refuses_the_address_of_another_transport) {
  run(1, [](process& mine) {
    auto other = mine.over().address();
    other[1] = std::byte{'x'};
    EXPECT_THROW(mine.over().set_address(0, other), error);
  });
}

TEST(libfabric, refuses_a_provider_that_loses_messages) {
  setenv("LULL_TRANSPORT", "libfabric", 1);
  setenv("LULL_LIBFABRIC_PROVIDER", "sockets", 1);
  struct : receiver {
    void received(unsigned, std::span<const std::byte>, const incoming&) override {}
    void lost(int) override {}
  } of_nothing;
  options one_process = on_this_host;
  one_process.processes = 1;
  try {
    const auto made = make_transport(of_nothing, one_process);
    ADD_FAILURE() << "it was taken: " << (made != nullptr);
  } catch (const usage_error& refused) {
    EXPECT_THAT(refused.what(), testing::HasSubstr("set LULL_LIBFABRIC_PROVIDER=tcp"));
  }
  unsetenv("LULL_TRANSPORT");
  unsetenv("LULL_LIBFABRIC_PROVIDER");
}

TEST(transport_that_outlives_its_peers, reports_one_that_has_died) {
  options wanted = on_this_host;
  wanted.outlives_peers = true;
  in_processes(3, networks[0], wanted,
               [](process& mine) {
                 for (int peer = 0; peer < 3; ++peer)
                   if (peer != mine.me()) mine.send(peer, 1, pattern(100, 1));
                 mine.drive_until([&] { return mine.received_messages.size() == 2 && mine.all_sent(); });
                 mine.meet();
                 if (mine.me() == 2) {
                   mine.shared().counters[0].store(getpid());
                   for (;;) mine.over().progress();
                 }
                 mine.drive_until([&] { return mine.shared().counters[0].load() != 0; });
                 if (mine.me() == 0) kill(mine.shared().counters[0].load(), SIGKILL);
                 mine.drive_until([&] { return !mine.lost_peers.empty(); });
                 EXPECT_EQ(mine.lost_peers, std::vector{2});
                 auto& vain = mine.send(2, 2, pattern(100, 2));
                 mine.drive_until([&] { return vain.was_lost || vain.was_sent; });
                 EXPECT_TRUE(vain.was_lost);
                 mine.send(1 - mine.me(), 3, pattern(100, 3));  // the others go on
                 mine.drive_until([&] { return mine.received_messages.size() == 3; });
               },
               {2});
}

INSTANTIATE_TEST_SUITE_P(networks, transport_over, testing::ValuesIn(networks),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace lull::transport
