"""Commands that take turns: round after round, each of them once, so that a drift of the machine falls on all alike.

The order within a round is drawn anew each time, from a seed: with a fixed order the second command would always run
in the warmth that the first left. One command alone is the same with one turn a round.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lull.base.interrupts import Interrupts
from lull.measure import precision
from lull.measure.precision import Precision
from lull.measure.repeat import Measured, measure_repeat
from lull.measure.way import Way
from lull.meter.meter import Meter
from lull.statistics import formatting


@dataclass(frozen=True)
class Turn:
    """One repeat that is to come: which command, and which of its repeats, from 0; negative for warm-ups."""

    way: Way
    number: int


@dataclass(frozen=True)
class Plan:
    """How often everything is run."""

    runs: int
    until: Precision | None = None
    seed: int = 1

    def order(self, ways: Sequence[Way], number: int) -> list[Way]:
        """The commands as they run in one round."""
        order = list(ways)
        random.Random(f"{self.seed}/{number}").shuffle(order)
        return order

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


def take_turns(
    ways: Sequence[Way],
    plan: Plan,
    meter: Meter,
    interrupts: Interrupts,
    *,
    begins: Callable[[Turn], None],
    ended: Callable[[Turn, Measured], None],
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
    for number in itertools.count(-max(way.warmup for way in ways)):
        for way in plan.order(ways, number):
            if number < -way.warmup:
                continue
            interrupts.check("measure")
            turn = Turn(way, number)
            begins(turn)
            env = {**os.environ, **way.env}
            measured = measure_repeat(way.command, meter, max(number, 0), env=env, cwd=way.cwd, interrupts=interrupts)
            if number >= 0:
                way.finished.append(measured)
            ended(turn, measured)
        if number >= 0 and (reason := plan.reason_to_stop(ways)) is not None:
            return reason
    raise AssertionError("counting does not end")
