"""The number of processes that a command starts, and the same command with another number, if that is safe.

It is safe if the command begins with a known launcher, the option for the number occurs once and before the program,
and no other option places processes.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from lull.base.errors import UsageError

LAUNCHERS = ("mpirun", "mpiexec", "orterun", "prterun", "srun")
NUMBER = ("-n", "-np", "--n", "--np", "--ntasks")
PLACING = (
    "-N",
    "-npernode",
    "--npernode",
    "--ntasks-per-node",
    "-ppn",
    "-rf",
    "--rankfile",
    "--app",
    "-app",
    "--per-node",
)
FIX = "trace both sizes with lull trace, and name the two folders"


def with_processes(command: Sequence[str], number: int) -> list[str]:
    """The command with `number` processes.

    Raises:
        UsageError: The word to change cannot be determined safely.
    """
    place = _place_of_number(command)
    if isinstance(place, str):
        raise UsageError(f"run {command[0]} with {number} processes", place, FIX)
    changed = list(command)
    option, equals, _ = changed[place].partition("=")
    changed[place] = f"{option}={number}" if equals else str(number)
    return changed


def processes_of(command: Sequence[str]) -> int | None:
    """The number of processes that it starts, or None if `with_processes` could not change it."""
    place = _place_of_number(command)
    return None if isinstance(place, str) else int(command[place].rpartition("=")[2])


def _place_of_number(command: Sequence[str]) -> int | str:
    """The index of the word that is the number, or the reason why there is none."""
    first = Path(command[0]).name if command else ""
    ours = first == "lull" and list(command[1:2]) == ["run"]
    if not ours and first.split(".")[0] not in LAUNCHERS:
        return f"{first or 'it'} is not a known launcher ({', '.join(LAUNCHERS)})"
    words = list(command)[: command.index(":")] if ":" in command else list(command)
    if len(words) < len(command):
        return "it starts several programs"
    for place in range(2 if ours else 1, len(words)):
        name, equals, value = words[place].partition("=")
        if name in PLACING:
            return f"{name} places processes"
        if name in NUMBER:
            at = place if equals else place + 1
            text = value if equals else "".join(words[at : at + 1])
            return at if text.isdigit() else f"there is no number after {name}"
        if not name.startswith("-") and shutil.which(words[place]) is not None:
            break
    return f"there is no {' or '.join(NUMBER[:2])} before the program"
