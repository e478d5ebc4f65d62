"""The progress of a simulation on a terminal, and the signals that end it."""

from __future__ import annotations

import time
from types import TracebackType

from lull.base.interrupts import Interrupts
from lull.present.progress_line import ProgressLine
from lull.simulation.engine import SimulationState
from lull.statistics import formatting


class SimulationProgress:
    """Shows each state with which it is called; if a signal asked to stop, it raises, which ends the simulation."""

    def __init__(self, interrupts: Interrupts) -> None:
        self._interrupts = interrupts
        self._line = ProgressLine()
        self._what = ""
        self._begin = 0.0

    def __enter__(self) -> SimulationProgress:
        self._line.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._line.__exit__(kind, error, trace)

    def __call__(self, state: SimulationState) -> None:
        """Show `state`.

        Raises:
            InterruptedBySignal: A signal asked to stop.
        """
        self._interrupts.check("simulate")
        if not self._line.is_shown:
            return
        if state.what != self._what:
            self._what, self._begin = state.what, time.monotonic()
            self._line.begin(state.what, state.expected)
        seconds = time.monotonic() - self._begin
        rate = f", {formatting.si(state.events / seconds, 'events/s')}" if seconds > 0 and state.events else ""
        self._line.show(state.done, state.expected, f"{formatting.si(state.now_s, 's')} simulated{rate}")
