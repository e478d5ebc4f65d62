"""How far reading or writing a trace is, on a terminal; and the signals that end it."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from lull.base.interrupts import Interrupts
from lull.base.progress_line import ProgressLine
from lull.statistics import formatting


class TraceProgress:
    """A callback for `convert` and `analyse`, of any thread; a signal that asked to stop makes it answer False.

    Args:
        what: What is being done: `converting`.
        unit: What is counted: `records`.
        interrupts: Signals that may ask to stop; None: none does.
    """

    def __init__(self, what: str, unit: str, interrupts: Interrupts | None) -> None:
        self._unit, self._interrupts = unit, interrupts
        self._line = ProgressLine(what)
        self._begin = time.monotonic()
        self._lock = threading.Lock()

    def __enter__(self) -> TraceProgress:
        self._line.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._line.__exit__(kind, error, trace)

    def __call__(self, done: int, expected: int) -> bool:
        """Show it; False when a signal asked to stop."""
        if self._line.is_shown:
            with self._lock:
                seconds = time.monotonic() - self._begin
                rate = f", {formatting.si(done / seconds, f'{self._unit}/s')}" if seconds > 0 and done else ""
                self._line.show(done, expected, f"{formatting.si(done, self._unit)}{rate}")
        return self._interrupts is None or self._interrupts.stop is None
