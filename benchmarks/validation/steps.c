/* Runs messages from a file as an MPI program: what benchmarks/validation.py gives to a peer's simulator of MPI.
 *
 *   steps FILE     lines "RANK send TO BYTES", "RANK receive FROM BYTES", "RANK compute NANOSECONDS", "RANK wait";
 *                  a wait is for all sends and receives before it
 *
 * Prints the simulated time until the last process is done, in seconds. All begin at 0: a barrier would let them begin one
 * after the other.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void smpi_execute_flops(double flops); /* SimGrid; a host does 10^9 in a second */

enum { most_requests = 65536 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  FILE* file = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (file == NULL) {
    fprintf(stderr, "steps: run the steps: there is no file %s; name one\n", argc == 2 ? argv[1] : "");
    MPI_Abort(MPI_COMM_WORLD, 2);
    return 2;
  }
  MPI_Request* requests = calloc(most_requests, sizeof *requests);
  char* memory = malloc(1 << 20);
  int pending = 0;
  char line[256];
  while (fgets(line, sizeof line, file) != NULL) {
    int of = 0;
    char what[32] = "";
    long first = 0;
    long second = 0;
    const int found = sscanf(line, "%d %31s %ld %ld", &of, what, &first, &second);
    if (found < 2 || of != rank) continue;
    if (strcmp(what, "compute") == 0) {
      smpi_execute_flops((double)first);
    } else if (strcmp(what, "wait") == 0) {
      MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE);
      pending = 0;
    } else if (strcmp(what, "send") == 0) {
      MPI_Isend(memory, (int)second, MPI_BYTE, (int)first, 0, MPI_COMM_WORLD, &requests[pending++]);
    } else {
      MPI_Irecv(memory, (int)second, MPI_BYTE, (int)first, 0, MPI_COMM_WORLD, &requests[pending++]);
    }
  }
  MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE);
  double took = MPI_Wtime();
  double longest = 0;
  MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("took %.12f\n", longest);
  MPI_Finalize();
  free(requests);
  free(memory);
  fclose(file);
  return 0;
}
