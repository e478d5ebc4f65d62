/* Messages of all kinds, at random but the same in each run: prints everything that each rank has received, statuses
 * and return codes included, as one number per rank. In between ranks compute for random times, so that they wait for
 * each other.
 *
 *   mpi_results [STEPS [over-tcp]]
 *
 * Over TCP, and with Intel MPI, it does not send messages that are too long: libraries lose their connection then, and
 * Intel's, on a busy machine, does not always report the error. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t seen = 14695981039346656037u;
static void see(const void* data, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) seen = (seen ^ ((const unsigned char*)data)[i]) * 1099511628211u;
}
static void see_number(int64_t number) { see(&number, sizeof number); }

static uint64_t state;
static uint32_t next_random(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33);
}

static void compute(int rank, int step) {
  struct timespec begin, now;
  const long us = (rank * 7 + step * 13) % 11 == 0 ? 3000 : (rank + step) % 5 == 0 ? 300 : 0;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000L + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

int main(int argc, char** argv) {
  int rank, ranks;
  const int steps = argc > 1 ? atoi(argv[1]) : 150, over_tcp = argc > 2;
  see_number(MPI_Init(&argc, &argv));
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  const int reports_truncation = !over_tcp && strstr(version, "Intel") == NULL;
  const int largest = 300000;
  int* out = malloc(sizeof(int) * (size_t)largest * 2);
  int* in = malloc(sizeof(int) * (size_t)largest * 2);
  for (int i = 0; i < largest * 2; ++i) out[i] = rank * 1000 + i;

  state = 42; /* the same on all ranks: they agree on the next step */
  for (int step = 0; step < steps; ++step) {
    static const int counts[] = {0, 1, 3, 700, 2000, 20000, 300000};
    const int count = counts[next_random() % 7], what = (int)(next_random() % 11),
              root = (int)(next_random() % (unsigned)ranks);
    const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    MPI_Status status, both[2];
    MPI_Request requests[2];
    int flag = 0, got = 0;
    memset(&status, 0, sizeof status);
    compute(rank, step);
    if (what == 9 && !reports_truncation) continue;
    switch (what) {
      case 0: /* a ring, odd ones receive first */
        if (rank % 2 == 0) MPI_Ssend(out, count, MPI_INT, right, step, MPI_COMM_WORLD);
        see_number(MPI_Recv(in, count, MPI_INT, MPI_ANY_SOURCE, step, MPI_COMM_WORLD, &status));
        if (rank % 2 != 0) MPI_Ssend(out, count, MPI_INT, right, step, MPI_COMM_WORLD);
        MPI_Get_count(&status, MPI_INT, &got);
        see_number(got);
        see_number(status.MPI_SOURCE == left);
        see_number(status.MPI_TAG);
        see(in, sizeof(int) * (size_t)count);
        break;
      case 1:
        see_number(MPI_Sendrecv(out, count, MPI_INT, right, 1, in, count, MPI_INT, left, 1, MPI_COMM_WORLD, &status));
        see_number(status.MPI_SOURCE);
        see(in, sizeof(int) * (size_t)count);
        break;
      case 2:
        MPI_Irecv(in, count, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, count, MPI_INT, right, step, MPI_COMM_WORLD, &requests[1]);
        see_number(MPI_Waitall(2, requests, both));
        see_number(both[0].MPI_TAG);
        see_number(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
        see(in, sizeof(int) * (size_t)count);
        break;
      case 3:
        MPI_Isend(out, count, MPI_INT, right, step, MPI_COMM_WORLD, &requests[0]);
        see_number(MPI_Probe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        MPI_Get_count(&status, MPI_INT, &got);
        see_number(got);
        MPI_Recv(in, got, MPI_INT, left, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        see_number(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        see(in, sizeof(int) * (size_t)got);
        break;
      case 4:
        see_number(MPI_Barrier(MPI_COMM_WORLD));
        break;
      case 5:
        memcpy(in, out, sizeof(int) * (size_t)count);
        see_number(MPI_Bcast(in, count, MPI_INT, root, MPI_COMM_WORLD));
        see(in, sizeof(int) * (size_t)count);
        break;
      case 6:
        see_number(MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        see(in, sizeof(int) * (size_t)count);
        break;
      case 7:
        see_number(MPI_Reduce(out, in, count, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD));
        if (rank == root) see(in, sizeof(int) * (size_t)count);
        break;
      case 8: {
        const int each = count / ranks;
        see_number(MPI_Alltoall(out, each, MPI_INT, in, each, MPI_INT, MPI_COMM_WORLD));
        see(in, sizeof(int) * (size_t)(each * ranks));
        break;
      }
      case 9: { /* too long: an error, the same on all */
        const int room = count / 2;
        MPI_Isend(out, count, MPI_INT, right, step, MPI_COMM_WORLD, &requests[0]);
        int code = MPI_Recv(in, room, MPI_INT, left, step, MPI_COMM_WORLD, &status), class = 0;
        MPI_Error_class(code, &class);
        see_number(class == (room < count ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        break;
      }
      case 10: /* one that never comes is cancelled */
        MPI_Irecv(in, 1, MPI_INT, left, 32000, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(in, count, MPI_INT, left, step, MPI_COMM_WORLD, &requests[1]);
        MPI_Send(out, count, MPI_INT, right, step, MPI_COMM_WORLD);
        see_number(MPI_Waitany(2, requests, &got, &status));
        see_number(got);
        MPI_Cancel(&requests[0]);
        MPI_Wait(&requests[0], &status);
        MPI_Test_cancelled(&status, &flag);
        see_number(flag);
        break;
    }
  }
  printf("rank %d of %d: %016llx\n", rank, ranks, (unsigned long long)seen);
  return MPI_Finalize();
}
