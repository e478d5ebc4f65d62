! stencil in Fortran: the program of ../stencil.cpp, with mpi_f08 and HDF5's Fortran interface; it writes the same data.
!
!   stencil_fortran [--cells | --all-cells NX NY NZ] [--steps N] [--every N] [--cell-ns NS] [--asleep] [--out FOLDER] [--verify]
program stencil
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use stencil_air, only: air, make_air
  use stencil_grid, only: grid, make_grid
  use stencil_output, only: write_output
  implicit none

  integer :: cells(3) = 32, steps = 100, every = 10
  real(real64) :: cell_ns = 2700
  character(:), allocatable :: out, path
  logical :: checks = .false., right = .true., asleep = .false., of_all = .false., fits
  type(grid) :: where
  type(air) :: sky
  real(real64) :: before, begin, seconds(3) = 0, mean(3), most(3), wall, since
  integer :: step, outputs = 0, failed, processes, i
  character(8), parameter :: phases(3) = [character(8) :: "compute", "exchange", "output"]

  call MPI_Init()
  out = "."
  call read_command_line()
  where = make_grid(cells, of_all, fits)
  if (.not. fits) call refuse("--all-cells: they cannot be distributed equally with at least 2 each in x and y")
  sky = make_air(where, cell_ns, asleep)
  before = sky%total(1)
  call MPI_Barrier(where%comm)
  begin = MPI_Wtime()
  do step = 1, steps
    since = MPI_Wtime()
    call sky%step()
    call add(1)
    call sky%exchange()
    call add(2)
    if (every > 0) then
      if (mod(step, every) == 0) then
        call write_output(out, step, sky, path, failed)
        if (failed /= 0) then
          write (error_unit, '(a)') "stencil: write " // path // ": HDF5 failed; check that the folder exists and the disk has room"
          call MPI_Abort(MPI_COMM_WORLD, 1)
        end if
        outputs = outputs + 1
        call add(3)
      end if
    end if
  end do
  call MPI_Barrier(where%comm)
  wall = MPI_Wtime() - begin
  call MPI_Comm_size(where%comm, processes)
  call MPI_Reduce(seconds, mean, 3, MPI_DOUBLE_PRECISION, MPI_SUM, 0, where%comm)
  call MPI_Reduce(seconds, most, 3, MPI_DOUBLE_PRECISION, MPI_MAX, 0, where%comm)
  if (checks) right = abs(sky%total(1) / before - 1) < 1e-4_real64  ! quantities have single precision
  if (where%rank == 0) call print_table()
  call MPI_Finalize()
  if (.not. right) stop 1

contains

  subroutine add(phase)
    integer, intent(in) :: phase
    real(real64) :: now
    now = MPI_Wtime()
    seconds(phase) = seconds(phase) + now - since
    since = now
  end subroutine

  subroutine print_table()
    print '(a, i0, a, 3(i0, a), i0, a, i0, a, f0.4, a)', "stencil: ", processes, " processes of ", where%cells(1), &
      " x ", where%cells(2), " x ", where%cells(3), " cells, ", steps, " steps, ", outputs, " outputs, ", wall, " s"
    print '(10x, 2a11, a9)', "mean s", "most s", "share"
    do i = 1, 3
      print '(a10, 2f11.4, f8.1, a)', phases(i), mean(i) / processes, most(i), 100 * mean(i) / processes / wall, "%"
    end do
    if (checks) print '(2a)', "result ", merge("verified", "WRONG   ", right)
  end subroutine

  subroutine read_command_line()
    integer :: next
    next = 1
    do while (next <= command_argument_count())
      select case (word(next))
      case ("--cells", "--all-cells")
        of_all = word(next) == "--all-cells"
        do i = 1, 3
          cells(i) = whole(next + i, 2)
        end do
        next = next + 4
      case ("--steps")
        steps = whole(next + 1, 1)
        next = next + 2
      case ("--every")
        every = whole(next + 1, 0)
        next = next + 2
      case ("--cell-ns")
        cell_ns = whole(next + 1, 0)
        next = next + 2
      case ("--asleep")
        asleep = .true.
        next = next + 1
      case ("--out")
        out = word(next + 1)
        next = next + 2
      case ("--verify")
        checks = .true.
        next = next + 1
      case default
        call refuse(word(next) // ": there is no such option")
      end select
    end do
  end subroutine

  function word(number) result(text)
    integer, intent(in) :: number
    character(:), allocatable :: text
    integer :: length
    if (number > command_argument_count()) call refuse("the last option has no value")
    call get_command_argument(number, length=length)
    allocate (character(length) :: text)
    call get_command_argument(number, text)
  end function

  integer function whole(number, least)
    integer, intent(in) :: number, least
    character(:), allocatable :: text
    integer :: problem
    text = word(number)
    whole = 0
    problem = verify(text, "0123456789")
    if (problem == 0) read (text, *, iostat=problem) whole
    if (problem /= 0) call refuse(text // ": this is not a whole number")
    if (whole < least) call refuse(text // ": this is too small")
  end function

  ! One line, and the end: all processes find the same mistake.
  subroutine refuse(found)
    character(*), intent(in) :: found
    integer :: rank
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    if (rank == 0) write (error_unit, '(a)') "stencil: " // found // "; options are --cells NX NY NZ, --all-cells, " // &
      "--steps, --every, --cell-ns, --asleep, --out and --verify"
    call MPI_Finalize()
    stop 2, quiet=.true.
  end subroutine
end program
