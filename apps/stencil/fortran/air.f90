! The air of ../air.hpp: the same quantities and the same arithmetic in the same order, and therefore the same results.
module stencil_air
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: int8, int64, real32, real64
  use stencil_grid, only: grid, exchange
  implicit none
  private
  public :: air, make_air, quantity_names, n_quantities

  integer, parameter :: n_quantities = 25
  character(9), parameter :: quantity_names(n_quantities) = [character(9) :: &
    "u", "v", "w", "theta", "pressure", "vapour", "cloud", "rain", "ice", "snow", "graupel", "tracer_01", "tracer_02", &
    "tracer_03", "tracer_04", "tracer_05", "tracer_06", "tracer_07", "tracer_08", "tracer_09", "tracer_10", "tracer_11", &
    "tracer_12", "tracer_13", "tracer_14"]
  real(real32), parameter :: mixing = 0.05_real32
  real(real64), parameter :: fastest_wind = 0.4_real64, pi = acos(-1.0_real64)

  type :: air
    type(grid) :: where
    real(real32), allocatable :: now(:, :, :, :), next(:, :, :, :)  ! x and y with borders, z, quantity
    real(real32), allocatable :: wind_x(:), wind_y(:)               ! by height, in cells per step
    integer(int64) :: rounds = 0                                    ! of arithmetic, per cell
    real(real64) :: asleep_s = 0                                    ! per step; 0: time is not spent asleep
    real(real64) :: spent = 1
  contains
    procedure :: step
    procedure :: exchange => exchange_borders
    procedure :: cloudy
    procedure :: total
  end type

  interface
    function usleep(microseconds) bind(c) result(failed)
      import :: c_int
      integer(c_int), value :: microseconds
      integer(c_int) :: failed
    end function
  end interface

contains

  ! cell_ns: time per cell and step; the part that the step does not take is spent computing, or asleep.
  function make_air(where, cell_ns, asleep) result(made)
    type(grid), intent(in) :: where
    real(real64), intent(in) :: cell_ns
    logical, intent(in) :: asleep
    type(air) :: made
    integer, parameter :: trial = 200000
    integer :: q, x, y, z, i, all(3), origin(2)
    real(real64) :: angle, height, centre(2), dx, dy, begin, least(2)

    made%where = where
    all = where%all_cells()
    origin = where%origin()
    associate (nx => where%cells(1), ny => where%cells(2), nz => where%cells(3))
      allocate (made%now(0:nx + 1, 0:ny + 1, nz, n_quantities), made%wind_x(nz), made%wind_y(nz))
      made%now = 0
      do z = 1, nz
        height = pi * (z - 1) / nz
        made%wind_x(z) = real(fastest_wind * cos(height), real32)
        made%wind_y(z) = real(fastest_wind * sin(height), real32)
      end do
      do q = 1, n_quantities
        angle = 2 * pi * (q - 1) / n_quantities
        centre = all(1:2) * [0.5_real64 + 0.3_real64 * cos(angle), 0.5_real64 + 0.3_real64 * sin(angle)]
        do z = 1, nz
          do y = 1, ny
            do x = 1, nx
              dx = (origin(1) + x - 1 - centre(1)) / all(1)
              dy = (origin(2) + y - 1 - centre(2)) / all(2)
              made%now(x, y, z, q) = real(exp(-30 * (dx * dx + dy * dy)), real32)
            end do
          end do
        end do
      end do
    end associate
    made%next = made%now
    call made%exchange()
    if (asleep) then
      made%asleep_s = cell_ns * 1e-9_real64 * product(real(where%cells, real64))
      return
    end if

    ! The minimum of several measurements: all processes spend the same time whatever other load their cores had.
    least = huge(least)
    do i = 1, 5
      begin = MPI_Wtime()
      call carry(made)
      least(1) = min(least(1), (MPI_Wtime() - begin) * 1e9_real64 / product(real(where%cells, real64)))
      begin = MPI_Wtime()
      made%spent = some_arithmetic(made%spent, int(trial, int64))
      least(2) = min(least(2), (MPI_Wtime() - begin) * 1e9_real64 / trial)
    end do
    call MPI_Allreduce(MPI_IN_PLACE, least, 2, MPI_DOUBLE_PRECISION, MPI_MIN, where%comm)
    if (cell_ns > least(1)) made%rounds = int((cell_ns - least(1)) / least(2), int64)
  end function

  function some_arithmetic(start, rounds) result(value)
    real(real64), intent(in) :: start
    integer(int64), intent(in) :: rounds
    real(real64) :: value
    integer(int64) :: i
    value = start
    do i = 1, rounds
      value = value * 0.999999_real64 + 1e-6_real64
    end do
  end function

  ! The inflow across a border with this wind and mixing, from `before` to `here`.
  elemental function flux(wind, before, here)
    real(real32), intent(in) :: wind, before, here
    real(real32) :: flux
    flux = merge(wind * before, wind * here, wind > 0) + mixing * (before - here)
  end function

  subroutine carry(of)
    type(air), intent(inout) :: of
    integer :: q, x, y, z, below, above
    real(real32) :: value
    associate (now => of%now, nz => of%where%cells(3))
      do q = 1, n_quantities
        do z = 1, nz
          below = max(z - 1, 1)
          above = min(z + 1, nz)
          do y = 1, of%where%cells(2)
            do x = 1, of%where%cells(1)
              value = now(x, y, z, q)
              of%next(x, y, z, q) = value + flux(of%wind_x(z), now(x - 1, y, z, q), value) &
                                    - flux(of%wind_x(z), value, now(x + 1, y, z, q)) &
                                    + flux(of%wind_y(z), now(x, y - 1, z, q), value) &
                                    - flux(of%wind_y(z), value, now(x, y + 1, z, q)) &
                                    + mixing * (now(x, y, below, q) + now(x, y, above, q) - 2 * value)
            end do
          end do
        end do
      end do
    end associate
  end subroutine

  subroutine step(self)
    class(air), intent(inout) :: self
    real(real32), allocatable :: done(:, :, :, :)
    real(real64) :: begin
    integer(c_int) :: woken
    begin = MPI_Wtime()
    call carry(self)
    if (self%asleep_s > 0) then
      woken = usleep(int(max(0.0_real64, self%asleep_s - (MPI_Wtime() - begin)) * 1e6_real64, c_int))
    else
      self%spent = some_arithmetic(self%spent, self%rounds * product(int(self%where%cells, int64)))
    end if
    call move_alloc(self%next, done)
    call move_alloc(self%now, self%next)
    call move_alloc(done, self%now)
  end subroutine

  subroutine exchange_borders(self)
    class(air), intent(inout) :: self
    call exchange(self%where, self%now)
  end subroutine

  function cloudy(self) result(found)
    class(air), intent(in) :: self
    integer(int8), allocatable :: found(:, :, :)
    associate (cells => self%where%cells)
      found = merge(1_int8, 0_int8, self%now(1:cells(1), 1:cells(2), :, 6) > 0.5_real32)
    end associate
  end function

  ! The sum of a quantity over all processes.
  function total(self, quantity) result(all)
    class(air), intent(in) :: self
    integer, intent(in) :: quantity
    real(real64) :: all, mine
    associate (cells => self%where%cells)
      mine = sum(real(self%now(1:cells(1), 1:cells(2), :, quantity), real64))
    end associate
    call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, self%where%comm)
  end function
end module
