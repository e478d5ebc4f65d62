! One output of a process, as in ../output.hpp: the same datasets, by HDF5's Fortran interface.
module stencil_output
  use, intrinsic :: iso_c_binding, only: c_loc
  use, intrinsic :: iso_fortran_env, only: int8, real32
  use hdf5
  use stencil_air, only: air, n_quantities, quantity_names
  implicit none
  private
  public :: write_output

contains

  ! Writes FOLDER/stencil_STEP_RANK.h5; `failed` is not 0 if `path` could not be written completely.
  subroutine write_output(folder, step, what, path, failed)
    character(*), intent(in) :: folder
    integer, intent(in) :: step
    type(air), intent(in), target :: what
    character(:), allocatable, intent(out) :: path
    integer, intent(out) :: failed
    character(23) :: name
    integer(hid_t) :: file, in_file, in_memory
    integer(hsize_t) :: cells(3), with_border(3)
    integer(int8), allocatable, target :: cloudy(:, :, :)
    integer :: q, error

    write (name, '("stencil_", i6.6, "_", i5.5, ".h5")') step, what%where%rank
    path = folder // "/" // name
    failed = 0
    call h5open_f(error)
    call h5eset_auto_f(0, error)
    call h5fcreate_f(path, H5F_ACC_TRUNC_F, file, error)
    if (error /= 0) then
      failed = error
      return
    end if
    call write_attribute(file, "step", [step], failed)
    call write_attribute(file, "origin", what%where%origin(), failed)
    call write_attribute(file, "all_cells", what%where%all_cells(), failed)
    cells = what%where%cells
    with_border = cells + [2, 2, 0]
    call h5screate_simple_f(3, cells, in_file, error)
    call h5screate_simple_f(3, with_border, in_memory, error)
    call h5sselect_hyperslab_f(in_memory, H5S_SELECT_SET_F, [1_hsize_t, 1_hsize_t, 0_hsize_t], cells, error)
    do q = 1, n_quantities
      call write_dataset(trim(quantity_names(q)), H5T_IEEE_F32LE, H5T_NATIVE_REAL, in_memory)
    end do
    cloudy = what%cloudy()
    q = 0
    call write_dataset("cloudy", H5T_STD_U8LE, H5T_STD_I8LE, in_file)
    call h5sclose_f(in_memory, error)
    call h5sclose_f(in_file, error)
    call h5fclose_f(file, error)
    if (error /= 0) failed = error

  contains

    ! Quantity q; 0 means the cloud mask.
    subroutine write_dataset(name, type_in_file, type_in_memory, memory)
      character(*), intent(in) :: name
      integer(hid_t), intent(in) :: type_in_file, type_in_memory, memory
      integer(hid_t) :: properties, set
      integer :: wrong
      call h5pcreate_f(H5P_DATASET_CREATE_F, properties, wrong)
      call h5pset_obj_track_times_f(properties, .false., wrong)  ! the same air gives the same bytes
      call h5dcreate_f(file, name, type_in_file, in_file, set, wrong, properties)
      if (wrong == 0) then
        if (q == 0) then
          call h5dwrite_f(set, type_in_memory, c_loc(cloudy), wrong, memory, in_file)
        else
          call h5dwrite_f(set, type_in_memory, c_loc(what%now(0, 0, 1, q)), wrong, memory, in_file)
        end if
        if (wrong /= 0) failed = wrong
        call h5dclose_f(set, wrong)
      end if
      if (wrong /= 0) failed = wrong
      call h5pclose_f(properties, wrong)
    end subroutine
  end subroutine

  subroutine write_attribute(file, name, values, failed)
    integer(hid_t), intent(in) :: file
    character(*), intent(in) :: name
    integer, intent(in) :: values(:)
    integer, intent(inout) :: failed
    integer(hid_t) :: space, attribute
    integer :: wrong
    call h5screate_simple_f(1, [size(values, kind=hsize_t)], space, wrong)
    call h5acreate_f(file, name, H5T_STD_I32LE, space, attribute, wrong)
    call h5awrite_f(attribute, H5T_NATIVE_INTEGER, values, [size(values, kind=hsize_t)], wrong)
    if (wrong /= 0) failed = wrong
    call h5aclose_f(attribute, wrong)
    call h5sclose_f(space, wrong)
  end subroutine
end module
