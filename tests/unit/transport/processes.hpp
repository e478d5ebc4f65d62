// Runs a test in several processes, each with a transport: a process that sleeps, or dies, disturbs no other one there.
#pragma once
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "transport/choice.hpp"
#include "transport/options.hpp"
#include "transport/transport.hpp"

namespace lull::transport {

// A transport, by the variables that choose it.
struct network {
  const char* name;
  const char* transport;
  const char* provider;  // of libfabric
  friend void PrintTo(const network& one, std::ostream* out) { *out << one.name; }
};
inline constexpr std::array networks{network{"ucx_tcp", "ucx", ""}, network{"libfabric_tcp", "libfabric", "tcp"},
                                     network{"libfabric_shm", "libfabric", "shm"}};

// What all processes of a test share.
struct meeting {
  static constexpr std::size_t most_processes = 16, longest_address = 4096;
  std::atomic<int> arrived{0}, failures{0};
  std::array<std::atomic<int>, 8> counters{};  // for the test
  std::array<std::size_t, most_processes> sizes{};
  std::array<std::array<std::byte, longest_address>, most_processes> addresses{};
};

struct received_message {
  int from;
  std::uint64_t number;
  std::vector<std::byte> payload;
};

// A process of a test.
class process final : receiver {
 public:
  struct header {
    int from;
    std::uint64_t number;
  };
  struct message final : outgoing {
    header head{};
    std::vector<std::byte> payload;
    bool was_sent = false, was_lost = false;
    std::size_t* waiting = nullptr;  // the number of messages that are not sent yet
    void sent() override {
      was_sent = true;
      --*waiting;
    }
    void lost(const char*) override { was_lost = true; }
  };

  process(int me, int count, meeting& where, options wanted) : me_(me), count_(count), where_(where) {
    wanted.processes = count;
    wanted.me = me;
    transport_ = make_transport(*this, wanted);
    const auto address = transport_->address();
    if (address.size() > meeting::longest_address) throw error("test a transport", "its address is too long");
    const auto slot = static_cast<std::size_t>(me);
    std::memcpy(where.addresses[slot].data(), address.data(), address.size());
    where.sizes[slot] = address.size();
    standing = this;
    meet();
    for (int peer = 0; peer < count; ++peer) {
      const auto its = static_cast<std::size_t>(peer);
      transport_->set_address(peer, std::span(where.addresses[its]).first(where.sizes[its]));
    }
    meet();
  }

  [[nodiscard]] int me() const { return me_; }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] meeting& shared() { return where_; }
  [[nodiscard]] transport& over() { return *transport_; }

  // Sends a payload; the message lives as long as the process.
  message& send(int to, std::uint64_t number, std::vector<std::byte> payload, order wanted = order::kept) {
    message& one = messages_.emplace_back();
    one.head = {me_, number};
    one.payload = std::move(payload);
    one.waiting = &waiting_;
    ++waiting_;
    transport_->send(to, 3, one, std::as_bytes(std::span(&one.head, 1)), one.payload.data(), one.payload.size(),
                     wanted);
    return one;
  }
  void drive_until(const std::function<bool()>& ready) {
    while (!ready())
      if (!transport_->progress()) sched_yield();  // processes may outnumber cores
  }
  [[nodiscard]] bool all_sent() const { return waiting_ == 0; }
  // Waits until all processes have come here; serves the network meanwhile.
  void meet() {
    const int round = ++rounds_;
    where_.arrived.fetch_add(1);
    drive_until([&] { return where_.arrived.load() >= round * count_; });
  }
  void leave() { transport_->disconnect(); }
  // After so many seconds, the process prints what it has sent and received, and ends: a time-out of the test shows less.
  static void end_after(int seconds) {
    signal(SIGALRM, [](int) {
      if (standing != nullptr)
        std::fprintf(stderr, "process %d hangs: %zu messages received, %zu not sent, %d meetings\n", standing->me_,
                     standing->received_messages.size(), standing->waiting_, standing->rounds_);
      _exit(2);
    });
    const itimerval once{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
    setitimer(ITIMER_REAL, &once, nullptr);
  }

  std::deque<received_message> received_messages;
  std::vector<int> lost_peers;
  bool fetches = true;  // payloads that are announced

 private:
  struct arriving final : fetching {
    process* owner;
    received_message what;
    void fetched() override { owner->received_messages.push_back(std::move(what)); }
    void lost() override {}
  };
  void received(unsigned kind, std::span<const std::byte> head, const incoming& payload) override {
    EXPECT_EQ(kind, 3U);
    ASSERT_EQ(head.size(), sizeof(header));
    header read{};
    std::memcpy(&read, head.data(), sizeof read);
    const auto* const data = static_cast<const std::byte*>(payload.data);
    if (!payload.announced) {
      received_messages.push_back({read.from, read.number, std::vector(data, data + payload.bytes)});
    } else if (fetches) {
      arriving& one = arriving_.emplace_back();
      one.owner = this;
      one.what = {read.from, read.number, std::vector<std::byte>(payload.bytes)};
      transport_->fetch(payload, one.what.payload.data(), one);
    }
  }
  void lost(int peer) override { lost_peers.push_back(peer); }

  static inline process* standing = nullptr;
  int me_, count_, rounds_ = 0;
  std::size_t waiting_ = 0;
  meeting& where_;
  std::deque<message> messages_;
  std::deque<arriving> arriving_;
  std::unique_ptr<transport> transport_;
};

// Runs `body` in `count` new processes, and expects each to end without a failure; those in `killed` by SIGKILL.
inline void in_processes(int count, const network& over, const options& wanted,
                         const std::function<void(process&)>& body, const std::vector<int>& killed = {}) {
  void* const pages = mmap(nullptr, sizeof(meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  auto* const where = new (pages) meeting;
  std::vector<pid_t> children;
  std::fflush(nullptr);
  for (int me = 0; me < count; ++me) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    setenv("LULL_TRANSPORT", over.transport, 1);
    setenv("LULL_LIBFABRIC_PROVIDER", over.provider, 1);
    process::end_after(240);
    try {
      process mine(me, count, *where, wanted);
      body(mine);
      mine.leave();
    } catch (const std::exception& failure) {
      ADD_FAILURE() << failure.what();
    }
    std::fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  for (int me = 0; me < count; ++me) {
    int status = 0;
    ASSERT_EQ(waitpid(children[static_cast<std::size_t>(me)], &status, 0), children[static_cast<std::size_t>(me)]);
    const bool is_killed = std::find(killed.begin(), killed.end(), me) != killed.end();
    EXPECT_EQ(status, is_killed ? SIGKILL : 0) << "process " << me;
    if (status != 0 && !is_killed)  // the others would wait for it
      for (const pid_t other : children) kill(other, SIGKILL);
  }
  munmap(pages, sizeof(meeting));
}

}  // namespace lull::transport
