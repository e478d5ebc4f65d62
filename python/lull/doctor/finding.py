"""One finding of a check."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from lull.base.packages import System
from lull.doctor.container import Container, container_of

State = Literal["works", "limited", "off", "missing"]

TRY_S = 30.0  # time limit of a test program


@dataclass(frozen=True)
class Finding:
    """The state of one thing.

    Args:
        what: Its name, e.g. ``mpirun``.
        state: ``works``; ``limited``, if it would work better with the fix; ``off``, if it needs to be set up;
            ``missing``.
        found: What was found, in one line.
        fix: What to do about it, in one line; "" if there is nothing to do.
        needed: Whether Lull itself is broken without it.
    """

    what: str
    state: State
    found: str
    fix: str = ""
    needed: bool = False


@dataclass(frozen=True)
class Machine:
    """The machine to check: files below `sysroot`, and, if that is /, programs on the PATH of `environment`."""

    sysroot: Path = Path("/")
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    @property
    def is_this(self) -> bool:
        """Whether it is the machine that this runs on, so that programs can be tried."""
        return self.sysroot == Path("/")

    @property
    def container(self) -> Container | None:
        """The container that this is, if it is one."""
        return container_of(self.sysroot, self.environment)

    @property
    def system(self) -> System:
        """Its packages, and what this user can do about those that are missing."""
        inside = self.container
        is_root = os.geteuid() == 0 if self.is_this else True
        return System(self.read("/etc/os-release"), self.environment, is_root, inside.image if inside else "")

    def below(self, path: str) -> Path:
        """The file that is at `path` on this machine."""
        return self.sysroot / path.lstrip("/")

    def read(self, path: str) -> str:
        """The content of a system file, without the end of the line; "" if there is none."""
        try:
            return self.below(path).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""

    def program(self, name: str) -> str | None:
        """The program `name` on PATH."""
        return shutil.which(name, path=self.environment.get("PATH", ""))

    def output_of(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> tuple[int, str]:
        """Run a command; return its exit code and its output. After TRY_S it is killed with its job.

        A failure to start it gives exit code 127, and a time-out 124, each with a message.
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
    """The last line of a program's output that is not empty, where most programs print the reason of a failure."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"
