"""Run the measuring program (libexec/lull-calibrate) under a launcher, and parse its output."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lull.base import installed
from lull.base.errors import LullError
from lull.base.guard import CannotExecuteError, run_guarded
from lull.base.interrupts import Interrupts

PROGRAM: Final = "lull-calibrate"
# Settings of the user that would change the measurements.
KEPT_SETTINGS: Final = ("LULL_METER_", "LULL_SITE", "LULL_NODE_")


def own_launcher(pes: int, nodes: int = 1) -> list[str]:
    """Lull's launcher for `pes` processes on `nodes` emulated nodes of this machine."""
    split = ["--nodes", str(nodes)] if nodes > 1 else []
    return [str(installed.launcher()), "-n", str(pes), *split, "--"]


@dataclass(frozen=True)
class Bench:
    """The environment of the measuring programs."""

    launcher: Sequence[str]  # for processes on different nodes; empty: emulated nodes of this machine
    storage: Path  # the folder whose file system is measured
    quick: bool
    interrupts: Interrupts

    def between_nodes(self) -> list[str]:
        """The launcher of the network's processes."""
        return list(self.launcher) or own_launcher(2, 2)

    def rounds(self, thorough: int, quick: int = 2) -> int:
        """The number of observations."""
        return quick if self.quick else thorough

    def run(self, words: Sequence[str], launcher: Sequence[str] = ()) -> dict[str, Any]:
        """Run the program with `words` and return its output.

        Raises:
            LullError: It fails, or prints something else; the line ends with its message.
            InterruptedBySignal: A signal asked to stop; all its processes have ended.
        """
        command = [*launcher, str(installed.executable(PROGRAM)), *words]
        asked = f"measure {' '.join(word for word in words if not word.startswith('-'))}"
        with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as complained:
            try:
                ending = run_guarded(
                    command, env=_environment(), interrupts=self.interrupts, stdout=said, stderr=complained
                )
            except CannotExecuteError as error:
                raise LullError(asked, f"{command[0]} cannot be run", "check the launcher behind --") from error
            said.seek(0)
            complained.seek(0)
            text = said.read().decode(errors="replace")
            complaint = complained.read().decode(errors="replace")
        if ending.exit_code != 0:
            raise LullError(asked, _line_of(complaint) or f"it ended with exit code {ending.exit_code}")
        found = next((line for line in reversed(text.splitlines()) if line.startswith("{")), None)
        try:
            content = json.loads(found or "")
        except json.JSONDecodeError as error:
            raise LullError(asked, "it printed no result", "check the launcher behind --") from error
        assert isinstance(content, dict)
        return content


def _line_of(complaint: str) -> str:
    """A message in one line: that of Lull, or else the first words of a launcher, without the lines that frame them."""
    lines = [line.strip() for line in complaint.splitlines() if any(letter.isalpha() for letter in line)]
    ours = [line.removeprefix("lull: ") for line in lines if line.startswith("lull: ")]
    return (ours[-1:] or lines[:1] or [""])[0]


def _environment() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("LULL_") or name.startswith(KEPT_SETTINGS)
    }
