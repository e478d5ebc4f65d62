/* Random programs of path operations and HDF5 calls, the same from the same seeds.
 *
 *   stage_random FIRST COUNT      programs FIRST to FIRST + COUNT - 1, each in a folder SEED.RANK that it makes
 *
 * A program writes what it sees after each operation into its file `said`. It depends only on the seed, if storage
 * works. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum { names = 5, folders = 3, most_open = 3, operations = 40 };

static unsigned long long state;
static unsigned draw(unsigned below) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(state >> 33) % below;
}

static FILE* said;
#define SAY(...) fprintf(said, __VA_ARGS__)

static int failures; /* of HDF5, where nothing should fail */
static hid_t open_files[most_open];
static int datasets; /* for their names */

static char folder_names[folders][16];
static const char* any_name(char* into) {
  const unsigned folder = draw(folders + 2);
  if (folder < folders)
    sprintf(into, "%s/f%u.h5", folder_names[folder], draw(names));
  else
    sprintf(into, "f%u.h5", draw(names));
  return into;
}

static void add(hid_t file) {
  char name[32];
  sprintf(name, "d%d", datasets++);
  const hsize_t size = draw(4) == 0 ? 1 + draw(60000) : 1 + draw(500);
  int* const values = malloc(size * sizeof(int));
  for (hsize_t i = 0; i < size; ++i) values[i] = (int)(i * 7) + datasets;
  const hid_t space = H5Screate_simple(1, &size, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(how, 0);
  const hid_t set = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, how, H5P_DEFAULT);
  failures += set < 0 || H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0;
  if (set >= 0) failures += H5Dclose(set) < 0;
  H5Pclose(how);
  H5Sclose(space);
  free(values);
}

static void close_one(hid_t* file) {
  if (*file >= 0) failures += H5Fclose(*file) < 0;
  *file = -1;
}

static herr_t count_sum(hid_t group, const char* name, const H5L_info_t* info, void* data) {
  (void)info;
  long* const sum = data;
  const hid_t set = H5Dopen2(group, name, H5P_DEFAULT), space = H5Dget_space(set);
  const hssize_t size = H5Sget_simple_extent_npoints(space);
  int* const values = malloc((size_t)size * sizeof(int));
  if (H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) *sum = -1000000;
  for (hssize_t i = 0; i < size; ++i) *sum += values[i];
  free(values);
  H5Sclose(space);
  H5Dclose(set);
  return 0;
}

static void read_back(const char* name) {
  const hid_t file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
  long sum = 0;
  if (file >= 0) {
    H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, NULL, count_sum, &sum);
    H5Fclose(file);
  }
  SAY("read %s: %d %ld\n", name, file >= 0, sum);
}

static int by_name(const struct dirent** one, const struct dirent** other) { return strcmp((*one)->d_name, (*other)->d_name); }

static void list(const char* folder) {
  struct dirent** found;
  const int count = scandir(folder, &found, NULL, by_name);
  SAY("list %s:", folder);
  for (int i = 0; i < count; ++i) {
    char path[600];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", folder, found[i]->d_name);
    if (found[i]->d_name[0] != '.' && strcmp(found[i]->d_name, "said") != 0 && stat(path, &status) == 0)
      SAY(" %s %ld %lu", found[i]->d_name, S_ISREG(status.st_mode) ? (long)status.st_size : -1,
          S_ISREG(status.st_mode) ? (unsigned long)status.st_nlink : 0);
    free(found[i]);
  }
  if (count >= 0) free(found);
  SAY("\n");
}

static void on_alarm(int signal) {
  (void)signal;
  const int before = errno;
  struct stat status;
  unlink("no-such-lock");
  stat("f0.h5", &status);
  errno = before;
}

static void operation(void) {
  char name[64], other[64];
  struct stat status;
  const unsigned slot = draw(most_open);
  hid_t* const file = &open_files[slot];
  switch (draw(16)) {
    case 0:
    case 1:
    case 2: /* a file, completely */
    case 3: {
      any_name(name);
      hid_t made = H5Fcreate(name, draw(4) == 0 ? H5F_ACC_EXCL : H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
      SAY("create %s: %d\n", name, made >= 0);
      for (unsigned count = draw(4); made >= 0 && count > 0; --count) add(made);
      close_one(&made);
      break;
    }
    case 4: /* one that stays open */
      close_one(file);
      *file = H5Fcreate(any_name(name), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
      SAY("begin %s: %d\n", name, *file >= 0);
      if (*file >= 0) add(*file);
      break;
    case 5:
      if (*file >= 0) add(*file);
      break;
    case 6:
      if (*file >= 0) failures += H5Fflush(*file, H5F_SCOPE_GLOBAL) < 0;
      break;
    case 7:
      close_one(file);
      break;
    case 8: /* append, if it exists */
      if (access(any_name(name), F_OK) == 0) {
        hid_t made = H5Fopen(name, H5F_ACC_RDWR, H5P_DEFAULT);
        SAY("append %s: %d\n", name, made >= 0);
        if (made >= 0) add(made);
        close_one(&made);
      }
      break;
    case 9:
    case 10:
      read_back(any_name(name));
      break;
    case 11: {
      const int result = rename(any_name(name), any_name(other));
      SAY("rename %s %s: %d\n", name, other, result);
      break;
    }
    case 12: {
      const int result = draw(2) ? unlink(any_name(name)) : remove(any_name(name));
      SAY("remove %s: %d\n", name, result);
      break;
    }
    case 13: { /* folders are renamed, and come back empty */
      const unsigned which = draw(folders);
      sprintf(name, "%s", folder_names[which]);
      sprintf(folder_names[which], "g%u.%d", which, datasets++);
      const int result = rename(name, folder_names[which]);
      SAY("move %s %s: %d\n", name, folder_names[which], result);
      if (draw(2)) SAY("make %s: %d\n", name, mkdir(name, 0777));
      break;
    }
    case 14: {
      any_name(name);
      const int result = draw(2) ? link(name, any_name(other)) : symlink("f1.h5", any_name(other));
      SAY("link %s %s: %d\n", name, other, result);
      break;
    }
    default: {
      list(draw(2) ? "." : folder_names[draw(folders)]);
      FILE* const stream = fopen(any_name(name), "rb");
      SAY("%s: %d %d\n", name, stream != NULL, stream != NULL ? fgetc(stream) : -2);
      if (stream != NULL) fclose(stream);
      SAY("%d %ld\n", H5Fis_hdf5(any_name(name)) > 0, stat(any_name(other), &status) == 0 ? (long)status.st_size : -1);
    }
  }
}

static void run(int seed, int rank) {
  char name[64];
  state = (unsigned long long)seed * 1000003ULL + (unsigned)rank;
  datasets = 0;
  sprintf(name, "%d.%d", seed, rank);
  if (mkdir(name, 0777) != 0 || chdir(name) != 0 || (said = fopen("said", "w")) == NULL) exit(9);
  for (int i = 0; i < most_open; ++i) open_files[i] = -1;
  for (int i = 0; i < folders; ++i) {
    sprintf(folder_names[i], "g%d", i);
    mkdir(folder_names[i], 0777);
  }
  const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
  if (draw(4) == 0) setitimer(ITIMER_REAL, &often, NULL);
  for (int i = 0; i < operations; ++i) operation();
  setitimer(ITIMER_REAL, &never, NULL);
  for (int i = 0; i < most_open; ++i) close_one(&open_files[i]);
  list(".");
  fclose(said);
  if (chdir("..") != 0) exit(9);
}

int main(int count, char** arguments) {
  int rank;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  struct sigaction act = {0};
  act.sa_handler = on_alarm;
  act.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &act, NULL);
  const int first = atoi(arguments[1]);
  for (int i = 0; i < atoi(arguments[2]); ++i) run(first + i, rank);
  MPI_Finalize();
  return failures > 0 ? 3 : 0;
}
