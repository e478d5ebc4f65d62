"""Run a study, with repeats interleaved over the points; each is saved as soon as it ends.

`lull.experiment.interleave` determines the order, from the study's seed.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pydantic import BaseModel

from lull import record
from lull.base.content import files_named
from lull.base.errors import LullError
from lull.base.guard import CannotExecuteError, run_guarded
from lull.base.interrupts import InterruptedBySignal, Interrupts
from lull.base.native import checked_settings
from lull.experiment.conditions import OF_A_CALL, Conditions, identified, value_to_compare
from lull.experiment.interleave import Turn, interleaved, take_turns
from lull.experiment.repeats import keep_repeat, load_repeats
from lull.experiment.state import ExperimentState
from lull.hosts.virtual import Link, as_environment, hosts_there, virtual_hosts
from lull.measurement.precision import Precision, is_reached
from lull.measurement.precision import words as words_of_widths
from lull.measurement.repeat import MeasuredRepeat, compose_run, measure_repeat
from lull.meter.meter import Meter
from lull.present.runs_progress import RunsProgress
from lull.study.runs.description import StudyOfRuns
from lull.study.runs.points import Places, Point, prepare_command

# Keys about the evaluation of runs: they may change without running anything again.
TOLD_AT_THE_END = {
    "kind",
    "title",
    "question",
    "note",
    "paper",
    "quick",
    "compare",
    "curves",
    "impacts",
    "bars",
    "paper_results",
}


def beginning(
    name: str,
    quick: bool,
    chosen: BaseModel,
    points: Sequence[Point],
    places: Places,
    *,
    prepares: Sequence[Sequence[str]] = (),
) -> Conditions:
    """The conditions of this study, which its folder keeps; they exclude the inputs that the study makes.

    Programs and inputs in commands are identified by their content, whether named by a path or found on PATH.
    `prepares` are the commands that make inputs.
    """
    named = {path for point in points for path in files_named(point.command, point.env.get("PATH"))}
    named |= {path for command in prepares for path in files_named(command)}
    content = chosen.model_dump_json(exclude=TOLD_AT_THE_END)
    return Conditions(
        what="study",
        name=name,
        options=["--quick"] if quick else [],
        description=hashlib.sha256(content.encode()).hexdigest(),
        settings={
            variable: value_to_compare(value)
            for variable, value in checked_settings().items()
            if variable not in OF_A_CALL
        },
        node=record.this_host().node,
        programs=identified(path for path in named if not path.is_relative_to(places.inputs)),
        points=[point.name for point in points],
    )


@contextmanager
def hosts_of(chosen: StudyOfRuns, points: list[Point]) -> Iterator[None]:
    """Keep virtual hosts while the points run, if they use any and there are none yet."""
    wanted = chosen.hosts
    if wanted is None or hosts_there() or not any("--hosts" in point.command for point in points):
        yield
        return
    with virtual_hosts(wanted.count, Link(wanted.rate), switch=True) as made, environment(as_environment(made)):
        yield


def prepare_inputs(study: StudyOfRuns, places: Places, interrupts: Interrupts) -> None:
    """Make the missing inputs; each is whole or absent.

    Raises:
        LullError: A command failed; the line ends with the last line of its output.
    """
    for name, prepare in study.prepare.items():
        output = places.inputs / prepare.output
        if output.exists():
            continue
        places.inputs.mkdir(parents=True, exist_ok=True)
        partial = output.with_name(f".partial-{output.name}")
        command = prepare_command(study, places, name, partial)
        log = output.with_name(f"{output.name}.log")
        with log.open("wb") as file:
            try:
                ending = run_guarded(
                    command,
                    env=os.environ,
                    interrupts=interrupts,
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                )
                code = ending.exit_code
            except CannotExecuteError as error:
                code = error.exit_code
        if code != 0 or not partial.exists():
            raise LullError(f"prepare {name}", f"exit code {code}: {last_line(log)}", f"its output is in {log}")
        partial.rename(output)


def run_points(study: StudyOfRuns, points: list[Point], state: ExperimentState, interrupts: Interrupts) -> None:
    """Run every missing repeat, and write the record of every point.

    Raises:
        InterruptedBySignal: A signal asked to stop; finished repeats are kept.
        LullError: A run failed, or did not report what the study needs.
    """
    runs, warmup = study.measure.runs, study.measure.warmup
    waiting = [point for point in points if any(not state.has(point.name, i) for i in range(runs))]

    def wanted(point: Point, index: int) -> bool:
        return point in waiting if index < 0 else not state.has(point.name, index)

    def run(rounds: Iterable[int]) -> None:
        turns = list(interleaved(points, rounds, study.seed, wanted=wanted))
        run_turns(turns, lambda turn: run_once(study, turn.of, turn.number, state, interrupts), state, interrupts)

    run(range(-warmup, runs))
    if study.measure.precision is not None:
        _run_until(study.measure.precision, points, state, lambda number: run([number]))
    for point in points:
        write_record(study, point, state)


def _run_until(
    precision: Precision, points: Sequence[Point], state: ExperimentState, run: Callable[[int], None]
) -> None:
    """Run more rounds, each of all points, until the intervals of all are narrow enough or the runs are the most."""
    for number in range(precision.least, precision.most + 1):
        repeats = {point.name: load_repeats(state, point.name, number)[0] for point in points}
        wide = [name for name, of in repeats.items() if not is_reached(precision, of)]
        if not wide:
            return
        if number < precision.most:
            run(number)
    for name in wide:
        words = (
            f"{name}: {precision.most} runs, the most allowed, but an interval is wider than ±{precision.percent:g} %"
        )
        print(f"lull: {words} ({words_of_widths(repeats[name])})", file=sys.stderr)


def run_turns(
    turns: Sequence[Turn[Point]],
    run: Callable[[Turn[Point]], MeasuredRepeat],
    state: ExperimentState,
    interrupts: Interrupts,
) -> None:
    """Run the turns, and save each repeat as soon as it ends.

    Raises:
        InterruptedBySignal: A signal asked to stop; finished repeats are kept.
        LullError: `run` raised it.
    """
    with RunsProgress(len(turns)) as progress:

        def keep(turn: Turn[Point], measured: MeasuredRepeat) -> None:
            if turn.number >= 0:
                keep_repeat(state, turn.of.name, measured.repeat, measured.samples)
            progress.ended(_words(turn), measured.repeat.wall_s)

        take_turns(turns, run, interrupts, "study", begins=lambda turn: progress.begins(_words(turn)), ended=keep)


def _words(turn: Turn[Point]) -> str:
    return f"{turn.of.name} {f'repeat {turn.number + 1}' if turn.number >= 0 else 'warm-up'}"


def run_once(
    study: StudyOfRuns, point: Point, index: int, state: ExperimentState, interrupts: Interrupts
) -> MeasuredRepeat:
    """Run a point once, and check that it reports what the study needs.

    Raises:
        InterruptedBySignal: A signal asked to stop.
        LullError: The run failed, or did not report it.
    """
    asked = f"run {point.name}"
    log = state.log(point.name, index)
    with environment(point.env), log.open("wb") as file:
        settings = checked_settings()
        meter = Meter(record.this_host().node, study.measure.hz or float(settings["LULL_METER_HZ"]))
        try:
            measured = measure_repeat(
                point.command,
                meter,
                max(index, 0),
                env=os.environ,
                interrupts=interrupts,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        except CannotExecuteError as error:
            raise LullError(asked, last_line(log)) from error
        except InterruptedBySignal as error:
            raise InterruptedBySignal(asked, error.signum, "the same command continues it") from error
    code = measured.repeat.exit_code
    if code != 0:
        raise LullError(asked, f"exit code {code}: {last_line(log)}", f"its output is in {log}")
    region, per = study.measure.region, study.measure.per
    if region is not None and region not in {found.name for found in measured.repeat.regions}:
        raise LullError(asked, f"the program reported no region {region!r}", f"its output is in {log}")
    if per is not None and per not in measured.repeat.metrics:
        raise LullError(asked, f"the program reported no metric {per!r}", f"its output is in {log}")
    return measured


def write_record(study: StudyOfRuns, point: Point, state: ExperimentState) -> None:
    """Write the record of a point whose repeats all exist, unless the record exists.

    Raises:
        LullError: A repeat is damaged, or the record cannot be written.
    """
    folder = state.out / point.name
    if not folder.exists():
        record.write(folder, *run_of(study, point, state))


def run_of(study: StudyOfRuns, point: Point, state: ExperimentState) -> tuple[record.Run, pa.Table]:
    """The content of the record of a point, from its existing repeats.

    Raises:
        LullError: A repeat is damaged.
    """
    runs = study.measure.runs
    while study.measure.precision is not None and state.has(point.name, runs):
        runs += 1
    repeats, samples = load_repeats(state, point.name, runs)
    with environment(point.env):
        settings = checked_settings()
        rate = study.measure.hz or float(settings["LULL_METER_HZ"])
        meter = Meter(record.this_host().node, rate)
        series = state.conditions.series if state.conditions is not None else ""
        run = compose_run(point.name, point.command, meter, rate, settings, repeats, point.factors, series=series)
    return run, samples


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables, and restore them afterwards: the meter in this process also reads some of them."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def last_line(log: Path) -> str:
    """The last line of a command's output, for an error in one line."""
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1].removeprefix("lull: ") if lines else "it said nothing"
