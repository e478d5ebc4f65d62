"""Where the parts of Lull stand: native executables, applications, studies; and how a process of ours is started.

They are installed beside the native module; in a source checkout the studies are also found in its own folder.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from pathlib import Path

from lull import _core
from lull.base.errors import LullError


class NotFoundError(LullError):
    """A program that is not there; the exit code is the one a shell gives."""

    exit_code = 127


def package_folder() -> Path:
    """The folder of the native module, beside which everything else is installed."""
    return Path(_core.__file__).parent


def library(name: str) -> Path:
    """Where the shared library `name` of Lull is, or would be.

    It is in lib/ of the prefix. The package is below that folder, or below lib64/ beside it, where pip of some systems
    puts what is compiled.
    """
    folder = package_folder().parents[2]
    return next((path for path in (folder / name, folder.parent / "lib" / name) if path.is_file()), folder / name)


def import_folder() -> Path:
    """The folder in which Python finds this package."""
    return Path(__file__).resolve().parents[2]


def module_command(module: str, *words: str) -> list[str]:
    """A command that runs a module of Lull in a process of its own: by this Python and this Lull, which Python need not
    find by itself (`cmake --install` puts it where only the command lull looks).

    Modules in the working directory are not imported: a user may well have a numpy.py there.
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
        LullError: It is not installed, or the library by which processes of a job find each other is not here.
    """
    path = executable("lull-launch")
    try:
        ctypes.CDLL("libpmix.so.2")
    except OSError as error:
        raise LullError("start processes", "libpmix.so.2 is not on this machine", "apt install libpmix2") from error
    return path


def applications() -> dict[str, Path]:
    """The applications that come with Lull, by name."""
    folder = package_folder() / "apps"
    if not folder.is_dir():
        return {}
    return {path.name: path for path in sorted(folder.iterdir()) if path.is_file() and os.access(path, os.X_OK)}


def find_program(name: str) -> Path:
    """The program `name`: on PATH, else as a path, else among the applications that come with Lull.

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
