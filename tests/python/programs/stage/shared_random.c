/* A random program of MPI-IO: all ranks write one file, in every form of write, with views and datatypes, and order what
 * overlaps by barriers alone, as HDF5 does.
 *
 *   shared_random FILE SEED STEPS      prints what each rank has read, and sizes; the file stays
 *
 * Within a step no two ranks write the same bytes, so that the file is the same in each run. All ranks draw the same
 * numbers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CHECK(condition)                                                        \
  do                                                                            \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 3);                                             \
    }                                                                           \
  while (0)
#define CALL(call) CHECK((call) == MPI_SUCCESS)

enum { block = 512, most = 40 * block };

static unsigned long state;
static int rank, size;
static const char* path;
static MPI_File file, own; /* of all; of each rank */
static int data[4 * most];
static MPI_Info hints;

static int draw(int below) {
  state = state * 6364136223846793005UL + 1442695040888963407UL;
  return (int)((state >> 33) % (unsigned long)below);
}

static void fill(int step, int count) {
  for (int i = 0; i < count; ++i) data[i] = step << 16 | rank << 12 | (i & 0xfff);
}

static void expect(MPI_Status* status, int bytes) {
  int count;
  CALL(MPI_Get_count(status, MPI_BYTE, &count));
  CHECK(count == bytes);
}

static void open_both(int mode) {
  CALL(MPI_File_open(MPI_COMM_WORLD, path, mode | MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file));
  CALL(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR, hints, &own));
}

static void close_both(void) {
  CALL(MPI_File_close(&own));
  CALL(MPI_File_close(&file));
}

static void reset_view(MPI_File of) { CALL(MPI_File_set_view(of, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL)); }

/* Every rank its blocks of a pattern: the type of its view. */
static MPI_Datatype pattern(int kind) {
  MPI_Datatype made, inner;
  if (kind == 0) {
    CALL(MPI_Type_vector(1, block, block, MPI_BYTE, &inner));
    CALL(MPI_Type_create_resized(inner, 0, (MPI_Aint)block * size, &made));
    CALL(MPI_Type_free(&inner));
  } else if (kind == 1) {
    int sizes[2] = {8, 64 * size}, parts[2] = {8, 64}, starts[2] = {0, 64 * rank};
    CALL(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_BYTE, &made));
  } else if (kind == 2) {
    int lengths[3] = {16, 100, 8}, places[3] = {0, 40, 200};
    CALL(MPI_Type_indexed(3, lengths, places, MPI_BYTE, &inner));
    CALL(MPI_Type_create_resized(inner, 0, 208 * size, &made));
    CALL(MPI_Type_free(&inner));
  } else {
    int sizes[2] = {6, 4 * size}, how[2] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC},
        arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[2] = {1, size};
    CALL(MPI_Type_create_darray(size, rank, 2, sizes, how, arguments, grid, MPI_ORDER_FORTRAN, MPI_INT, &made));
  }
  CALL(MPI_Type_commit(&made));
  return made;
}

static void write_by_view(int step) {
  const int kind = draw(4), begin = 4 * draw(most / 8), spread = kind == 2 ? 208 * rank : kind == 0 ? block * rank : 0;
  MPI_Datatype type = pattern(kind), memory;
  MPI_Status status;
  int of_type, times = 1 + draw(3);
  CALL(MPI_Type_size(type, &of_type));
  const int ints = times * of_type / 4;
  CALL(MPI_File_set_view(file, begin + spread, draw(2) ? MPI_BYTE : MPI_INT, type, "native", MPI_INFO_NULL));
  /* Every second number in memory. */
  CALL(MPI_Type_vector(ints, 1, 2, MPI_INT, &memory));
  CALL(MPI_Type_commit(&memory));
  fill(step, 2 * ints);
  switch (draw(4)) {
    case 0:
      CALL(MPI_File_write_all(file, data, ints, MPI_INT, &status));
      break;
    case 1:
      CALL(MPI_File_write_at_all(file, 0, data, 1, memory, &status));
      break;
    case 2:
      CALL(MPI_File_write_all_begin(file, data, ints, MPI_INT));
      CALL(MPI_File_write_all_end(file, data, &status));
      break;
    default:
      CALL(MPI_File_write(file, data, 1, memory, &status));
  }
  expect(&status, 4 * ints);
  MPI_Barrier(MPI_COMM_WORLD);
  if (draw(2)) {
    CALL(MPI_File_read_at_all(file, 0, data, ints, MPI_INT, &status));
    printf("%d %d view %d\n", step, rank, data[ints - 1]);
  }
  reset_view(file);
  MPI_Type_free(&memory);
  MPI_Type_free(&type);
}

static void write_plainly(int step) {
  const int bytes = 4 * (1 + draw(block)), turn = draw(size), mine = (rank + turn) % size;
  const MPI_Offset at = 4 * draw(most / 4) + (MPI_Offset)mine * bytes;
  MPI_Status status;
  MPI_Request request;
  fill(step, bytes / 4);
  switch (draw(7)) {
    case 0:
      CALL(MPI_File_write_at(draw(2) ? file : own, at, data, bytes, MPI_BYTE, &status));
      break;
    case 1:
      CALL(MPI_File_write_at_all(file, at, data, bytes, MPI_BYTE, &status));
      break;
    case 2:
      CALL(MPI_File_iwrite_at(own, at, data, bytes, MPI_BYTE, &request));
      CALL(MPI_Wait(&request, &status));
      break;
    case 3:
      CALL(MPI_File_seek(file, at, MPI_SEEK_SET));
      CALL(MPI_File_write(file, data, bytes / 2, MPI_BYTE, &status));
      CALL(MPI_File_seek(file, 0, MPI_SEEK_CUR));
      CALL(MPI_File_write(file, (char*)data + bytes / 2, bytes - bytes / 2, MPI_BYTE, MPI_STATUS_IGNORE));
      MPI_Offset after;
      CALL(MPI_File_get_position(file, &after));
      CHECK(after == at + bytes);
      return;
    case 4:
      CALL(MPI_File_write_at_all_begin(file, at, data, bytes, MPI_BYTE));
      CALL(MPI_File_write_at_all_end(file, data, &status));
      break;
    case 5: /* only one rank has something to write */
      CALL(MPI_File_write_at_all(file, at, data, mine == 0 ? bytes : 0, MPI_BYTE, &status));
      expect(&status, mine == 0 ? bytes : 0);
      return;
    default:
      if (mine != 0) return;
      CALL(MPI_File_write_at(own, at, data, bytes, MPI_BYTE, &status));
  }
  expect(&status, bytes);
}

static void read_something(int step) {
  const MPI_Offset at = 4 * draw(most / 4);
  const int how = draw(3);
  MPI_Status status;
  MPI_Offset now;
  int count;
  CALL(MPI_File_get_size(file, &now));
  /* Beyond the end, libraries leave what was in their buffers. */
  const int bytes = now < at ? 0 : now - at < 2 * block ? (int)(now - at) : 2 * block;
  memset(data, 0xee, sizeof data);
  if (how < 2)
    CALL(MPI_File_read_at(how ? file : own, at, data, bytes, MPI_BYTE, &status));
  else {
    CALL(MPI_File_seek(file, at, MPI_SEEK_SET));
    CALL(MPI_File_read_all(file, data, bytes, MPI_BYTE, &status));
  }
  CALL(MPI_Get_count(&status, MPI_BYTE, &count));
  unsigned sum = 0;
  for (int i = 0; i < block / 2; ++i) sum = sum * 31 + (unsigned)data[i];
  printf("%d %d read %d %u\n", step, rank, count, sum);
}

static void change_size(int step) {
  MPI_Offset bytes = draw(2) ? draw(most) : 0;
  MPI_Offset now;
  CALL(MPI_File_get_size(file, &now));
  MPI_Barrier(MPI_COMM_WORLD);
  CALL(MPI_File_set_size(file, bytes));
  CALL(MPI_File_get_size(file, &bytes));
  printf("%d %d size %lld %lld\n", step, rank, (long long)now, (long long)bytes);
}

static void look_by_path(int step) {
  struct stat found;
  close_both();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == step % size) {
    unsigned sum = 0;
    int one;
    FILE* const stream = fopen(path, "r");
    CHECK(stream != NULL && stat(path, &found) == 0);
    while ((one = fgetc(stream)) != EOF) sum = sum * 31 + (unsigned)one;
    fclose(stream);
    printf("%d %d file %lld %u\n", step, rank, (long long)found.st_size, sum);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  open_both(draw(2) ? MPI_MODE_APPEND : 0);
}

int main(int argc, char** argv) {
  CALL(MPI_Init(&argc, &argv));
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(argc == 4);
  path = argv[1];
  state = strtoul(argv[2], NULL, 10);
  /* ROMIO would read, change and write back blocks into which other ranks write. */
  CALL(MPI_Info_create(&hints));
  CALL(MPI_Info_set(hints, "romio_ds_write", "disable"));
  open_both(0);
  for (int step = 1; step <= atoi(argv[3]); ++step) {
    switch (draw(12)) {
      case 0:
      case 1:
      case 2:
        write_by_view(step);
        break;
      case 3:
        read_something(step);
        break;
      case 4:
        change_size(step);
        break;
      case 5:
        look_by_path(step);
        break;
      case 6:
        CALL(MPI_File_sync(file));
        break;
      case 7:
        fill(step, block);
        CALL(MPI_File_seek_shared(file, 4 * draw(most / 8), MPI_SEEK_SET));
        CALL(MPI_File_write_ordered(file, data, 4 * (1 + rank), MPI_INT, MPI_STATUS_IGNORE));
        break;
      default:
        write_plainly(step);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  close_both();
  MPI_Info_free(&hints);
  MPI_Finalize();
  return 0;
}
