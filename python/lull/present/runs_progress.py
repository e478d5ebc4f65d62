"""The progress of a study or a sweep: on a terminal a bar with the time left, otherwise a line per repeat.

It is always written to stderr; under -q there is none.
"""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from lull.present.quiet import is_quiet


class RunsProgress:
    """Counts `total` repeats, warm-ups included."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0
        self._begin = time.monotonic()
        self._bar: Progress | None = None

    def __enter__(self) -> RunsProgress:
        if sys.stderr.isatty() and not is_quiet():
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task("", total=self._total)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()

    def begins(self, what: str) -> None:
        """Show what runs now."""
        if self._bar:
            self._bar.update(self._task, description=what)

    def ended(self, what: str, wall_s: float) -> None:
        """Count one repeat that took `wall_s` seconds."""
        self._done += 1
        if self._bar:
            self._bar.advance(self._task)
            return
        if is_quiet():
            return
        left = (time.monotonic() - self._begin) / self._done * (self._total - self._done)
        rest = f"; {in_words(left)} left" if self._done < self._total else ""
        print(f"{self._done}/{self._total} {what}: {wall_s:.3g} s{rest}", file=sys.stderr, flush=True)


def in_words(seconds: float) -> str:
    """A duration in words."""
    if seconds < 90:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
