# The layout of the installation. Both ways of installing give the same layout below a prefix P:
#
#   P/bin/{lull,lullcc,lullc++,oshcc,oshrun,…}  P/include/{shmem.h,lull/}  P/lib/liblull-*.so  P/lib/pkgconfig  P/lib/cmake/lull
#   P/share/man/{man1,man3}  P/share/{bash-completion,zsh,fish}
#   <package>/{*.py,_core.so,libexec/,apps/,studies/}     the Python package `lull` and the programs that only it runs
#
# `cmake --install` puts <package> into P/lib/lull/python/lull; `pip install .` puts it into site-packages and the rest into
# the environment's prefix. Both are four folders below P/lib (or P/lib64, if Python keeps compiled packages there), so one
# relative RPATH serves the executables.
#
# Three components, which become packages (cmake/packages.cmake): command, libraries, development.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME command)
if(SKBUILD)
  set(LULL_INSTALL_PREFIX "${SKBUILD_DATA_DIR}/")
  set(LULL_INSTALL_BIN "${SKBUILD_SCRIPTS_DIR}")
  set(LULL_INSTALL_PACKAGE "${SKBUILD_PLATLIB_DIR}/lull")
else()
  set(LULL_INSTALL_PREFIX "")
  set(LULL_INSTALL_BIN bin)
  set(LULL_INSTALL_PACKAGE "lib/lull/python/lull")
endif()
set(LULL_INSTALL_LIB "${LULL_INSTALL_PREFIX}lib")
set(LULL_INSTALL_INCLUDE "${LULL_INSTALL_PREFIX}include")
set(LULL_INSTALL_SHARE "${LULL_INSTALL_PREFIX}share")
set(LULL_EXECUTABLE_RPATH "$ORIGIN/../../../..;$ORIGIN/../../../../../lib")

# A library that LD_PRELOAD loads into every program of a command, including programs of other kinds. A path with $LIB
# leads each loader to its own folder: 64-bit glibc to the library, under any of the names that distributions give that
# folder; 32-bit glibc to an empty one; and musl, which does not know $LIB, to none. Neither of the last two prints anything.
set(LULL_PRELOADED ${LULL_INSTALL_LIB}/lull/preload)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(LULL_LIBS_OF_64_BITS lib/aarch64-linux-gnu lib64)
  set(LULL_LIBS_OF_32_BITS lib/arm-linux-gnueabihf lib/arm-linux-gnueabi lib32 lib)
else()
  set(LULL_LIBS_OF_64_BITS lib/x86_64-linux-gnu lib64)
  set(LULL_LIBS_OF_32_BITS lib/i386-linux-gnu lib32 lib)
endif()
set(LULL_OTHER_WORD_SIZE ${CMAKE_CURRENT_BINARY_DIR}/other-word-size)
execute_process(
  COMMAND ${Python_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/src/mpi/front/other_word_size.py ${CMAKE_SYSTEM_PROCESSOR}
          ${LULL_OTHER_WORD_SIZE} RESULT_VARIABLE failed)
if(failed)
  set(LULL_LIBS_OF_32_BITS)
endif()
# The command checks by this file whether the loader of this machine finds such a folder.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/here "")
foreach(folder ${LULL_LIBS_OF_64_BITS})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/here DESTINATION ${LULL_PRELOADED}/${folder} COMPONENT libraries)
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/mpi/front/other_word_size.py)
function(lull_install_preloaded target)
  install(TARGETS ${target} LIBRARY DESTINATION ${LULL_INSTALL_LIB} COMPONENT libraries)
  foreach(folder ${LULL_LIBS_OF_64_BITS})
    install(TARGETS ${target} LIBRARY DESTINATION ${LULL_PRELOADED}/${folder} COMPONENT libraries)
  endforeach()
  foreach(folder ${LULL_LIBS_OF_32_BITS})
    install(FILES ${LULL_OTHER_WORD_SIZE} DESTINATION ${LULL_PRELOADED}/${folder}
            RENAME lib${target}.so COMPONENT libraries)
  endforeach()
endfunction()
