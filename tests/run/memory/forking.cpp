// Programs that call fork(), or functions that do, while other PEs put and get: the child has its own copy of private
// memory, and transfers of its parent use the parent's. A network that writes registered memory by itself would miss
// pages that the parent has copied since.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "check.hpp"

namespace {

constexpr std::size_t bytes = std::size_t{200'000};
using block = std::vector<unsigned char>;

block filled(int pe, int round) {
  block data(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    data[i] = static_cast<unsigned char>(i * 31 + static_cast<std::size_t>(pe) * 7 + static_cast<std::size_t>(round));
  return data;
}

bool holds(const unsigned char* area, const block& expected) {
  return std::equal(expected.begin(), expected.end(), area);
}

// A child that changes its copy of these blocks, keeps it while the parent goes on, and finds it as it was at the end.
class child {
 public:
  explicit child(std::initializer_list<block*> blocks) {
    CHECK(pipe(until_) == 0);
    process_ = fork();
    CHECK(process_ >= 0);
    if (process_ > 0) {
      close(until_[0]);
      return;
    }
    close(until_[1]);
    for (block* const one : blocks) std::ranges::fill(*one, static_cast<unsigned char>(0xcd));
    char end = 0;
    bool right = read(until_[0], &end, 1) == 1;
    for (const block* const one : blocks)
      right = right && std::ranges::all_of(*one, [](unsigned char c) { return c == 0xcd; });
    _exit(right ? 0 : 1);
  }
  void ends_well() {
    CHECK(write(until_[1], "e", 1) == 1);
    close(until_[1]);
    int status = 1;
    const pid_t ended = waitpid(process_, &status, 0);
    if (ended != process_ || status != 0)
      std::fprintf(stderr, "PE %d: its child ended with status %#x\n", shmem_my_pe(), static_cast<unsigned>(status));
    CHECK(ended == process_ && status == 0);
  }

 private:
  int until_[2] = {};
  pid_t process_ = -1;
};

// The same private blocks before the fork, while the child lives, and after its end.
void puts_and_gets_around_a_fork(const ring& r, unsigned char* area) {
  block source = filled(r.me, 0), got(bytes);
  const auto transfer = [&](int round) {
    source = filled(r.me, round);
    shmem_putmem(area, source.data(), bytes, r.next);
    shmem_barrier_all();
    CHECK(holds(area, filled(r.before, round)));
    shmem_getmem(got.data(), area, bytes, r.next);
    CHECK(got == filled(r.me, round));
    shmem_barrier_all();
  };
  transfer(1);
  child copy({&source, &got});
  transfer(2);
  transfer(3);
  copy.ends_well();
  transfer(4);
}

// The transfers are under way when the process forks.
void a_fork_between_put_and_quiet(const ring& r, unsigned char* area) {
  for (int round = 0; round < 3; ++round) {
    block source = filled(r.me, round), got(bytes);
    shmem_barrier_all();
    shmem_putmem_nbi(area, source.data(), bytes, r.next);
    if (round == 0) {
      CHECK(std::system("true") == 0);
      shmem_quiet();
    } else {
      child copy({&got});
      shmem_quiet();
      std::ranges::fill(source, static_cast<unsigned char>(0xee));
      copy.ends_well();
    }
    shmem_barrier_all();
    CHECK(holds(area, filled(r.before, round)));
    shmem_getmem_nbi(got.data(), area, bytes, r.next);
    CHECK(std::system("true") == 0);
    shmem_quiet();
    CHECK(got == filled(r.me, round));
  }
}

// Others put into this PE's heap while its child lives.
void puts_into_a_parent(const ring& r, unsigned char* area, std::uint64_t* signal) {
  const block source = filled(r.me, 5);
  shmem_barrier_all();
  child copy({});
  shmem_barrier_all();
  shmem_putmem_signal(area, source.data(), bytes, signal, 1, SHMEM_SIGNAL_SET, r.next);
  CHECK(shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 1) == 1);
  CHECK(holds(area, filled(r.before, 5)));
  shmem_barrier_all();
  CHECK(shmem_uint64_atomic_fetch_add(signal, 2, r.next) == 1);
  shmem_barrier_all();
  CHECK(*signal == 3);
  copy.ends_well();
}

}  // namespace

int main() {
  shmem_init();
  const ring r;
  auto* const area = symmetric<unsigned char>(bytes);
  auto* const signal = symmetric<std::uint64_t>(1);
  puts_and_gets_around_a_fork(r, area);
  a_fork_between_put_and_quiet(r, area);
  puts_into_a_parent(r, area, signal);
  finish();
}
