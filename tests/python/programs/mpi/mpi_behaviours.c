/* The guarantees of MPI to a program, which the program checks: results, return codes, statuses, error handlers. It
 * prints the same with a tool between it and the library as without. For an even number of processes, at least four.
 *
 *   mpi_behaviours FILE [SUBJECT...]      the file is for MPI's own input and output; without a subject all of them */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, right, left;

#define CHECK(condition)                                                                    \
  do                                                                                        \
    if (!(condition)) {                                                                     \
      fprintf(stderr, "%s:%d: not true on %d: %s\n", __FILE__, __LINE__, rank, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 3);                                                         \
    }                                                                                       \
  while (0)
#define OK(call) CHECK((call) == MPI_SUCCESS)

static int count_of(const MPI_Status* status, MPI_Datatype type) {
  int count = -1;
  OK(MPI_Get_count(status, type, &count));
  return count;
}

static void blocking_messages(void) {
  int sent[4] = {rank, rank + 1, rank + 2, rank + 3}, got[8];
  MPI_Status status;
  char buffer[4096];
  OK(MPI_Buffer_attach(buffer, sizeof buffer));
  for (int mode = 0; mode < 4; ++mode) {
    memset(got, -1, sizeof got);
    if (rank % 2 == 0) {
      if (mode == 0) OK(MPI_Send(sent, 4, MPI_INT, right, 7, MPI_COMM_WORLD));
      if (mode == 1) OK(MPI_Ssend(sent, 4, MPI_INT, right, 7, MPI_COMM_WORLD));
      if (mode == 2) OK(MPI_Bsend(sent, 4, MPI_INT, right, 7, MPI_COMM_WORLD));
      if (mode == 3) {
        OK(MPI_Recv(NULL, 0, MPI_INT, right, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Rsend(sent, 4, MPI_INT, right, 7, MPI_COMM_WORLD));
      }
    } else if (mode == 3) {
      MPI_Request request;
      OK(MPI_Irecv(got, 8, MPI_INT, left, 7, MPI_COMM_WORLD, &request));
      OK(MPI_Send(NULL, 0, MPI_INT, left, 8, MPI_COMM_WORLD));
      OK(MPI_Wait(&request, &status));
      CHECK(request == MPI_REQUEST_NULL && got[3] == left + 3 && count_of(&status, MPI_INT) == 4);
    } else {
      OK(MPI_Recv(got, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
      CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 7 && count_of(&status, MPI_INT) == 4 && got[3] == left + 3);
    }
  }
  void* detached;
  int bytes;
  OK(MPI_Buffer_detach(&detached, &bytes));
  CHECK(detached == buffer && bytes == sizeof buffer);
  OK(MPI_Sendrecv(sent, 2, MPI_INT, right, 1, got, 8, MPI_INT, left, 1, MPI_COMM_WORLD, &status));
  CHECK(got[1] == left + 1 && status.MPI_SOURCE == left && count_of(&status, MPI_INT) == 2);
  OK(MPI_Sendrecv_replace(sent, 4, MPI_INT, right, 2, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(sent[0] == left);
  OK(MPI_Send(sent, 4, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  OK(MPI_Recv(got, 4, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status));
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && count_of(&status, MPI_INT) == 0);
  MPI_Datatype pair;
  OK(MPI_Type_vector(2, 1, 2, MPI_INT, &pair));
  OK(MPI_Type_commit(&pair));
  OK(MPI_Sendrecv(sent, 1, pair, right, 3, got, 2, MPI_INT, left, 3, MPI_COMM_WORLD, &status));
  CHECK(count_of(&status, pair) == 1 && count_of(&status, MPI_INT) == 2);
  OK(MPI_Type_free(&pair));
  CHECK(pair == MPI_DATATYPE_NULL);
}

static void many_requests(void) {
  enum { n = 20 };
  int sent[n], got[n], indices[2 * n], index, flag, number;
  MPI_Request requests[2 * n];
  MPI_Status statuses[2 * n], status;
  for (int how = 0; how < 7; ++how) {
    for (int i = 0; i < n; ++i) {
      sent[i] = 100 * rank + i;
      got[i] = -1;
      OK(MPI_Irecv(&got[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &requests[i]));
    }
    for (int i = 0; i < n; ++i) {
      if (i % 3 == 0) OK(MPI_Issend(&sent[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &requests[n + i]));
      else OK(MPI_Isend(&sent[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &requests[n + i]));
    }
    int left_over = 2 * n;
    if (how == 0) {
      OK(MPI_Waitall(2 * n, requests, statuses));
      for (int i = 0; i < n; ++i) CHECK(statuses[i].MPI_TAG == i && statuses[i].MPI_SOURCE == left);
    } else if (how == 1) {
      OK(MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE));
    } else if (how == 2) {
      for (; left_over > 0; --left_over) {
        OK(MPI_Waitany(2 * n, requests, &index, &status));
        CHECK(index >= 0 && index < 2 * n && requests[index] == MPI_REQUEST_NULL);
        if (index < n) CHECK(status.MPI_TAG == index && got[index] == 100 * left + index);
      }
      OK(MPI_Waitany(2 * n, requests, &index, &status));
      CHECK(index == MPI_UNDEFINED && status.MPI_SOURCE == MPI_ANY_SOURCE);
    } else if (how == 3) {
      while (left_over > 0) {
        OK(MPI_Waitsome(2 * n, requests, &number, indices, statuses));
        CHECK(number > 0);
        for (int i = 0; i < number; ++i)
          if (indices[i] < n) CHECK(statuses[i].MPI_TAG == indices[i]);
        left_over -= number;
      }
      OK(MPI_Waitsome(2 * n, requests, &number, indices, MPI_STATUSES_IGNORE));
      CHECK(number == MPI_UNDEFINED);
    } else if (how == 4) {
      do OK(MPI_Testall(2 * n, requests, &flag, statuses));
      while (!flag);
      CHECK(statuses[n - 1].MPI_TAG == n - 1);
    } else if (how == 5) {
      do OK(MPI_Testany(2 * n, requests, &index, &flag, MPI_STATUS_IGNORE));
      while (!flag || index != MPI_UNDEFINED);
      OK(MPI_Testany(2 * n, requests, &index, &flag, &status));
      CHECK(flag && index == MPI_UNDEFINED);
    } else {
      do OK(MPI_Testsome(2 * n, requests, &number, indices, MPI_STATUSES_IGNORE));
      while (number != MPI_UNDEFINED);
    }
    for (int i = 0; i < n; ++i) CHECK(got[i] == 100 * left + i);
  }
  MPI_Request none = MPI_REQUEST_NULL;
  OK(MPI_Wait(&none, &status));
  CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && count_of(&status, MPI_INT) == 0);
  OK(MPI_Test(&none, &flag, MPI_STATUS_IGNORE));
  CHECK(flag);
}

static void persistent_requests(void) {
  int sent = 0, got = -1, flag;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  OK(MPI_Recv_init(&got, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Send_init(&sent, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &requests[1]));
  for (int round = 0; round < 5; ++round) {
    sent = 10 * rank + round;
    if (round % 2) OK(MPI_Startall(2, requests));
    else {
      OK(MPI_Start(&requests[0]));
      OK(MPI_Start(&requests[1]));
    }
    OK(MPI_Waitall(2, requests, round == 2 ? MPI_STATUSES_IGNORE : statuses));
    CHECK(got == 10 * left + round && requests[0] != MPI_REQUEST_NULL);
    if (round != 2) CHECK(statuses[0].MPI_SOURCE == left && statuses[0].MPI_TAG == 5);
  }
  OK(MPI_Test(&requests[0], &flag, &statuses[0])); /* not active */
  CHECK(flag && statuses[0].MPI_SOURCE == MPI_ANY_SOURCE);
  OK(MPI_Request_get_status(requests[1], &flag, MPI_STATUS_IGNORE));
  CHECK(flag);
  OK(MPI_Request_free(&requests[0]));
  OK(MPI_Request_free(&requests[1]));
  CHECK(requests[0] == MPI_REQUEST_NULL);
}

static void probes_and_cancelling(void) {
  int sent[3] = {rank, 2, 3}, got[3] = {-1, -1, -1}, flag;
  MPI_Status status;
  MPI_Request request;
  MPI_Message message;
  OK(MPI_Isend(sent, 3, MPI_INT, right, 11, MPI_COMM_WORLD, &request));
  OK(MPI_Probe(MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, &status));
  CHECK(status.MPI_SOURCE == left && count_of(&status, MPI_INT) == 3);
  do OK(MPI_Iprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  while (!flag);
  OK(MPI_Mprobe(left, 11, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
  OK(MPI_Mrecv(got, 3, MPI_INT, &message, &status));
  CHECK(message == MPI_MESSAGE_NULL && got[0] == left && status.MPI_TAG == 11);
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Isend(sent, 2, MPI_INT, right, 12, MPI_COMM_WORLD, &request));
  do OK(MPI_Improbe(MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, &flag, &message, &status));
  while (!flag);
  MPI_Request receive;
  OK(MPI_Imrecv(got, 3, MPI_INT, &message, &receive));
  OK(MPI_Wait(&receive, &status));
  CHECK(status.MPI_SOURCE == left && count_of(&status, MPI_INT) == 2);
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));

  OK(MPI_Irecv(got, 1, MPI_INT, left, 999, MPI_COMM_WORLD, &request));
  OK(MPI_Cancel(&request));
  OK(MPI_Wait(&request, &status));
  OK(MPI_Test_cancelled(&status, &flag));
  CHECK(flag && request == MPI_REQUEST_NULL);
}

static void product(void* in, void* inout, int* length, MPI_Datatype* type) {
  int bytes = 0; /* a call from inside a call */
  MPI_Type_size(*type, &bytes);
  for (int i = 0; i < *length; ++i) ((long*)inout)[i] *= ((long*)in)[i] * (bytes / (int)sizeof(long));
}

static void collectives(void) {
  long one = rank + 1, sum = 0, *all = calloc((size_t)size * 4, sizeof *all), *more = calloc((size_t)size * 4, sizeof *all);
  int *counts = calloc((size_t)size, sizeof *counts), *places = calloc((size_t)size, sizeof *places);
  const long expected = (long)size * (size + 1) / 2;
  for (int i = 0; i < size; ++i) {
    counts[i] = 1 + i % 2;
    places[i] = 2 * i;
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  long value = rank == 1 ? 42 : 0;
  OK(MPI_Bcast(&value, 1, MPI_LONG, 1, MPI_COMM_WORLD));
  CHECK(value == 42);
  OK(MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
  CHECK(sum == expected);
  sum = one;
  OK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
  CHECK(sum == expected);
  OK(MPI_Reduce(&one, rank == 0 ? &sum : NULL, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD));
  if (rank == 0) CHECK(sum == size);
  OK(MPI_Gather(&one, 1, MPI_LONG, rank == 0 ? all : NULL, 1, MPI_LONG, 0, MPI_COMM_WORLD));
  if (rank == 0) CHECK(all[size - 1] == size);
  long two[2] = {rank, rank + 100};
  OK(MPI_Gatherv(two, counts[rank], MPI_LONG, rank == 0 ? all : NULL, rank == 0 ? counts : NULL, rank == 0 ? places : NULL,
                 MPI_LONG, 0, MPI_COMM_WORLD));
  if (rank == 0) CHECK(all[2 * (size - 1)] == size - 1);
  OK(MPI_Scatter(rank == 0 ? all : NULL, 2, MPI_LONG, two, 2, MPI_LONG, 0, MPI_COMM_WORLD));
  CHECK(two[0] == rank);
  OK(MPI_Scatterv(rank == 0 ? all : NULL, rank == 0 ? counts : NULL, rank == 0 ? places : NULL, MPI_LONG, two, counts[rank],
                  MPI_LONG, 0, MPI_COMM_WORLD));
  CHECK(two[0] == rank);
  OK(MPI_Allgather(&one, 1, MPI_LONG, all, 1, MPI_LONG, MPI_COMM_WORLD));
  CHECK(all[size - 1] == size);
  OK(MPI_Allgatherv(two, counts[rank], MPI_LONG, all, counts, places, MPI_LONG, MPI_COMM_WORLD));
  CHECK(all[2 * (size - 1)] == size - 1);
  for (int i = 0; i < size; ++i) more[i] = 1000 * rank + i;
  OK(MPI_Alltoall(more, 1, MPI_LONG, all, 1, MPI_LONG, MPI_COMM_WORLD));
  CHECK(all[left] == 1000 * left + rank);
  int* places_of_one = calloc((size_t)size, sizeof(int));
  int* ones = calloc((size_t)size, sizeof(int));
  MPI_Datatype* types = calloc((size_t)size, sizeof *types);
  for (int i = 0; i < size; ++i) {
    places_of_one[i] = i;
    ones[i] = 1;
    types[i] = MPI_LONG;
  }
  OK(MPI_Alltoallv(more, ones, places_of_one, MPI_LONG, all, ones, places_of_one, MPI_LONG, MPI_COMM_WORLD));
  CHECK(all[left] == 1000 * left + rank);
  for (int i = 0; i < size; ++i) places_of_one[i] *= (int)sizeof(long);
  OK(MPI_Alltoallw(more, ones, places_of_one, types, all, ones, places_of_one, types, MPI_COMM_WORLD));
  CHECK(all[left] == 1000 * left + rank);
  for (int i = 0; i < size; ++i) more[i] = rank + i;
  OK(MPI_Reduce_scatter_block(more, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
  CHECK(sum == expected - size + (long)size * rank);
  OK(MPI_Reduce_scatter(more, &sum, ones, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
  CHECK(sum == expected - size + (long)size * rank);
  OK(MPI_Scan(&one, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
  CHECK(sum == (long)(rank + 1) * (rank + 2) / 2);
  OK(MPI_Exscan(&one, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
  if (rank > 0) CHECK(sum == (long)rank * (rank + 1) / 2);
  MPI_Op own;
  OK(MPI_Op_create(product, 1, &own));
  long two_each = 2;
  OK(MPI_Allreduce(&two_each, &sum, 1, MPI_LONG, own, MPI_COMM_WORLD));
  CHECK(sum == 1L << size);
  OK(MPI_Op_free(&own));

  MPI_Request requests[5];
  long of_all = 0, from_root = rank == 2 ? 7 : 0;
  OK(MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Iallreduce(&one, &of_all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &requests[1]));
  OK(MPI_Ibcast(&from_root, 1, MPI_LONG, 2, MPI_COMM_WORLD, &requests[2]));
  OK(MPI_Iallgather(&one, 1, MPI_LONG, all, 1, MPI_LONG, MPI_COMM_WORLD, &requests[3]));
  OK(MPI_Ialltoallv(more, ones, ones, MPI_LONG, more + 2 * size, ones, ones, MPI_LONG, MPI_COMM_SELF, &requests[4]));
  OK(MPI_Waitall(5, requests, MPI_STATUSES_IGNORE));
  CHECK(of_all == expected && from_root == 7 && all[size - 1] == size);
#if MPI_VERSION >= 4
  MPI_Request persistent;
  OK(MPI_Allreduce_init(&one, &of_all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &persistent));
  for (int round = 0; round < 3; ++round) {
    of_all = 0;
    OK(MPI_Start(&persistent));
    OK(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
    CHECK(of_all == expected);
  }
  OK(MPI_Request_free(&persistent));
  OK(MPI_Allreduce_c(&one, &of_all, (MPI_Count)1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
  CHECK(of_all == expected);
  double cells[8];
  MPI_Request parts[2];
  OK(MPI_Psend_init(cells, 4, 1, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &parts[0]));
  OK(MPI_Precv_init(cells + 4, 4, 1, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &parts[1]));
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 4; ++i) cells[i] = rank + i + round;
    OK(MPI_Startall(2, parts));
    OK(MPI_Pready_range(0, 2, parts[0]));
    OK(MPI_Pready(3, parts[0]));
    OK(MPI_Waitall(2, parts, MPI_STATUSES_IGNORE));
    CHECK(cells[7] == left + 3 + round);
  }
  OK(MPI_Request_free(&parts[0]));
  OK(MPI_Request_free(&parts[1]));
#endif
  free(all), free(more), free(counts), free(places), free(places_of_one), free(ones), free(types);
}

static void communicators(void) {
  MPI_Comm half, copy, both, inter, later, shared;
  int value = rank, sum = 0, flag, of_half;
  MPI_Status status;
  OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
  OK(MPI_Comm_set_name(half, "half"));
  OK(MPI_Comm_rank(half, &of_half));
  OK(MPI_Comm_dup(half, &copy));
  OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, copy));
  CHECK(sum == (rank % 2 ? size / 2 * (size / 2) : size / 2 * (size / 2 - 1)));
  OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 3, &inter));
  OK(MPI_Comm_test_inter(inter, &flag));
  CHECK(flag);
  int other = -1;
  OK(MPI_Sendrecv(&rank, 1, MPI_INT, of_half, 4, &other, 1, MPI_INT, MPI_ANY_SOURCE, 4, inter, &status));
  CHECK(other == rank + (rank % 2 ? -1 : 1) && status.MPI_SOURCE == of_half);
  sum = -1;
  OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter));
  CHECK(sum == (rank % 2 ? size / 2 * (size / 2 - 1) : size / 2 * (size / 2)));
  value = rank == 0 ? 77 : -1;
  OK(MPI_Bcast(&value, 1, MPI_INT, rank % 2 ? 0 : (rank == 0 ? MPI_ROOT : MPI_PROC_NULL), inter));
  CHECK(value == (rank % 2 || rank == 0 ? 77 : -1));
  OK(MPI_Intercomm_merge(inter, rank % 2, &both));
  OK(MPI_Barrier(both));
  MPI_Request request;
  OK(MPI_Comm_idup(both, &later, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Barrier(later));
  OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared));
  MPI_Comm none;
  OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, 0, &none));
  CHECK((rank == 0) == (none == MPI_COMM_NULL));
  if (rank != 0) OK(MPI_Comm_free(&none));
  MPI_Group world, odd;
  const int only[2] = {0, 1};
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  OK(MPI_Group_incl(world, 2, only, &odd));
  if (rank < 2) {
    OK(MPI_Comm_create_group(MPI_COMM_WORLD, odd, 5, &none));
    OK(MPI_Barrier(none));
    OK(MPI_Comm_free(&none));
  }
  OK(MPI_Group_free(&odd));
  OK(MPI_Group_free(&world));
  OK(MPI_Comm_free(&shared));
  OK(MPI_Comm_free(&later));
  OK(MPI_Comm_free(&both));
  OK(MPI_Comm_disconnect(&inter));
  OK(MPI_Comm_free(&copy));
  OK(MPI_Comm_free(&half));
  CHECK(half == MPI_COMM_NULL && inter == MPI_COMM_NULL);
}

static void topologies(void) {
  const int dims[1] = {size}, periods[1] = {1};
  MPI_Comm ring, graph;
  int around[2] = {-1, -1}, before, after;
  OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring));
  OK(MPI_Cart_shift(ring, 0, 1, &before, &after));
  OK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, around, 1, MPI_INT, ring));
  CHECK(around[0] == before && around[1] == after);
  int both[2] = {10 * rank, 10 * rank + 1};
  OK(MPI_Neighbor_alltoall(both, 1, MPI_INT, around, 1, MPI_INT, ring));
  CHECK(size == 2 || (around[0] == 10 * before + 1 && around[1] == 10 * after));
  const int weights = 1;
  OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, &weights, 1, &right, &weights, MPI_INFO_NULL, 0, &graph));
  MPI_Request request;
  OK(MPI_Ineighbor_alltoall(&rank, 1, MPI_INT, around, 1, MPI_INT, graph, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(around[0] == left);
  const int count = 1, place = 0;
  OK(MPI_Neighbor_alltoallv(&rank, &count, &place, MPI_INT, around, &count, &place, MPI_INT, graph));
  CHECK(around[0] == left);
  OK(MPI_Comm_free(&graph));
  OK(MPI_Comm_free(&ring));
}

static void windows(void) {
  long *memory, got = -1, expected, one = 1;
  MPI_Win win;
  OK(MPI_Win_allocate(4 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
  for (int i = 0; i < 4; ++i) memory[i] = rank;
  OK(MPI_Win_fence(0, win));
  const long mine = 100 + rank;
  OK(MPI_Put(&mine, 1, MPI_LONG, right, 0, 1, MPI_LONG, win));
  OK(MPI_Get(&got, 1, MPI_LONG, right, 1, 1, MPI_LONG, win));
  OK(MPI_Win_fence(0, win));
  CHECK(memory[0] == 100 + left && got == right);
  OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
  OK(MPI_Accumulate(&one, 1, MPI_LONG, 0, 2, 1, MPI_LONG, MPI_SUM, win));
  OK(MPI_Win_unlock(0, win));
  OK(MPI_Win_lock_all(0, win));
  OK(MPI_Fetch_and_op(&one, &got, MPI_LONG, 0, 3, MPI_SUM, win));
  OK(MPI_Win_flush(0, win));
  CHECK(got >= 0 && got < size);
  const long zero = 0;
  OK(MPI_Compare_and_swap(&one, &zero, &got, MPI_LONG, right, 1, win));
  OK(MPI_Win_flush_all(win));
  MPI_Request request;
  OK(MPI_Rput(&mine, 1, MPI_LONG, right, 0, 1, MPI_LONG, win, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Win_flush_local_all(win));
  OK(MPI_Win_unlock_all(win));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
  OK(MPI_Get(&expected, 1, MPI_LONG, 0, 2, 1, MPI_LONG, win));
  OK(MPI_Win_unlock(0, win));
  CHECK(expected == size);
  MPI_Group world, to, from;
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  OK(MPI_Group_incl(world, 1, &right, &to));
  OK(MPI_Group_incl(world, 1, &left, &from));
  OK(MPI_Win_post(from, 0, win));
  OK(MPI_Win_start(to, 0, win));
  OK(MPI_Put(&mine, 1, MPI_LONG, right, 1, 1, MPI_LONG, win));
  OK(MPI_Win_complete(win));
  OK(MPI_Win_wait(win));
  CHECK(memory[1] == 100 + left);
  OK(MPI_Group_free(&world));
  OK(MPI_Group_free(&to));
  OK(MPI_Group_free(&from));
  OK(MPI_Win_free(&win));
  CHECK(win == MPI_WIN_NULL);
}

static void files(const char* path) {
  MPI_File file;
  MPI_Status status;
  int mine[4] = {rank, rank, rank, rank}, back[4];
  const MPI_Offset at = (MPI_Offset)(rank * (int)sizeof mine);
  OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  OK(MPI_File_write_at_all(file, at, mine, 4, MPI_INT, &status));
  CHECK(count_of(&status, MPI_INT) == 4);
  OK(MPI_File_sync(file));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_File_read_at_all(file, (MPI_Offset)(right * (int)sizeof mine), back, 4, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(back[3] == right);
  MPI_Request request;
  OK(MPI_File_iread_at(file, at, back, 4, MPI_INT, &request));
  OK(MPI_Wait(&request, &status));
  CHECK(back[0] == rank && count_of(&status, MPI_INT) == 4);
  OK(MPI_File_close(&file));
  CHECK(MPI_File_open(MPI_COMM_SELF, "/no/such/folder/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS);
}

static int errors_seen;
static void on_error(MPI_Comm* comm, int* code, ...) {
  int of;
  MPI_Comm_rank(*comm, &of); /* a call from inside a call */
  ++errors_seen;
  (void)code;
}

static void errors(void) {
  int value = 0, long_message[4] = {1, 2, 3, 4}, kind;
  MPI_Status status;
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  int code = MPI_Send(&value, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
  OK(MPI_Error_class(code, &kind));
  CHECK(kind == MPI_ERR_RANK);
  code = MPI_Send(&value, -1, MPI_INT, right, 0, MPI_COMM_WORLD);
  OK(MPI_Error_class(code, &kind));
  CHECK(kind == MPI_ERR_COUNT);
  MPI_Request request;
  OK(MPI_Irecv(&value, 1, MPI_INT, left, 21, MPI_COMM_WORLD, &request));
  OK(MPI_Send(long_message, 4, MPI_INT, right, 21, MPI_COMM_WORLD));
  code = MPI_Wait(&request, &status);
  OK(MPI_Error_class(code, &kind));
  CHECK(kind == MPI_ERR_TRUNCATE);
  MPI_Errhandler own;
  OK(MPI_Comm_create_errhandler(on_error, &own));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, own));
  CHECK(MPI_Bcast(&value, 1, MPI_INT, size + 5, MPI_COMM_WORLD) != MPI_SUCCESS);
  CHECK(errors_seen == 1);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
  OK(MPI_Errhandler_free(&own));
}

static int deleted;
static int on_delete(MPI_Comm comm, int key, void* value, void* extra) {
  int flag;
  MPI_Comm_test_inter(comm, &flag);
  (void)key, (void)value, (void)extra;
  ++deleted;
  return MPI_SUCCESS;
}

static void attributes(void) {
  int key, flag;
  void* value;
  MPI_Comm copy;
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL));
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
  OK(MPI_Comm_set_attr(copy, key, &key));
  OK(MPI_Comm_get_attr(copy, key, &value, &flag));
  CHECK(flag && value == &key);
  OK(MPI_Comm_free(&copy));
  CHECK(deleted == 1);
  OK(MPI_Comm_free_keyval(&key));
  MPI_Pcontrol(1, "with", 2, "more"); /* any number of arguments */
  double before = MPI_Wtime();
  CHECK(MPI_Wtime() >= before && MPI_Wtick() > 0);
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)(void);
  } subjects[] = {
      {"messages", blocking_messages}, {"requests", many_requests}, {"persistent", persistent_requests},
      {"probes", probes_and_cancelling}, {"collectives", collectives}, {"communicators", communicators},
      {"topologies", topologies}, {"windows", windows}, {"errors", errors}, {"attributes", attributes},
  };
  int flag;
  OK(MPI_Initialized(&flag));
  CHECK(!flag);
  OK(MPI_Init(&argc, &argv));
  OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
  right = (rank + 1) % size;
  left = (rank + size - 1) % size;
  for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; ++i) {
    int wanted = argc < 3;
    for (int word = 2; word < argc; ++word) wanted |= strcmp(argv[word], subjects[i].name) == 0;
    if (!wanted) continue;
    subjects[i].run();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) printf("%s\n", subjects[i].name);
  }
  int wanted = argc < 3;
  for (int word = 2; word < argc; ++word) wanted |= strcmp(argv[word], "files") == 0;
  if (wanted) {
    files(argv[1]);
    if (rank == 0) printf("files\n");
  }
  fflush(stdout);
  OK(MPI_Finalize());
  OK(MPI_Finalized(&flag));
  CHECK(flag);
  return 0;
}
