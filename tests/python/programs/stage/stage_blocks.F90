! What stage_blocks.c writes, in Fortran.   stage_blocks DESCRIPTION OUTPUTS
program stage_blocks
  use mpi
  use lull_stage
  implicit none
  integer, parameter :: rows = 12, columns = 10
  integer :: rank, size, ierr, code, output, outputs, first, mine, i, j
  character(len=4096) :: description, number
  real(kind(1d0)), allocatable :: temperature(:, :)
  integer, allocatable :: cell(:, :)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call get_command_argument(1, description)
  call get_command_argument(2, number)
  read (number, *) outputs
  call lull_stage_open(description, rank, size)
  call lull_stage_set("rows", rows)
  call lull_stage_set("columns ", columns)
  first = rows * rank / size
  mine = rows * (rank + 1) / size - first
  allocate (temperature(columns, 0:rows), cell(columns, mine))
  call lull_stage_write("flow/cell", cell, code)
  if (code /= lull_stage_failed .or. index(lull_stage_error(), "is unknown") == 0) call MPI_Abort(MPI_COMM_WORLD, 3, ierr)
  call lull_stage_place("flow/cell", [first, 0], [mine, columns])
  do output = 0, outputs - 1
    do j = 1, mine
      do i = 1, columns
        cell(i, j) = (first + j - 1) * columns + i - 1
        temperature(i, j) = 1000 * output + cell(i, j)
      end do
    end do
    call lull_stage_write("temperature", temperature(:, 1:mine))
    call lull_stage_write("flow/cell", cell)
    call lull_stage_end_iteration(10 * output, code)
    if (code /= lull_stage_ok) call MPI_Abort(MPI_COMM_WORLD, 4, ierr)
  end do
  call lull_stage_close()
  call MPI_Finalize(ierr)
end program stage_blocks
