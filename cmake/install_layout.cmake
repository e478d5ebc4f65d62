# Where things are installed. Two ways lead to the same picture below one prefix P:
#
#   P/bin/{lull,lullcc,lullc++,oshcc,oshrun,…}  P/include/{shmem.h,lull/}  P/lib/liblull-*.so  P/lib/pkgconfig  P/lib/cmake/lull
#   P/share/man/{man1,man3}  P/share/{bash-completion,zsh,fish}
#   <package>/{*.py,_core.so,libexec/,apps/,studies/}     the Python package `lull` and what only it runs
#
# `cmake --install` puts <package> in P/lib/lull/python/lull; `pip install .` puts it in site-packages and the rest
# in the environment's prefix. Both stand four folders below P/lib, so one relative RPATH serves the executables.
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
set(LULL_EXECUTABLE_RPATH "$ORIGIN/../../../..")
