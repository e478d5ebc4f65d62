! The cells of the plane, distributed over processes in two dimensions as in ../grid.hpp.
module stencil_grid
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: real32
  implicit none
  private
  public :: grid, make_grid, exchange

  type :: grid
    integer :: cells(3)         ! of this process, in x, y, z
    integer :: processes(2) = 0, place(2) = 0
    integer :: rank = 0
    type(MPI_Comm) :: comm
  contains
    procedure :: origin
    procedure :: all_cells
  end type

contains

  ! cells: per process, or in total. fits: they can be distributed equally, with at least 2 in x and y for each process.
  function make_grid(cells, of_all, fits) result(made)
    integer, intent(in) :: cells(3)
    logical, intent(in) :: of_all
    logical, intent(out) :: fits
    type(grid) :: made
    integer :: processes
    made%cells = cells
    call MPI_Comm_size(MPI_COMM_WORLD, processes)
    call MPI_Dims_create(processes, 2, made%processes)
    if (of_all) made%cells(1:2) = cells(1:2) / made%processes
    fits = all(made%cells(1:2) >= 2) .and. (.not. of_all .or. all(made%cells(1:2) * made%processes == cells(1:2)))
    call MPI_Cart_create(MPI_COMM_WORLD, 2, made%processes, [.true., .true.], .false., made%comm)
    call MPI_Comm_rank(made%comm, made%rank)
    call MPI_Cart_coords(made%comm, made%rank, 2, made%place)
  end function

  pure function origin(self)
    class(grid), intent(in) :: self
    integer :: origin(2)
    origin = self%place * self%cells(1:2)
  end function

  pure function all_cells(self)
    class(grid), intent(in) :: self
    integer :: all_cells(3)
    all_cells = [self%processes * self%cells(1:2), self%cells(3)]
  end function

  ! Updates the neighbours' rows, in one message per neighbour for all quantities.
  subroutine exchange(where, quantities)
    type(grid), intent(in) :: where
    real(real32), intent(inout) :: quantities(0:, 0:, :, :)  ! x and y with a row of the neighbours' at each side, z, quantity
    real(real32), allocatable :: to_before(:), to_behind(:), from_before(:), from_behind(:)
    type(MPI_Request) :: requests(4)
    integer :: axis, before, behind, last, part(3)

    do axis = 1, 2
      call MPI_Cart_shift(where%comm, axis - 1, 1, before, behind)
      last = where%cells(axis)
      part = [where%cells(3 - axis), where%cells(3), size(quantities, 4)]
      if (axis == 1) then
        to_before = reshape(quantities(1, 1:part(1), :, :), [product(part)])
        to_behind = reshape(quantities(last, 1:part(1), :, :), [product(part)])
      else
        to_before = reshape(quantities(1:part(1), 1, :, :), [product(part)])
        to_behind = reshape(quantities(1:part(1), last, :, :), [product(part)])
      end if
      if (allocated(from_before)) deallocate (from_before, from_behind)
      allocate (from_before(product(part)), from_behind(product(part)))
      call MPI_Irecv(from_before, size(from_before), MPI_REAL, before, axis, where%comm, requests(1))
      call MPI_Irecv(from_behind, size(from_behind), MPI_REAL, behind, axis + 2, where%comm, requests(2))
      call MPI_Isend(to_behind, size(to_behind), MPI_REAL, behind, axis, where%comm, requests(3))
      call MPI_Isend(to_before, size(to_before), MPI_REAL, before, axis + 2, where%comm, requests(4))
      call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
      if (axis == 1) then
        quantities(0, 1:part(1), :, :) = reshape(from_before, part)
        quantities(last + 1, 1:part(1), :, :) = reshape(from_behind, part)
      else
        quantities(1:part(1), 0, :, :) = reshape(from_before, part)
        quantities(1:part(1), last + 1, :, :) = reshape(from_behind, part)
      end if
    end do
  end subroutine
end module
