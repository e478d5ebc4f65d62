"""The number of processes that a command starts, and the same command with another number, if that is safe.

It is safe if the command begins with a known launcher, the option for the number occurs once and before the program,
and no other option places processes.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from lull.base.errors import UsageError
from lull.job.launchers import LAUNCHERS, launchers_of

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
    launchers = launchers_of(command)
    number = list(dict.fromkeys(option for launcher in launchers for option in launcher.number))
    if not number:
        known = sorted({program for launcher in LAUNCHERS if launcher.number for program in launcher.programs})
        return f"{command[0] if command else 'it'} is not a known launcher ({', '.join(known)})"
    words = list(command)[: command.index(":")] if ":" in command else list(command)
    if len(words) < len(command):
        return "it starts several programs"
    first = Path(command[0]).name
    two_words = any(program.startswith(f"{first} ") for launcher in launchers for program in launcher.programs)
    for place in range(2 if two_words else 1, len(words)):
        name, equals, value = words[place].partition("=")
        if name in PLACING:
            return f"{name} places processes"
        if name in number:
            at = place if equals else place + 1
            text = value if equals else "".join(words[at : at + 1])
            return at if text.isdigit() else f"there is no number after {name}"
        if not name.startswith("-") and shutil.which(words[place]) is not None:
            break
    return f"there is no {' or '.join(number[:2])} before the program"
