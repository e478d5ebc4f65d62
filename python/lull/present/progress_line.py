"""The progress of long work: one line on a terminal, nothing elsewhere; always on stderr."""

from __future__ import annotations

import sys
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from lull.present.quiet import is_quiet


class ProgressLine:
    """Shows, within a `with` block, the activity, a bar, a state in words, and the time left. Not thread-safe.

    If stderr is not a terminal, or under -q, `is_shown` is false, and the calls do nothing.
    """

    def __init__(self, what: str = "") -> None:
        self._bar: Progress | None = None
        if sys.stderr.isatty() and not is_quiet():
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[state]}"),
                TimeRemainingColumn(),
                TextColumn("left"),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task(what, total=None, state="")

    @property
    def is_shown(self) -> bool:
        """Whether there is a terminal, without -q."""
        return self._bar is not None

    def __enter__(self) -> ProgressLine:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()

    def begin(self, what: str, expected: float) -> None:
        """Begin another activity; `expected` is its amount, or 0 if unknown."""
        if self._bar:
            self._bar.reset(self._task, total=expected or None, description=what)

    def show(self, done: float, expected: float, state: str) -> None:
        """Show the amount done, the expected amount, and the state."""
        if self._bar:
            self._bar.update(self._task, completed=done, total=expected or None, state=state)
