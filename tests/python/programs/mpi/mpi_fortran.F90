! A ring, a sum and a non-blocking exchange in each of the three ways in which Fortran knows MPI:
! -DWITH_MPIF, -DWITH_MPI or -DWITH_MPI_F08.
program ring
#if defined(WITH_MPI_F08)
  use mpi_f08
  implicit none
  type(MPI_Status) :: status
  type(MPI_Request) :: requests(2)
#elif defined(WITH_MPI)
  use mpi
  implicit none
  integer :: status(MPI_STATUS_SIZE), requests(2)
#else
  implicit none
  include 'mpif.h'
  integer :: status(MPI_STATUS_SIZE), requests(2)
#endif
  integer :: rank, size, ierr, sent, got, total, right, left
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  right = mod(rank + 1, size)
  left = mod(rank + size - 1, size)
  sent = 10 * rank
  got = -1
  if (rank == 0) then
    call MPI_Send(sent, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, ierr)
    call MPI_Recv(got, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status, ierr)
  else
    call MPI_Recv(got, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Send(sent, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, ierr)
  end if
  if (got /= 10 * left) call MPI_Abort(MPI_COMM_WORLD, 3, ierr)
  total = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (total /= size * (size + 1) / 2) call MPI_Abort(MPI_COMM_WORLD, 3, ierr)
  call MPI_Irecv(got, 1, MPI_INTEGER, left, 2, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Isend(total, 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  if (got /= total .or. ierr /= MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 3, ierr)
  call MPI_Finalize(ierr)
  if (rank == 0) print '(i0)', total
end program ring
