"""Lull itself: its version, and whether each of its native parts exists with all the libraries that it needs."""

from __future__ import annotations

import platform
import re
from pathlib import Path

from lull import __version__
from lull.base import installed
from lull.base.configuration import VARIABLE, files_to_read, read_configuration
from lull.base.errors import LullError
from lull.doctor.finding import Finding, Machine

# The libraries, and what needs each.
LIBRARIES = {
    "liblull-shmem.so": "OpenSHMEM programs",
    "liblull-meter.so": "programs that mark regions",
    "liblull-mpi.so": "lull trace, wait and stage",
    "liblull-shmem-trace.so": "lull trace of OpenSHMEM programs",
    "liblull-hdf5.so": "lull stage",
    "liblull-stage-programs.so": "lull stage",
}
PROGRAMS = ("lull-guard", "lull-launch")


def look(machine: Machine) -> list[Finding]:
    """Check the version and the native parts of Lull."""
    folder = installed.package_folder()
    found = [Finding("version", "works", f"{__version__} in {folder}, Python {platform.python_version()}")]
    if not machine.is_this:
        return found
    found.append(_configuration(machine))
    expected = {installed.library(name): use for name, use in LIBRARIES.items()}
    expected |= {folder / "libexec" / name: "every command that starts programs" for name in PROGRAMS}
    broken = [finding for path, use in expected.items() if (finding := _broken(machine, path, use))]
    if not broken:
        found.append(Finding("native parts", "works", f"{len(expected)}, and all libraries that they need"))
    return found + broken


def _configuration(machine: Machine) -> Finding:
    """The files of settings that the command lull reads here."""
    what = "files of settings"
    try:
        files = read_configuration(machine.environment).files
    except LullError as error:
        problem, _, fix = str(error).partition("; ")
        return Finding(what, "missing", problem, fix, needed=True)
    if files:
        each = ", ".join(f"{file} with {count} setting{'s' * (count != 1)}" for file, count in files.items())
        return Finding(what, "works", each)
    if not (looked := files_to_read(machine.environment)):
        return Finding(what, "works", f"none is read, because {VARIABLE} is empty")
    return Finding(what, "works", f"there is none; looked for {' and '.join(map(str, looked))}")


def _broken(machine: Machine, path: Path, use: str) -> Finding | None:
    what = path.name
    if not path.is_file():
        return Finding(what, "missing", f"{path} is not there, which {use} need", "install Lull again", needed=True)
    _, said = machine.output_of(["ldd", str(path)])
    lacking = sorted({line.split()[0] for line in said.splitlines() if "not found" in line})
    if not lacking:
        return None
    fix = machine.system.install_libraries(lacking) or "install what brings them"
    return Finding(what, "missing", f"it lacks {', '.join(lacking)}, and {use} need it", fix, needed=True)


def libraries_of(machine: Machine, part: Path) -> dict[str, Path]:
    """The shared libraries that the loader finds for a native part: name → file."""
    _, said = machine.output_of(["ldd", str(part)])
    lines = (re.match(r"\s*(\S+) => (/\S+)", line) for line in said.splitlines())
    return {match[1]: Path(match[2]) for match in lines if match}
