"""The report on simulations: figures and plots as one page, rendered with `templates/simulation.html.j2`."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from lull import __version__, record
from lull.record.labels import distinct
from lull.report.rendering import rendered
from lull.simulation import plots
from lull.simulation.account import RepeatAccount, SimulationFile, read_simulation
from lull.simulation.describe import sampling_of
from lull.statistics import formatting

MOST_IN_A_PLOT = 12  # lines that can be distinguished


@dataclass(frozen=True)
class Cell:
    """A cell of a sortable table; `number` is its sort key if it is a number."""

    text: str
    number: float | None = None


@dataclass(frozen=True)
class Column:
    """A figure of a simulation and its form in the table."""

    name: str
    of: Callable[[RepeatAccount], float | None]
    shown: Callable[[float], str]


def _seconds(value: float) -> str:
    return formatting.si(value, "s")


COLUMNS = (
    Column("Power of active", lambda one: one.power.share, lambda value: f"{value:.3f}"),
    Column("Saved", lambda one: one.power.saved, formatting.percent),
    Column("Saved between switches", lambda one: one.network_power.saved, formatting.percent),
    Column("Slowdown", lambda one: one.slowdown, formatting.percent),
    Column("Run time", lambda one: max(job.run_time_s for job in one.jobs), _seconds),
    Column("Latency, mean", lambda one: one.packet_latency.mean_s if one.packet_latency else None, _seconds),
    Column("median", lambda one: one.packet_latency.median_s if one.packet_latency else None, _seconds),
    Column("99 %", lambda one: one.packet_latency.p99_s if one.packet_latency else None, _seconds),
    Column("Throughput of a process", lambda one: one.throughput, lambda value: formatting.si(value, "B/s")),
    Column("Energy, simulated", lambda one: one.joules, lambda value: formatting.si(value, "J")),
)
JOB_COLUMNS = (
    ("Simulation", False), ("Job", False), ("Processes", True), ("Messages", True), ("Run time", True),
    ("With active links", True), ("Slowdown", True), ("Message latency, median", True), ("99 %", True),
)  # fmt: skip
TIME_COLUMNS = (
    ("Simulation", False), ("Program", False), ("Iterations", True), ("Computing", True), ("Sending", True),
    ("Waiting", True), ("Computing, share", True), ("Messages in memory", True),
)  # fmt: skip


def render_simulations(folders: list[Path], *, title: str | None, baseline: int) -> str:
    """The report on simulated records as HTML text; the record number `baseline` comes first."""
    order = [folders[baseline], *(folder for place, folder in enumerate(folders) if place != baseline)]
    runs = distinct(order, [record.read(folder) for folder in order])
    named = [(run.label, read_simulation(folder)) for run, folder in zip(runs, order, strict=True)]
    drawn = named[:MOST_IN_A_PLOT]
    differing, settings, alike = _settings(named)
    latency = plots.latency_distribution(drawn)
    return rendered(
        "simulation.html.j2",
        title=title or ("Simulation of " + ", ".join(name for name, _ in named[:4]) + (" …" * (len(named) > 4))),
        version=__version__,
        records=len(named),
        baseline=named[0][0],
        compared=len(named) > 1,
        commands=list(dict.fromkeys(shlex.join(run.command) for run in runs)),
        columns=[("Simulation", False), ("Seeds", True), *((c.name, True) for c in COLUMNS), ("Speedup", True)],
        rows=[_row(name, file, named[0][1]) for name, file in named],
        notes=_notes(named),
        states=plots.time_in_states(named).svg("states"),
        latency="" if latency is None else latency.svg("latency"),
        use=plots.link_use(drawn).svg("use"),
        job_columns=JOB_COLUMNS,
        job_rows=[row for name, file in named for row in _job_rows(name, file)],
        time_columns=TIME_COLUMNS,
        time_rows=[row for name, file in named for row in _time_rows(name, file)],
        differing=differing,
        settings=settings,
        alike=alike,
    )


def _row(name: str, file: SimulationFile, baseline: SimulationFile) -> list[Cell]:
    found = [Cell(name), Cell(str(len(file.repeats)), len(file.repeats))]
    for column in COLUMNS:
        values = [value for one in file.repeats if (value := column.of(one)) is not None]
        found.append(Cell(column.shown(median(values)), median(values)) if values else Cell("–", -1.0))
    times = [median(one.simulated_s for one in side.repeats) for side in (baseline, file)]
    speedup = times[0] / times[1] if times[1] > 0 else 0.0
    return [*found, Cell(formatting.three_digits(speedup), speedup)]


def _job_rows(name: str, file: SimulationFile) -> list[list[Cell]]:
    """The jobs of the first seed; those of other seeds differ only in random draws."""

    def cell(value: float | None, shown: Callable[[float], str]) -> Cell:
        return Cell("–", -1.0) if value is None else Cell(shown(value), value)

    rows = []
    for job in file.repeats[0].jobs:
        latency = job.message_latency
        rows.append(
            [
                Cell(name),
                Cell(job.name),
                Cell(f"{job.processes:,}", job.processes),
                Cell(f"{job.messages:,}", job.messages),
                cell(job.run_time_s, _seconds),
                cell(job.active_run_time_s, _seconds),
                cell(job.slowdown, formatting.percent),
                cell(latency.median_s if latency else None, _seconds),
                cell(latency.p99_s if latency else None, _seconds),
            ]
        )
    return rows


def _time_rows(name: str, file: SimulationFile) -> list[list[Cell]]:
    """The time of programs by activity, for the first seed: means over their processes."""
    rows = []
    for job in file.repeats[0].jobs:
        if job.time is None:
            continue
        parts = (job.time.computing_s, job.time.sending_s, job.time.waiting_s)
        share = parts[0] / sum(parts) if sum(parts) > 0 else 0.0
        rows.append(
            [
                Cell(name),
                Cell(job.name),
                Cell(f"{job.iterations:,}", job.iterations),
                *(Cell(_seconds(part), part) for part in parts),
                Cell(formatting.percent(share), share),
                Cell(f"{job.memory_messages:,}", job.memory_messages),
            ]
        )
    return rows


def _notes(named: list[tuple[str, SimulationFile]]) -> list[str]:
    notes = []
    cut = [name for name, file in named if any(one.ended_early for one in file.repeats)]
    if cut:
        notes.append(f"Stopped at their end, before all was delivered: {', '.join(cut)}. There jobs have no run time.")
    notes += [
        f"{name}: {sampling_of(one.sampled.share)}." for name, file in named for one in file.repeats[:1] if one.sampled
    ]
    notes += [
        f"{name}, {job.name}: {line}." for name, file in named for job in file.repeats[0].jobs for line in job.remarks
    ]
    if len(named) > MOST_IN_A_PLOT:
        notes.append(f"The plots of latency and of the use of links show the first {MOST_IN_A_PLOT} only.")
    return notes


def _settings(
    named: list[tuple[str, SimulationFile]],
) -> tuple[list[str], list[tuple[str, list[str]]], list[tuple[str, str]]]:
    """Keys that differ, with their values in each simulation, and keys that are equal in all."""
    tables = [_flat(file.description) for _, file in named]
    names = list(dict.fromkeys(name for table in tables for name in table))
    differ = [name for name in names if len({table.get(name) for table in tables}) > 1]
    rows = [(name, [table.get(key, "–") for key in differ]) for (name, _), table in zip(named, tables, strict=True)]
    return differ, rows, [(name, tables[0][name]) for name in names if name not in differ]


def _flat(content: Any, name: str = "") -> dict[str, str]:
    if isinstance(content, dict):
        parts = content.items()
    elif isinstance(content, list) and any(isinstance(one, dict) for one in content):
        parts = {str(place): one for place, one in enumerate(content)}.items()
    else:
        text = str(content)
        return {name: text if len(text) <= 80 else f"{text[:77]}..."}
    found: dict[str, str] = {}
    for key, value in parts:
        found |= _flat(value, f"{name}.{key}" if name else str(key))
    return found
