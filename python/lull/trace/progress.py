"""The progress of reading or writing a trace on a terminal, and the signals that end it."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from lull.base.interrupts import Interrupts
from lull.present.progress_line import ProgressLine
from lull.statistics import formatting


class TraceProgress:
    """A callback for `convert` and `analyse`, from any thread; after a signal that asks to stop, it returns False.

    Args:
        what: The activity: `converting`.
        unit: The unit of the counts: `records`.
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
        """Show the progress; False if a signal asked to stop."""
        if self._line.is_shown:
            with self._lock:
                seconds = time.monotonic() - self._begin
                rate = f", {formatting.si(done / seconds, f'{self._unit}/s')}" if seconds > 0 and done else ""
                self._line.show(done, expected, f"{formatting.si(done, self._unit)}{rate}")
        return self._interrupts is None or self._interrupts.stop is None
