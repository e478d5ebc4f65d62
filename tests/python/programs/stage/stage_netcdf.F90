! Each rank writes a netCDF-4 file in each of three outputs, by any of the three ways in which Fortran knows MPI:
! -DWITH_MPIF, -DWITH_MPI or -DWITH_MPI_F08.   stage_netcdf FOLDER
program stage_netcdf
#if defined(WITH_MPI_F08)
  use mpi_f08
#elif defined(WITH_MPI)
  use mpi
#endif
  use netcdf
  implicit none
#if defined(WITH_MPIF)
  include 'mpif.h'
#endif
  integer, parameter :: n = 40
  integer :: rank, size, sum, ierr, output, file, dims(2), variable, i, j
  character(len=4096) :: folder, path
  real :: values(n, n)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  sum = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (sum /= size * (size + 1) / 2) call MPI_Abort(MPI_COMM_WORLD, 3, ierr)
  call get_command_argument(1, folder)
  do output = 0, 2
    do j = 1, n
      do i = 1, n
        values(i, j) = 100.0 * output + 10.0 * rank + 0.1 * i + 0.01 * j
      end do
    end do
    write (path, '(a,a,i0,a,i0,a)') trim(folder), '/out.', output, '.', rank, '.nc'
    call check(nf90_create(path, ior(NF90_NETCDF4, NF90_CLOBBER), file))
    call check(nf90_def_dim(file, 'x', n, dims(1)))
    call check(nf90_def_dim(file, 'y', n, dims(2)))
    call check(nf90_def_var(file, 'wind', NF90_REAL, dims, variable))
    call check(nf90_put_att(file, variable, 'units', 'm/s'))
    call check(nf90_enddef(file))
    call check(nf90_put_var(file, variable, values))
    call check(nf90_close(file))
  end do
  print '(i0,a,i0)', rank, ' of ', size
  call MPI_Finalize(ierr)
contains
  subroutine check(status)
    integer, intent(in) :: status
    if (status /= NF90_NOERR) then
      print *, trim(nf90_strerror(status))
      call MPI_Abort(MPI_COMM_WORLD, 4, ierr)
    end if
  end subroutine
end program stage_netcdf
