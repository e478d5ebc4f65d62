# Generates the headers of OpenSHMEM from the table src/shmem/interface/openshmem.toml into LULL_MADE_INCLUDE, and the manual
# pages of its routines into LULL_MADE_MAN. Runs when CMake configures, and before a build if the table has changed, so that
# clang-tidy finds the headers without a build.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
set(LULL_MADE_INCLUDE ${PROJECT_BINARY_DIR}/include)
set(LULL_MADE_MAN ${PROJECT_BINARY_DIR}/man)
set(interface ${PROJECT_SOURCE_DIR}/src/shmem/interface)
execute_process(COMMAND ${Python_EXECUTABLE} -B ${interface}/headers.py ${LULL_MADE_INCLUDE} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${Python_EXECUTABLE} -B ${interface}/man_pages.py ${PROJECT_VERSION} ${LULL_MADE_MAN}
                COMMAND_ERROR_IS_FATAL ANY)
file(GLOB sources ${interface}/*.toml ${interface}/*.py ${interface}/*.in)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
configure_file(cmake/version.h.in ${LULL_MADE_INCLUDE}/lull/version.h @ONLY)
