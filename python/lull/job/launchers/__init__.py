"""The launcher that started this process, and its rank, job and allocation, according to the environment.

Each launcher is a module of this package; `launcher.py` says what it must know.
"""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from lull.job.launchers.launcher import Allocation, Environment, JobRank, Launcher

__all__ = (
    "LAUNCHERS",
    "Allocation",
    "JobRank",
    "Launcher",
    "find_allocation",
    "find_place",
    "nodes_allocated",
    "seconds_left",
    "starts_ranks",
)

QUERY_S = 5.0  # a batch system under load answers later; then the limit stays unknown


def _found() -> tuple[Launcher, ...]:
    modules = (importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__))
    found: list[Launcher] = [module.LAUNCHER for module in modules if hasattr(module, "LAUNCHER")]
    return tuple(sorted(found, key=lambda launcher: (launcher.level, launcher.name)))


LAUNCHERS: Final = _found()


def find_place(env: Environment) -> JobRank | None:
    """The rank of this process, or None if no launcher started it.

    Raises:
        UsageError: There is a rank, but the size of its job is missing, or one of them is invalid.
    """
    for launcher in LAUNCHERS:
        place = launcher.place(env)
        if place is not None:
            if launcher.starts_shells and place.size == 1:
                return None
            allocation = None if launcher.is_unique else find_allocation(env)
            return replace(place, job=f"{place.job} {allocation.key}".strip()) if allocation else place
    return None


def find_allocation(env: Environment) -> Allocation | None:
    """The innermost allocation of this process, or None if it is in none."""
    return next((found for launcher in LAUNCHERS if (found := launcher.allocation(env))), None)


def seconds_left(env: Environment) -> float | None:
    """Seconds to the end of the allocation; None if there is no limit. May run a command of the batch system."""
    for launcher in LAUNCHERS:
        if launcher.allocation(env):
            return launcher.seconds_left(env, time.time(), _output_of)
    return None


def nodes_allocated(env: Environment) -> int:
    """The number of nodes that a batch system allocated to this job, from the environment; 1 if that has none."""
    allocation = find_allocation(env)
    return allocation.nodes or 1 if allocation else 1


def starts_ranks(command: Sequence[str]) -> bool:
    """Whether a command begins with a known launcher, `lull run` included."""
    return bool(launchers_of(command))


def launchers_of(command: Sequence[str]) -> list[Launcher]:
    """The launchers with whose program a command begins, `mpirun` also as `mpirun.openmpi`: several have an mpiexec."""
    first = Path(command[0]).name if command else ""
    beginnings = {first, *(f"{first} {word}" for word in command[1:2])}
    exact = [launcher for launcher in LAUNCHERS if beginnings & set(launcher.programs)]
    return exact or [launcher for launcher in LAUNCHERS if first.split(".")[0] in launcher.programs]


def _output_of(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
            timeout=QUERY_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout if done.returncode == 0 else ""
