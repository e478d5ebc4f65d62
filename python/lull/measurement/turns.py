"""Run the commands of one measurement in turn until there are enough: a given number, or narrow intervals.

A single command has one turn per round.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lull.base.interrupts import Interrupts
from lull.experiment.interleave import Turn, interleaved, take_turns
from lull.measurement import precision
from lull.measurement.command import Command
from lull.measurement.precision import Precision
from lull.measurement.repeat import MeasuredRepeat, measure_repeat
from lull.meter.meter import Meter
from lull.statistics import formatting


@dataclass(frozen=True)
class Plan:
    """How often everything runs."""

    runs: int
    until: Precision | None = None
    seed: int = 1

    def reason_to_stop(self, commands: Sequence[Command]) -> str | None:
        """Why the runs suffice, after a whole round; None if they do not."""
        done = min(len(command.finished) for command in commands)
        if self.until is None:
            return "" if done >= self.runs else None
        repeats = [command.repeats for command in commands]
        found = "; ".join(
            precision.words(of) if len(commands) == 1 else f"{command.label}: {precision.words(of)}"
            for command, of in zip(commands, repeats, strict=True)
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


def run_in_turn(
    commands: Sequence[Command],
    plan: Plan,
    meter: Meter,
    interrupts: Interrupts,
    *,
    begins: Callable[[Turn[Command]], None],
    ended: Callable[[Turn[Command], MeasuredRepeat], None],
) -> str:
    """Run until there are enough runs. The commands hold the finished repeats, even if an exception ends this.

    Runs that the commands hold already count: if the last round was not complete, it is completed first.

    Args:
        commands: The commands.
        plan: How often, and in which order.
        meter: A meter that is not running.
        interrupts: Signals to pass on.
        begins: Called before each repeat.
        ended: Called after each repeat.

    Returns:
        Why it stopped, in words; empty if it was the given number of runs.

    Raises:
        CannotExecuteError: A command does not exist or is not executable.
        InterruptedBySignal: A signal asked to stop; the repeat that was running is void.
        LullError: The meter or the guard failed.
    """
    reason: str | None = None

    def rounds() -> Iterator[int]:
        nonlocal reason
        before = [len(command.finished) for command in commands]
        if max(before) == min(before) > 0 and (reason := plan.reason_to_stop(commands)) is not None:
            return
        yield from range(-max(command.warmup for command in commands), 0)
        for number in itertools.count(min(before)):
            yield number
            if (reason := plan.reason_to_stop(commands)) is not None:
                return

    def measure(turn: Turn[Command]) -> MeasuredRepeat:
        command = turn.of
        env = {**os.environ, **command.env}
        return measure_repeat(
            command.argv,
            meter,
            max(turn.number, 0),
            env=env,
            cwd=command.cwd,
            interrupts=interrupts,
            stdout=command.stdout,
        )

    def keep(turn: Turn[Command], measured: MeasuredRepeat) -> None:
        if turn.number >= 0:
            turn.of.finished.append(measured)
        ended(turn, measured)

    def wanted(command: Command, number: int) -> bool:
        if number >= 0:
            return number >= len(command.finished)
        is_complete = plan.until is None and len(command.finished) >= plan.runs
        return number >= -command.warmup and not is_complete

    turns = interleaved(commands, rounds(), plan.seed, wanted=wanted)
    take_turns(turns, measure, interrupts, "measure", begins=begins, ended=keep)
    return reason or ""
