"""The points of a sweep as rows: on the terminal, and in sweep.csv with all figures and their intervals over seeds."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from rich.table import Table

from lull.simulation.account import RepeatAccount, SimulationFile
from lull.simulation.latency import student_half_width
from lull.simulation.sweep import Factors, Sweep, SweepPoint, in_words
from lull.statistics import formatting


@dataclass(frozen=True)
class Column:
    """One figure of a point."""

    name: str
    of: Callable[[RepeatAccount], float | None]


COLUMNS = (
    Column("power_saved_percent", lambda one: 100 * one.power.saved),
    Column("network_power_saved_percent", lambda one: 100 * one.network_power.saved),
    Column("slowdown_percent", lambda one: None if one.slowdown is None else 100 * one.slowdown),
    Column("run_time_s", lambda one: max(job.run_time_s for job in one.jobs)),
    Column("packet_latency_mean_s", lambda one: one.packet_latency.mean_s if one.packet_latency else None),
    Column("packet_latency_median_s", lambda one: one.packet_latency.median_s if one.packet_latency else None),
    Column("packet_latency_p99_s", lambda one: one.packet_latency.p99_s if one.packet_latency else None),
    Column("throughput_bytes_per_s", lambda one: one.throughput),
    Column("time_active_percent", lambda one: 100 * one.power.states["active"]),
    Column("time_fast_wake_percent", lambda one: 100 * one.power.states["fast wake"]),
    Column("time_deep_sleep_percent", lambda one: 100 * one.power.states["deep sleep"]),
    Column("time_slow_rate_percent", lambda one: 100 * one.power.states["slow rate"]),
    Column("wakes", lambda one: float(one.power.wakes)),
    Column("joules", lambda one: one.joules),
)


@dataclass(frozen=True)
class MeanOverSeeds:
    """A mean over seeds; `half` is half of its 95 % interval, None with one seed."""

    value: float
    half: float | None


@dataclass(frozen=True)
class SweepRow:
    """One point with its figures; missing ones are None."""

    point: str
    factors: Factors
    repeats: int
    figures: dict[str, MeanOverSeeds | None]


def rows_of(sweep: Sweep, files: dict[str, SimulationFile]) -> list[SweepRow]:
    """A row for every point of the sweep, in its order."""
    return [_row(point, files[point.name].repeats) for point in sweep.points]


def _row(point: SweepPoint, repeats: Sequence[RepeatAccount]) -> SweepRow:
    found: dict[str, MeanOverSeeds | None] = {}
    for column in COLUMNS:
        values = [value for one in repeats if (value := column.of(one)) is not None]
        half = student_half_width(values) if len(values) > 1 else None
        found[column.name] = MeanOverSeeds(fmean(values), half) if values else None
    return SweepRow(point.name, point.factors, len(repeats), found)


def csv_text(sweep: Sweep, rows: Sequence[SweepRow]) -> str:
    """The text of sweep.csv: the point, its factors, its figures, each with the ends of its interval over seeds."""
    factors = factor_names(sweep, rows)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [name for column in COLUMNS for name in (column.name, f"{column.name}_low", f"{column.name}_high")]
    writer.writerow(["point", *factors, "seeds", *names])
    for row in rows:
        cells: list[Any] = [row.point, *(in_words(row.factors.get(name, "")) for name in factors), row.repeats]
        for column in COLUMNS:
            figure = row.figures[column.name]
            if figure is None:
                cells += ["", "", ""]
            elif figure.half is None:
                cells += [repr(figure.value), "", ""]
            else:
                cells += [repr(figure.value), repr(figure.value - figure.half), repr(figure.value + figure.half)]
        writer.writerow(cells)
    return out.getvalue()


def table_of(sweep: Sweep, rows: Sequence[SweepRow]) -> Table:
    """The table for the terminal: varied keys, savings and costs."""
    names = factor_names(sweep, rows)
    table = Table(pad_edge=False, box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in names:
        table.add_column(name, no_wrap=True)
    for heading in ("power saved", "slowdown", "run time", "latency", "99 %"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        time, mean, tail = (row.figures[n] for n in ("run_time_s", "packet_latency_mean_s", "packet_latency_p99_s"))
        table.add_row(
            *(in_words(row.factors.get(name, "–")) for name in names),
            percent(row.figures["power_saved_percent"]),
            percent(row.figures["slowdown_percent"]),
            *("–" if figure is None else formatting.si(figure.value, "s") for figure in (time, mean, tail)),
        )
    return table


def factor_names(sweep: Sweep, rows: Sequence[SweepRow]) -> list[str]:
    """The keys of the matrix, and those that only added points have."""
    return list(dict.fromkeys([*sweep.factors, *(name for row in rows for name in row.factors)]))


def percent(figure: MeanOverSeeds | None) -> str:
    """A figure in percent with half its interval."""
    if figure is None:
        return "–"
    half = "" if figure.half is None else f" ± {formatting.percent(figure.half / 100).removesuffix(' %')}"
    return f"{formatting.percent(figure.value / 100).removesuffix(' %')}{half} %"
