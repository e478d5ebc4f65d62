"""Observers of a measurement: twice a second they get the newest reading of the meter, to show or publish it.

The sampler reads the sources; the watch only passes on what it has read. Without observers there is no thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Protocol

from lull.base.errors import LullError
from lull.experiment.interleave import Turn
from lull.live.node_reading import NodeReading, Progress, Recent
from lull.measurement.command import Command
from lull.meter.meter import Meter

EVERY_S = 0.5


class Observer(Protocol):
    """An observer, which gets the newest reading."""

    def show(self, reading: NodeReading) -> None:
        """Show the reading; called in a thread of the watch."""

    def close(self) -> None:
        """Clean up; `show` is not called any more."""


class Watch:
    """Passes readings and progress to observers until its `with` block ends."""

    def __init__(self, node: str, meter: Meter, runs: int, observers: Sequence[Observer]) -> None:
        self._meter, self._runs, self._observers = meter, runs, observers
        self._recent = Recent(node, meter.channels)
        self._turn: tuple[Turn[Command], float] | None = None
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look, name="watch", daemon=True)

    def __enter__(self) -> Watch:
        if self._observers:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.set()
        if self._observers:
            self._thread.join()
        for observer in self._observers:
            observer.close()

    def begins(self, turn: Turn[Command]) -> None:
        """Note that `turn` runs from now on."""
        self._turn = (turn, time.monotonic())

    def _look(self) -> None:
        while not self._end.wait(EVERY_S):
            try:
                counted = self._meter.latest()
            except LullError:  # the sampler's thread failed; stop() reports it where it can be handled
                return
            if counted is None:
                continue
            self._recent.add(counted)
            reading = self._recent.reading(self._progress())
            if reading is not None:
                for observer in self._observers:
                    observer.show(reading)

    def _progress(self) -> Progress | None:
        if self._turn is None:
            return None
        turn, began = self._turn
        warmup = turn.number < 0
        return Progress(
            label=turn.of.label,
            run=turn.number + 1 + (turn.of.warmup if warmup else 0),
            runs=turn.of.warmup if warmup else max(self._runs, turn.number + 1),
            warmup=warmup,
            elapsed_s=time.monotonic() - began,
        )
