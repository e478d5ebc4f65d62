"""One thing that was looked at, and how it is."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

State = Literal["works", "limited", "off", "missing"]

TRY_S = 30.0  # what a program that is tried may take


@dataclass(frozen=True)
class Finding:
    """How one thing is.

    Args:
        what: Its name, e.g. ``mpirun``.
        state: ``works``; ``limited``, it works, and would better with the fix; ``off``, it would work if
            somebody set it up; ``missing``.
        found: What was found, in a line.
        fix: What to do about it, in a line; "" where nothing is to be done.
        needed: Whether Lull itself is broken without it.
    """

    what: str
    state: State
    found: str
    fix: str = ""
    needed: bool = False


@dataclass(frozen=True)
class Machine:
    """Where is looked: below `sysroot`, and, if that is /, at the programs in `environment`'s PATH."""

    sysroot: Path = Path("/")
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    @property
    def is_this(self) -> bool:
        """Whether it is the machine this runs on, so that programs can be tried."""
        return self.sysroot == Path("/")

    def below(self, path: str) -> Path:
        """The file that is `path` on that machine."""
        return self.sysroot / path.lstrip("/")

    def read(self, path: str) -> str:
        """The content of a file of the system, without the line's end; "" where there is none."""
        try:
            return self.below(path).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""

    def program(self, name: str) -> str | None:
        """The program of that name on PATH."""
        return shutil.which(name, path=self.environment.get("PATH", ""))

    def output_of(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> tuple[int, str]:
        """Run a command to its end: its exit code and all it said. One that does not end is killed, with its job.

        A failure to start it, and the time running out, are told as exit code 127 and 124 with words.
        """
        try:
            with subprocess.Popen(
                command,
                env={**self.environment, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            ) as running:
                try:
                    said, _ = running.communicate(timeout=TRY_S)
                except subprocess.TimeoutExpired:
                    running.terminate()
                    try:
                        running.communicate(timeout=5)
                    except subprocess.TimeoutExpired:
                        running.kill()
                    return 124, f"it did not end within {TRY_S:g} s"
        except OSError as error:
            return 127, error.strerror or str(error)
        return running.returncode, said


def last_line(said: str) -> str:
    """The last line of what a program said that is not empty; that is where most say why they failed."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"
