"""How many processes a command starts, and the same command with another number, where that is safe to say.

It is where the command begins with a launcher that is known, whose option for the number stands once and before the
program, and nothing else says where processes go.
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
        UsageError: It cannot be told safely which word to change.
    """
    place = _place_of_number(command)
    if isinstance(place, str):
        raise UsageError(f"run {command[0]} with {number} processes", place, FIX)
    changed = list(command)
    option, equals, _ = changed[place].partition("=")
    changed[place] = f"{option}={number}" if equals else str(number)
    return changed


def processes_of(command: Sequence[str]) -> int | None:
    """How many it starts, or None where that is not said as `with_processes` needs it."""
    place = _place_of_number(command)
    return None if isinstance(place, str) else int(command[place].rpartition("=")[2])


def _place_of_number(command: Sequence[str]) -> int | str:
    """Which word is the number, or why none can be told."""
    first = Path(command[0]).name if command else ""
    ours = first == "lull" and list(command[1:2]) == ["run"]
    if not ours and first.split(".")[0] not in LAUNCHERS:
        return f"{first or 'it'} is no launcher that is known, as {', '.join(LAUNCHERS)} are"
    words = list(command)[: command.index(":")] if ":" in command else list(command)
    if len(words) < len(command):
        return "it starts several programs"
    for place in range(2 if ours else 1, len(words)):
        name, equals, value = words[place].partition("=")
        if name in PLACING:
            return f"{name} says where processes go"
        if name in NUMBER:
            at = place if equals else place + 1
            text = value if equals else "".join(words[at : at + 1])
            return at if text.isdigit() else f"behind {name} there is no number"
        if not name.startswith("-") and shutil.which(words[place]) is not None:
            break
    return f"no {' or '.join(NUMBER[:2])} stands before the program"
