"""How far reading or writing a trace is: one line on a terminal, nothing elsewhere. Always on stderr."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from lull.base.interrupts import Interrupts
from lull.statistics import formatting


class TraceProgress:
    """A callback for `convert` and `analyse`; a signal that asked to stop makes it answer False.

    Args:
        what: What is being done: `converting`.
        unit: What is counted: `records`.
        interrupts: Signals that may ask to stop; None: none does.
    """

    def __init__(self, what: str, unit: str, interrupts: Interrupts | None) -> None:
        self._what, self._unit, self._interrupts = what, unit, interrupts
        self._bar: Progress | None = None
        self._task = TaskID(0)
        self._begin = time.monotonic()
        self._lock = threading.Lock()

    def __enter__(self) -> TraceProgress:
        if sys.stderr.isatty():
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[state]}"),
                TimeRemainingColumn(),
                TextColumn("left"),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(self._what, total=None, state="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, done: int, expected: int) -> bool:
        """Show it; False when a signal asked to stop."""
        if self._bar:
            with self._lock:
                seconds = time.monotonic() - self._begin
                rate = f", {formatting.si(done / seconds, f'{self._unit}/s')}" if seconds > 0 and done else ""
                state = f"{formatting.si(done, self._unit)}{rate}"
                self._bar.update(self._task, completed=done, total=expected or None, state=state)
        return self._interrupts is None or self._interrupts.stop is None
