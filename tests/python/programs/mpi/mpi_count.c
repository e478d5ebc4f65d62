/* A tool like those of others, over MPI's profiling interface: counts messages, their bytes and collectives, and leaves
 * `sent received bytes_sent bytes_received collectives` in the file MPI_COUNT.RANK at MPI_Finalize.
 * It is independent of Lull. For programs of one thread. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long sent, received, bytes_sent, bytes_received, collectives;

enum { most = 4096 };
static MPI_Request receives[most]; /* that are under way; 0: free */

static long size_of(long count, MPI_Datatype type) {
  int size;
  PMPI_Type_size(type, &size);
  return count * size;
}
static void went(int to, long count, MPI_Datatype type) {
  if (to == MPI_PROC_NULL) return;
  ++sent;
  bytes_sent += size_of(count, type);
}
static void came(const MPI_Status* status) {
  int bytes, cancelled;
  PMPI_Test_cancelled(status, &cancelled);
  if (cancelled || status->MPI_SOURCE == MPI_PROC_NULL || status->MPI_SOURCE < 0) return;
  PMPI_Get_count(status, MPI_BYTE, &bytes);
  ++received;
  bytes_received += bytes;
}
static void expect(MPI_Request request, int from) {
  if (from == MPI_PROC_NULL) return;
  for (int i = 0; i < most; ++i)
    if (receives[i] == 0) {
      receives[i] = request;
      return;
    }
  abort();
}
static void complete(MPI_Request before, const MPI_Status* status) {
  for (int i = 0; i < most; ++i)
    if (receives[i] != 0 && receives[i] == before) {
      receives[i] = 0;
      came(status);
      return;
    }
}

int MPI_Send(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {
  went(to, n, t);
  return PMPI_Send(b, n, t, to, tag, c);
}
int MPI_Ssend(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {
  went(to, n, t);
  return PMPI_Ssend(b, n, t, to, tag, c);
}
int MPI_Rsend(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {
  went(to, n, t);
  return PMPI_Rsend(b, n, t, to, tag, c);
}
int MPI_Isend(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) {
  went(to, n, t);
  return PMPI_Isend(b, n, t, to, tag, c, r);
}
int MPI_Issend(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) {
  went(to, n, t);
  return PMPI_Issend(b, n, t, to, tag, c, r);
}
int MPI_Recv(void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s) {
  MPI_Status own;
  if (s == MPI_STATUS_IGNORE) s = &own;
  const int code = PMPI_Recv(b, n, t, from, tag, c, s);
  came(s);
  return code;
}
int MPI_Irecv(void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r) {
  const int code = PMPI_Irecv(b, n, t, from, tag, c, r);
  expect(*r, from);
  return code;
}
int MPI_Sendrecv(const void* b, int n, MPI_Datatype t, int to, int tag, void* into, int m, MPI_Datatype u, int from,
                 int other, MPI_Comm c, MPI_Status* s) {
  MPI_Status own;
  if (s == MPI_STATUS_IGNORE) s = &own;
  went(to, n, t);
  const int code = PMPI_Sendrecv(b, n, t, to, tag, into, m, u, from, other, c, s);
  came(s);
  return code;
}
int MPI_Wait(MPI_Request* r, MPI_Status* s) {
  MPI_Status own;
  if (s == MPI_STATUS_IGNORE) s = &own;
  const MPI_Request before = *r;
  const int code = PMPI_Wait(r, s);
  complete(before, s);
  return code;
}
int MPI_Test(MPI_Request* r, int* flag, MPI_Status* s) {
  MPI_Status own;
  if (s == MPI_STATUS_IGNORE) s = &own;
  const MPI_Request before = *r;
  const int code = PMPI_Test(r, flag, s);
  if (*flag) complete(before, s);
  return code;
}
int MPI_Waitany(int n, MPI_Request r[], int* index, MPI_Status* s) {
  MPI_Status own;
  if (s == MPI_STATUS_IGNORE) s = &own;
  MPI_Request* before = malloc((size_t)n * sizeof *before);
  for (int i = 0; i < n; ++i) before[i] = r[i];
  const int code = PMPI_Waitany(n, r, index, s);
  if (*index != MPI_UNDEFINED) complete(before[*index], s);
  free(before);
  return code;
}
int MPI_Waitall(int n, MPI_Request r[], MPI_Status s[]) {
  MPI_Status* own = malloc((size_t)(n + 1) * sizeof *own);
  MPI_Request* before = malloc((size_t)(n + 1) * sizeof *before);
  for (int i = 0; i < n; ++i) before[i] = r[i];
  MPI_Status* all = s == MPI_STATUSES_IGNORE ? own : s;
  const int code = PMPI_Waitall(n, r, all);
  for (int i = 0; i < n; ++i) complete(before[i], &all[i]);
  free(own);
  free(before);
  return code;
}

#define COLLECTIVE(name, parameters, arguments) \
  int MPI_##name parameters {                   \
    ++collectives;                              \
    return PMPI_##name arguments;               \
  }
COLLECTIVE(Barrier, (MPI_Comm c), (c))
COLLECTIVE(Bcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
COLLECTIVE(Reduce, (const void* b, void* into, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c),
           (b, into, n, t, o, root, c))
COLLECTIVE(Allreduce, (const void* b, void* into, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (b, into, n, t, o, c))
COLLECTIVE(Scan, (const void* b, void* into, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (b, into, n, t, o, c))
COLLECTIVE(Gather,
           (const void* b, int n, MPI_Datatype t, void* into, int m, MPI_Datatype u, int root, MPI_Comm c),
           (b, n, t, into, m, u, root, c))
COLLECTIVE(Scatter,
           (const void* b, int n, MPI_Datatype t, void* into, int m, MPI_Datatype u, int root, MPI_Comm c),
           (b, n, t, into, m, u, root, c))
COLLECTIVE(Allgather, (const void* b, int n, MPI_Datatype t, void* into, int m, MPI_Datatype u, MPI_Comm c),
           (b, n, t, into, m, u, c))
COLLECTIVE(Allgatherv,
           (const void* b, int n, MPI_Datatype t, void* into, const int m[], const int d[], MPI_Datatype u, MPI_Comm c),
           (b, n, t, into, m, d, u, c))
COLLECTIVE(Alltoall, (const void* b, int n, MPI_Datatype t, void* into, int m, MPI_Datatype u, MPI_Comm c),
           (b, n, t, into, m, u, c))

int MPI_Finalize(void) {
  const char* name = getenv("MPI_COUNT");
  if (name != NULL) {
    char path[4096];
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s.%d", name, rank);
    FILE* file = fopen(path, "w");
    if (file == NULL) abort();
    fprintf(file, "%ld %ld %ld %ld %ld\n", sent, received, bytes_sent, bytes_received, collectives);
    fclose(file);
  }
  return PMPI_Finalize();
}
