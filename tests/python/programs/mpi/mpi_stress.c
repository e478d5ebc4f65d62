/* Random traffic of all kinds, verified: which kind, of how many bytes, and which rank is late differs from turn to turn.
 *
 *   mpi_stress TURNS|TIMEs [SEED [without-synchronous] [without-matched]]
 *
 * Messages have 0 bytes to 1 MB. There are point-to-point messages of all modes, from any source, after probes; waits for
 * all, any and some requests, also after tests; blocking collectives of all kinds; several non-blocking ones at a time;
 * persistent requests; and one-sided operations on a rank that waits in MPI_Recv. Standard messages take the place of
 * synchronous ones that are left out, MPI_Probe that of MPI_Mprobe.
 */
#include "verified.h"

enum { LARGEST = 1 << 20, LARGEST_OF_EACH = 1 << 17, WINDOW = 1 << 16, TAG_OF_ANSWER = 8 };
#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

/* Of this turn, the same on all ranks: */
static size_t bytes;
static int root, tag;
static uint64_t choice;
static int synchronous = 1, matched = 1;

static int left, right;
static char *out, *in; /* of LARGEST for each rank */
static MPI_Win window;
static char* window_memory;

static size_t at_most(size_t most) { return bytes < most ? bytes : most; }
static char* part(char* of, int which, size_t each) { return of + (size_t)which * each; }

/* Contents of a collective whose sender is `from` and whose receivers are all. */
static uint64_t key_from(int from) { return key_of(from, from); }

static void ring(void) {
  MPI_Status status;
  int count = 0;
  fill(out, bytes, key_of(rank, right));
  MPI_Sendrecv(out, (int)bytes, MPI_BYTE, right, tag, in, LARGEST, MPI_BYTE, left, tag, WORLD, &status);
  MPI_Get_count(&status, MPI_BYTE, &count);
  expect_number("MPI_Get_count", (uint64_t)count, bytes);
  expect("MPI_Sendrecv", in, bytes, key_of(left, rank));
}

static void everyone_to_everyone(void) {
  const size_t each = at_most(LARGEST_OF_EACH);
  MPI_Request* const requests = malloc(sizeof(MPI_Request) * 2 * (size_t)ranks);
  int started = 0;
  for (int i = 0; i < ranks; ++i)
    MPI_Irecv(part(in, i, each), (int)each, MPI_BYTE, i, tag, WORLD, &requests[started++]);
  for (int i = 0; i < ranks; ++i) {
    fill(part(out, i, each), each, key_of(rank, i));
    if (!synchronous || (choice + (unsigned)i) % 2 == 0)
      MPI_Isend(part(out, i, each), (int)each, MPI_BYTE, i, tag, WORLD, &requests[started++]);
    else
      MPI_Issend(part(out, i, each), (int)each, MPI_BYTE, i, tag, WORLD, &requests[started++]);
  }
  if (choice % 3 == 0) {
    int done = 0, *const indices = malloc(sizeof(int) * (size_t)started);
    for (int waited = 0; waited < started; waited += done)
      MPI_Waitsome(started, requests, &done, indices, MPI_STATUSES_IGNORE);
    free(indices);
  } else {
    MPI_Waitall(started, requests, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < ranks; ++i) expect("MPI_Irecv", part(in, i, each), each, key_of(i, rank));
  free(requests);
}

/* Every rank sends to the root, which takes them in the order in which they come, and answers. */
static void any_source(void) {
  uint64_t answer = 0;
  if (rank != root) {
    fill(out, bytes, key_of(rank, root));
    if (synchronous && choice % 2 == 0)
      MPI_Ssend(out, (int)bytes, MPI_BYTE, root, tag, WORLD);
    else
      MPI_Send(out, (int)bytes, MPI_BYTE, root, tag, WORLD);
    MPI_Recv(&answer, 1, MPI_UINT64_T, root, TAG_OF_ANSWER, WORLD, IGNORE);
    expect_number("MPI_Recv of an answer", answer, key_of(root, rank));
    return;
  }
  uint64_t sources = 0; /* their order differs from run to run, so it is not in the hash */
  const uint64_t before = received;
  for (int i = 0; i < ranks - 1; ++i) {
    MPI_Status status;
    MPI_Message message;
    int count = (int)bytes, size = 0;
    switch (choice % 3 == 2 && !matched ? 1 : choice % 3) {
      case 0:
        MPI_Recv(in, LARGEST, MPI_BYTE, MPI_ANY_SOURCE, tag, WORLD, &status);
        break;
      case 1:
        MPI_Probe(MPI_ANY_SOURCE, tag, WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        MPI_Recv(in, count, MPI_BYTE, status.MPI_SOURCE, tag, WORLD, &status);
        break;
      default:
        MPI_Mprobe(MPI_ANY_SOURCE, tag, WORLD, &message, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        MPI_Mrecv(in, count, MPI_BYTE, &message, &status);
    }
    MPI_Get_count(&status, MPI_BYTE, &size);
    if ((size_t)count != bytes || (size_t)size != bytes) wrong("the size of a message from any source", (size_t)size);
    expect("a message from any source", in, bytes, key_of(status.MPI_SOURCE, rank));
    sources += key_of(status.MPI_SOURCE, rank);
    answer = key_of(rank, status.MPI_SOURCE);
    MPI_Send(&answer, 1, MPI_UINT64_T, status.MPI_SOURCE, TAG_OF_ANSWER, WORLD);
  }
  received = before;
  for (int i = 0; i < ranks; ++i)
    if (i != rank) sources -= key_of(i, rank);
  expect_number("the sources of messages", sources, 0);
}

static void waits_after_tests(void) {
  MPI_Request requests[2];
  int flag = 0, index = 0;
  MPI_Irecv(in, (int)bytes, MPI_BYTE, left, tag, WORLD, &requests[0]);
  fill(out, bytes, key_of(rank, right));
  MPI_Isend(out, (int)bytes, MPI_BYTE, right, tag, WORLD, &requests[1]);
  for (uint64_t i = 0; i < choice % 50 && !flag; ++i) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
  if (!flag)
    for (int i = 0; i < 2; ++i) MPI_Waitany(2, requests, &index, IGNORE);
  expect("MPI_Waitany", in, bytes, key_of(left, rank));
}

static void persistent(void) {
  MPI_Request requests[2];
  MPI_Recv_init(in, (int)bytes, MPI_BYTE, left, tag, WORLD, &requests[0]);
  MPI_Send_init(out, (int)bytes, MPI_BYTE, right, tag, WORLD, &requests[1]);
  for (int i = 0; i < 3; ++i) {
    fill(out, bytes, key_of(rank, right) + (unsigned)i);
    MPI_Startall(2, requests);
    MPI_Wait(&requests[0], IGNORE);
    expect("MPI_Startall", in, bytes, key_of(left, rank) + (unsigned)i);
    MPI_Wait(&requests[1], IGNORE);
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
}

/* A late rank delays its neighbour, and that the next one. */
static void chain(void) {
  const int place = (rank + ranks - root) % ranks;
  if (place > 0) {
    MPI_Recv(in, (int)bytes, MPI_BYTE, left, tag, WORLD, IGNORE);
    expect("MPI_Recv", in, bytes, key_of(left, rank));
  }
  if (place == ranks - 1) return;
  fill(out, bytes, key_of(rank, right));
  MPI_Send(out, (int)bytes, MPI_BYTE, right, tag, WORLD);
}

static void barrier(void) { MPI_Barrier(WORLD); }

static void broadcast(void) {
  if (rank == root)
    fill(in, bytes, key_from(root));
  else
    memset(in, 0, bytes);
  MPI_Bcast(in, (int)bytes, MPI_BYTE, root, WORLD);
  expect("MPI_Bcast", in, bytes, key_from(root));
}

static void gather(void) {
  const size_t each = at_most(LARGEST_OF_EACH);
  fill(out, each, key_from(rank));
  if (choice % 2 == 0) {
    MPI_Gather(out, (int)each, MPI_BYTE, in, (int)each, MPI_BYTE, root, WORLD);
    if (rank != root) return;
  } else {
    MPI_Allgather(out, (int)each, MPI_BYTE, in, (int)each, MPI_BYTE, WORLD);
  }
  for (int i = 0; i < ranks; ++i) expect("MPI_Gather or MPI_Allgather", part(in, i, each), each, key_from(i));
}

/* Of different sizes: rank I has one byte more than rank I - 1. */
static void gather_of_sizes(void) {
  const size_t each = at_most(LARGEST_OF_EACH - (size_t)ranks) + (size_t)ranks;
  int* const counts = malloc(sizeof(int) * 2 * (size_t)ranks);
  int* const begins = counts + ranks;
  for (int i = 0; i < ranks; ++i) {
    counts[i] = (int)each - ranks + i;
    begins[i] = i * (int)each;
  }
  fill(out, (size_t)counts[rank], key_from(rank));
  if (choice % 2 == 0) {
    MPI_Gatherv(out, counts[rank], MPI_BYTE, in, counts, begins, MPI_BYTE, root, WORLD);
  } else {
    MPI_Allgatherv(out, counts[rank], MPI_BYTE, in, counts, begins, MPI_BYTE, WORLD);
  }
  for (int i = 0; i < ranks && (choice % 2 != 0 || rank == root); ++i)
    expect("MPI_Gatherv or MPI_Allgatherv", in + begins[i], (size_t)counts[i], key_from(i));
  free(counts);
}

static void scatter(void) {
  const size_t each = at_most(LARGEST_OF_EACH);
  for (int i = 0; i < ranks && rank == root; ++i) fill(part(out, i, each), each, key_of(root, i));
  MPI_Scatter(out, (int)each, MPI_BYTE, in, (int)each, MPI_BYTE, root, WORLD);
  expect("MPI_Scatter", in, each, key_of(root, rank));
}

static void all_to_all(void) {
  const size_t each = at_most(LARGEST_OF_EACH);
  for (int i = 0; i < ranks; ++i) fill(part(out, i, each), each, key_of(rank, i));
  MPI_Alltoall(out, (int)each, MPI_BYTE, in, (int)each, MPI_BYTE, WORLD);
  for (int i = 0; i < ranks; ++i) expect("MPI_Alltoall", part(in, i, each), each, key_of(i, rank));
}

/* Reductions: rank R contributes (R + 1) * (K + I) at index I. */
static size_t numbers(void) { return bytes / sizeof(uint32_t); }
static void contribute(size_t count) {
  const uint32_t key = (uint32_t)key_from(0);
  uint32_t* const to = (uint32_t*)out;
  for (size_t i = 0; i < count; ++i) to[i] = (uint32_t)(rank + 1) * (key + (uint32_t)i);
}
static void expect_sums(const char* what, const char* data, size_t first, size_t count, int of_ranks) {
  const uint32_t key = (uint32_t)key_from(0), factor = (uint32_t)(of_ranks * (of_ranks + 1) / 2);
  const uint32_t* const found = (const uint32_t*)data;
  for (size_t i = 0; i < count; ++i) {
    if (found[i] != factor * (key + (uint32_t)(first + i))) wrong(what, i);
    see(found[i]);
  }
}

static void reduce(void) {
  const int count = (int)numbers();
  contribute((size_t)count);
  MPI_Reduce(out, in, count, MPI_UINT32_T, MPI_SUM, root, WORLD);
  if (rank == root) expect_sums("MPI_Reduce", in, 0, (size_t)count, ranks);
}

static void reduce_to_all(void) {
  const int count = (int)numbers();
  contribute((size_t)count);
  MPI_Allreduce(out, in, count, MPI_UINT32_T, MPI_SUM, WORLD);
  expect_sums("MPI_Allreduce", in, 0, (size_t)count, ranks);
}

static void reduce_and_scatter(void) {
  const size_t each = numbers() / (size_t)ranks;
  contribute(each * (size_t)ranks);
  MPI_Reduce_scatter_block(out, in, (int)each, MPI_UINT32_T, MPI_SUM, WORLD);
  expect_sums("MPI_Reduce_scatter_block", in, each * (size_t)rank, each, ranks);
}

static void scan(void) {
  const int count = (int)numbers();
  contribute((size_t)count);
  if (choice % 2 == 0) {
    MPI_Scan(out, in, count, MPI_UINT32_T, MPI_SUM, WORLD);
    expect_sums("MPI_Scan", in, 0, (size_t)count, rank + 1);
  } else {
    MPI_Exscan(out, in, count, MPI_UINT32_T, MPI_SUM, WORLD);
    if (rank > 0) expect_sums("MPI_Exscan", in, 0, (size_t)count, rank);
  }
}

/* Several at the same time, and a message. */
static void nonblocking_collectives(void) {
  const size_t each = at_most(LARGEST_OF_EACH), count = each / sizeof(uint32_t);
  /* Places in the buffers: the message, the reduction, the broadcast; and for MPI_Iallgather a buffer of its own. */
  char *const of_reduction = in + each, *const of_broadcast = of_reduction + each;
  char* const gathered = malloc(each * (size_t)ranks + 1);
  char* const mine = malloc(each + 1);
  char* const message = malloc(each + 1);
  MPI_Request requests[6];
  int flag = 0;
  contribute(count);
  fill(mine, each, key_from(rank));
  fill(message, each, key_of(rank, right));
  if (rank == root) fill(of_broadcast, each, key_from(root));
  MPI_Irecv(in, (int)each, MPI_BYTE, left, tag, WORLD, &requests[0]);
  MPI_Iallreduce(out, of_reduction, (int)count, MPI_UINT32_T, MPI_SUM, WORLD, &requests[1]);
  MPI_Ibcast(of_broadcast, (int)each, MPI_BYTE, root, WORLD, &requests[2]);
  MPI_Iallgather(mine, (int)each, MPI_BYTE, gathered, (int)each, MPI_BYTE, WORLD, &requests[3]);
  MPI_Ibarrier(WORLD, &requests[4]);
  MPI_Isend(message, (int)each, MPI_BYTE, right, tag, WORLD, &requests[5]);
  for (uint64_t i = 0; i < choice % 20 && !flag; ++i) MPI_Testall(6, requests, &flag, MPI_STATUSES_IGNORE);
  if (choice % 3 == 0)
    for (int i = 5; i >= 0; --i) MPI_Wait(&requests[i], IGNORE);
  else
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
  expect("MPI_Irecv during collectives", in, each, key_of(left, rank));
  expect_sums("MPI_Iallreduce", of_reduction, 0, count, ranks);
  expect("MPI_Ibcast", of_broadcast, each, key_from(root));
  for (int i = 0; i < ranks; ++i) expect("MPI_Iallgather", part(gathered, i, each), each, key_from(i));
  free(message);
  free(mine);
  free(gathered);
}

static void nonblocking_all_to_all(void) {
  const size_t each = at_most(LARGEST_OF_EACH);
  MPI_Request request;
  for (int i = 0; i < ranks; ++i) fill(part(out, i, each), each, key_of(rank, i));
  MPI_Ialltoall(out, (int)each, MPI_BYTE, in, (int)each, MPI_BYTE, WORLD, &request);
  MPI_Wait(&request, IGNORE);
  for (int i = 0; i < ranks; ++i) expect("MPI_Ialltoall", part(in, i, each), each, key_of(i, rank));
}

/* The rank before the root puts and gets while the root waits for its message. */
static void one_sided(void) {
  const int size = (int)at_most(WINDOW - sizeof(uint64_t)), counter = WINDOW - (int)sizeof(uint64_t);
  const int origin = (root + ranks - 1) % ranks;
  uint64_t number = 1, before = 0;
  if (rank == origin) {
    fill(out, (size_t)size, key_of(origin, root));
    memset(in, 0, (size_t)size);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, root, 0, window);
    MPI_Put(out, size, MPI_BYTE, root, 0, size, MPI_BYTE, window);
    MPI_Win_flush(root, window);
    MPI_Fetch_and_op(&number, &before, MPI_UINT64_T, root, counter, MPI_SUM, window);
    MPI_Win_unlock(root, window);
    MPI_Win_lock(MPI_LOCK_SHARED, root, 0, window);
    MPI_Get(in, size, MPI_BYTE, root, 0, size, MPI_BYTE, window);
    MPI_Win_unlock(root, window);
    expect("MPI_Get", in, (size_t)size, key_of(origin, root));
    see(before);
    MPI_Send(&before, 1, MPI_UINT64_T, root, tag, WORLD);
    MPI_Recv(&number, 1, MPI_UINT64_T, root, tag, WORLD, IGNORE); /* the root has seen all of it */
    expect_number("MPI_Fetch_and_op", number, before + 1);
  } else if (rank == root) {
    MPI_Recv(&before, 1, MPI_UINT64_T, origin, tag, WORLD, IGNORE);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, root, 0, window);
    expect("MPI_Put", window_memory, (size_t)size, key_of(origin, root));
    memcpy(&number, window_memory + counter, sizeof number);
    MPI_Win_unlock(root, window);
    MPI_Send(&number, 1, MPI_UINT64_T, origin, tag, WORLD);
  }
}

static void (*const kinds[])(void) = {ring,
                                      everyone_to_everyone,
                                      any_source,
                                      waits_after_tests,
                                      persistent,
                                      chain,
                                      barrier,
                                      broadcast,
                                      gather,
                                      scatter,
                                      all_to_all,
                                      gather_of_sizes,
                                      reduce,
                                      reduce_to_all,
                                      scan,
                                      reduce_and_scatter,
                                      one_sided,
                                      any_source,
                                      nonblocking_collectives,
                                      nonblocking_all_to_all};

/* All powers of two are equally frequent; sizes of a power of two, or of one byte less, are more frequent than others. */
static size_t random_size(void) {
  const size_t power = (size_t)1 << random_below(21);
  switch (random_below(6)) {
    case 0:
      return 0;
    case 1:
      return power;
    case 2:
      return power - 1;
    default:
      return random_below(power);
  }
}

/* In a third of the turns one rank is late by up to 2 ms, in another third by up to 0.2 ms. */
static void be_late(void) {
  const int who = (int)random_below((uint64_t)ranks);
  const double us = (double)random_below(2000);
  const uint64_t how = random_below(3);
  if (rank == who && how != 0) compute(how == 1 ? us : us / 10);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  begin(argc, argv);
  seed = (uint64_t)argument(argc, argv, 2, 1);
  for (int i = 3; i < argc; ++i) {
    if (strcmp(argv[i], "without-synchronous") == 0) synchronous = 0;
    if (strcmp(argv[i], "without-matched") == 0) matched = 0;
  }
  left = (rank + ranks - 1) % ranks;
  right = (rank + 1) % ranks;
  out = calloc((size_t)ranks, LARGEST);
  in = calloc((size_t)ranks, LARGEST);
  MPI_Win_allocate(WINDOW, 1, MPI_INFO_NULL, WORLD, &window_memory, &window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  memset(window_memory, 0, WINDOW);
  MPI_Win_unlock(rank, window);
  MPI_Barrier(WORLD);
  for (; goes_on(); ++turn) {
    state = mixed(seed) + (uint64_t)turn * 1000003;
    bytes = random_size();
    root = (int)random_below((uint64_t)ranks);
    tag = (int)(turn % 1000) + 10;
    choice = random_below(1 << 30);
    be_late();
    kinds[random_below(sizeof kinds / sizeof *kinds)]();
  }
  MPI_Barrier(WORLD);
  MPI_Win_free(&window);
  print_result();
  free(out);
  free(in);
  return MPI_Finalize();
}
