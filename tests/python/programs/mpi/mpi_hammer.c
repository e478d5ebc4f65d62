/* Two ranks wait for each other in turn, each for a random time from 20 to 150 microseconds: with LULL_WAIT_SPIN_US=2
 * each of these waits sleeps, and a wake-up that is missed is counted.
 *
 *   mpi_hammer TURNS|TIMEs [SEED]
 *
 * In even turns the pairs are ranks 0 and 1, 2 and 3, ..., in odd turns each rank of the first half and one of the second;
 * their number must be even. Messages have 8 to 1024 bytes. Everything is point to point.
 */
#include "verified.h"

enum { LARGEST = 1024, LEAST_US = 20, MOST_US = 150 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  begin(argc, argv);
  if (ranks % 2 != 0) MPI_Abort(MPI_COMM_WORLD, MISUSED);
  seed = (uint64_t)argument(argc, argv, 2, 1);
  char out[LARGEST], in[LARGEST];
  for (; goes_on(); ++turn) {
    const int half = ranks / 2;
    const int other = turn % 2 == 0 ? rank ^ 1 : rank < half ? rank + half : rank - half;
    const int first = rank < other ? rank : other, second = rank < other ? other : rank;
    state = key_of(first, second);
    const double us_of_first = (double)(LEAST_US + random_below(MOST_US - LEAST_US + 1));
    const double us_of_second = (double)(LEAST_US + random_below(MOST_US - LEAST_US + 1));
    const int bytes = 8 << random_below(8);
    const int tag = (int)(turn % 1000) + 10;
    fill(out, (size_t)bytes, key_of(rank, other));
    if (rank == first) {
      compute(us_of_first);
      MPI_Send(out, bytes, MPI_BYTE, other, tag, MPI_COMM_WORLD);
      MPI_Recv(in, bytes, MPI_BYTE, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, bytes, MPI_BYTE, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      compute(us_of_second);
      MPI_Send(out, bytes, MPI_BYTE, other, tag, MPI_COMM_WORLD);
    }
    expect("MPI_Recv", in, (size_t)bytes, key_of(other, rank));
  }
  print_result();
  return MPI_Finalize();
}
