"""The commands of one measurement in turn, until there are runs enough: a number of them, or narrow intervals.

One command alone is the same with one turn a round.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lull.base.interrupts import Interrupts
from lull.measure import precision
from lull.measure.interleave import Turn, interleaved, take_turns
from lull.measure.precision import Precision
from lull.measure.repeat import Measured, measure_repeat
from lull.measure.way import Way
from lull.meter.meter import Meter
from lull.statistics import formatting


@dataclass(frozen=True)
class Plan:
    """How often everything is run."""

    runs: int
    until: Precision | None = None
    seed: int = 1

    def reason_to_stop(self, ways: Sequence[Way]) -> str | None:
        """Why there are runs enough after a whole round; None while there are not."""
        done = min(len(way.finished) for way in ways)
        if self.until is None:
            return "" if done >= self.runs else None
        repeats = [way.repeats for way in ways]
        found = "; ".join(
            precision.words(of) if len(ways) == 1 else f"{way.label}: {precision.words(of)}"
            for way, of in zip(ways, repeats, strict=True)
        )
        runs = formatting.count(done, "run")
        if all(precision.is_reached(self.until, of) for of in repeats):
            return f"stopped after {runs}, all intervals are within ±{self.until.percent:g} % ({found})"
        if any(precision.is_hopeless(self.until, of) for of in repeats):
            return f"stopped after {runs}, every run of a command failed"
        if done >= self.until.most:
            return (
                f"stopped after {runs}, the most allowed, before all intervals were within"
                f" ±{self.until.percent:g} % ({found}); --max-runs allows more"
            )
        return None


def take_turns_of(
    ways: Sequence[Way],
    plan: Plan,
    meter: Meter,
    interrupts: Interrupts,
    *,
    begins: Callable[[Turn[Way]], None],
    ended: Callable[[Turn[Way], Measured], None],
) -> str:
    """Run until there are runs enough; what has finished is in the ways, also when this is left by an exception.

    Args:
        ways: The commands.
        plan: How often, and in which order.
        meter: A meter that is not running.
        interrupts: Signals to pass on.
        begins: Told before each repeat.
        ended: Told after each.

    Returns:
        Why it stopped, in words; empty where that was simply the number of runs.

    Raises:
        CannotExecuteError: A command is not there or not executable.
        InterruptedBySignal: A signal asked to stop; the repeat that was running is void.
        LullError: The meter or the guard failed.
    """
    reason: str | None = None

    def rounds() -> Iterator[int]:
        nonlocal reason
        for number in itertools.count(-max(way.warmup for way in ways)):
            yield number
            if number >= 0 and (reason := plan.reason_to_stop(ways)) is not None:
                return

    def measure(turn: Turn[Way]) -> Measured:
        way = turn.of
        env = {**os.environ, **way.env}
        return measure_repeat(way.command, meter, max(turn.number, 0), env=env, cwd=way.cwd, interrupts=interrupts)

    def keep(turn: Turn[Way], measured: Measured) -> None:
        if turn.number >= 0:
            turn.of.finished.append(measured)
        ended(turn, measured)

    turns = interleaved(ways, rounds(), plan.seed, wanted=lambda way, number: number >= -way.warmup)
    take_turns(turns, measure, interrupts, "measure", begins=begins, ended=keep)
    return reason or ""
