#include "calibrate/shmem_link.hpp"

#include <shmem.h>
#include <time.h>

#include <cstring>
#include <new>

#include "base/clock.hpp"

namespace lull::calibrate {

struct shmem_link::shared {
  struct what {
    order kind;
    std::uint64_t bytes, count;
  } wanted;
  std::int64_t cpu_ns;
  alignas(64) std::uint64_t order_no;
  alignas(64) std::uint64_t ping;
  alignas(64) std::uint64_t pong;
  alignas(64) std::uint64_t answer_no;
  alignas(64) std::uint64_t over;
  alignas(64) std::uint64_t counter;
};

shmem_link::shmem_link(int partner, std::size_t largest)
    : partner_(partner),
      shared_(static_cast<shared*>(shmem_align(64, sizeof(shared)))),
      there_(static_cast<std::byte*>(shmem_align(64, largest))),
      mine_(static_cast<std::byte*>(shmem_align(64, largest))) {
  if (!shared_ || !there_ || !mine_) throw std::bad_alloc();
  std::memset(static_cast<void*>(shared_), 0, sizeof(shared));
  std::memset(there_, 1, largest);
  std::memset(mine_, 2, largest);
  shmem_barrier_all();
}

shmem_link::~shmem_link() {
  if (shmem_my_pe() == 0) {
    send(order::end, 0, 0);
    for (int pe = 1; pe < shmem_n_pes(); ++pe) shmem_uint64_p(&shared_->over, 1, pe);
    shmem_quiet();
  }
  shmem_barrier_all();
  shmem_free(mine_);
  shmem_free(there_);
  shmem_free(shared_);
}

void shmem_link::send(order what, std::size_t bytes, int count) {
  const shared::what wanted{what, bytes, static_cast<std::uint64_t>(count)};
  shmem_putmem_signal(&shared_->wanted, &wanted, sizeof wanted, &shared_->order_no, ++orders_, SHMEM_SIGNAL_SET,
                      partner_);
  shmem_quiet();
}

void shmem_link::serve() {
  std::int64_t cpu = 0;
  for (;;) {
    shmem_signal_wait_until(&shared_->order_no, SHMEM_CMP_EQ, ++orders_);
    const shared::what wanted = shared_->wanted;
    switch (wanted.kind) {
      case order::end:
        return;
      case order::round_trips:
        for (std::uint64_t i = 0; i < wanted.count; ++i) {
          shmem_signal_wait_until(&shared_->ping, SHMEM_CMP_EQ, ++trips_);
          shmem_putmem_signal(there_, mine_, wanted.bytes, &shared_->pong, trips_, SHMEM_SIGNAL_SET, 0);
        }
        break;
      case order::tell_cpu:
        cpu = process_cpu_ns();
        shmem_putmem_signal(&shared_->cpu_ns, &cpu, sizeof cpu, &shared_->answer_no, ++told_, SHMEM_SIGNAL_SET, 0);
    }
  }
}

void shmem_link::stand_by() const {
  const timespec often = timespec_of(2'000'000);
  while (shmem_uint64_test(&shared_->over, SHMEM_CMP_EQ, 1) == 0) nanosleep(&often, nullptr);
}

double shmem_link::now_ns() { return static_cast<double>(lull::now_ns()); }

double shmem_link::round_trips_ns(std::size_t bytes, int count) {
  constexpr int first = 2;  // until the other side listens
  send(order::round_trips, bytes, first + count);
  double begin = 0;
  for (int i = 0; i < first + count; ++i) {
    if (i == first) begin = now_ns();
    shmem_putmem_signal(there_, mine_, bytes, &shared_->ping, ++trips_, SHMEM_SIGNAL_SET, partner_);
    shmem_signal_wait_until(&shared_->pong, SHMEM_CMP_EQ, trips_);
  }
  return now_ns() - begin;
}

void shmem_link::post(std::size_t bytes) { shmem_putmem_nbi(there_, mine_, bytes, partner_); }
void shmem_link::drain() { shmem_quiet(); }

double shmem_link::receiver_cpu_ns() {
  send(order::tell_cpu, 0, 0);
  shmem_signal_wait_until(&shared_->answer_no, SHMEM_CMP_EQ, ++told_);
  return static_cast<double>(shared_->cpu_ns);
}

double shmem_link::fetching_ns(int count) {
  const double begin = now_ns();
  for (int i = 0; i < count; ++i) shmem_uint64_atomic_fetch_add(&shared_->counter, 1, partner_);
  return (now_ns() - begin) / count;
}

double shmem_link::non_fetching_ns(int count) {
  const double begin = now_ns();
  for (int i = 0; i < count; ++i) shmem_uint64_atomic_add(&shared_->counter, 1, partner_);
  shmem_quiet();
  return (now_ns() - begin) / count;
}

}  // namespace lull::calibrate
