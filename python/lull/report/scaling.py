"""Scaling: energy and time of one configuration over its sizes, compared with ideal weak scaling.

With N the size, and 1 the smallest of a line, ideal weak scaling (the same work per unit of size) keeps the energy per
unit of size constant: E_N / (N E_1) and T_N / T_1 are 1. The size is a numeric factor of the records with one of the
names in SIZES, or else the number of nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lull.comparison.measures import Measures, measures, ratio
from lull.comparison.quantity import Quantity, quantity
from lull.record import EnergyKind, Run, weakest
from lull.report import svg
from lull.report.section import Body, Figure, ReportData
from lull.report.tables import Cell, Table
from lull.statistics import bootstrap, formatting
from lull.statistics.bootstrap import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZES = {  # factor -> singular and plural of its unit
    "nodes": ("node", "nodes"),
    "pes": ("PE", "PEs"),
    "ranks": ("rank", "ranks"),
    "processes": ("process", "processes"),
    "procs": ("process", "processes"),
    "tasks": ("task", "tasks"),
    "threads": ("thread", "threads"),
    "size": ("unit of size", "units of size"),
}
ENERGY_RATIO = "Eₙ / (N·E₁)"
TIME_RATIO = "Tₙ / T₁"
LOOKS = ("o-", "s--", "^-.", "D:", "v-", "P--", "X-.", "<:")


@dataclass(frozen=True)
class Step:
    """One size of a line."""

    size: float
    energy_each: Interval  # energy per unit of size, J
    energy: Interval  # E_N / (N E_1)
    time: Interval  # T_N / T_1
    kind: EnergyKind


@dataclass(frozen=True)
class Scaling:
    """Lines over a common measure of size."""

    unit: str  # singular
    units: str  # plural
    lines: list[tuple[str, list[Step]]]  # each with a name of its distinguishing factors and settings


def scaling_section(data: ReportData) -> Body | None:
    """The lines of `scaling`, drawn and as a table."""
    found = scaling([(quantity(run, region=data.region), run) for run in data.runs]) if data.few else None
    if found is None:
        return None
    caption = (
        f"Weak scaling: if every {found.unit} has the same work, both ratios are ideally 1, the dashed line. N is "
        "relative to the smallest size of each line, for which it is 1; bars are 95 % intervals. Times and energies "
        f"are not divided by work. {data.energy_words}"
    )
    headings = ["Line", "N", f"Energy per {found.unit}", ENERGY_RATIO, TIME_RATIO]
    return Body(
        figure=Figure("scaling", scaling_plot(found), caption),
        tables=[Table("Scaling", headings, scaling_rows(found), texts=(0,))],
    )


def scaling(named: Sequence[tuple[Quantity, Run]]) -> Scaling | None:
    """Lines of records that differ only in size; None if there are none.

    Args:
        named: Records with their quantities, which are not divided by work: work that grows with size would be
            divided by twice.
    """
    chosen = _size_of([run for _, run in named])
    if chosen is None:
        return None
    factor, sizes = chosen
    lines: dict[tuple[tuple[str, str], ...], list[tuple[float, Quantity]]] = {}
    for (of, run), size in zip(named, sizes, strict=True):
        alike = {name: str(value) for name, value in run.factors.items() if name != factor} | run.settings
        lines.setdefault(tuple(alike.items()), []).append((size, of))
    # If two records have the same size and are otherwise equal, the line cannot choose between them and omits both.
    found = [(fixed, dict(at)) for fixed, at in lines.items() if len(dict(at)) == len(at) > 1]
    if not found:
        return None
    names = {name for fixed, _ in found for name, _ in fixed}
    varying = {name for name in names if len({dict(fixed).get(name) for fixed, _ in found}) > 1}
    return Scaling(
        *SIZES[factor],
        [(_words(fixed, varying), _steps(by_size)) for fixed, by_size in found],
    )


def scaling_plot(of: Scaling) -> svg.Plot:
    """Three panels over size: energy per unit, and energy and time relative to the smallest size."""
    tips = svg.Tips()
    kind = weakest([step.kind for _, steps in of.lines for step in steps])
    with svg.drawing():
        figure, axes = svg.panels(3, 3.0)
        titles = (f"Energy per {of.unit},\n{kind.value}", ENERGY_RATIO, TIME_RATIO)
        for panel, title, name in zip(axes, titles, ("energy_each", "energy", "time"), strict=True):
            for place, (line, steps) in enumerate(of.lines):
                _line(panel, place, line, steps, name, tips)
            if name != "energy_each":
                panel.axhline(1, color=svg.INK, linewidth=0.8, linestyle=(0, (5, 3)), alpha=0.7, zorder=1)
            _axis(panel, sorted({step.size for _, steps in of.lines for step in steps}), name)
            panel.set_title(title)
            panel.set_xlabel(f"N, {of.units}")
        if len(of.lines) > 1:
            handles, labels = axes[1].get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside upper left", ncols=3)
        ends = "; ".join(
            f"{name or 'all'}: energy {formatting.ratio(steps[-1].energy)} and time {formatting.ratio(steps[-1].time)}"
            f" of the smallest at {steps[-1].size:g}"
            for name, steps in of.lines
        )
        return svg.Plot(figure, f"Scaling over {of.units}. {ends}", tips.words)


def scaling_rows(of: Scaling) -> list[list[Cell]]:
    """A row for each size of each line."""
    return [
        [
            Cell(line or "all records", line),
            Cell(f"{step.size:g}", step.size),
            Cell(formatting.si(step.energy_each.value, "J"), step.energy_each.value, step.kind.value),
            Cell(formatting.ratio(step.energy), step.energy.value),
            Cell(formatting.ratio(step.time), step.time.value),
        ]
        for line, steps in of.lines
        for step in steps
    ]


def _size_of(runs: Sequence[Run]) -> tuple[str, list[float]] | None:
    """The measure of size and the size of every record; None if all have the same."""
    for name in SIZES:
        values = [run.factors.get(name) for run in runs]
        sizes = [float(value) for value in values if isinstance(value, int | float) and value > 0]
        if len(sizes) == len(runs) and len(set(sizes)) > 1:
            return name, sizes
    sizes = [float(len(run.hosts)) for run in runs]
    return ("nodes", sizes) if len(set(sizes)) > 1 and min(sizes) > 0 else None


def _steps(by_size: dict[float, Quantity]) -> list[Step]:
    sizes = sorted(by_size)
    first, base = sizes[0], by_size[sizes[0]]
    of_base = measures(base, seed=bootstrap.SEED, stream=0)
    made = []
    for size in sizes:
        of = measures(by_size[size], seed=bootstrap.SEED, stream=1) if size > first else of_base
        energy, time = (_grown(of, of_base, name) for name in ("energy", "time"))
        each = of.spread("energy")
        made.append(
            Step(
                size,
                _scaled(Interval(each.median, each.low, each.high), 1 / size),
                _scaled(energy, first / size),
                time,
                weakest([base.kind, by_size[size].kind]),
            )
        )
    return made


def _grown(of: Measures, base: Measures, name: str) -> Interval:
    return Interval(1.0) if of is base else ratio(of, base, name)


def _scaled(of: Interval, by: float) -> Interval:
    ends = [None if end is None else end * by for end in (of.low, of.high)]
    return Interval(of.value * by, *ends)


def _words(fixed: tuple[tuple[str, str], ...], varying: set[str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in fixed if name in varying)


def _line(axes: Axes, place: int, line: str, steps: list[Step], name: str, tips: svg.Tips) -> None:
    look = LOOKS[place % len(LOOKS)]
    colour = svg.PALETTE[place % len(svg.PALETTE)]
    values: list[Interval] = [getattr(step, name) for step in steps]
    sizes = [step.size for step in steps]
    axes.plot(sizes, [of.value for of in values], look[1:], color=colour, linewidth=1.3, label="_nolegend_")
    axes.plot([], [], look, color=colour, markersize=5, linewidth=1.3, label=line or "all records")
    for step, of in zip(steps, values, strict=True):
        ends = None if of.low is None or of.high is None else [[of.value - of.low], [of.high - of.value]]
        drawn = axes.errorbar([step.size], [of.value], yerr=ends, fmt=look[0], color=colour, markersize=5, capsize=2.5)
        shown = formatting.si(of.value, "J") if name == "energy_each" else formatting.ratio(of)
        what = {"energy_each": f"energy each, {step.kind.value},", "energy": ENERGY_RATIO, "time": TIME_RATIO}[name]
        tips.add(drawn.lines[0], f"{line + ', ' if line else ''}N = {step.size:g}: {what} {shown}")


def _axis(axes: Axes, sizes: list[float], name: str) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(sizes))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, 0.9), max(high, 1.1)) if name != "energy_each" else axes.set_ylim(0, high * 1.05)
    if name == "energy_each":
        factor, unit = formatting.scale(axes.get_ylim()[1], "J")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / factor:.9g} {unit}"))
