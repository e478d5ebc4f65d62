! lull/meter.h for Fortran 2008: regions and metrics of a program, for the record of its run.
!
!     use lull_meter
!     call lull_region_begin("exchange")
!     ...
!     call lull_region_end("exchange")
!     call lull_metric_sum("updates", 1.0d9, "1")
!
! This file is installed as source, since each compiler has its own form of compiled modules. Compile it with the program
! and link with lull-meter:
!
!     gfortran "$(pkg-config --variable=includedir lull-meter)/lull/lull_meter.f90" app.f90 \
!       $(pkg-config --libs lull-meter)
!
! The subroutines do what the functions of that name in lull/meter.h do. Trailing blanks of a name or unit are ignored. The
! optional `code` is 0 or one of the negative codes; an error never ends the program.
module lull_meter
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_null_char
  implicit none
  private

  integer, parameter, public :: lull_meter_ok = 0
  integer, parameter, public :: lull_meter_bad_name = -1       ! the name is empty
  integer, parameter, public :: lull_meter_bad_value = -2      ! the value of a metric is infinite or not a number
  integer, parameter, public :: lull_meter_not_innermost = -3  ! this thread's innermost open region has another name
  integer, parameter, public :: lull_meter_not_written = -4    ! the file could not be written
  integer, parameter, public :: lull_meter_no_memory = -5
  integer, parameter, public :: lull_meter_conflict = -6       ! an earlier report had another unit or combination

  public :: lull_region_begin, lull_region_end, lull_region_flush
  public :: lull_metric_sum, lull_metric_mean, lull_metric_min, lull_metric_max

  interface
    function c_region_begin(name) bind(c, name="lull_region_begin") result(code)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: code
    end function c_region_begin

    function c_region_end(name) bind(c, name="lull_region_end") result(code)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: code
    end function c_region_end

    function c_region_flush() bind(c, name="lull_region_flush") result(code)
      import :: c_int
      integer(c_int) :: code
    end function c_region_flush
  end interface

  abstract interface
    function metric_call(name, value, unit) bind(c) result(code)
      import :: c_char, c_double, c_int
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: value
      character(kind=c_char), intent(in) :: unit(*)
      integer(c_int) :: code
    end function metric_call
  end interface

  procedure(metric_call), bind(c, name="lull_metric_sum") :: c_metric_sum
  procedure(metric_call), bind(c, name="lull_metric_mean") :: c_metric_mean
  procedure(metric_call), bind(c, name="lull_metric_min") :: c_metric_min
  procedure(metric_call), bind(c, name="lull_metric_max") :: c_metric_max

contains

  ! Enters a region.
  subroutine lull_region_begin(name, code)
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: code
    integer(c_int) :: answer
    answer = c_region_begin(trim(name)//c_null_char)
    if (present(code)) code = int(answer)
  end subroutine lull_region_begin

  ! Leaves the region that this thread entered last. If that has another name, the call has no effect.
  subroutine lull_region_end(name, code)
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: code
    integer(c_int) :: answer
    answer = c_region_end(trim(name)//c_null_char)
    if (present(code)) code = int(answer)
  end subroutine lull_region_end

  ! Reports a metric of the program. The subroutine determines how the record combines the values of several processes.
  ! The latest report of a process replaces earlier ones; a name has one unit and one combination.
  subroutine lull_metric_sum(name, value, unit, code)
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: value
    character(len=*), intent(in), optional :: unit
    integer, intent(out), optional :: code
    call report(c_metric_sum, name, value, unit, code)
  end subroutine lull_metric_sum

  subroutine lull_metric_mean(name, value, unit, code)
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: value
    character(len=*), intent(in), optional :: unit
    integer, intent(out), optional :: code
    call report(c_metric_mean, name, value, unit, code)
  end subroutine lull_metric_mean

  subroutine lull_metric_min(name, value, unit, code)
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: value
    character(len=*), intent(in), optional :: unit
    integer, intent(out), optional :: code
    call report(c_metric_min, name, value, unit, code)
  end subroutine lull_metric_min

  subroutine lull_metric_max(name, value, unit, code)
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: value
    character(len=*), intent(in), optional :: unit
    integer, intent(out), optional :: code
    call report(c_metric_max, name, value, unit, code)
  end subroutine lull_metric_max

  subroutine report(call_of, name, value, unit, code)
    procedure(metric_call) :: call_of
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: value
    character(len=*), intent(in), optional :: unit
    integer, intent(out), optional :: code
    integer(c_int) :: answer
    if (present(unit)) then
      answer = call_of(trim(name)//c_null_char, value, trim(unit)//c_null_char)
    else
      answer = call_of(trim(name)//c_null_char, value, c_null_char)
    end if
    if (present(code)) code = int(answer)
  end subroutine report

  ! Writes the file of this process now. Regions that are open are written as if they ended now.
  subroutine lull_region_flush(code)
    integer, intent(out), optional :: code
    integer(c_int) :: answer
    answer = c_region_flush()
    if (present(code)) code = int(answer)
  end subroutine lull_region_flush

end module lull_meter
