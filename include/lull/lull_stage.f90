! lull/stage.h for Fortran 2018: writes the output of a simulation as blocks of variables.
!
!     use lull_stage
!     call lull_stage_open("output.toml", rank, size)
!     call lull_stage_set("nx", 512)
!     do step = 1, steps
!       ...
!       call lull_stage_write("temperature", temperature)
!       call lull_stage_end_iteration(step)
!     end do
!     call lull_stage_close()
!
! This file is installed as source, since each compiler has its own form of compiled modules. Compile it with the program
! and link with lull-stage:
!
!     gfortran "$(pkg-config --variable=includedir lull-stage)/lull/lull_stage.f90" app.f90 \
!       $(pkg-config --libs lull-stage)
!
! The procedures do what the functions of that name in lull/stage.h do. Extents in a description have C's order: an array
! temperature(nx, ny, nz) has the extents ["nz", "ny", "nx"]; the arguments of lull_stage_place have the same order.
! Processes are numbered from 0. Trailing blanks of a name are ignored. Without the optional `code` an error is printed,
! and the program continues.
module lull_stage
  use, intrinsic :: iso_c_binding, only: c_char, c_f_pointer, c_int, c_int64_t, c_null_char, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64
  implicit none
  private

  integer, parameter, public :: lull_stage_ok = 0
  integer, parameter, public :: lull_stage_dropped = 1     ! the buffer was full: this iteration is not written
  integer, parameter, public :: lull_stage_incomplete = 2  ! files of some processes are missing
  integer, parameter, public :: lull_stage_failed = -1     ! see lull_stage_error()

  public :: lull_stage_open, lull_stage_set, lull_stage_place, lull_stage_write, lull_stage_end_iteration
  public :: lull_stage_close, lull_stage_join, lull_stage_bytes, lull_stage_error

  interface lull_stage_set
    module procedure set_int32, set_int64
  end interface lull_stage_set

  interface lull_stage_end_iteration
    module procedure end_iteration_int32, end_iteration_int64
  end interface lull_stage_end_iteration

  interface lull_stage_place
    module procedure place_int32, place_int64
  end interface lull_stage_place

  interface
    function c_open(description, process, processes) bind(c, name="lull_stage_open") result(code)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: description(*)
      integer(c_int), value :: process, processes
      integer(c_int) :: code
    end function c_open

    function c_set(parameter, to) bind(c, name="lull_stage_set") result(code)
      import :: c_char, c_int, c_int64_t
      character(kind=c_char), intent(in) :: parameter(*)
      integer(c_int64_t), value :: to
      integer(c_int) :: code
    end function c_set

    function c_place(variable, offset, count) bind(c, name="lull_stage_place") result(code)
      import :: c_char, c_int, c_int64_t
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), intent(in) :: offset(*), count(*)
      integer(c_int) :: code
    end function c_place

    function c_write(variable, data) bind(c, name="lull_stage_write") result(code)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: variable(*)
      type(*), dimension(*), intent(in) :: data
      integer(c_int) :: code
    end function c_write

    function c_bytes(variable) bind(c, name="lull_stage_bytes") result(bytes)
      import :: c_char, c_int64_t
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t) :: bytes
    end function c_bytes

    function c_dimensions(variable) bind(c, name="lull_stage_dimensions") result(dimensions)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int) :: dimensions
    end function c_dimensions

    function c_end_iteration(iteration) bind(c, name="lull_stage_end_iteration") result(code)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: iteration
      integer(c_int) :: code
    end function c_end_iteration

    function c_close() bind(c, name="lull_stage_close") result(code)
      import :: c_int
      integer(c_int) :: code
    end function c_close

    function c_join(folder) bind(c, name="lull_stage_join") result(code)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: folder(*)
      integer(c_int) :: code
    end function c_join

    function c_error() bind(c, name="lull_stage_error") result(line)
      import :: c_ptr
      type(c_ptr) :: line
    end function c_error

    function c_length(text) bind(c, name="strlen") result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function c_length
  end interface

contains

  ! `description`: the path of a TOML file or, if it contains a line break, TOML itself.
  subroutine lull_stage_open(description, process, processes, code)
    character(len=*), intent(in) :: description
    integer, intent(in) :: process, processes
    integer, intent(out), optional :: code
    call finish(c_open(c_text(description), int(process, c_int), int(processes, c_int)), code)
  end subroutine lull_stage_open

  ! `data`: this process's block, an array of any type and rank, contiguous or not.
  subroutine lull_stage_write(variable, data, code)
    character(len=*), intent(in) :: variable
    type(*), dimension(*), intent(in) :: data
    integer, intent(out), optional :: code
    call finish(c_write(c_text(variable), data), code)
  end subroutine lull_stage_write

  subroutine lull_stage_close(code)
    integer, intent(out), optional :: code
    call finish(c_close(), code)
  end subroutine lull_stage_close

  subroutine lull_stage_join(folder, code)
    character(len=*), intent(in) :: folder
    integer, intent(out), optional :: code
    call finish(c_join(c_text(folder)), code)
  end subroutine lull_stage_join

  ! Returns the bytes of this process's block, or lull_stage_failed.
  function lull_stage_bytes(variable) result(bytes)
    character(len=*), intent(in) :: variable
    integer(int64) :: bytes
    bytes = c_bytes(c_text(variable))
  end function lull_stage_bytes

  function lull_stage_error() result(line)
    character(len=:), allocatable :: line
    character(kind=c_char), pointer :: letters(:)
    type(c_ptr) :: text
    integer :: i
    text = c_error()
    call c_f_pointer(text, letters, [c_length(text)])
    allocate (character(len=size(letters)) :: line)
    do i = 1, size(letters)
      line(i:i) = letters(i)
    end do
  end function lull_stage_error

  subroutine set_int32(parameter, to, code)
    character(len=*), intent(in) :: parameter
    integer(int32), intent(in) :: to
    integer, intent(out), optional :: code
    call set_int64(parameter, int(to, int64), code)
  end subroutine set_int32

  subroutine set_int64(parameter, to, code)
    character(len=*), intent(in) :: parameter
    integer(int64), intent(in) :: to
    integer, intent(out), optional :: code
    call finish(c_set(c_text(parameter), to), code)
  end subroutine set_int64

  subroutine end_iteration_int32(iteration, code)
    integer(int32), intent(in) :: iteration
    integer, intent(out), optional :: code
    call end_iteration_int64(int(iteration, int64), code)
  end subroutine end_iteration_int32

  subroutine end_iteration_int64(iteration, code)
    integer(int64), intent(in) :: iteration
    integer, intent(out), optional :: code
    call finish(c_end_iteration(iteration), code)
  end subroutine end_iteration_int64

  subroutine place_int32(variable, offset, count, code)
    character(len=*), intent(in) :: variable
    integer(int32), intent(in) :: offset(:), count(:)
    integer, intent(out), optional :: code
    call place_int64(variable, int(offset, int64), int(count, int64), code)
  end subroutine place_int32

  subroutine place_int64(variable, offset, count, code)
    character(len=*), intent(in) :: variable
    integer(int64), intent(in) :: offset(:), count(:)
    integer, intent(out), optional :: code
    integer(c_int) :: dimensions
    dimensions = c_dimensions(c_text(variable))
    if (dimensions >= 0 .and. (size(offset) /= dimensions .or. size(count) /= dimensions)) then
      write (error_unit, "(a,i0,a)") "lull: place the block of " // trim(variable) // ": it has ", dimensions, " dimensions"
      if (present(code)) code = lull_stage_failed
      return
    end if
    call finish(c_place(c_text(variable), offset, count), code)
  end subroutine place_int64

  ! Reports an error if the caller has no `code`.
  subroutine finish(result, code)
    integer(c_int), intent(in) :: result
    integer, intent(out), optional :: code
    if (present(code)) then
      code = result
    else if (result == lull_stage_failed) then
      write (error_unit, "(a)") "lull: " // lull_stage_error()
    end if
  end subroutine finish

  pure function c_text(text) result(made)
    character(len=*), intent(in) :: text
    character(len=:, kind=c_char), allocatable :: made
    made = trim(text) // c_null_char
  end function c_text
end module lull_stage
