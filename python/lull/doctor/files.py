"""Libraries for files: HDF5 for the output of simulations, OTF2 for traces."""

from __future__ import annotations

import ctypes
from pathlib import Path

from lull import _core
from lull.base import installed
from lull.doctor.finding import Finding, Machine
from lull.doctor.parts import libraries_of


def look(machine: Machine) -> list[Finding]:
    """Check which file libraries Lull was built with and finds."""
    if not machine.is_this:
        return []
    return [_hdf5(machine), _otf2(machine)]


def _hdf5(machine: Machine) -> Finding:
    module = installed.library("liblull-stage-hdf5.so")
    if not module.is_file():
        return Finding(
            "HDF5",
            "missing",
            "Lull was built without it: blocks of variables are not written",
            f"{machine.system.install('hdf5-headers')}, and install Lull again",
        )
    libraries = libraries_of(machine, module)
    library = next((path for name, path in libraries.items() if name.startswith("libhdf5")), None)
    if library is None:
        return Finding("HDF5", "missing", f"{module} finds no libhdf5", machine.system.install("hdf5-headers"))
    return Finding("HDF5", "works", f"{_hdf5_version(library)} in {library}")


def _hdf5_version(library: Path) -> str:
    numbers = [ctypes.c_uint() for _ in range(3)]
    try:
        ctypes.CDLL(str(library)).H5get_libversion(*(ctypes.byref(number) for number in numbers))
    except (OSError, AttributeError):
        return "of unknown version"
    return ".".join(str(number.value) for number in numbers)


def _otf2(machine: Machine) -> Finding:
    if not _core.HAS_OTF2:
        words = "Lull was built without it: no traces"
        return Finding("OTF2", "missing", words, f"{machine.system.install('otf2-headers')}, and install Lull again")
    libraries = libraries_of(machine, Path(_core.__file__))
    library = next((path for name, path in libraries.items() if "otf2" in name or "trace-format2" in name), None)
    words = str(library) if library else "within Lull's native module"
    if printer := machine.program("otf2-print"):
        words += f"; {printer} prints archives"
    return Finding("OTF2", "works", words)
