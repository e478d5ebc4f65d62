"""Run a sweep: save every simulation as soon as it ends, and write a point's record when all of its simulations exist.

OUT/.state/<point>/000.json     a simulation, whole if it exists; 000.parquet its links
OUT/<point>/                    the record of a point, written when it and its counterpart with active links are done
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
from pydantic import ValidationError

from lull import _core
from lull.base.errors import LullError
from lull.base.interrupts import InterruptedBySignal, Interrupts
from lull.base.parquet import read_table
from lull.experiment.conditions import Conditions, identified
from lull.experiment.interleave import interleaved
from lull.experiment.state import ExperimentState
from lull.present.runs_progress import RunsProgress
from lull.simulation import simulation_record
from lull.simulation.account import RepeatAccount, SimulationFile, read_simulation
from lull.simulation.result import slowdown_between
from lull.simulation.sweep import Sweep, SweepPoint, in_words
from lull.simulation.task import Task, TaskResult
from lull.simulation.workers import Workers

POLL_S = 0.2  # longest delay of the reaction to a signal


def beginning(sweep: Sweep) -> Conditions:
    """The conditions of this sweep, which its folder keeps."""
    content = [[point.name, point.active, point.description.content] for point in sweep.points]
    return Conditions(
        what="sweep",
        name=sweep.name,
        description=hashlib.sha256(json.dumps([sweep.repeats, content], sort_keys=True).encode()).hexdigest(),
        settings={},
        node="",  # the result is the same on every machine
        programs=identified([Path(_core.__file__)]),
        points=[point.name for point in sweep.points],
    )


def tasks_left(sweep: Sweep, state: ExperimentState) -> list[Task]:
    """Every missing simulation; all points come once before any point comes again."""

    def wanted(point: SweepPoint, index: int) -> bool:
        return not state.has(point.name, index) and not (state.out / point.name).exists()

    left = []
    for turn in interleaved(sweep.points, range(sweep.repeats), None, wanted=wanted):
        content = {**turn.of.description.content, "seed": turn.of.description.seed + turn.number}
        left.append(Task(turn.of.name, turn.number, json.dumps(content)))
    return left


def keep(state: ExperimentState, task: Task, outcome: TaskResult) -> None:
    """Keep a finished simulation and its links."""
    state.keep(task.point, task.index, outcome.file.encode(), {"parquet": outcome.links})


def run_tasks(
    tasks: list[Task],
    workers: Workers,
    keep: Callable[[Task, TaskResult], None],
    interrupts: Interrupts,
    *,
    asked: str = "sweep",
    fix: str = "the same command continues it",
) -> None:
    """Run `tasks`, and call `keep` with each when it is done. No process is left, however this ends.

    Raises:
        InterruptedBySignal: A signal asked to stop; finished simulations are kept.
        LullError: A simulation failed; finished ones are kept.
    """
    waiting = deque(tasks)
    running: dict[Task, float] = {}
    with closing(workers), RunsProgress(len(tasks)) as progress:
        while waiting or running:
            if interrupts.stop is not None:
                raise InterruptedBySignal(asked, interrupts.stop, fix)
            while waiting and len(running) < workers.capacity:
                task = waiting.popleft()
                workers.submit(task)
                running[task] = time.monotonic()
                progress.begins(task.name)
            for task, outcome in workers.finished(POLL_S):
                began = running.pop(task)
                if outcome.failure:
                    raise LullError(f"simulate {task.name}", outcome.failure)
                keep(task, outcome)
                progress.ended(task.name, time.monotonic() - began)


def write_records(sweep: Sweep, state: ExperimentState, command: list[str]) -> None:
    """Write the record of every point that lacks one."""
    for point in sweep.points:
        if not (state.out / point.name).exists():
            _write_record(sweep, point, state, command)


def _write_record(sweep: Sweep, point: SweepPoint, state: ExperimentState, command: list[str]) -> None:
    files = [_load(state, point.name, index) for index in range(sweep.repeats)]
    active = [_load(state, point.active, index) for index in range(sweep.repeats)] if point.active else []
    repeats = [file.repeats[0] for file in files]
    if active and point.active != point.name:
        repeats = [against(one, other) for one, other in zip(files, active, strict=True)]
    file = files[0].model_copy(update={"repeats": repeats})
    kept = [state.path(point.name, index) for index in range(sweep.repeats)]
    started = [datetime.fromtimestamp(path.stat().st_mtime, UTC) for path in kept]
    try:
        links = pa.concat_tables([read_table(path.with_suffix(".parquet")) for path in kept])
    except (OSError, pa.ArrowException) as error:
        raise state.damaged(point.name) from error
    factors = {key: v if isinstance(v, str | int | float) else in_words(v) for key, v in point.factors.items()}
    run = simulation_record.run_of(point.name, command, file, started, factors)
    simulation_record.write(state.out / point.name, run, file, links)


def against(file: SimulationFile, active: SimulationFile) -> RepeatAccount:
    """The figures of a simulation, with its slowdown relative to the one with links always active."""
    one, other = file.repeats[0], active.repeats[0]
    jobs = []
    for job, same in zip(one.jobs, other.jobs, strict=True):
        if not (job.finished and same.finished):
            jobs.append(job)
            continue
        update = {"active_run_time_s": same.run_time_s, "slowdown": slowdown_between(job, same)}
        jobs.append(job.model_copy(update=update))
    found = [job.slowdown for job in jobs if job.slowdown is not None]
    return one.model_copy(
        update={
            "jobs": jobs,
            "slowdown": max(found) if found else None,
            "active_packet_latency": other.packet_latency,
        }
    )


def _load(state: ExperimentState, point: str, index: int) -> SimulationFile:
    """A saved simulation; if the point has a record, the repeat in it."""
    try:
        return SimulationFile.model_validate_json(state.path(point, index).read_bytes())
    except FileNotFoundError:
        whole = read_simulation(state.out / point)
        return whole.model_copy(update={"repeats": [whole.repeats[index]]})
    except (OSError, ValidationError) as error:
        raise state.damaged(point) from error
