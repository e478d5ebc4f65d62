-- A module for Lmod: put it as lull/0.1.0.lua below a folder of MODULEPATH, and set the prefix of `cmake --install`,
-- of a virtual environment, or of the Debian packages (/usr).
local prefix = "/opt/lull"

whatis("Name: Lull")
whatis("Version: 0.1.0")
whatis("Description: time and energy of moving data in parallel programs")
help([[
lull doctor says what works on this machine. lull --help lists the commands; man lull, man shmem_put.
A program is compiled by lullcc or lullc++, or by pkg-config (lull-shmem, lull-meter, lull-stage).
]])

prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
prepend_path("PKG_CONFIG_PATH", pathJoin(prefix, "lib/pkgconfig"))
prepend_path("CMAKE_PREFIX_PATH", prefix)
