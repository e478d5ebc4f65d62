/* PE 1 fails in some form while the others do something that cannot end without it.
 *
 *   misfortune HOW OTHERS
 *
 * HOW: kill, segv, exit-0, exit-7 (without shmem_finalize), global-exit (with 37), never-joins, wait (for a test's kill).
 * OTHERS: barrier, wait-until, get, put, deaf (a barrier, ignoring all signals that can be ignored). */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { victim = 1, pause_us = 100000 };

static long flag, words[1024];

static void meet_with(const char* how) {
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  if (strcmp(how, "segv") == 0) raise(SIGSEGV);
  if (strcmp(how, "exit-0") == 0) exit(0);
  if (strcmp(how, "exit-7") == 0) exit(7);
  if (strcmp(how, "global-exit") == 0) shmem_global_exit(37);
  shmem_long_wait_until(&flag, SHMEM_CMP_NE, 0);
}

static void be_in(const char* what) {
  static long buffer[1024];
  if (strcmp(what, "wait-until") == 0) shmem_long_wait_until(&flag, SHMEM_CMP_NE, 0);
  while (strcmp(what, "get") == 0) shmem_long_get(buffer, words, 1024, victim);
  while (strcmp(what, "put") == 0) {
    shmem_long_put(words, buffer, 1024, victim);
    shmem_quiet();
  }
  if (strcmp(what, "deaf") == 0)
    for (int number = 1; number < 32; ++number) signal(number, SIG_IGN); /* NOLINT: SIGKILL refuses, as it should */
  shmem_barrier_all();
}

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const char* const rank = getenv("PMIX_RANK");
  if (strcmp(arguments[1], "never-joins") == 0 && rank && atoi(rank) == victim) return 0;
  shmem_init();
  shmem_barrier_all();
  if (shmem_my_pe() == 0) {
    puts("all are here");
    fflush(stdout);
  }
  if (shmem_my_pe() == victim) {
    usleep(pause_us); /* until the others are asleep */
    meet_with(arguments[1]);
  }
  be_in(arguments[2]);
  shmem_finalize();
  return 0;
}
