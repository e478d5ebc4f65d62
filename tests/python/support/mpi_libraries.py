"""The MPI libraries of this machine and of PyPI, and programs compiled and started with each."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bounds import TIMEOUT_S
from lull.hosts.mpirun import version_of
from lull.mpi.preload import preloaded
from mpi_launchers import ENVIRONMENT as AS_ROOT
from mpi_launchers import HYDRA, Launcher
from mpi_launchers import OPEN_MPI as OPEN_MPI_LAUNCHER
from mpi_packages import PACKAGES, WITH_STANDARD_INTERFACE, MpiPackage

PROGRAMS = Path(__file__).parents[1] / "programs"

# The distribution's Open MPI is of version 5 or later.
HAS_OPEN_MPI_5 = shutil.which("mpirun.openmpi") is not None and version_of("mpirun.openmpi") >= 5
ENVIRONMENT = {
    **AS_ROOT,
    # With any caller, rdma crashes with shared memory in Open MPI 4.1, and ucx fails on one node in Open MPI 5.
    "OMPI_MCA_osc": "^ucx" if HAS_OPEN_MPI_5 else "^rdma",
}


def second_without(variable: str) -> list[str]:
    """The words before a program by which the second of its ranks starts without a variable."""
    # Not `mpirun … : …`, with which the mpirun of PRRTE 3.0 crashes.
    rank = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
    return ["sh", "-c", f'[ "{rank}" != 1 ] || unset {variable}; exec "$@"', "sh"]


def printing_to(file: Path) -> list[str]:
    """The words before a program by which its ranks print to the end of a file instead of to their launcher.

    For tests of what a rank prints before MPI_Abort, as the launcher of MPICH then drops what it has not yet read.
    """
    return ["sh", "-c", f'exec "$@" >>{shlex.quote(str(file))} 2>&1', "sh"]


@dataclass(frozen=True)
class MpiLibrary:
    """An MPI library: a package of PyPI, or one of Debian by its name among the alternatives."""

    name: str
    flavour: str  # of liblull-mpi-FLAVOUR.so
    soname: str
    package: MpiPackage | None = None

    @property
    def missing(self) -> str:
        """The reason why tests with it are skipped, or nothing."""
        if self.package is not None:
            return "" if self.package.is_installed else f"needs {self.package.requirement} of PyPI"
        commands = (f"mpicc.{self.name}", f"mpirun.{self.name}")
        return next((f"needs {command}" for command in commands if shutil.which(command) is None), "")

    @property
    def launcher(self) -> Launcher:
        """How its mpirun is told where ranks run."""
        if self.package is not None:
            return self.package.launcher
        return OPEN_MPI_LAUNCHER if self.name == "openmpi" else HYDRA

    @property
    def mpirun(self) -> str:
        """Its launcher."""
        return f"mpirun.{self.name}" if self.package is None else self.package.mpirun

    def compiled(self, source: str, folder: Path, *arguments: str, name: str = "") -> Path:
        """A program of the folder `programs`."""
        path = PROGRAMS / source
        program = folder / (name or path.stem)
        if self.package is not None:
            return self.package.compile(path, program, *arguments)
        compiler = {".c": "mpicc", ".F90": "mpifort"}[path.suffix]
        subprocess.run(
            [f"{compiler}.{self.name}", "-g", "-O1", path, "-o", program, *arguments], check=True, cwd=folder
        )
        return program

    def start(self, ranks: int, *command: str | Path) -> list[str]:
        """The words that start `ranks` ranks of it on this machine."""
        return [self.mpirun, "-n", str(ranks), *self.launcher.free, *map(str, command)]

    def run(
        self,
        ranks: int,
        *command: str | Path,
        tools: dict[str, str] | None = None,
        env: dict[str, str] | None = None,
        folder: Path | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run it to its end; with `tools`, which may be empty, the interposer is preloaded."""
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("LULL_") or name == "LULL_CONFIG"
        }
        environment |= {**ENVIRONMENT, **(env or {})}
        if tools is not None:
            environment = preloaded(environment, tools=tools)
        return subprocess.run(
            self.start(ranks, *command),
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )


LIBRARIES = [MpiLibrary("openmpi", "openmpi", "libmpi.so.40"), MpiLibrary("mpich", "mpich", "libmpich.so.12")]
_FLAVOURS = {"libmpi.so.40": "openmpi", "libmpi.so.12": "mpich", "libmpi_abi.so.1": "abi"}
OF_PYPI = [MpiLibrary(one.name, _FLAVOURS[one.soname], one.soname, one) for one in PACKAGES]
ABI = [MpiLibrary(one.name, _FLAVOURS[one.soname], one.soname, one) for one in WITH_STANDARD_INTERFACE]
# The variables with which Open MPI 4.1 communicates through UCX on one node.
PML_UCX = {
    "OMPI_MCA_pml": "ucx",
    "OMPI_MCA_pml_ucx_tls": "any",
    "OMPI_MCA_pml_ucx_devices": "any",
    "OMPI_MCA_btl": "^openib",
}


@dataclass(frozen=True)
class Setup:
    """An MPI library, and the variables that select its transport."""

    mpi: MpiLibrary
    env: dict[str, str] = field(default_factory=dict)

    def must_sleep(self, ranks: int, hosts: int = 1) -> bool:
        """Whether ranks that wait long surely sleep under a policy.

        If ranks outnumber cores, Open MPI yields in each turn, and a wait may end after few yields.
        """
        return self.mpi.flavour != "openmpi" or ranks <= len(os.sched_getaffinity(0)) // hosts * hosts


OPEN_MPI, MPICH = LIBRARIES
# Each library in whose programs ranks wait by a policy, with each of its transports.
SETUPS = {
    "openmpi": Setup(OPEN_MPI),
    "openmpi-ucx": Setup(OPEN_MPI, {**PML_UCX, "OMPI_MCA_osc": "^rdma"}),  # between hosts, rdma needs ob1
    "mpich": Setup(MPICH),
    **{one.name: Setup(one) for one in OF_PYPI},
}
# Open MPI 5 does not crash with osc rdma, and has no other between hosts.
SETUPS["openmpi-5"].env["OMPI_MCA_osc"] = "^ucx"
# The standard binary interface of libraries that are tested with their own: what differs is the wrappers.
WITH_STANDARD_INTERFACE = {one.name: Setup(one) for one in ABI}
# Over libfabric's provider tcp; the default is another one.
OVER_LIBFABRIC = {
    "mpich-5-libfabric": Setup(SETUPS["mpich-5"].mpi, {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"}),
    "openmpi-5-libfabric": Setup(
        SETUPS["openmpi-5"].mpi,
        {"OMPI_MCA_pml": "cm", "OMPI_MCA_mtl": "ofi", "OMPI_MCA_mtl_ofi_provider_include": "tcp"},
    ),
}


def _each(libraries: list[MpiLibrary]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "mpi",
        [
            pytest.param(one, id=one.name, marks=pytest.mark.skipif(bool(one.missing), reason=one.missing))
            for one in libraries
        ],
    )


each_library = _each(LIBRARIES)
# For programs in C without intended errors, of which MPICH 5 does not return all: also the standard binary interface.
each_interface = _each([*LIBRARIES, ABI[0]])
