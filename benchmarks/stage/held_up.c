/* How long a program is held up by its output, compared with a copy of the same bytes into warm memory.
 *
 *   held_up MEBIBYTES OUTPUTS PAUSE_MS [DESCRIPTION]
 *
 * Rank 0 hands BYTES over by lull/stage.h, described by DESCRIPTION, OUTPUTS times, with a pause after each, so that
 * the next finds its server idle; before each it copies the same bytes within shared memory. It prints the seconds of
 * both, one pair per line, without the first pair, in which all memory is new. Without outputs it sleeps for the pause.
 */
#include <lull/stage.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static void pause_ms(long ms) {
  const struct timespec length = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&length, NULL);
}

static void check(int code) {
  if (code == LULL_STAGE_OK) return;
  fprintf(stderr, "held_up: %s\n", lull_stage_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void compare(size_t bytes, long outputs, long pause, const char *description) {
  char *const from = malloc(bytes);
  char *const into = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (from == NULL || into == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 1);
  memset(from, 1, bytes);
  memset(into, 1, bytes);
  check(lull_stage_open(description, 0, 1));
  check(lull_stage_set("cells", (int64_t)(bytes / sizeof(float))));
  for (long i = 0; i <= outputs; ++i) {
    const double begin = MPI_Wtime();
    memcpy(into, from, bytes);
    const double copied = MPI_Wtime();
    check(lull_stage_write("air", from));
    check(lull_stage_end_iteration(i));
    const double done = MPI_Wtime();
    if (i > 0) printf("%.9f %.9f\n", done - copied, copied - begin);
    from[i % (long)bytes] ^= into[i % (long)bytes];
    pause_ms(pause);
  }
  check(lull_stage_close());
}

int main(int argc, char **argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 4) {
    if (rank == 0) fprintf(stderr, "held_up: it takes MEBIBYTES, OUTPUTS, PAUSE_MS and a DESCRIPTION\n");
    MPI_Finalize();
    return 2;
  }
  const size_t bytes = strtoul(argv[1], NULL, 10) << 20;
  const long outputs = strtol(argv[2], NULL, 10), pause = strtol(argv[3], NULL, 10);
  if (outputs == 0)
    pause_ms(pause);
  else if (rank == 0)
    compare(bytes, outputs, pause, argv[4]);
  MPI_Finalize();
  return 0;
}
