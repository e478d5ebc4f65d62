"""The environment of a command in which Lull interposes the MPI or OpenSHMEM of its programs.

    run_guarded(command, env=preloaded(os.environ, tools={"LULL_TRACE": str(folder)}, command=command))

The loader loads the library `liblull-mpi` into each dynamically linked program of the command. In programs without MPI
it does nothing, in others it does what `tools` request. It also reaches ranks on other hosts: srun and Hydra (MPICH's
mpirun) pass their environment on, and a variable makes Open MPI's mpirun do so. The variable cannot be combined with
mpirun's option -x; in that case `-x LD_PRELOAD -x LULL_TRACE` has the same effect.
"""

from __future__ import annotations

import ctypes
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from lull.base import installed
from lull.base.errors import LullError
from lull.mpi.program import Program, read_program

LIBRARY = "liblull-mpi.so"
SHMEM_LIBRARY = "liblull-shmem-trace.so"  # records programs of Lull's OpenSHMEM
HDF5_LIBRARY = "liblull-hdf5.so"  # interposes the HDF5 of a program
WITH_TOOL = {"LULL_TRACE": SHMEM_LIBRARY, "LULL_STAGE": HDF5_LIBRARY}
OPENMPI_FORWARDS = "OMPI_MCA_mca_base_env_list"  # variables for ranks on other hosts, separated by semicolons

# The MPI libraries whose functions and types Lull knows; libmpi_abi has the standard interface of MPI 5, and the last
# name is that of MPICH's derivatives, in which some
# vendors insert a word, as in libmpi_cray.so.12.
KNOWN_LIBRARIES = ("libmpi.so.40", "libmpi_abi.so.1", "libmpich.so.12", "libmpi.so.12")
_KNOWN = re.compile(r"libmpi\.so\.40|libmpi_abi\.so\.1(?!\d)|libmpi(ch)?(_(?!abi\b)\w+)?\.so\.12")


def is_known(soname: str) -> bool:
    """Whether Lull knows the functions and types of the MPI library with this name."""
    return _KNOWN.match(soname) is not None


def library(name: str = LIBRARY) -> Path:
    """The path of the interposer, or of the library that records OpenSHMEM.

    Raises:
        LullError: It is not installed, or the loader cannot use its path.
    """
    path = installed.library(name)
    if not path.is_file():
        raise LullError(f"find {name}", f"{path} is missing", "install Lull again")
    if any(separator in str(path) for separator in " :;"):
        raise LullError(
            f"preload {name}", f"its path has a space, colon or semicolon: {path}", "install Lull elsewhere"
        )
    return path


def preload_path(name: str = LIBRARY) -> str:
    """The value for LD_PRELOAD: a path that loaders of other programs (32 bits, musl) do not resolve.

    Raises:
        LullError: See `library`.
    """
    path = library(name)
    by_loader = path.parent / "lull" / "preload" / "$LIB" / name
    return str(by_loader if _is_there_for_the_loader(by_loader) else path)


def _is_there_for_the_loader(path: Path) -> bool:
    """Whether the loader, which expands $LIB, finds the folder; tested with an empty file, which it cannot load."""
    try:
        ctypes.CDLL(str(path.parent / "here"))
    except OSError as error:
        return "cannot open shared object file" not in str(error)
    return True


def preloaded(
    environment: Mapping[str, str], *, tools: Mapping[str, str], command: Sequence[str] = ()
) -> dict[str, str]:
    """`environment` with the interposer preloaded and `tools` set, for all processes that the command starts.

    Args:
        environment: The environment of the command; libraries that it preloads are kept, before this one.
        tools: Variables that request something, e.g. ``LULL_TRACE`` or ``LULL_WAIT``.
        command: The command, if known, to decide whether Open MPI's mpirun must pass variables on.

    Raises:
        LullError: The interposer is missing.
    """
    before = environment.get("LD_PRELOAD", "").replace(" ", ":").split(":")
    ours = [preload_path(name) for name in (LIBRARY, *(WITH_TOOL[tool] for tool in WITH_TOOL if tool in tools))]
    preloads = [name for name in before if name and name not in ours] + ours
    made = {**environment, **tools, "LD_PRELOAD": ":".join(preloads)}
    # AddressSanitizer rejects a program with a library preloaded before it, although this one is harmless.
    sanitizer = environment.get("ASAN_OPTIONS", "")
    if "verify_asan_link_order" not in sanitizer:
        made["ASAN_OPTIONS"] = ":".join([*filter(None, [sanitizer]), "verify_asan_link_order=0"])
    # Ranks on mpirun's own host inherit everything, others what this list names. An mpirun with -x, here or in a
    # script, would end the job because of the list.
    if not _is_told_what_to_pass_on(command):
        return made
    lull = ["ASAN_OPTIONS", *sorted(name for name in made if name.startswith("LULL_"))]
    told = [name for name in environment.get(OPENMPI_FORWARDS, "").split(";") if name]
    of_them = {name.partition("=")[0] for name in told}
    made[OPENMPI_FORWARDS] = ";".join([*told, *(name for name in ("LD_PRELOAD", *lull) if name not in of_them)])
    return made


def _is_told_what_to_pass_on(command: Sequence[str]) -> bool:
    launched = any(Path(word).name.split(".")[0] in {"mpirun", "mpiexec", "orterun", "prterun"} for word in command)
    return launched and not {"-x", "--x"} & set(command)


def out_of_reach(command: Sequence[str]) -> str | None:
    """Why the interposer does not reach a program of the command, in one line, or None if it does.

    Args:
        command: The command of the user, including the launcher; each word that names a program is checked.
    """
    for word in command:
        path = shutil.which(word)
        program = read_program(Path(path)) if path else None
        if program is not None and (why := _hindrance(program)):
            return f"{word} {why}"
    return None


def _hindrance(program: Program) -> str | None:
    if program.static:
        return "is linked statically: nothing can be preloaded into it; link it with the shared MPI library"
    if program.set_id:
        return "is set-uid or set-gid: the loader preloads nothing into it; run a copy without that mode"
    beginnings = ("libmpi.so", "libmpich.so", "libmpi_abi.so", "libmsmpi")
    strangers = [name for name in program.libraries if name.startswith(beginnings)]
    if strangers and not any(map(is_known, program.libraries)):
        return f"is linked with {strangers[0]}: Lull knows {', '.join(KNOWN_LIBRARIES)}; link it with one of these"
    return None
