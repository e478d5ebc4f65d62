"""The contract of a launcher: what its variables say about a process, its rank and the allocation of its job."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

from lull.base.errors import UsageError

HIGHEST_SIZE = 10_000_000

Environment = Mapping[str, str]
# Runs a command of a batch system and returns its output, or "" if it fails.
Query = Callable[[Sequence[str]], str]


class Level(IntEnum):
    """Which launcher counts if a process has the variables of several: the lowest level.

    A launcher of an MPI library starts its daemons by the launcher of the batch system, whose variables its ranks
    therefore have, too; and a batch system sets the variables of the protocol by which MPI libraries find their peers.
    """

    LIBRARY = 0  # of an MPI library or a runtime: mpirun
    INSTANCE = 1  # of a batch system that runs as a job of another one: flux
    BATCH = 2  # of a batch system: srun
    INTERFACE = 3  # its variables are those of a system's PMI library, which launchers of batch systems also set
    PROTOCOL = 4  # no launcher in particular: PMI, PMIx


@dataclass(frozen=True)
class JobRank:
    """One rank of a job."""

    launcher: str
    job: str  # equal in all ranks of the job, and in no other job; empty if there is no name
    rank: int
    size: int
    on_node: int | None = None  # number of ranks on this node, if the launcher gives it


@dataclass(frozen=True)
class Allocation:
    """What a batch system has allocated to the job that this process is part of."""

    system: str
    job: str  # as the commands of the system name it; an element of a job array has a name of its own
    key: str  # different for every job, element of an array, restart and step
    nodes: int | None = None  # None: its variables do not say


class Launcher:
    """A program that starts the ranks of a job, or a batch system, or both.

    To add one, add a module to this package with an instance named LAUNCHER.
    """

    name: ClassVar[str]
    level: ClassVar[Level]
    programs: ClassVar[tuple[str, ...]] = ()  # the commands that start ranks, without options
    # The options with the number of ranks. None if it starts something else (sets of resources), or places them by it.
    number: ClassVar[tuple[str, ...]] = ()
    probe: ClassVar[tuple[str, ...]] = ()  # a command that succeeds where the batch system works
    one_node: ClassVar[str] = ""  # what starts a command on one whole node, in a job
    # Whether its name of a job is unique; otherwise the key of the allocation is added, which must then be the same in
    # all ranks: their environment is that of the launcher on all nodes.
    is_unique: ClassVar[bool] = False
    # Whether a job of one rank is usually an interactive shell, whose commands are no ranks.
    starts_shells: ClassVar[bool] = False

    def place(self, env: Environment) -> JobRank | None:
        """The rank of a process with this environment, or None if this launcher has not started it as a rank.

        Raises:
            UsageError: There is a rank, but the size of its job is missing, or one of them is invalid.
        """
        return None

    def allocation(self, env: Environment) -> Allocation | None:
        """The allocation of a process with this environment, or None if it is in none of this system."""
        return None

    def seconds_left(self, env: Environment, now: float, query: Query) -> float | None:
        """Seconds from `now`, as of `time.time()`, to the end of the allocation; None if there is no limit to be found.

        Called only where `allocation` returns one. `query` costs a process and a message to the system.
        """
        return None

    def rank(self, env: Environment, job: str, names: tuple[str, str], on_node: int | None = None) -> JobRank:
        """A rank, from the variables `names` of its rank and of the size of its job.

        Raises:
            UsageError: One is missing or invalid.
        """
        rank, size = names
        if size not in env:
            raise UsageError(
                self._request,
                f"{rank} is set, the number of ranks is not",
                f"set {size}, or unset {rank} to measure this process alone",
            )
        return self.checked(JobRank(self.name, job, self._number(env, rank), self._number(env, size), on_node), names)

    def checked(self, place: JobRank, names: tuple[str, str]) -> JobRank:
        """The rank, if it is below the size; `names` says where both come from.

        Raises:
            UsageError: It is not.
        """
        if place.rank >= place.size or place.size > HIGHEST_SIZE:
            raise UsageError(self._request, f"{names[0]} is {place.rank}, but {names[1]} is {place.size}")
        return place

    @property
    def _request(self) -> str:
        return f"find the place in the job that {self.name} started"

    def _number(self, env: Environment, name: str) -> int:
        if not is_number(env[name]):
            raise UsageError(self._request, f"{name} is {env[name]!r}, not a number")
        return int(env[name])


def is_number(text: str) -> bool:
    """Whether the text is a number as launchers write it; other digits than those of ASCII are none."""
    return text.isascii() and text.isdecimal()


def count_in(env: Environment, *names: str) -> int | None:
    """The value of the first of the variables that contains a number."""
    return next((int(env[name]) for name in names if is_number(env.get(name, ""))), None)


def joined(env: Environment, *names: str) -> str:
    """The values of those of the variables that are set, as one word."""
    return " ".join(env[name] for name in names if env.get(name))
