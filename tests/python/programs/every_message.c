/* A little of every form of sending in MPI. At its end rank 0 prints how many messages and bytes were sent point to
 * point, and how many calls of collectives there were, counted by its own wrappers around the library's calls. With a
 * second argument its last rank ends in the middle in that form: kill, exit or abort. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long long counted[3];

static void count(int n, MPI_Datatype type, int to) {
  int size;
  if (to == MPI_PROC_NULL) return;
  PMPI_Type_size(type, &size);
  counted[0] += 1;
  counted[1] += (long long)n * size;
}

int MPI_Send(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {
  count(n, t, to);
  return PMPI_Send(b, n, t, to, tag, c);
}
int MPI_Ssend(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {
  count(n, t, to);
  return PMPI_Ssend(b, n, t, to, tag, c);
}
int MPI_Isend(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r) {
  count(n, t, to);
  return PMPI_Isend(b, n, t, to, tag, c, r);
}
int MPI_Sendrecv(const void *b, int n, MPI_Datatype t, int to, int tag, void *rb, int rn, MPI_Datatype rt, int from,
                 int rtag, MPI_Comm c, MPI_Status *s) {
  count(n, t, to);
  return PMPI_Sendrecv(b, n, t, to, tag, rb, rn, rt, from, rtag, c, s);
}
static int persistent_n;
int MPI_Send_init(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r) {
  persistent_n = n;
  return PMPI_Send_init(b, n, t, to, tag, c, r);
}
int MPI_Startall(int n, MPI_Request *r) {
  count(persistent_n, MPI_BYTE, 0);
  return PMPI_Startall(n, r);
}
#define COLLECTIVE counted[2] += 1
int MPI_Barrier(MPI_Comm c) {
  COLLECTIVE;
  return PMPI_Barrier(c);
}
int MPI_Bcast(void *b, int n, MPI_Datatype t, int root, MPI_Comm c) {
  COLLECTIVE;
  return PMPI_Bcast(b, n, t, root, c);
}
int MPI_Allreduce(const void *b, void *to, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
  COLLECTIVE;
  return PMPI_Allreduce(b, to, n, t, op, c);
}
int MPI_Ibarrier(MPI_Comm c, MPI_Request *r) {
  COLLECTIVE;
  return PMPI_Ibarrier(c, r);
}

static char out[1 << 20], in[1 << 20];

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 10;
  const char *end = argc > 2 ? argv[2] : "";
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_set_name(half, rank % 2 ? "odd" : "even");
  MPI_Request persistent[2];
  MPI_Send_init(out, 64, MPI_BYTE, right, 3, MPI_COMM_WORLD, &persistent[0]);
  MPI_Recv_init(in, 64, MPI_BYTE, left, 3, MPI_COMM_WORLD, &persistent[1]);
  for (int i = 0; i < rounds; i++) {
    MPI_Request requests[2];
    double sum = 0, one = 1;
    MPI_Irecv(in, sizeof in, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 1 << (i % 20), MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(out, 100, MPI_INT, right, 2, in, 100, MPI_INT, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Startall(2, persistent);
    MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
    if (rank % 2 == 0 && right != rank && size % 2 == 0) MPI_Ssend(out, 8, MPI_BYTE, right, 4, MPI_COMM_WORLD);
    if (rank % 2 == 1 && size % 2 == 0) MPI_Recv(in, 8, MPI_BYTE, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, 8, MPI_BYTE, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, half);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    int done = 0;
    while (!done) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
    if (i == rounds / 2 && rank == size - 1) {
      if (strcmp(end, "kill") == 0) raise(SIGKILL);
      if (strcmp(end, "exit") == 0) _exit(3);
      if (strcmp(end, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 4);
    }
  }
  MPI_Request_free(&persistent[0]);
  MPI_Request_free(&persistent[1]);
  MPI_Win window;
  long long cell = 0, mine = rank;
  MPI_Win_create(&cell, sizeof cell, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(&mine, 1, MPI_LONG_LONG, right, 0, 1, MPI_LONG_LONG, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Comm_free(&half);
  MPI_Barrier(MPI_COMM_WORLD);
  long long all[3];
  PMPI_Reduce(counted, all, 3, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%lld %lld %lld\n", all[0], all[1], all[2]);
  MPI_Finalize();
  return cell == left ? 0 : 1;
}
