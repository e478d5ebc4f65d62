"""How to get a library or program that Lull can use, on this machine: by its package manager, its modules or Spack.

Names of packages: Debian's from `packages/*.txt`, tried by `make setup`; of Fedora and Enterprise Linux from Fedora's
spec files (scorep, scalasca, openmpi, slurm); of SUSE from its spec files (openucx: libucp0; pmix: libpmix2) and from
`zypper install openmpi4-devel` in notes of others. Those of RPM systems have not been tried.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final


@dataclass(frozen=True)
class Package:
    """The names of one thing in the places that have it; empty where it is in none."""

    apt: str
    dnf: str
    zypper: str
    spack: str = ""  # also the usual beginning of a module's name


# By a short name of the thing. With `-headers`: also what compiling against it needs.
PACKAGES: Final = {
    "ucx": Package("libucx0", "ucx", "libucp0", "ucx"),
    "libfabric": Package("libfabric1", "libfabric", "libfabric1", "libfabric"),
    "pmix": Package("libpmix2", "pmix", "libpmix2", "pmix"),
    "munge": Package("libmunge2", "munge-libs", "libmunge2", "munge"),
    "hwloc": Package("libhwloc15", "hwloc-libs", "libhwloc15", "hwloc"),
    "fmt": Package("libfmt-dev", "fmt-devel", "fmt-devel", "fmt"),
    "hdf5-headers": Package("libhdf5-dev", "hdf5-devel", "hdf5-devel", "hdf5"),
    "otf2-headers": Package("libopen-trace-format2-dev", "otf2-devel", "", "otf2"),
    "openmpi": Package("openmpi-bin", "openmpi", "openmpi4", "openmpi"),
    "openmpi-headers": Package("libopenmpi-dev", "openmpi-devel", "openmpi4-devel", "openmpi"),
    "mpich": Package("libmpich12", "mpich", "mpich", "mpich"),
    "mpich-headers": Package("libmpich-dev", "mpich-devel", "mpich-devel", "mpich"),
    "namespaces": Package("iproute2 util-linux", "iproute iproute-tc util-linux", "iproute2 util-linux"),
}
# Things in Enterprise Linux's additional repository.
IN_EPEL: Final = ("hdf5-headers", "otf2-headers")
# The thing that brings a library, by the beginning of its file's name.
OF_LIBRARIES: Final = {
    "libucp": "ucx",
    "libucs": "ucx",
    "libpmix": "pmix",
    "libhwloc": "hwloc",
    "libfmt": "fmt",
    "libhdf5": "hdf5-headers",
    "libmpich": "mpich",
    "libmpi.": "openmpi-headers",
    "libopen-trace-format2": "otf2-headers",
    "libotf2": "otf2-headers",
}
# ID and ID_LIKE of /etc/os-release, by the package manager.
SYSTEMS: Final = {
    "apt": ("debian", "ubuntu"),
    "dnf": ("fedora", "rhel", "centos"),
    "zypper": ("suse", "opensuse", "sles"),
}


@dataclass(frozen=True)
class System:
    """Where something is to be installed.

    Args:
        os_release: The text of /etc/os-release.
        environment: The variables, which say whether there are modules, and Spack.
        is_root: Whether the user may install packages.
        image: In words, the image into which packages must go instead, if this is a container; otherwise "".
    """

    os_release: str
    environment: Mapping[str, str] = field(default_factory=dict)
    is_root: bool = True
    image: str = ""

    @property
    def manager(self) -> str:
        """apt, dnf, yum or zypper; "" if Lull does not know that of this system."""
        names = [*self._value("ID").split(), *self._value("ID_LIKE").split()]
        for name in names:
            for manager, systems in SYSTEMS.items():
                if name.startswith(systems):
                    return "yum" if manager == "dnf" and self._value("VERSION_ID").partition(".")[0] == "7" else manager
        return ""

    def install(self, *things: str) -> str:
        """How to get these things of `PACKAGES`, in one line; what this user can do comes first."""
        return self._routes(things, self._command(things)) or f"install {' and '.join(map(spoken, things))}"

    def install_libraries(self, files: list[str]) -> str:
        """How to get the shared libraries of which the loader does not find these files; "" if Lull does not know."""
        found = (thing for file in files for start, thing in OF_LIBRARIES.items() if file.startswith(start))
        things = tuple(dict.fromkeys(found))
        if self.manager in ("dnf", "yum", "zypper"):  # they also know packages by the libraries in them
            provided = " ".join(f"'{file}()(64bit)'" for file in files)
            return self._routes(things, f"{self.manager} install {provided}")
        return self.install(*things) if things else ""

    def _routes(self, things: tuple[str, ...], command: str) -> str:
        if self.image:
            return f"in {self.image}: {command}" if command else ""
        if self.is_root and command:
            return command
        routes = [self._by_modules(things), self._by_spack(things), f"as root: {command}" if command else ""]
        return ", or ".join(route for route in routes if route)

    def _command(self, things: tuple[str, ...]) -> str:
        column = {"apt": "apt", "zypper": "zypper"}.get(self.manager, "dnf" if self.manager else "")
        names = [getattr(PACKAGES[thing], column, "") for thing in things]
        if not all(names):
            return ""
        is_in_epel = column == "dnf" and self._value("ID") != "fedora" and any(thing in IN_EPEL for thing in things)
        return f"{self.manager} install {' '.join(names)}{' (of EPEL)' if is_in_epel else ''}"

    def _by_modules(self, things: tuple[str, ...]) -> str:
        names = self._spack_names(things)
        command = (
            "spider" if self.environment.get("LMOD_CMD") else "avail" if self.environment.get("MODULESHOME") else ""
        )
        return f"load the module that `module {command} {' '.join(names)}` shows" if names and command else ""

    def _by_spack(self, things: tuple[str, ...]) -> str:
        names = " ".join(self._spack_names(things))
        has_spack = self.environment.get("SPACK_ROOT") or shutil.which("spack", path=self.environment.get("PATH", ""))
        return f"spack install {names} && spack load {names}" if names and has_spack else ""

    def _spack_names(self, things: tuple[str, ...]) -> list[str]:
        """Empty if one of the things has none."""
        names = [PACKAGES[thing].spack for thing in things]
        return list(dict.fromkeys(names)) if all(names) else []

    def _value(self, key: str) -> str:
        found = (line.partition("=")[2] for line in self.os_release.splitlines() if line.startswith(f"{key}="))
        return next(found, "").strip("\"' ")


def this_system() -> System:
    """The machine that this process runs on."""
    try:
        os_release = Path("/etc/os-release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        os_release = ""
    return System(os_release, os.environ, os.geteuid() == 0)


def spoken(thing: str) -> str:
    """A thing of `PACKAGES` in words."""
    return {"namespaces": "ip, tc and unshare"}.get(thing, thing.replace("-headers", " with its headers"))
