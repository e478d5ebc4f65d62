"""Compare two simulated records: time, power of links, latency, with intervals if there are several seeds.

Simulations are reproducible to the bit, so there is no machine noise: with one seed on each side, the difference is
exact for that seed, and says nothing about others. Greenup needs no watts: energy is mean power times time, and the
power of one link cancels if both sides have equally many links.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import Final, Literal

import numpy as np
from pydantic import Field

from lull.base.errors import LullError
from lull.present import cells
from lull.present.document import Cell, Column, Columns, Document, Heading, Item, Line, Note, Part, row, table
from lull.record import EnergyKind, Model
from lull.simulation.account import RepeatAccount, SimulationFile
from lull.statistics import bootstrap, formatting

SCHEMA: Final = 1


class ComparedFigure(Model):
    """One figure of both sides, medians over seeds; `ratio` is the candidate's over the baseline's."""

    name: str  # name of the figure
    unit: str  # its unit; empty for a share or a number
    baseline: float  # its median in the baseline
    candidate: float  # its median in the candidate
    ratio: float | None  # candidate over baseline; null without a baseline value


class SimulatedComparison(Model):
    """The result of comparing two simulations. `speedup` and `greenup` are baseline over candidate."""

    baseline: str  # label of the baseline
    candidate: str  # label of the candidate
    seeds: tuple[int, int]  # number of seeds on each side
    paired: bool  # both sides have the same seeds and so the same traffic
    speedup: bootstrap.Interval  # of simulated time; without ends if there are too few seeds
    greenup: bootstrap.Interval | None  # of the energy of links; null if the sides have different numbers of links
    powerup: bootstrap.Interval | None  # candidate's power over the baseline's
    figures: list[ComparedFigure]  # all figures that both sides have
    kind: EnergyKind = EnergyKind.SIMULATED  # kind of the energies
    differ: dict[str, tuple[str, str]]  # keys at which the descriptions differ
    warnings: list[str]  # what limits the comparison, a sentence each


MOST_DIFFERENCES = 12  # most differences between descriptions that are shown

# Rows of the table: name, unit, value.
ROWS: tuple[tuple[str, str, Callable[[RepeatAccount], float | None]], ...] = (
    ("run time", "s", lambda one: max(job.run_time_s for job in one.jobs)),
    ("simulated time", "s", lambda one: one.simulated_s),
    ("power, of active", "", lambda one: one.power.share),
    ("power between switches", "", lambda one: one.network_power.share),
    ("packet latency, mean", "s", lambda one: one.packet_latency.mean_s if one.packet_latency else None),
    ("packet latency, median", "s", lambda one: one.packet_latency.median_s if one.packet_latency else None),
    ("packet latency, 99 %", "s", lambda one: one.packet_latency.p99_s if one.packet_latency else None),
    ("throughput per process", "B/s", lambda one: one.throughput),
    ("wake-ups", "", lambda one: float(one.power.wakes)),
    ("energy of links", "J", lambda one: one.joules),
)


def compare(first: str, baseline: SimulationFile, second: str, candidate: SimulationFile) -> SimulatedComparison:
    """Compare two simulations.

    Raises:
        LullError: One of them took no simulated time.
    """
    for name, side in ((first, baseline), (second, candidate)):
        if any(one.simulated_s <= 0 for one in side.repeats):
            raise LullError(f"compare {name}", "it simulated no time", "simulate it longer")
    seeds = [[one.seed for one in side.repeats] for side in (baseline, candidate)]
    paired = sorted(seeds[0]) == sorted(seeds[1]) and len(set(seeds[0])) == len(seeds[0])
    sides = [
        sorted(side.repeats, key=lambda one: one.seed) if paired else side.repeats for side in (baseline, candidate)
    ]
    in_joules = all(one.joules is not None for repeats in sides for one in repeats)
    rows = [np.array([[one.simulated_s, _energy(one, in_joules)] for one in repeats]) for repeats in sides]
    comparable = (in_joules or baseline.links == candidate.links) and all(bool((side[:, 1] > 0).all()) for side in rows)
    medians = [np.median(side, axis=0) for side in rows]
    speedup = bootstrap.Interval(float(medians[0][0] / medians[1][0]))
    greenup = bootstrap.Interval(float(medians[0][1] / medians[1][1])) if comparable else None
    powerup = bootstrap.Interval(speedup.value / greenup.value) if greenup else None
    if bootstrap.enough_runs(len(rows[0]), len(rows[1])):
        drawn = bootstrap.resampled_ratios_of_pairs(*rows) if paired else bootstrap.resampled_ratios(*rows)
        speedup = bootstrap.percentile_interval(speedup.value, drawn[:, 0])
        if greenup and powerup:
            greenup = bootstrap.percentile_interval(greenup.value, drawn[:, 1])
            powerup = bootstrap.percentile_interval(powerup.value, drawn[:, 0] / drawn[:, 1])
    return SimulatedComparison(
        baseline=first,
        candidate=second,
        seeds=(len(seeds[0]), len(seeds[1])),
        paired=paired,
        speedup=speedup,
        greenup=greenup,
        powerup=powerup,
        figures=[figure for row in ROWS if (figure := _figure(row, *sides)) is not None],
        differ=_differences(baseline.description, candidate.description),
        warnings=_warnings(baseline, candidate, seeds),
    )


class SimulatedComparisons(Model):
    """The output of `lull compare --format json` for simulations: every candidate compared with one baseline."""

    schema_version: Literal[1] = Field(default=SCHEMA, alias="schema")  # version of this form
    lull_version: str  # version of Lull that compared
    comparisons: list[SimulatedComparison]  # one for each candidate


def describe(comparisons: Sequence[SimulatedComparison]) -> Document:
    """For each candidate: the figures of both sides, the ratios, the differences of the descriptions, the caveats."""
    if len(comparisons) == 1:
        return Document(_title(comparisons[0]), tuple(_parts(comparisons[0])))
    parts = [part for found in comparisons for part in (Heading(_title(found)), *_parts(found))]
    return Document(f"{len(comparisons)} simulations against {comparisons[0].baseline}", tuple(parts))


def _title(found: SimulatedComparison) -> str:
    return f"{found.candidate} against {found.baseline}: simulations"


def _parts(found: SimulatedComparison) -> list[Part]:
    columns: Columns = [
        Column("", words=True, key="figure"),
        Column("unit", words=True, shown=False),
        Column(found.baseline, wraps=True, key="baseline"),
        Column(found.candidate, wraps=True, key="candidate"),
        "ratio",
    ]
    rows = [
        row(one.name, one.unit, _cell(one.baseline, one.unit), _cell(one.candidate, one.unit), cells.number(one.ratio))
        for one in found.figures
    ]
    differ = [Item(f"{key}: {one} → {other}", "aside") for key, (one, other) in found.differ.items()]
    more = len(differ) - MOST_DIFFERENCES
    return [
        table(columns, rows),
        Line(f"{verdict(found)}."),
        *differ[:MOST_DIFFERENCES],
        *([Item(f"and {more} more keys", "aside")] if more > 0 else []),
        *map(Note, found.warnings),
    ]


def verdict(found: SimulatedComparison) -> str:
    """The ratios in words."""
    ratios = [("Speedup", found.speedup), ("Greenup", found.greenup), ("Powerup", found.powerup)]
    told = ", ".join(f"{name} {formatting.ratio(ratio)}" for name, ratio in ratios if ratio is not None)
    return f"{told}; energy of links, {found.kind.value}"


def _energy(one: RepeatAccount, in_joules: bool) -> float:
    """The energy in joules, or the mean share of active power times simulated seconds."""
    return one.joules if in_joules and one.joules is not None else one.power.share * one.simulated_s


def _figure(
    row: tuple[str, str, Callable[[RepeatAccount], float | None]],
    baseline: Sequence[RepeatAccount],
    candidate: Sequence[RepeatAccount],
) -> ComparedFigure | None:
    name, unit, of = row
    values = [[value for one in side if (value := of(one)) is not None] for side in (baseline, candidate)]
    if not values[0] or not values[1]:
        return None
    first, second = median(values[0]), median(values[1])
    ratio = second / first if first else None
    return ComparedFigure(name=name, unit=unit, baseline=first, candidate=second, ratio=ratio)


def _differences(first: object, second: object, name: str = "") -> dict[str, tuple[str, str]]:
    """The keys at which two descriptions differ, with both values as text."""
    if isinstance(first, dict) and isinstance(second, dict):
        found: dict[str, tuple[str, str]] = {}
        for key in dict.fromkeys([*first, *second]):
            found |= _differences(first.get(key, "–"), second.get(key, "–"), f"{name}.{key}" if name else str(key))
        return found
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        parts = [
            _differences(one, other, f"{name}.{i}") for i, (one, other) in enumerate(zip(first, second, strict=True))
        ]
        return {key: value for part in parts for key, value in part.items()}
    return {} if first == second else {name: (str(first), str(second))}


def _warnings(baseline: SimulationFile, candidate: SimulationFile, seeds: list[list[int]]) -> list[str]:
    lines = []
    if not bootstrap.enough_runs(len(seeds[0]), len(seeds[1])):
        number = bootstrap.runs_for_interval()
        lines.append(f"no interval: it takes {number} seeds of each; the figures are those of these seeds alone")
    if sorted(seeds[0]) != sorted(seeds[1]):
        lines.append("the seeds differ: part of the difference is that of the traffic")
    if baseline.links != candidate.links and any(
        one.joules is None for f in (baseline, candidate) for one in f.repeats
    ):
        found = f"the networks have {baseline.links:,} and {candidate.links:,} links"
        lines.append(f"no Greenup: {found}; with power.link_watts there is one")
    if any(one.ended_early for side in (baseline, candidate) for one in side.repeats):
        lines.append("a simulation was stopped at its end: its run time is not that of its jobs")
    return lines


def _cell(value: float, unit: str) -> Cell:
    if unit:
        return cells.si(value, unit)
    return Cell(f"{value:,.0f}" if value >= 1000 else formatting.three_digits(value), value)
