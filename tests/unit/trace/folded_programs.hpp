// Records of programs as a thread would record them, for tests of folding: a tick is a nanosecond, and the library uses
// the handles of requests again as Open MPI does, the last that was freed first.
#pragma once
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "trace/raw.hpp"

namespace lull::trace {

class recorded_thread {
 public:
  explicit recorded_thread(unsigned seed = 1) : random_(seed) {}

  std::vector<record> records;

  [[nodiscard]] unsigned random(unsigned below) { return static_cast<unsigned>(random_() % below); }

  void call(kind what, std::uint16_t function, int peer = 0, int tag = 0, std::uint64_t size = 0) {
    now_ += 100 + random(200);
    const std::uint32_t took = 50 + random(random(50) == 0 ? 1'000'000 : 100);
    records.push_back({.begin = now_,
                       .duration = took,
                       .region = function,
                       .peer = peer,
                       .tag = tag,
                       .bytes = size & ~std::uint64_t{0} >> 8,
                       .what = what});
    now_ += took;
  }
  void more(kind what, std::uint64_t handle, int peer = -1, int tag = -1, std::uint64_t size = 0) {
    records.push_back(
        {.begin = handle, .peer = peer, .tag = tag, .bytes = size & ~std::uint64_t{0} >> 8, .what = what});
  }
  void send(int peer, int tag, std::uint64_t size) { call(kind::send, 1, peer, tag, size); }
  void receive(int peer, int tag, std::uint64_t size) { call(kind::receive, 2, peer, tag, size); }
  void collective(std::uint64_t size) { call(kind::collective, 3, -1, 0, size); }
  std::uint64_t isend(int peer, int tag, std::uint64_t size) {
    call(kind::call, 4);
    const std::uint64_t handle = new_handle();
    more(kind::posted_send, handle, peer, tag, size);
    return handle;
  }
  std::uint64_t irecv(int peer, int tag, std::uint64_t size) {
    call(kind::call, 5);
    const std::uint64_t handle = new_handle();
    more(kind::posted_receive, handle, peer, tag, size);
    return handle;
  }
  std::uint64_t prepare(kind what, int peer, int tag, std::uint64_t size) {
    call(kind::call, 6);
    const std::uint64_t handle = new_handle();
    more(what, handle, peer, tag, size);
    return handle;
  }
  void start(std::uint64_t handle) {
    call(kind::call, 7);
    more(kind::started, handle);
  }
  void complete(std::uint64_t handle, int peer, int tag, std::uint64_t size) {
    more(kind::completed, handle, peer, tag, size);
    free_.push_back(handle);
  }
  void keep() { free_.pop_back(); }  // a persistent request that completed
  void wait() { call(kind::call, 8); }
  void free(std::uint64_t handle) {
    call(kind::call, 9);
    more(kind::freed, handle);
    free_.push_back(handle);
  }
  std::uint64_t new_handle() {
    if (free_.empty()) return 0x7f00'0000'1000 + 0x180 * made_++;
    const std::uint64_t handle = free_.back();
    free_.pop_back();
    return handle;
  }

 private:
  std::mt19937 random_;
  std::uint64_t now_ = 1'000'000;
  std::uint64_t made_ = 0;
  std::vector<std::uint64_t> free_;
};

// A ring of sends and receives.
inline void ring(recorded_thread& t, int steps) {
  for (int i = 0; i < steps; ++i) {
    t.send(1, 7, 8);
    t.receive(3, 7, 8);
  }
}

// A halo exchange with `neighbours`, and a reduction each ten steps.
inline void halo(recorded_thread& t, int steps, int neighbours) {
  std::vector<std::uint64_t> open;
  for (int i = 0; i < steps; ++i) {
    open.clear();
    for (int n = 0; n < neighbours; ++n) open.push_back(t.irecv(n, n, 4096));
    for (int n = 0; n < neighbours; ++n) open.push_back(t.isend(n, neighbours - 1 - n, 4096));
    t.wait();
    for (int n = 0; n < neighbours; ++n) t.complete(open[static_cast<std::size_t>(n)], n, n, 4096);
    // The status of a send is whatever was in memory.
    for (int n = 0; n < neighbours; ++n)
      t.complete(open[static_cast<std::size_t>(neighbours + n)], static_cast<int>(t.random(1000)), -1, t.random(9));
    if (i % 10 == 9) t.collective(8);
  }
}

// As CG of NPB: an outer loop, an inner one, and exchanges by halves in it.
inline void cg(recorded_thread& t, int steps, int inner = 25) {
  for (int i = 0; i < steps; ++i) {
    for (int k = 0; k < inner; ++k) {
      for (int partner = 1; partner <= 4; partner *= 2) {
        const std::uint64_t handle = t.irecv(partner, i & 0, 56000);
        t.send(partner, 0, 56000);
        t.wait();
        t.complete(handle, partner, 0, 56000);
      }
      t.send(2, 0, 8);
    }
    t.collective(8);
    t.collective(16);
  }
}

// An iterative solver whose steps take different numbers of iterations.
inline void solver(recorded_thread& t, int steps) {
  for (int i = 0; i < steps; ++i) {
    const int iterations = 20 + static_cast<int>(t.random(12));
    for (int k = 0; k < iterations; ++k) {
      t.send(1, 1, 800);
      t.receive(1, 1, 800);
      t.collective(8);
    }
    t.collective(24);
  }
}

// Whatever a program could do with requests, in no order.
inline void anything(recorded_thread& t, int calls) {
  std::vector<std::uint64_t> open, persistent;
  for (int i = 0; i < calls; ++i) {
    const auto take = [&](std::vector<std::uint64_t>& from) {
      const std::size_t at = t.random(static_cast<unsigned>(from.size()));
      const std::uint64_t handle = from[at];
      from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
      return handle;
    };
    const int peer = static_cast<int>(t.random(4));
    switch (t.random(12)) {
      case 0:
      case 1:
        open.push_back(t.isend(peer, static_cast<int>(t.random(2)), t.random(3) * 8));
        break;
      case 2:
      case 3:
        open.push_back(t.irecv(-1, static_cast<int>(t.random(2)), t.random(3) * 8));
        break;
      case 4:
        t.wait();
        for (int n = static_cast<int>(t.random(4)); n > 0 && !open.empty(); --n) t.complete(take(open), peer, 1, 8);
        break;
      case 5:
        persistent.push_back(t.prepare(t.random(2) == 0 ? kind::prepared_send : kind::prepared_receive, peer, 1, 64));
        break;
      case 6:
        if (!persistent.empty()) {
          const std::uint64_t handle = persistent[t.random(static_cast<unsigned>(persistent.size()))];
          t.start(handle);
          t.wait();
          t.complete(handle, peer, 1, 64);
          t.keep();
        }
        break;
      case 7:
        if (!persistent.empty() && t.random(2) == 0) t.free(take(persistent));
        break;
      case 8:
        t.wait();
        t.more(kind::completed, 0x1234 + t.random(3), peer, 0, 0);  // of a request that was never posted
        break;
      case 9:
        if (!open.empty() && t.random(4) == 0) t.new_handle(), open.erase(open.begin());  // dropped without a record
        break;
      case 10:
        t.call(kind::put, 10, peer, 0, t.random(1U << 20));
        t.more(kind::completed_at_target, 0, peer);
        break;
      default:
        t.call(static_cast<kind>(1 + t.random(9)), static_cast<std::uint16_t>(t.random(40)), peer,
               static_cast<int>(t.random(3)));
        if (t.random(2) == 0) t.more(kind::more_received, 0, -1, -1, t.random(100));
    }
  }
}

}  // namespace lull::trace
