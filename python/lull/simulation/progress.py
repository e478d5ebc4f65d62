"""How far a simulation is: one line on a terminal, nothing elsewhere. Always on stderr."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from lull.base.interrupts import Interrupts
from lull.simulation.engine import State
from lull.statistics import formatting


class SimulationProgress:
    """Shows each state it is called with; a signal that asked to stop is raised there, and so ends the simulation."""

    def __init__(self, interrupts: Interrupts) -> None:
        self._interrupts = interrupts
        self._bar: Progress | None = None
        self._task = TaskID(0)
        self._what = ""
        self._begin = 0.0

    def __enter__(self) -> SimulationProgress:
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
            self._task = self._bar.add_task("", total=None, state="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, state: State) -> None:
        """Show `state`.

        Raises:
            InterruptedBySignal: A signal asked to stop.
        """
        self._interrupts.check("simulate")
        if self._bar:
            if state.what != self._what:
                self._what, self._begin = state.what, time.monotonic()
                self._bar.reset(self._task, total=state.expected or None, description=state.what)
            seconds = time.monotonic() - self._begin
            rate = f", {formatting.si(state.events / seconds, 'events/s')}" if seconds > 0 and state.events else ""
            shown = f"{formatting.si(state.now_s, 's')} simulated{rate}"
            self._bar.update(self._task, completed=state.done, total=state.expected or None, state=shown)
