"""Run a study of simulations: several at a time, each saved as soon as it ends.

OUT/.state/<point>/000.json     a simulation in the form of simulation.json, whole if it exists, of each sample;
                                without the table of links, since those of some thousand points would fill a disk
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lull import _core
from lull.base.interrupts import Interrupts
from lull.experiment.conditions import Conditions, identified
from lull.experiment.state import ExperimentState
from lull.simulation.sweep_run import run_tasks
from lull.simulation.task import Task, TaskResult
from lull.simulation.workers import LocalWorkers
from lull.study.simulations.grids import Point


def beginning(name: str, quick: bool, points: Sequence[Point]) -> Conditions:
    """The conditions of this study, which its folder keeps."""
    content = json.dumps([[point.name, point.content] for point in points], sort_keys=True)
    return Conditions(
        what="study",
        name=name,
        options=["--quick"] if quick else [],
        description=hashlib.sha256(content.encode()).hexdigest(),
        settings={},
        node="",  # the result is the same on every machine
        programs=identified([Path(_core.__file__)]),  # there are no records, so no points
    )


def points_left(points: Sequence[Point], state: ExperimentState) -> list[Point]:
    """The points that have not been simulated yet."""
    return [point for point in points if not all(state.has(point.name, index) for index in range(point.samples))]


def run_points(points: Sequence[Point], number: int, state: ExperimentState, interrupts: Interrupts) -> None:
    """Simulate `points`, `number` at a time.

    Raises:
        InterruptedBySignal: A signal asked to stop; finished simulations are kept.
        LullError: A simulation failed; finished ones are kept.
    """
    tasks = [
        Task(point.name, index, json.dumps(_with_savings(point, index)), links=False)
        for point in points
        for index in range(point.samples)
        if not state.has(point.name, index)
    ]
    if tasks:
        run_tasks(tasks, LocalWorkers(min(number, len(tasks))), partial(_keep, state), interrupts, asked="study")


def _with_savings(point: Point, index: int) -> dict[str, Any]:
    """The description with the power modes whose savings the same simulation computes; they change nothing else."""
    content = point.content_of(index)
    return {**content, "savings": [mode for _, mode in point.savings]} if point.savings else content


def _keep(state: ExperimentState, task: Task, outcome: TaskResult) -> None:
    state.keep(task.point, task.index, outcome.file.encode())
