/* A program that uses MPI by sessions alone, so many one after another, and calls what may be called before and after. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) \
  if ((call) != MPI_SUCCESS) return __LINE__ % 256

static int before_and_after(void) {
  int initialized = 1, finalized = 1, major = 0, minor = 0, length = 0;
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  OK(MPI_Initialized(&initialized));
  OK(MPI_Finalized(&finalized));
  OK(MPI_Get_version(&major, &minor));
  OK(MPI_Get_library_version(version, &length));
  return initialized || finalized || length == 0;
}

static int session(int number) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  int rank, ranks, sum = -1, got = -1;
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
  OK(MPI_Comm_create_from_group(group, "lull", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  OK(MPI_Group_free(&group));
  OK(MPI_Comm_rank(comm, &rank));
  OK(MPI_Comm_size(comm, &ranks));
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  for (int i = 0; i < 200; ++i) {
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, right, 3, &got, 1, MPI_INT, left, 3, comm, MPI_STATUS_IGNORE));
    if (sum != ranks * (ranks - 1) / 2 || got != left) return 1;
  }
  OK(MPI_Comm_free(&comm));
  OK(MPI_Session_finalize(&session));
  printf("session %d: rank %d of %d\n", number, rank, ranks);
  return 0;
}

int main(int count, char** arguments) {
  if (count != 2) return 2;
  int failed = before_and_after();
  for (int i = 0; i < atoi(arguments[1]) && !failed; ++i) failed = session(i);
  return failed ? failed : before_and_after();
}
