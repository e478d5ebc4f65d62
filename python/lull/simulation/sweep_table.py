"""The points of a sweep as rows: on the terminal, and in sweep.csv with all figures and their intervals over seeds."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from lull.present import cells
from lull.present.document import Cell, Column, Document, row, table
from lull.simulation.account import RepeatAccount, SimulationFile
from lull.simulation.latency import student_half_width
from lull.simulation.sweep import Factors, Sweep, SweepPoint, in_words
from lull.statistics import formatting


@dataclass(frozen=True)
class Figure:
    """One figure of a point."""

    name: str
    of: Callable[[RepeatAccount], float | None]


FIGURES = (
    Figure("power_saved_percent", lambda one: 100 * one.power.saved),
    Figure("network_power_saved_percent", lambda one: 100 * one.network_power.saved),
    Figure("slowdown_percent", lambda one: None if one.slowdown is None else 100 * one.slowdown),
    Figure("run_time_s", lambda one: max(job.run_time_s for job in one.jobs)),
    Figure("packet_latency_mean_s", lambda one: one.packet_latency.mean_s if one.packet_latency else None),
    Figure("packet_latency_median_s", lambda one: one.packet_latency.median_s if one.packet_latency else None),
    Figure("packet_latency_p99_s", lambda one: one.packet_latency.p99_s if one.packet_latency else None),
    Figure("throughput_bytes_per_s", lambda one: one.throughput),
    Figure("time_active_percent", lambda one: 100 * one.power.states["active"]),
    Figure("time_fast_wake_percent", lambda one: 100 * one.power.states["fast wake"]),
    Figure("time_deep_sleep_percent", lambda one: 100 * one.power.states["deep sleep"]),
    Figure("time_slow_rate_percent", lambda one: 100 * one.power.states["slow rate"]),
    Figure("wakes", lambda one: float(one.power.wakes)),
    Figure("joules", lambda one: one.joules),
)


@dataclass(frozen=True)
class MeanOverSeeds:
    """A mean over seeds; `half` is half of its 95 % interval, None with one seed."""

    value: float  # the mean
    half: float | None  # half of the 95 % interval; null with one seed


@dataclass(frozen=True)
class SweepRow:
    """One point with its figures; missing ones are None."""

    point: str  # name of the point, and of its folder
    factors: Factors  # the varied keys and their values
    repeats: int  # number of seeds
    figures: dict[str, MeanOverSeeds | None]  # by name, which ends in the unit; null: not known


def rows_of(sweep: Sweep, files: dict[str, SimulationFile]) -> list[SweepRow]:
    """A row for every point of the sweep, in its order."""
    return [_row(point, files[point.name].repeats) for point in sweep.points]


def _row(point: SweepPoint, repeats: Sequence[RepeatAccount]) -> SweepRow:
    found: dict[str, MeanOverSeeds | None] = {}
    for column in FIGURES:
        values = [value for one in repeats if (value := column.of(one)) is not None]
        half = student_half_width(values) if len(values) > 1 else None
        found[column.name] = MeanOverSeeds(fmean(values), half) if values else None
    return SweepRow(point.name, point.factors, len(repeats), found)


def csv_text(sweep: Sweep, rows: Sequence[SweepRow]) -> str:
    """The text of sweep.csv: the point, its factors, its figures, each with the ends of its interval over seeds."""
    factors = factor_names(sweep, rows)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [name for column in FIGURES for name in (column.name, f"{column.name}_low", f"{column.name}_high")]
    writer.writerow(["point", *factors, "seeds", *names])
    for one in rows:
        line: list[Any] = [one.point, *(in_words(one.factors.get(name, "")) for name in factors), one.repeats]
        for column in FIGURES:
            figure = one.figures[column.name]
            if figure is None:
                line += ["", "", ""]
            elif figure.half is None:
                line += [repr(figure.value), "", ""]
            else:
                line += [repr(figure.value), repr(figure.value - figure.half), repr(figure.value + figure.half)]
        writer.writerow(line)
    return out.getvalue()


def describe(sweep: Sweep, rows: Sequence[SweepRow]) -> Document:
    """A table of the varied keys, savings and costs."""
    names = factor_names(sweep, rows)
    columns = [
        *(Column(name, words=True, key=name) for name in names),
        Column("power saved", key="power_saved_percent"),
        Column("slowdown", key="slowdown_percent"),
        Column("run time", "s"),
        Column("latency", "s"),
        Column("99 %", key="latency_p99_s"),
    ]
    shown = []
    for one in rows:
        figures = [one.figures[name] for name in ("run_time_s", "packet_latency_mean_s", "packet_latency_p99_s")]
        shown.append(
            row(
                *(in_words(one.factors.get(name, "–")) for name in names),
                percent(one.figures["power_saved_percent"]),
                percent(one.figures["slowdown_percent"]),
                *(cells.si(None if figure is None else figure.value, "s") for figure in figures),
            )
        )
    return Document("", (table(columns, shown),), f"Sweep {sweep.name}")


def factor_names(sweep: Sweep, rows: Sequence[SweepRow]) -> list[str]:
    """The keys of the matrix, and those that only added points have."""
    return list(dict.fromkeys([*sweep.factors, *(name for row in rows for name in row.factors)]))


def percent(figure: MeanOverSeeds | None) -> Cell:
    """A figure in percent with half its interval."""
    if figure is None:
        return cells.share(None)
    words = formatting.percent(figure.value / 100).removesuffix(" %")
    if figure.half is None:
        return Cell(f"{words} %", figure.value)
    half = formatting.percent(figure.half / 100).removesuffix(" %")
    return Cell(f"{words} ± {half} %", figure.value, figure.value - figure.half, figure.value + figure.half)
