# Compiles for 64-bit Arm with Debian's cross compiler against the libraries in LULL_SYSROOT, the root of a Debian for arm64:
# cmake -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64-linux-gnu.cmake -DLULL_SYSROOT=FOLDER ... What CMake runs while it configures, and
# ctest, goes through qemu.
set(LULL_SYSROOT "" CACHE PATH "The root folder of a Debian for arm64, with the packages that Lull needs")
if(NOT IS_DIRECTORY "${LULL_SYSROOT}/usr/include")
  message(FATAL_ERROR "LULL_SYSROOT is '${LULL_SYSROOT}', and not the root of a Debian for arm64; scripts/aarch64 makes one")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LULL_SYSROOT)  # try_compile() reads this file again, without the cache

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_SYSROOT ${LULL_SYSROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# CMake would else take the compiler of this machine. If there is none for arm64, programs in Fortran are not built.
find_program(CMAKE_Fortran_COMPILER aarch64-linux-gnu-gfortran NO_CMAKE_FIND_ROOT_PATH)
set(CMAKE_FIND_ROOT_PATH ${LULL_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${LULL_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${LULL_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${LULL_SYSROOT}/usr/share/pkgconfig)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${LULL_SYSROOT})

# FindPython and nanobind would ask a Python for arm64; that of this machine runs scripts.
file(GLOB python_headers ${LULL_SYSROOT}/usr/include/python3.*)
if(python_headers MATCHES "python3[.]([0-9]+)$")
  set(Python_INCLUDE_DIR ${python_headers} CACHE PATH "")
  set(SKBUILD_SOABI cpython-3${CMAKE_MATCH_1}-aarch64-linux-gnu)  # as scikit-build-core calls it
endif()

# FindMPI would run the compiler wrapper, which is a program for arm64.
set(openmpi ${LULL_SYSROOT}/usr/lib/aarch64-linux-gnu/openmpi)
if(IS_DIRECTORY ${openmpi})
  set(MPI_C_HEADER_DIR ${openmpi}/include CACHE PATH "")
  set(MPI_C_LIB_NAMES mpi CACHE STRING "")
  set(MPI_mpi_LIBRARY ${openmpi}/lib/libmpi.so CACHE FILEPATH "")
endif()
