"""The paths of Lull's parts: native executables, applications, studies; and how to start a process of Lull.

They are installed next to the native module; in a source checkout, the folder of the studies is found, too.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from pathlib import Path

from lull import _core
from lull.base.errors import LullError
from lull.base.packages import this_system

SINCE_PMIX_4_2 = "PMIx_Info_load"  # a macro before


class NotFoundError(LullError):
    """A program does not exist; the exit code is that of a shell."""

    exit_code = 127


def package_folder() -> Path:
    """The folder of the native module, next to which everything else is installed."""
    return Path(_core.__file__).parent


def library(name: str) -> Path:
    """The path of Lull's shared library `name`, whether or not it exists.

    It is in lib/ of the prefix. The package is below that folder, or below lib64/ next to it, into which pip installs
    compiled packages on some systems.
    """
    folder = package_folder().parents[2]
    return next((path for path in (folder / name, folder.parent / "lib" / name) if path.is_file()), folder / name)


def import_folder() -> Path:
    """The folder in which Python finds this package."""
    return Path(__file__).resolve().parents[2]


def module_command(module: str, *words: str) -> list[str]:
    """A command that runs a module of Lull in a new process, with this Python and this Lull, even if Python does not
    find the package by itself (after `cmake --install`, only the command lull finds it).

    Modules in the working directory are not imported, because it may contain, say, a numpy.py.
    """
    beside = str(import_folder())
    start = f"import runpy, sys; sys.path.insert(0, {beside!r}); runpy.run_module({module!r}, None, '__main__', True)"
    return [sys.executable, "-P", "-c", start, *words]


def executable(name: str) -> Path:
    """The native executable `name` (lull-guard, lull-launch).

    Raises:
        LullError: It is not installed.
    """
    path = package_folder() / "libexec" / name
    if not path.is_file():
        raise LullError(f"find {name}", f"{path} is missing", "install Lull again")
    return path


def launcher() -> Path:
    """lull-launch, which starts the processes of a job on this machine.

    Raises:
        LullError: It is not installed, or libpmix, by which the processes of a job find each other, is missing or too
            old.
    """
    path = executable("lull-launch")
    try:
        pmix = ctypes.CDLL("libpmix.so.2")
    except OSError as error:
        raise LullError(
            "start processes", "libpmix.so.2 is not on this machine", this_system().install("pmix")
        ) from error
    if not hasattr(pmix, SINCE_PMIX_4_2) and SINCE_PMIX_4_2.encode() in path.read_bytes():
        raise LullError(
            "start processes",
            "libpmix.so.2 of this machine is older than PMIx 4.2, for which Lull was built",
            "load a newer PMIx, or build Lull on this machine",
        )
    return path


def applications() -> dict[str, Path]:
    """The applications that come with Lull, by name."""
    folder = package_folder() / "apps"
    if not folder.is_dir():
        return {}
    return {path.name: path for path in sorted(folder.iterdir()) if path.is_file() and os.access(path, os.X_OK)}


def find_program(name: str) -> Path:
    """The program `name`: on PATH, or else as a path, or else among the applications that come with Lull.

    Raises:
        NotFoundError: There is none, or it is not executable.
    """
    on_path = shutil.which(name)
    if on_path:
        return Path(on_path).absolute()
    path = Path(name)
    if path.is_file():
        if os.access(path, os.X_OK):
            return path.absolute()
        raise NotFoundError(f"run {name}", "it is not executable", f"chmod +x {name}")
    installed = applications()
    if name in installed:
        return installed[name]
    choice = f"Lull brings {', '.join(installed)}" if installed else "check its spelling"
    raise NotFoundError(f"run {name}", "no such program on PATH or here", choice)


def studies() -> dict[str, Path]:
    """The studies that come with Lull, by name: their TOML files."""
    checkout = Path(__file__).resolve().parents[3] / "studies"
    found: dict[str, Path] = {}
    for folder in (package_folder() / "studies", checkout):
        for path in sorted(folder.glob("*.toml")):
            found.setdefault(path.stem, path)
    return found
