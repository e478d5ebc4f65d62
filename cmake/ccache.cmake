# Uses ccache if it is installed and can write to its cache: the home may be missing or full. Keeps
# CMAKE_C_COMPILER_LAUNCHER and CMAKE_CXX_COMPILER_LAUNCHER if they are set, even to an empty value.
include_guard()

if(DEFINED CMAKE_C_COMPILER_LAUNCHER OR DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  return()
endif()
find_program(LULL_CCACHE ccache)
mark_as_advanced(LULL_CCACHE)
if(LULL_CCACHE)
  set(trial ${PROJECT_BINARY_DIR}/CMakeFiles/ccache)
  file(WRITE ${trial}.c "int trial;\n")
  execute_process(COMMAND ${LULL_CCACHE} ${CMAKE_C_COMPILER} -c ${trial}.c -o ${trial}.o
                  RESULT_VARIABLE exit_code OUTPUT_QUIET ERROR_QUIET)
  if(exit_code EQUAL 0)
    set(CMAKE_C_COMPILER_LAUNCHER ${LULL_CCACHE})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${LULL_CCACHE})
  else()
    message(STATUS "ccache is not used: it cannot write to its cache")
  endif()
endif()
