"""How ranks of the MPI library of `mpirun` wait: what Lull can change, and which settings of the library a job has."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lull.doctor.finding import Finding, Machine, State

OPEN_MPI, MPICH, INTEL = "Open MPI", "MPICH", "Intel MPI"
# The figures below are of single runs by hand: two ranks on two cores, time over that of the library's default.
SOURCE: Final = "single runs by hand, docs/how-to/run/wait-in-mpi-programs.md"
OFF = frozenset({"", "0", "no", "off", "false", "disable", "disabled"})
# Providers of libfabric that have no descriptor on which a rank can sleep, by their documentation.
WITHOUT_DESCRIPTORS = ("shm", "opx", "ucx", "mlx", "lnx")


def _is_on(value: str) -> bool:
    return value.lower() not in OFF


def _is_off(value: str) -> bool:
    return not _is_on(value)


def _is_at_least(least: int) -> Callable[[str], bool]:
    return lambda value: value.isdigit() and int(value) >= least


def _is_below(most: int) -> Callable[[str], bool]:
    return lambda value: value.isdigit() and int(value) < most


@dataclass(frozen=True)
class WaitSetting:
    """A variable that changes how ranks of a library wait, at some of its values."""

    variable: str
    libraries: tuple[str, ...]
    holds: Callable[[str], bool]  # for these values
    state: State
    effect: str
    fix: str = ""
    measured: bool = True  # the effect contains figures of SOURCE


_UNSET = "unset it, and let ranks sleep with lull wait"
SETTINGS = (
    WaitSetting(
        "OMPI_MCA_mpi_yield_when_idle",
        (OPEN_MPI,),
        _is_on,
        "limited",
        "waiting ranks yield their cores, but use as much CPU time; a ping-pong of 8 bytes takes 3 times as long",
        f"{_UNSET}; it helps where ranks outnumber cores, and there Open MPI yields by itself",
    ),
    WaitSetting(
        "MPIR_CVAR_ENABLE_HEAVY_YIELD",
        (MPICH,),
        _is_on,
        "limited",
        "a ping-pong of 8 bytes takes 100 times as long, and waiting ranks use as much CPU time",
        f"{_UNSET}, under which the yield returns at once",
    ),
    WaitSetting(
        "MPIR_CVAR_CH4_PROGRESS_THROTTLE",
        (MPICH,),
        _is_on,
        "limited",
        "with MPIR_CVAR_ENABLE_HEAVY_YIELD, a ping-pong of 8 bytes takes 100 times as long, and waiting ranks use "
        "1.0 to 1.17 times the CPU time",
        _UNSET,
    ),
    WaitSetting(
        "MPIR_CVAR_POSIX_NUM_COLLS_THRESHOLD",
        (MPICH,),
        _is_at_least(1_000_000),
        "works",
        "collectives of a node use messages, which wake ranks that sleep; MPI_Allreduce of 8 bytes takes 1.7 times as"
        " long, MPI_Bcast of 64 KiB 0.8 times",
    ),
    WaitSetting(
        "I_MPI_WAIT_MODE",
        (INTEL,),
        _is_on,
        "limited",
        "waiting ranks yield their cores, but use as much CPU time; a ping-pong of 8 bytes takes 2 to 3 times as long",
        _UNSET,
    ),
    WaitSetting(
        "I_MPI_THREAD_YIELD",
        (INTEL,),
        lambda value: value == "3",
        "works",
        "with I_MPI_THREAD_SLEEP=100, ranks that wait for milliseconds use 0.73 times the CPU time in the same time; "
        "where waits are 50 to 100 µs, the program takes 1.16 to 1.35 times as long; a ping-pong of 8 bytes takes 1.1 "
        "times as long; lull wait then changes nothing",
    ),
    WaitSetting(
        "I_MPI_THREAD_YIELD",
        (INTEL,),
        lambda value: value in ("0", "1"),
        "limited",
        "Lull does not see the waiting loop, so ranks poll also under lull wait",
        "unset it, or set it to 2",
        measured=False,
    ),
    WaitSetting(
        "I_MPI_THREAD_SLEEP",
        (INTEL,),
        _is_on,
        "works",
        "microseconds of a nap, with I_MPI_THREAD_YIELD=3",
        measured=False,
    ),
    *(
        WaitSetting(
            variable,
            (INTEL,),
            _is_at_least(1000),
            "limited",
            "turns of the waiting loop before a rank yields; Lull sees the loop in its yields, so ranks sleep later",
            "unset it, or set it to 10",
            measured=False,
        )
        for variable in ("I_MPI_SPIN_COUNT", "I_MPI_COLL_SHM_PROGRESS_SPIN_COUNT")
    ),
    WaitSetting(
        "FI_PROVIDER",
        (OPEN_MPI, MPICH, INTEL),
        lambda value: value.startswith(WITHOUT_DESCRIPTORS),
        "limited",
        "this provider of libfabric has no descriptor to sleep on; a rank that waits for another node polls",
        "if another provider is as fast, take that: tcp, verbs, cxi and efa have descriptors",
        measured=False,
    ),
)


@dataclass(frozen=True)
class Library:
    """The MPI library of a launcher."""

    name: str
    version: tuple[int, ...]

    @property
    def words(self) -> str:
        """Its name and version."""
        return f"{self.name} {'.'.join(map(str, self.version))}"


_LAUNCHERS = (
    (INTEL, r"Intel\(R\) MPI Library.*?Version (\d+(?:\.\d+)*)"),
    (OPEN_MPI, r"\(Open MPI\) (\d+(?:\.\d+)*)"),
    (MPICH, r"^\s*Version:\s*(\d+(?:\.\d+)*)"),
)
# What waiting by a policy covers, by library and its first version.
_YIELDS_IN_EACH_TURN = (
    "without Lull, each turn of a waiting loop yields, which is four fifths of a ping-pong of 8 bytes"
)
_WAITS: Final[tuple[tuple[str, tuple[int, ...], str], ...]] = (
    (OPEN_MPI, (5,), "ranks can sleep in shared memory, over TCP, UCX and libfabric"),
    (OPEN_MPI, (4, 1), "ranks can sleep in shared memory, over TCP and with pml ucx"),
    (MPICH, (5,), f"ranks can sleep in shared memory, over UCX and libfabric; {_YIELDS_IN_EACH_TURN}"),
    (MPICH, (4, 1), "ranks can sleep in shared memory, over UCX and libfabric"),
    (
        MPICH,
        (3, 4),
        "ranks can sleep over UCX and libfabric, for short times if it has shared memory of its own",
    ),
    (INTEL, (2021,), "ranks can sleep in shared memory, for short times, and over libfabric"),
)


def library_of(said: str) -> Library | None:
    """The library of a launcher, by what `mpirun --version` says."""
    for name, pattern in _LAUNCHERS:
        if found := re.search(pattern, said, re.MULTILINE):
            return Library(name, tuple(map(int, found[1].split("."))))
    return None


def waiting_of(machine: Machine, launcher: Path, said: str) -> list[Finding]:
    """How ranks of this launcher wait: by Lull's policies, and by the library's settings in this environment."""
    library = library_of(said)
    if library is None:
        return [Finding("waiting", "limited", "Lull does not know the library of mpirun", "lull wait says why not")]
    return [_by_policy(library), *_settings(machine, launcher, library)]


def _by_policy(library: Library) -> Finding:
    for name, first, words in _WAITS:
        if name == library.name and library.version >= first:
            return Finding("waiting", "works", f"{library.words}: {words} (lull wait)")
    return Finding("waiting", "missing", f"{library.words}: Lull does not know its waiting loop", "a newer version")


def _settings(machine: Machine, launcher: Path, library: Library) -> list[Finding]:
    found = []
    values = {**_of_files(machine, launcher), **machine.environment}
    for row in SETTINGS:
        value = values.get(row.variable)
        if value is None or not row.holds(value):
            continue
        words = f"={value}: {row.effect}{f' ({SOURCE})' if row.measured else ''}"
        if library.name in row.libraries:
            found.append(Finding(row.variable, row.state, words, row.fix))
        else:
            found.append(Finding(row.variable, "off", f"{library.words} does not read it; {row.libraries[0]}: {words}"))
    return found


def _of_files(machine: Machine, launcher: Path) -> dict[str, str]:
    """Parameters of Open MPI's files, as the variables that would have the same effect; the user's file counts."""
    home = machine.environment.get("HOME", "")
    prefix = launcher.resolve().parent.parent
    files = [
        "/etc/openmpi/openmpi-mca-params.conf",
        str(prefix / "etc" / "openmpi-mca-params.conf"),
        *([f"{home}/.openmpi/mca-params.conf"] if home else []),
    ]
    found = {}
    for file in files:
        for line in machine.read(file).splitlines():
            name, equals, value = line.partition("#")[0].partition("=")
            if equals:
                found[f"OMPI_MCA_{name.strip()}"] = value.strip()
    return found
