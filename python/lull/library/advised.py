"""Advice from Python: `lull.advise` does what `lull advise` does."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from lull.advice.account import Advice
from lull.advice.asking import Asked, answer
from lull.base.errors import UsageError


def advise(
    what: str | Path | Sequence[str | Path],
    *,
    objective: str = "time",
    on: str | Path = "here",
    runs: int = 3,
    verify: bool = False,
    out: str | Path | None = None,
) -> Advice:
    """What each choice would cost a program and save, and which is advised.

    Args:
        what: A command (a text is split as a shell does), which is run; the record of a run; or the folder of a trace.
        objective: time, energy, edp, or energy@slowdown=2%.
        on: The machine: `here`, one that comes with Lull, or a machine.toml.
        runs: Runs of a command.
        verify: Whether the advice and the present state are run in turn.
        out: Folder of what is measured; by default results/advise-NAME-TIME.

    Raises:
        UsageError: An argument is wrong, or this host has not been calibrated.
        LullError: The command fails, or the record or trace cannot be read.
    """
    if isinstance(what, str | Path):
        words = [str(what)] if Path(what).exists() else shlex.split(str(what))
    else:
        words = [str(word) for word in what]
    if not words:
        raise UsageError("advise", "the command is empty", "name a program")
    return answer(Asked(words, objective, str(on), runs, verify, None if out is None else Path(out)))[0]
