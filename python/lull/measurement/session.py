"""A measurement from its first repeat to its records: its observers, what it keeps however it ends, its messages."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from lull import record
from lull.base.errors import LullError
from lull.base.guard import CannotExecuteError
from lull.base.interrupts import Interrupts
from lull.experiment.interleave import Turn
from lull.job.launchers import find_allocation, nodes_allocated, seconds_left, starts_ranks
from lull.live.published import Publisher
from lull.measurement.command import Command, Recording
from lull.measurement.live_line import LiveLine, is_wanted
from lull.measurement.messages import print_command, print_comparison, print_repeat
from lull.measurement.repeat import MeasuredRepeat
from lull.measurement.series import Series, Target, conditions_of, open_series
from lull.measurement.time_limit import TimeLimit
from lull.measurement.turns import Plan, run_in_turn
from lull.measurement.watch import Observer, Watch
from lull.meter.idle_power import measure_idle
from lull.meter.meter import Meter
from lull.present.messages import say
from lull.record import IdlePower
from lull.regions.accounts import missing_nodes
from lull.statistics import bootstrap, formatting


@dataclass(frozen=True)
class SessionRequest:
    """The options of a measurement, without the commands."""

    plan: Plan
    idle_s: float | None
    hz: float
    settings: Mapping[str, str]
    target: Target
    quiet: bool
    publish: bool = False  # whether readings are published next to the record, or the folder of records


def measure_commands(commands: Sequence[Command], asked: SessionRequest, *, tells: bool = True) -> int:
    """Measure, write each repeat to disk when it ends, and print the summary; return the exit code.

    If an earlier call with the same commands was killed, its runs count, and this one continues in its folder.

    Args:
        commands: What to measure.
        asked: How to measure it.
        tells: Whether to print the summary and the comparison.

    Raises:
        LullError: The folder is taken, or the meter, the guard or a disk failed; whole repeats are kept.
    """
    nodes = nodes_allocated(os.environ)
    if nodes > 1 and any(starts_ranks(command.argv) for command in commands):
        say(missing_nodes(f"this job has {nodes} nodes, and only this one is read"))
    meter = Meter(record.this_host().node, asked.hz)
    for line in meter.not_read:
        say(line)
    series = _opened(commands, asked, meter)
    with closing(series):
        if asked.publish:
            say(f"lull top {series.target.folder} follows this measurement")
        return _measure(commands, asked, meter, series, tells)


def _measure(commands: Sequence[Command], asked: SessionRequest, meter: Meter, series: Series, tells: bool) -> int:
    try:
        reason = _run(commands, asked, meter, series)
        series.end()
    except CannotExecuteError as cannot:
        never_ran = any(not command.finished for command in commands)
        if never_ran and not series.resumed:  # a mistake in the command line
            series.end()
            for command in commands:
                command.discard()
        else:
            _tell_saved(commands, asked)
        return cannot.exit_code
    except LullError:  # a signal, or a failure of the meter or a disk: keep the whole repeats so far
        _tell_saved(commands, asked)
        raise
    if tells:
        return _tell(commands, reason)
    return next((one.exit_code for of in commands for one in of.repeats if one.exit_code), 0)


def _opened(commands: Sequence[Command], asked: SessionRequest, meter: Meter) -> Series:
    """The series of runs that this call begins or continues; the user reads which."""
    several = len(commands) > 1 or asked.plan.runs > 1 or asked.plan.until is not None
    before = len(record.read(asked.target.folder).repeats) if commands[0].append else None
    now = conditions_of(commands, asked.hz, asked.settings, runs_before=before) if several else None
    how = Recording(meter, asked.hz, asked.settings)
    series, line = open_series(commands, asked.target, now, lambda command: command.run_of(how))
    done = sum(len(command.finished) for command in commands)
    if line:
        say(line)
    elif done:
        of = "" if asked.plan.until is not None else f" of {asked.plan.runs * len(commands)}"
        say(f"resumes: {done}{of} runs are in {series.target.folder}; --fresh measures them again")
    return series


def _run(commands: Sequence[Command], asked: SessionRequest, meter: Meter, series: Series) -> str:
    """Run all commands in turn and save each repeat; return the reason for the stop, in words."""
    tell = _teller(commands, asked)
    runs = sum(command.warmup + max(asked.plan.runs - len(command.finished), 0) for command in commands)
    limit = TimeLimit(find_allocation(os.environ), runs, lambda: seconds_left(os.environ))
    with Interrupts() as interrupts:
        idle = series.idle
        if asked.idle_s is not None and not any(command.saved for command in commands):
            idle = _idle(meter, asked.idle_s, interrupts)
        how = Recording(meter, asked.hz, asked.settings, idle, series.rounds, may_rename=not asked.target.named)

        def ended(turn: Turn[Command], measured: MeasuredRepeat) -> None:
            turn.of.save(how, series)
            tell(turn, measured)
            if line := limit.warning(measured.repeat.wall_s):
                say(line)

        with Watch(record.this_host().node, meter, asked.plan.runs, _observers(asked, series)) as watch:
            return run_in_turn(commands, asked.plan, meter, interrupts, begins=watch.begins, ended=ended)


def _tell_saved(commands: Sequence[Command], asked: SessionRequest) -> None:
    for command in commands:
        if command.saved:
            say(f"the whole repeats so far, {command.saved} of {asked.plan.runs}, are in {command.folder}")


def _tell(commands: Sequence[Command], reason: str) -> int:
    """Print the summaries, the reason and a comparison of several; return the first exit code other than 0, or 0."""
    codes = [print_command(command, heading=len(commands) > 1) for command in commands]
    runs = [record.read(command.folder) for command in commands]
    if line := _no_interval(min(len(run.succeeded) for run in runs)):
        say(line)
    if reason:
        say(reason)
    if len(commands) > 1:
        print_comparison(runs)
    return next((code for code in codes if code), 0)


def _no_interval(runs: int) -> str:
    """What it takes to get an interval, if so few runs give none; empty if none succeeded, which another line says."""
    if runs >= bootstrap.runs_for_interval() or runs == 0:
        return ""
    fewest, advised = bootstrap.runs_for_interval(), bootstrap.RUNS_ADVISED
    return f"no interval by {formatting.count(runs, 'run')}: it takes {fewest}, and --runs {advised} is recommended"


def _idle(meter: Meter, seconds: float, interrupts: Interrupts) -> list[IdlePower]:
    say(f"measuring idle power for {seconds:g} s: leave the machine alone")
    found = measure_idle(meter, seconds, interrupts)
    if found.warning:
        say(found.warning)
    return found.power


def _observers(asked: SessionRequest, series: Series) -> list[Observer]:
    shown: list[Observer] = [] if asked.quiet or not is_wanted() else [LiveLine()]
    return [*shown, *([Publisher(series.target.folder)] if asked.publish else [])]


def _teller(commands: Sequence[Command], asked: SessionRequest) -> Callable[[Turn[Command], MeasuredRepeat], None]:
    """The function that prints, after each repeat, its warnings, and on a terminal its time and energy."""
    several = (
        asked.plan.runs + max(command.warmup for command in commands) > 1
        or len(commands) > 1
        or asked.plan.until is not None
    )
    shows = several and sys.stderr.isatty() and not asked.quiet

    said: set[str] = set()

    def tell(turn: Turn[Command], measured: MeasuredRepeat) -> None:
        for line in measured.warnings:
            if line not in said:
                say(line)
            said.add(line)
        if shows:
            print_repeat(turn, measured, asked.plan.runs)

    return tell
