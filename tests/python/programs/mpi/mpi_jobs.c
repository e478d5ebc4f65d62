/* Ranks of two jobs communicate; rank i of one job with rank i of the other:
 *
 *   mpi_jobs spawn RANKS TURNS          spawns RANKS processes, which are the other job
 *   mpi_jobs accept FILE TURNS          opens a port, writes its name into FILE, and accepts the other job
 *   mpi_jobs connect FILE TURNS         the other job: waits for FILE, and connects
 *   mpi_jobs twice TURNS                each of two ranks spawns two processes at the same time as the other
 *
 * In each turn a rank sends a number to its partner, which computes for up to 300 microseconds, and answers with the
 * next; in between the ranks of a job pass numbers round. Each number is checked. Rank 0 of the first job prints the number
 * of correct answers of all ranks, and rank 0 of each job the times to join the other job, of the first turn, of a turn
 * (median), and to part, on stderr. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks;
static double joining, first, median; /* seconds */

static void compute(double us) {
  const double end = MPI_Wtime() + us * 1e-6;
  while (MPI_Wtime() < end) {
  }
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Returns the number of correct answers of all ranks of this job. */
static int talk(MPI_Comm other, int turns, int asks) {
  int me, partners, correct = 0, all = 0;
  unsigned random = 42 + (unsigned)rank;
  double* const took = malloc((size_t)turns * sizeof *took);
  MPI_Comm_rank(other, &me);
  MPI_Comm_remote_size(other, &partners);
  for (int i = 0; i < turns; ++i) {
    const int number = 1000 * i + me;
    int got = -1, passed = -1;
    MPI_Status status;
    random = random * 1664525 + 1013904223;
    const double begin = MPI_Wtime();
    if (me < partners && asks) {
      MPI_Send(&number, 1, MPI_INT, me, 7, other);
      MPI_Recv(&got, 1, MPI_INT, me, 8, other, &status);
      correct += got == number + 1 && status.MPI_SOURCE == me;
    } else if (me < partners) {
      MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 7, other, &status);
      correct += got == number && status.MPI_SOURCE == me;
      compute(random / 65536 % 300);
      ++got;
      MPI_Send(&got, 1, MPI_INT, me, 8, other);
    } else {
      ++correct;
    }
    took[i] = MPI_Wtime() - begin;
    MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % ranks, 9, &passed, 1, MPI_INT, (rank + ranks - 1) % ranks, 9,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    correct -= passed != i;
  }
  MPI_Reduce(&correct, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  first = took[0];
  qsort(took, (size_t)turns, sizeof *took, ascending);
  median = took[turns / 2];
  free(took);
  return all;
}

/* A file that appears with its whole content. */
static void write_name(const char* file, const char* name) {
  char draft[4096];
  snprintf(draft, sizeof draft, "%s.draft", file);
  FILE* const to = fopen(draft, "w");
  if (to == NULL || fputs(name, to) < 0 || fclose(to) != 0 || rename(draft, file) != 0) MPI_Abort(MPI_COMM_WORLD, 3);
}

static void read_name(const char* file, char* name) {
  FILE* from = NULL;
  while ((from = fopen(file, "r")) == NULL) usleep(10000);
  if (fgets(name, MPI_MAX_PORT_NAME, from) == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  fclose(from);
}

int main(int argc, char** argv) {
  const char* const what = argv[1];
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm other;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_get_parent(&other);
  const int turns = atoi(argv[argc - 1]), is_first = other == MPI_COMM_NULL && strcmp(what, "connect") != 0;
  const double begin = MPI_Wtime();
  if (other != MPI_COMM_NULL) {
  } else if (strcmp(what, "accept") == 0) {
    if (rank == 0) {
      MPI_Open_port(MPI_INFO_NULL, port);
      write_name(argv[2], port);
    }
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
  } else if (strcmp(what, "connect") == 0) {
    if (rank == 0) read_name(argv[2], port);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
  } else {
    const int is_twice = strcmp(what, "twice") == 0;
    MPI_Comm_spawn(argv[0], argv + 1, is_twice ? 2 : atoi(argv[2]), MPI_INFO_NULL, 0,
                   is_twice ? MPI_COMM_SELF : MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
  }
  joining = MPI_Wtime() - begin;
  const int correct = talk(other, turns, is_first);
  if (rank == 0 && is_first) printf("%d correct\n", correct);
  fflush(stdout);
  const double parting = MPI_Wtime();
  MPI_Comm_disconnect(&other);
  if (rank == 0)
    fprintf(stderr, "join %.1f ms, first turn %.1f ms, turn %.1f us, part %.1f ms\n", joining * 1e3, first * 1e3,
            median * 1e6, (MPI_Wtime() - parting) * 1e3);
  if (strcmp(what, "accept") == 0 && rank == 0) MPI_Close_port(port);
  MPI_Finalize();
  return 0;
}
