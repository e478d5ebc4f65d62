# Debian packages of the installation; packaging/debian/make calls this with everything that it needs.
#
#   lull          the command, its Python package, the applications, manual pages, completions
#   lull-python   the Python packages that the command needs, as a separate environment below lib/lull/venv: those of
#                 Debian 12 are too old or missing
#   liblull0      the shared libraries
#   liblull-dev   headers, lullcc, pkg-config, manual pages of the routines
set(LULL_PYTHON_ENVIRONMENT "" CACHE PATH "An environment of Python that is installed for the command, to be packaged with it")
if(LULL_PYTHON_ENVIRONMENT)
  install(DIRECTORY ${LULL_PYTHON_ENVIRONMENT}/ DESTINATION lib/lull/venv USE_SOURCE_PERMISSIONS COMPONENT python)
  set(LULL_PYTHON_COMPONENT python)
  # Compiled here, so that running the command creates no files that no package owns.
  install(CODE "execute_process(COMMAND \"${Python_EXECUTABLE}\" -m compileall -q -f --invalidation-mode unchecked-hash
    -s \"\$ENV{DESTDIR}\" \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/lull/python\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT command)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME lull)
set(CPACK_PACKAGE_CONTACT "The Lull authors <lull@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "time and energy of moving data in parallel programs")
set(CPACK_PACKAGE_DESCRIPTION "Measures what moving data costs a parallel program, compares two ways of doing a thing, and
runs OpenSHMEM programs so that waiting costs less.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL command libraries development ${LULL_PYTHON_COMPONENT})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)  # for dpkg of Debian 12 and later
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/src/stage/blocks)
set(CPACK_STRIP_FILES ON)
set(same_version "(= ${PROJECT_VERSION})")

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME lull)
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "the command")
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "liblull0 ${same_version}, lull-python ${same_version}")
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS "openmpi-bin, liblull-dev")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME lull-python)
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "Python packages for the command, in an environment of their own")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)  # they contain their libraries
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "python3 (>= ${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}), python3 (<< ${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}.99), libstdc++6")

set(CPACK_DEBIAN_LIBRARIES_PACKAGE_NAME liblull0)
set(CPACK_COMPONENT_LIBRARIES_DESCRIPTION "the shared libraries")
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_DEPENDS "libucx0 (>= 1.13)")  # loaded on demand, so shlibdeps does not find it
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_SUGGESTS "libfabric1 (>= 1.15)")  # the same
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_BINARY_DIR}/triggers)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME liblull-dev)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "headers, compiler wrappers and manual pages of the routines")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "liblull0 ${same_version}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "gcc, g++, pkg-config")
include(CPack)
