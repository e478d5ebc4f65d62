/* Calls MPI and HDF5, and uses the files that it has just closed by their names, as programs do.
 *
 *   stage_names WHAT [NUMBER|LIBRARY]      in the current folder; each rank has its own files
 *
 * Every WHAT writes into the file said.RANK what it sees, which does not depend on which process writes the files. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <hdf5.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static int rank, ranks, number;
static const char* given; /* the argument, for most a number */

static FILE* said; /* said.RANK */

#define SAY(...) (fprintf(said, __VA_ARGS__), fprintf(said, "\n"))

static hid_t new_file(const char* name) { return H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT); }

/* A dataset of `size` integers: first, first + 1, ... */
static int add(hid_t file, const char* name, hsize_t size, int first) {
  int* const values = malloc(size * sizeof(int));
  for (hsize_t i = 0; i < size; ++i) values[i] = first + (int)i;
  const hid_t space = H5Screate_simple(1, &size, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(how, 0);
  const hid_t set = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, how, H5P_DEFAULT);
  const int result = set < 0 ? -1 : H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  if (set >= 0) H5Dclose(set);
  H5Pclose(how);
  H5Sclose(space);
  free(values);
  return result;
}

static int whole_file(const char* name, hsize_t size, int first) {
  const hid_t file = new_file(name);
  const int failed = file < 0 || add(file, "d", size, first) < 0;
  return (file >= 0 && H5Fclose(file) < 0) || failed;
}

/* The first value of a dataset, or -1. */
static int first_of(const char* name, const char* set_name) {
  int found = -1;
  H5E_BEGIN_TRY {
    const hid_t file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = file < 0 ? -1 : H5Dopen2(file, set_name, H5P_DEFAULT);
    const hid_t one = H5Screate(H5S_SCALAR), space = set < 0 ? -1 : H5Dget_space(set);
    const hsize_t at = 0, count = 1;
    if (set >= 0) {
      H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &count, NULL);
      H5Dread(set, H5T_NATIVE_INT, one, space, H5P_DEFAULT, &found);
      H5Sclose(space);
      H5Dclose(set);
    }
    H5Sclose(one);
    if (file >= 0) H5Fclose(file);
  }
  H5E_END_TRY
  return found;
}

static void named(char* name, const char* form, int index) { sprintf(name, form, rank, index); }

/* Appends if the file exists, with every form of check. */
static int append(void) {
  char name[64], set[32];
  int bad = 0;
  struct stat status;
  for (int how = 0; how < 6; ++how)
    for (int step = 0; step < 4; ++step) {
      named(name, "append.%d.%d.h5", how);
      int there = 0, file = -1;
      FILE* stream = NULL;
      if (how == 0) there = access(name, F_OK) == 0;
      if (how == 1) there = stat(name, &status) == 0 && status.st_size > 0;
      if (how == 2) there = (file = open(name, O_RDONLY)) >= 0 && lseek(file, 0, SEEK_END) > 0;
      if (how == 3) there = (stream = fopen(name, "rb")) != NULL && fgetc(stream) == 0x89;
      if (how == 4) there = step > 0 && H5Fis_hdf5(name) > 0;
      if (how == 5) there = lstat(name, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 100;
      if (file >= 0) close(file);
      if (stream != NULL) fclose(stream);
      const hid_t made = there ? H5Fopen(name, H5F_ACC_RDWR, H5P_DEFAULT) : new_file(name);
      sprintf(set, "step%d", step);
      bad |= made < 0 || add(made, set, 1000, step) < 0 || H5Fclose(made) < 0;
    }
  SAY("appended, %d", bad);
  return bad;
}

static int seen;
static int count_entry(const char* path, const struct stat* status, int kind, struct FTW* where) {
  (void)path, (void)where;
  seen += kind == FTW_F && status->st_size > 400000;
  return 0;
}

/* Checkpoints in folders that are renamed, listed, linked and removed. */
static int folders(void) {
  char folder[64], name[128], other[128];
  int bad = 0;
  for (int i = 0; i < 3; ++i) {
    named(folder, "ckpt.%d.tmp", 0);
    bad |= mkdir(folder, 0777) != 0;
    sprintf(name, "%s/state.h5", folder);
    bad |= whole_file(name, 100000, i);
    named(other, "ckpt.%d.%d", i);
    bad |= rename(folder, other) != 0;
  }
  seen = 0;
  for (int i = 0; i < 3; ++i) {
    named(folder, "ckpt.%d.%d", i);
    sprintf(name, "%s/state.h5", folder);
    nftw(folder, count_entry, 8, FTW_PHYS);
    SAY("%s begins with %d", folder, first_of(name, "d"));
  }
  named(name, "linked.%d.%d.h5", 0);
  named(other, "linked.%d.%d.h5", 1);
  bad |= whole_file(name, 1000, 5) || link(name, other) != 0 || unlink(name) != 0;
  SAY("%d files, a link begins with %d", seen, first_of(other, "d"));
  named(folder, "gone.%d.%d", 0);
  bad |= mkdir(folder, 0777) != 0;
  sprintf(name, "%s/state.h5", folder);
  bad |= whole_file(name, 1000, 1);
  SAY("a folder with a file: %d %d", rmdir(folder), errno == ENOTEMPTY);
  bad |= unlink(name) != 0 || rmdir(folder) != 0;
  return bad;
}

/* Files that HDF5 itself opens: sources of virtual datasets, external links, and a file that is still open. */
static int links(void) {
  char part[64], master[64];
  named(part, "part.%d.%d.h5", 0);
  named(master, "master.%d.%d.h5", 0);
  const hsize_t size = 100000;
  int bad = whole_file(part, size, 7), value = -1, fill = -1;
  const hid_t file = new_file(master), space = H5Screate_simple(1, &size, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(how, 0);
  H5Lcreate_external(part, "/d", file, "link", H5P_DEFAULT, H5P_DEFAULT);
  H5Pset_fill_value(how, H5T_NATIVE_INT, &fill);
  H5Pset_virtual(how, space, part, "/d", space);
  hid_t set = H5Dcreate2(file, "virtual", H5T_NATIVE_INT, space, H5P_DEFAULT, how, H5P_DEFAULT);
  const hid_t one = H5Screate(H5S_SCALAR);
  const hsize_t at = 10, count = 1;
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &count, NULL);
  bad |= H5Dread(set, H5T_NATIVE_INT, one, space, H5P_DEFAULT, &value) < 0;
  SAY("virtual %d", value);
  H5Dclose(set);
  set = H5Dopen2(file, "link", H5P_DEFAULT);
  bad |= set < 0 || H5Dread(set, H5T_NATIVE_INT, one, space, H5P_DEFAULT, &value) < 0;
  SAY("link %d", value);
  H5Dclose(set);
  const hid_t again = H5Fopen(master, H5F_ACC_RDWR, H5P_DEFAULT);
  bad |= again < 0 || H5Lexists(again, "virtual", H5P_DEFAULT) <= 0 || H5Fclose(again) < 0;
  H5E_BEGIN_TRY SAY("create an open file: %d", new_file(master) >= 0);
  H5E_END_TRY
  H5Pclose(how);
  H5Sclose(space);
  H5Sclose(one);
  return H5Fclose(file) < 0 || bad;
}

/* The new checkpoint is written, then the previous one is removed or replaced. */
static int rotate(void) {
  char name[64], before[64] = "";
  int bad = 0;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  for (int i = 0; i < 3 && !bad; ++i) {
    named(name, "ck.%d.%d.h5", i);
    bad = whole_file(name, (hsize_t)number * (i + 1), i);
    if (bad)
      unlink(name);
    else if (*before)
      unlink(before);
    strcpy(before, name);
  }
  return bad;
}

/* Many files open at a time, few descriptors left, and then data for all of them. */
static int descriptors(void) {
  enum { most = 30 };
  hid_t files[most];
  int others[4096], count = 0, bad = 0;
  char name[64];
  for (int i = 0; i < most; ++i) {
    named(name, "few.%d.%d.h5", i);
    files[i] = new_file(name);
    bad |= files[i] < 0 || add(files[i], "first", 10, i) < 0;
  }
  while (count < 4096 && (others[count] = open("/dev/null", O_RDONLY)) >= 0) ++count;
  unlink("no-such-file");
  bad |= H5Fclose(files[0]) < 0;
  while (count > 0) close(others[--count]);
  for (int i = 1; i < most; ++i) bad |= add(files[i], "second", 10, i) < 0 || H5Fclose(files[i]) < 0;
  return bad;
}

/* A group stays open at H5Fclose; data is flushed; the written data is read while the file is open. */
static int open_files(void) {
  char name[64];
  int bad = 0;
  for (int i = 0; i < number; ++i) {
    named(name, "open.%d.%d.h5", i);
    const hid_t file = new_file(name);
    H5Gcreate2(file, "left open", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bad |= file < 0 || add(file, "d", 500000, i) < 0;
    if (i % 2) {
      struct stat status;
      bad |= H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 || stat(name, &status) != 0 || status.st_size < 2000000;
    }
    if (i % 3 == 0) {
      FILE* const stream = fopen(name, "rb");
      bad |= stream == NULL || fgetc(stream) != 0x89;
      if (stream != NULL) fclose(stream);
      bad |= add(file, "more", 1000, i) < 0;
    }
    bad |= H5Fclose(file) < 0;
  }
  return bad;
}

/* Prints "flushed", and is killed. */
static int killed(void) {
  char name[64];
  named(name, "flushed.%d.%d.h5", 0);
  const hid_t file = new_file(name);
  if (file < 0 || add(file, "d", 1000, 42) < 0 || H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) return 1;
  named(name, "closed.%d.%d.h5", 0);
  if (whole_file(name, 1000, 43) != 0) return 1;
  MPI_Barrier(MPI_COMM_WORLD);
  raise(SIGKILL);
  return 0;
}

/* HDF5 calls a function of the program, which calls HDF5. */
static herr_t on_error(hid_t stack, void* data) {
  (void)stack, (void)data;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  char name[64];
  named(name, "log.%d.%d.h5", 0);
  SAY("in the handler: %d", whole_file(name, 10, 1) || first_of(name, "d") != 1);
  H5Eset_auto2(H5E_DEFAULT, on_error, NULL);
  return 0;
}

static int callbacks(void) {
  H5Eset_auto2(H5E_DEFAULT, on_error, NULL);
  SAY("%d %d", new_file("/no/such/folder/x.h5") >= 0, H5Fopen("absent.h5", H5F_ACC_RDONLY, H5P_DEFAULT) >= 0);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  return 0;
}

static char lock_name[64];
static void on_alarm(int signal) {
  (void)signal;
  const int before = errno;
  struct stat status;
  unlink(lock_name);
  rename(lock_name, "nothing");
  stat(lock_name, &status);
  errno = before;
}

static int signals(void) {
  named(lock_name, "lock.%d.%d", 0);
  struct sigaction act = {0};
  act.sa_handler = on_alarm;
  act.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &act, NULL);
  const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  int bad = 0;
  char name[64];
  for (int i = 0; i < 60; ++i) {
    named(name, "s.%d.%d.h5", i);
    bad |= whole_file(name, 20000, i);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  return bad;
}

/* Another thread reads a file while this one is in the loader, and so holds its lock, until the other is done. */
static char loading_name[64];

static void* look_at_it(void* unused) {
  struct stat found;
  (void)unused;
  SAY("stat while a library is loaded: %d", stat(loading_name, &found));
  return NULL;
}

static void during_load(void) {
  pthread_t other;
  if (pthread_create(&other, NULL, look_at_it, NULL) == 0) pthread_join(other, NULL);
}

static int loading(void) {
  char address[32];
  named(loading_name, "loading.%d.%d.h5", 0);
  sprintf(address, "%p", (void*)during_load);
  setenv("DURING_LOAD", address, 1);
  return whole_file(loading_name, 200000, 0) != 0 || dlopen(given, RTLD_NOW) == NULL;
}

/* Rank 0 reads the files of all ranks. */
static int gather(void) {
  char name[64];
  int missing = 0;
  for (int step = 0; step < 5; ++step) {
    named(name, "g.%d.%d.h5", 0);
    if (whole_file(name, 200000, step) != 0) return 1;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < ranks; ++i) {
      sprintf(name, "g.%d.0.h5", i);
      missing += first_of(name, "d") != step;
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  SAY("%d missing", missing);
  return missing != 0;
}

/* A file that another rank has written and closed is used by other calls than HDF5's, and replaced. */
static int neighbours(void) {
  char name[64], command[96];
  int bad = 0;
  for (int step = 0; step < 4; ++step) {
    sprintf(name, "n.%d.h5", (rank + step) % ranks); /* written by another rank in the previous step */
    bad |= whole_file(name, 100000 + 1000 * rank, step);
    MPI_Barrier(MPI_COMM_WORLD);
    sprintf(name, "n.%d.h5", (rank + step + 1) % ranks);
    struct stat found;
    const int status = stat(name, &found);
    SAY("%d %ld", status, (long)found.st_size);
    FILE* const stream = fopen(name, "r");
    unsigned sum = 0;
    for (int byte; stream != NULL && (byte = getc(stream)) != EOF;) sum = 31 * sum + (unsigned)byte;
    if (stream != NULL) fclose(stream);
    SAY("%x", sum);
    MPI_Barrier(MPI_COMM_WORLD);
    bad |= whole_file(name, 50000, 10 + step);
    MPI_Barrier(MPI_COMM_WORLD);
    sprintf(command, "test $(cat n.*.h5 | wc -c) -gt %d", ranks * 200000);
    if (rank == step % ranks) SAY("%d", system(command));
    MPI_Barrier(MPI_COMM_WORLD);
    sprintf(name, "n.%d.h5", (rank + step) % ranks);
    if (step == 1) SAY("%d", unlink(name));
    if (step == 2) SAY("%d", truncate(name, 3000));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return bad;
}

/* Other programs read the files. */
static int children(void) {
  char name[64], command[128], text[64] = "";
  int bad = 0, status = 0;
  for (int how = 0; how < 6; ++how) {
    named(name, "c.%d.%d.h5", how);
    bad |= whole_file(name, 100000, how);
    sprintf(command, "test $(stat -c %%s %s) -gt 400000", name);
    char* const arguments[] = {"sh", "-c", command, NULL};
    if (how == 0) status = system(command);
    if (how == 1) {
      FILE* const pipe = popen(command, "r");
      (void)!fgets(text, sizeof text, pipe);
      status = pclose(pipe);
    }
    if (how >= 2) {
      pid_t child = 0;
      if (how == 2) posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ);
      if (how == 3 && (fflush(said), child = fork()) == 0) {
        execv("/bin/sh", arguments);
        _exit(99);
      }
      /* Not by fork(): it would first wait until everything is written. */
      if (how == 4 && (child = vfork()) == 0) {
        execl("/bin/sh", "sh", "-c", command, (char*)NULL);
        _exit(99);
      }
      if (how == 5 && (child = vfork()) == 0) {
        execle("/bin/sh", "sh", "-c", command, (char*)NULL, environ);
        _exit(99);
      }
      waitpid(child, &status, 0);
    }
    SAY("%d", status);
  }
  return bad;
}

int main(int count, char** arguments) {
  static const struct {
    const char* name;
    int (*run)(void);
  } all[] = {{"append", append},           {"folders", folders}, {"links", links},       {"rotate", rotate},
             {"descriptors", descriptors}, {"open", open_files}, {"killed", killed},     {"callbacks", callbacks},
             {"signals", signals},         {"gather", gather},   {"children", children}, {"neighbours", neighbours},
             {"loading", loading}};
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  given = count > 2 ? arguments[2] : "";
  number = atoi(given);
  char name[64];
  sprintf(name, "said.%d", rank);
  said = fopen(name, "w");
  int result = 2;
  for (unsigned i = 0; i < sizeof all / sizeof all[0]; ++i)
    if (strcmp(all[i].name, arguments[1]) == 0) result = all[i].run();
  fclose(said);
  if (count > 3 && strcmp(arguments[3], "exit") == 0) exit(result);
  MPI_Finalize();
  return result;
}
