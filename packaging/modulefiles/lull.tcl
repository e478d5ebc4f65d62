#%Module1.0
# A module for Environment Modules: put it as lull/0.1.0 below a folder of MODULEPATH, and set the prefix of
# `cmake --install`, of a virtual environment, or of the Debian packages (/usr).
set prefix /opt/lull

proc ModulesHelp {} {
    puts stderr "lull doctor says what works on this machine. lull --help lists the commands; man lull, man shmem_put."
    puts stderr "A program is compiled by lullcc or lullc++, or by pkg-config (lull-shmem, lull-meter, lull-stage)."
}
module-whatis "Lull 0.1.0: time and energy of moving data in parallel programs"

prepend-path PATH $prefix/bin
prepend-path MANPATH $prefix/share/man
prepend-path PKG_CONFIG_PATH $prefix/lib/pkgconfig
prepend-path CMAKE_PREFIX_PATH $prefix
