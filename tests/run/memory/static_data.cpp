// Global and static variables are symmetric: any PE can write, read and wait for them, and they keep their initial
// values. A forked child has its own copy.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "check.hpp"

int global_initialised = 42;
long global_zero;
int before_start[4] = {1, 2, 3, 4};

namespace {

double file_static[3] = {0.5, 1.5, 2.5};
constexpr std::size_t large = std::size_t{64} << 20;
unsigned char never_touched[large];  // a large .bss must not become memory
std::uint64_t signal_word;
long lock_word;
int counted;

long& of_a_function() {
  static long value = 7;
  return value;
}

template <class T>
struct of_a_template {
  static inline T value{};
};

void initial_values_are_kept() {
  CHECK(global_initialised == 42 && global_zero == 0 && of_a_function() == 7);
  CHECK(before_start[0] == 100 && before_start[3] == 4);  // main changed one element before shmem_init
  CHECK(file_static[2] == 2.5);
}

void every_kind_can_be_written_from_elsewhere(const ring& r) {
  shmem_int_p(&global_initialised, 1000 + r.me, r.next);
  shmem_long_p(&global_zero, 2000 + r.me, r.next);
  const double three[3] = {r.me + 0.25, r.me + 0.5, r.me + 0.75};
  shmem_double_put(file_static, three, 3, r.next);
  shmem_long_p(&of_a_function(), 3000 + r.me, r.next);
  shmem_short_p(&of_a_template<short>::value, static_cast<short>(r.me + 1), r.next);
  const unsigned char mark = static_cast<unsigned char>(r.me + 1);
  shmem_putmem(never_touched + large - 1, &mark, 1, r.next);
  shmem_barrier_all();
  CHECK(global_initialised == 1000 + r.before && global_zero == 2000 + r.before);
  CHECK(file_static[0] == r.before + 0.25 && file_static[2] == r.before + 0.75);
  CHECK(of_a_function() == 3000 + r.before && of_a_template<short>::value == r.before + 1);
  CHECK(never_touched[large - 1] == r.before + 1 && never_touched[0] == 0);
  CHECK(shmem_int_g(&global_initialised, r.next) == 1000 + r.me);
  shmem_barrier_all();
}

void atomics_signals_locks_and_collectives_work_on_them(const ring& r) {
  shmem_int_atomic_add(&counted, r.me + 1, 0);
  shmem_barrier_all();
  if (r.me == 0) CHECK(counted == r.pes * (r.pes + 1) / 2);
  const long value = 5;
  shmem_long_put_signal(&global_zero, &value, 1, &signal_word, 1, SHMEM_SIGNAL_SET, r.next);
  CHECK(shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 1) == 1 && global_zero == 5);
  for (int i = 0; i < 5; ++i) {
    shmem_set_lock(&lock_word);
    shmem_long_p(&of_a_function(), shmem_long_g(&of_a_function(), 0) + 1, 0);
    shmem_clear_lock(&lock_word);
  }
  static long sum;
  static long mine;
  mine = r.me;
  shmem_barrier_all();
  CHECK(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &mine, 1) == 0 && sum == r.pes * (r.pes - 1) / 2);
  if (r.me == 0) CHECK(of_a_function() == 3000 + r.before + 5L * r.pes);
  shmem_barrier_all();
}

void a_forked_child_has_a_copy(const ring& r) {
  counted = 11;
  shmem_barrier_all();
  const pid_t child = fork();
  if (child == 0) {
    const bool copied = counted == 11 && before_start[0] == 100 && never_touched[large - 1] == r.before + 1;
    counted = 99;
    global_initialised = -1;
    _exit(copied ? 0 : 1);
  }
  CHECK(child > 0);
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(counted == 11 && global_initialised == 1000 + r.before);
  shmem_barrier_all();
  CHECK(shmem_int_g(&counted, r.next) == 11);
}

}  // namespace

int main() {
  before_start[0] = 100;
  shmem_init();
  const ring r;
  initial_values_are_kept();
  shmem_barrier_all();
  every_kind_can_be_written_from_elsewhere(r);
  atomics_signals_locks_and_collectives_work_on_them(r);
  a_forked_child_has_a_copy(r);
  finish();
}
