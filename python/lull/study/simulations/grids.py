"""The points of a study of simulations: every combination of its factors, each a whole simulation.

An application alone is a job that runs once. A workload is drawn: application and number of processes of each job are
drawn uniformly, until the jobs have the total number of processes. They run together: each again and again, until all
have ended a run.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from lull import _core
from lull.base.errors import LullError, UsageError
from lull.simulation.description import read_description
from lull.simulation.engine import number_of_nodes
from lull.simulation.mapping import place
from lull.study.file import Value, nearest
from lull.study.simulations.description import Grid, Only, Power, StudyOfSimulations

ACTIVE = "active"
ALONE = 0  # the number of the workload for an application alone; drawn workloads count from 1


@dataclass(frozen=True)
class Job:
    """A job of a point."""

    application: str
    processes: int


@dataclass(frozen=True)
class Point:
    """One simulation: the values that its rows share, its jobs, and the description for the simulator."""

    name: str
    grid: str
    factors: dict[str, Value]  # topology, mapping, workload, mode, hold
    jobs: tuple[Job, ...]
    content: dict[str, Any]
    active: str  # the name of the same point with links always active
    # Of a point with links always active: the points whose saving without waits it computes, and their modes of links.
    savings: tuple[tuple[str, dict[str, Any]], ...] = ()
    samples: int = 1  # simulations, with different samples

    @property
    def key(self) -> str:
        """A key of the description, equal for equal descriptions."""
        return hashlib.sha256(json.dumps(self.content, sort_keys=True).encode()).hexdigest()[:16]

    def content_of(self, index: int) -> dict[str, Any]:
        """The description of one of its simulations."""
        sample = self.content.get("sample")
        return self.content if sample is None else {**self.content, "sample": {**sample, "seed": index + 1}}

    def is_at(self, at: Only) -> bool:
        """Whether the point has a job at each factor of `at`."""
        jobs = [{**self.factors, "application": job.application, "processes": job.processes} for job in self.jobs]
        return any(all(of_job[name] in values for name, values in at.items()) for of_job in jobs)


def all_points(study: StudyOfSimulations) -> list[Point]:
    """The points of all grids, in the order of the file; those with active links first in each combination.

    Topologies and mappings alternate, and small jobs come before large ones: the finished part of an interrupted study
    is a smaller study of the same kind.

    Raises:
        LullError: The study describes an impossible simulation; the line names the point.
    """
    points = []
    for grid in study.grids:
        for number, jobs in workloads_of(study, grid):
            for topology, mapping in itertools.product(study.topologies, study.mappings):
                points += _points(study, grid, topology, mapping, number, jobs)
    return points


def selected(points: Sequence[Point], grids: Sequence[str], patterns: Sequence[str], asked: str) -> set[str]:
    """The names of the points of `grids` that match one of `patterns`, as file names match, and of the corresponding
    points with active links. Empty `grids` or `patterns` select all.

    Raises:
        UsageError: There is no such grid, or no point with such a name.
    """
    known = list(dict.fromkeys(point.grid for point in points))
    for grid in grids:
        if grid not in known:
            raise UsageError(asked, f"it has no grid {grid!r}", nearest(grid, known))
    of_grids = [point for point in points if not grids or point.grid in grids]
    for pattern in patterns:
        if not any(fnmatchcase(point.name, pattern) for point in of_grids):
            raise UsageError(asked, f"it has no point named {pattern!r}", f"one is named {of_grids[0].name}")
    chosen = [
        point for point in of_grids if not patterns or any(fnmatchcase(point.name, pattern) for pattern in patterns)
    ]
    return {name for point in chosen for name in (point.name, point.active)}


def workloads_of(study: StudyOfSimulations, grid: Grid) -> Iterable[tuple[int, tuple[Job, ...]]]:
    """The jobs that run together, each with the number of the workload."""
    if not grid.workloads:
        for processes, name in itertools.product(grid.processes, study.applications):
            yield ALONE, (Job(name, processes),)
        return
    drawn = random.Random(grid.seed)
    for number in range(1, grid.workloads + 1):
        yield number, tuple(_drawn(study, grid, drawn))


def _drawn(study: StudyOfSimulations, grid: Grid, drawn: random.Random) -> list[Job]:
    jobs: list[Job] = []
    left = grid.total
    while left:
        fitting = [processes for processes in grid.processes if processes <= left]
        jobs.append(Job(drawn.choice(list(study.applications)), drawn.choice(fitting)))
        left -= jobs[-1].processes
    return jobs


def _points(
    study: StudyOfSimulations, grid: Grid, topology: str, mapping: str, number: int, jobs: tuple[Job, ...]
) -> list[Point]:
    base = {
        **study.simulation,
        **({"together": True} if number else {}),
        **({"sample": {"units": grid.sample.units, "cut": grid.sample.cut}} if grid.sample else {}),
        "topology": {"preset": topology},
        "jobs": [_job(study, mapping, job, place_) for place_, job in enumerate(jobs, 1)],
    }
    where = f"workload-{number}" if number else f"{jobs[0].application}.{jobs[0].processes}"
    names = f"{grid.name}.{topology}.{mapping}.{where}"
    factors: dict[str, Value] = {"topology": topology, "mapping": mapping, "workload": number}
    points = []
    settings = _settings(grid.power or study.power)
    savings = tuple(
        (f"{names}.{_slug(setting.label, setting.hold)}", setting.tables(study.simulation)["power"])
        for setting in settings
        if setting.has_saving(study.simulation) and grid.sample is None
    )
    for setting in settings:
        name = f"{names}.{_slug(setting.label, setting.hold)}"
        content = {**base, **setting.tables(study.simulation)}
        asked = f"lay out {name}"
        description = read_description(content, asked)
        if setting.label == ACTIVE:  # the other settings have the same jobs on the same nodes
            place(description, number_of_nodes(description), asked)
        own: dict[str, Value] = {"mode": setting.label, "hold": setting.hold}
        of_active = savings if setting.label == ACTIVE else ()
        samples = grid.sample.seeds if grid.sample else 1
        points.append(Point(name, grid.name, factors | own, jobs, content, f"{names}.{ACTIVE}", of_active, samples))
    return points


@dataclass(frozen=True)
class _Setting:
    """A power mode at one hold."""

    power: Power
    hold: str

    @property
    def label(self) -> str:
        return self.power.label

    def has_saving(self, study: Mapping[str, Any]) -> bool:
        """Whether what it saves without waits follows from the pauses of links that are always active."""
        keys = {key.name: key for table in _core.simulation_tables() if table.name == "savings" for key in table.keys}
        routing = {**study.get("routing", {}), **self.power.routing}
        same_paths = not self.power.routing and routing.get("algorithm") != "power-aware"
        return (
            same_paths and self.power.mode in keys["mode"].allowed.split(", ") and keys.keys() >= self.power.keys.keys()
        )

    def tables(self, study: Mapping[str, Any]) -> dict[str, Any]:
        """The tables of the description that this setting determines."""
        hold = {"hold": self.hold} if self.hold else {}
        tables: dict[str, Any] = {"power": {"mode": self.power.mode, **hold, **self.power.keys}}
        if self.power.routing:
            tables["routing"] = {**study.get("routing", {}), **self.power.routing}
        return tables


def _settings(given: Sequence[Power]) -> list[_Setting]:
    """The settings, with active links first, even if they are not given."""
    found = [_Setting(Power(mode=ACTIVE), "")]
    for power in given:
        found += [_Setting(power, hold) for hold in power.holds or [""] if power.label != ACTIVE]
    return found


def _slug(*words: str) -> str:
    return ".".join(re.sub(r"[^A-Za-z0-9-]+", "_", word) for word in words if word)


def _job(study: StudyOfSimulations, mapping: str, job: Job, number: int) -> dict[str, Any]:
    of_application = study.applications[job.application].job
    if "pattern" not in of_application:
        found = f"applications.{job.application}.job has no pattern"
        raise LullError("lay out the study", found, f"name one of {', '.join(_patterns())}")
    return {
        **study.job,
        **of_application,
        "name": f"{job.application} {number}",
        "processes": job.processes,
        "mapping": mapping,
        "repeats": 1,
    }


def _patterns() -> list[str]:
    jobs = next(table for table in _core.simulation_tables() if table.name == "jobs")
    allowed = next(key.allowed for key in jobs.keys if key.name == "pattern")
    return [word.strip() for word in allowed.split(",")]
