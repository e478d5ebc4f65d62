# The shared libraries that users link, and their files for CMake and pkg-config.
include(CMakePackageConfigHelpers)

function(lull_shared_library name header_comment)
  cmake_parse_arguments(ARG "" "" "WHOLE;USES" ${ARGN})
  list(TRANSFORM ARG_WHOLE REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  add_library(lull-${name} SHARED ${ARG_WHOLE})
  add_library(lull::${name} ALIAS lull-${name})
  set_target_properties(lull-${name} PROPERTIES EXPORT_NAME ${name} VERSION ${PROJECT_VERSION} SOVERSION 0
                        LINKER_LANGUAGE CXX INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
  target_include_directories(lull-${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                 $<BUILD_INTERFACE:${LULL_MADE_INCLUDE}>
                                                 $<INSTALL_INTERFACE:include>)
  target_link_libraries(lull-${name} PRIVATE lull_flags ${ARG_USES})
  install(TARGETS lull-${name} LIBRARY DESTINATION ${LULL_INSTALL_LIB} COMPONENT libraries NAMELINK_COMPONENT development)
  set(LULL_PC_NAME lull-${name})
  set(LULL_PC_DESCRIPTION "${header_comment}")
  configure_file(cmake/lull.pc.in lull-${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lull-${name}.pc DESTINATION ${LULL_INSTALL_LIB}/pkgconfig COMPONENT development)
endfunction()

lull_shared_library(meter "Lull: regions and metrics of a program in the record of its run"
                    WHOLE lull_regions USES lull_base lull_trace nlohmann_json::nlohmann_json)
lull_shared_library(shmem "Lull: OpenSHMEM with waiting as a policy, and message aggregation"
                    WHOLE lull_shmem lull_aggregate USES lull_fabric lull_regions fmt::fmt nlohmann_json::nlohmann_json)
if(LULL_BUILD_ALL)
  lull_shared_library(stage "Lull: output of a simulation as blocks of variables"
                      WHOLE lull_stage_blocks USES lull_stage_files fmt::fmt)
endif()

# OpenSHMEM's profiling interface: each shmem_NAME has a second name, pshmem_NAME, for tools that intercept the first.
set(LULL_SECOND_NAMES ${CMAKE_CURRENT_BINARY_DIR}/pshmem.ld)
add_custom_command(
  OUTPUT ${LULL_SECOND_NAMES}
  COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DARCHIVE=$<TARGET_FILE:lull_shmem> -DOUTPUT=${LULL_SECOND_NAMES}
          -P ${PROJECT_SOURCE_DIR}/cmake/second_names.cmake
  DEPENDS lull_shmem ${PROJECT_SOURCE_DIR}/cmake/second_names.cmake
  COMMENT "Naming pshmem_ functions" VERBATIM)
add_custom_target(lull_second_names DEPENDS ${LULL_SECOND_NAMES})
add_dependencies(lull-shmem lull_second_names)
target_link_libraries(lull-shmem PRIVATE $<BUILD_INTERFACE:${LULL_SECOND_NAMES}>)
set_property(TARGET lull-shmem APPEND PROPERTY LINK_DEPENDS ${LULL_SECOND_NAMES})

# Compiler wrappers like those of other OpenSHMEM and MPI libraries.
function(lull_compiler_wrapper LULL_WRAPPER LULL_WRAPPER_LANGUAGE LULL_WRAPPER_COMPILER)
  configure_file(cmake/compiler_wrapper.in ${LULL_WRAPPER} @ONLY)
  install(PROGRAMS ${CMAKE_CURRENT_BINARY_DIR}/${LULL_WRAPPER} DESTINATION ${LULL_INSTALL_BIN} COMPONENT development)
endfunction()
lull_compiler_wrapper(lullcc C cc)
lull_compiler_wrapper(lullc++ C++ c++)
if(LULL_INSTALL_OSH_NAMES)
  lull_compiler_wrapper(oshcc C cc)
  foreach(name oshc++ oshcxx oshCC)
    lull_compiler_wrapper(${name} C++ c++)
  endforeach()
  if(LULL_BUILD_PYTHON)  # provides `lull run`
    configure_file(cmake/oshrun.in oshrun @ONLY)
    install(PROGRAMS ${CMAKE_CURRENT_BINARY_DIR}/oshrun DESTINATION ${LULL_INSTALL_BIN})
  endif()
endif()

install(DIRECTORY include/ ${LULL_MADE_INCLUDE}/ DESTINATION ${LULL_INSTALL_INCLUDE} COMPONENT development)
install(DIRECTORY ${LULL_MADE_MAN}/man3 DESTINATION ${LULL_INSTALL_SHARE}/man COMPONENT development)
configure_file(cmake/lull-config.cmake.in lull-config.cmake @ONLY)
write_basic_package_version_file(lull-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lull-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/lull-config-version.cmake
        DESTINATION ${LULL_INSTALL_LIB}/cmake/lull COMPONENT development)
