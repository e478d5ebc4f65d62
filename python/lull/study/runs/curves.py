"""Plots of a study over one of its factors, with a line for each value of another: as a table and as drawings.

The value of a line at a place is the median over the runs of a point; its ratio is this value over that of a reference
line at the same place, with the interval of a comparison. Time, CPU time and energy are those of the study's region,
per unit of its metric; metrics are as the program reported them.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lull.base.errors import LullError
from lull.comparison.measures import Measures, measures, ratio
from lull.comparison.quantity import quantity
from lull.record import EnergyKind, Run, weakest
from lull.report import svg
from lull.report.tabled_plot import TabledPlot
from lull.statistics import bootstrap, formatting
from lull.statistics.bootstrap import Interval
from lull.study.file import Value
from lull.study.runs.description import Curves, StudyOfRuns
from lull.study.runs.points import factors_in_words, in_matrix, point_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNITS = {"time": "s", "cpu": "s", "power": "W", "energy": "J"}
WORDS = {"time": "Time", "cpu": "CPU time", "power": "Power", "energy": "Energy"}
LOOKS = ("o-", "s--", "^-.", "D:", "v-", "P--", "X-.")


@dataclass(frozen=True)
class CurvePoint:
    """One point of one line: a value for each panel, and its ratio to the reference line."""

    at: float
    values: dict[str, float]
    ratios: dict[str, Interval]


@dataclass(frozen=True)
class Family:
    """All lines at one combination of the other factors."""

    name: str
    where: str  # the other factors in words
    panels: dict[str, str]  # key -> title
    units: dict[str, str]
    over: str
    relative_to: str
    kind: EnergyKind
    lines: dict[str, list[CurvePoint]]

    @property
    def title(self) -> str:
        """What is shown, and at which values of the other factors."""
        return f"{self.name}: {self.where}" if self.where else self.name


def families(study: StudyOfRuns, runs: Mapping[str, Run]) -> list[Family]:
    """The families of all [[curves]] of a study.

    Args:
        study: The study that was run.
        runs: Its records, by the names of the points.

    Raises:
        LullError: A panel is neither a quantity nor a metric of the runs.
    """
    found = []
    for curves in study.curves:
        others = [name for name in study.factors if name not in (curves.over, curves.lines)]
        for values in itertools.product(*(study.factors[name] for name in others)):
            family = _family(study, curves, dict(zip(others, values, strict=True)), runs)
            if family is not None:
                found.append(family)
    return found


def _family(study: StudyOfRuns, curves: Curves, fixed: dict[str, Value], runs: Mapping[str, Run]) -> Family | None:
    lines: dict[str, list[CurvePoint]] = {}
    kinds: list[EnergyKind] = []
    units = dict(UNITS)
    for at in study.factors[curves.over]:
        sides: dict[Value, Measures] = {}
        for line in study.factors[curves.lines]:
            of = {**fixed, curves.over: at, curves.lines: line}
            factors = {name: of[name] for name in study.factors}
            if not in_matrix(study, factors):
                continue
            run = runs[point_name(factors)]
            side = quantity(run, region=study.measure.region, per=study.measure.per)
            metrics = [panel for panel in curves.panels if panel not in UNITS]
            sides[line] = measures(side, seed=bootstrap.SEED, stream=len(sides), metrics=metrics)
            kinds.append(side.kind)
            # The units are those of the first run; a different unit means a different quantity.
            for name in metrics:
                given = {repeat.metrics[name].unit for repeat in run.succeeded if name in repeat.metrics}
                if given - {units.setdefault(name, min(given, default=""))}:
                    asked = f"draw the curves {curves.name}"
                    differ = f"{run.label} gives {name} in '{max(given)}', another run in '{units[name]}'"
                    raise LullError(asked, differ, "measure all points with one program")
            if missing := [panel for panel in curves.panels if panel not in sides[line].values]:
                asked = f"draw the curves {curves.name}"
                raise LullError(asked, f"{run.label} has no quantity {missing[0]!r}", f"there are: {', '.join(WORDS)}")
        base = sides.get(curves.relative_to)
        for line, found in sides.items():
            ratios = {name: _against(found, base, name) for name in curves.panels if base is not None}
            values = {name: found.medians[name] for name in curves.panels}
            lines.setdefault(str(line), []).append(CurvePoint(float(at), values, ratios))
    if not lines:
        return None
    varying = {name: value for name, value in fixed.items() if len(study.factors[name]) > 1}
    kind = weakest(kinds)
    return Family(
        curves.name,
        factors_in_words(varying),
        {name: _panel_title(name, study, kind) for name in curves.panels},
        units,
        f"{curves.over}, {curves.unit}" if curves.unit else curves.over,
        str(curves.relative_to),
        kind,
        lines,
    )


def _against(side: Measures, base: Measures, name: str) -> Interval:
    if side is base:
        return Interval(1.0)
    return ratio(side, base, name) if base.medians[name] > 0 else Interval(float("nan"))


def _panel_title(name: str, study: StudyOfRuns, kind: EnergyKind) -> str:
    if name not in WORDS:
        return name.replace("_", " ")
    per = f" {formatting.per(study.measure.per)}" if study.measure.per and name != "power" else ""
    return f"{WORDS[name]}{per}" + (f",\n{kind.value}" if name in ("power", "energy") else "")


def cell(family: Family, name: str, place: CurvePoint) -> str:
    """A value and, unless it belongs to the reference line, its ratio."""
    value = place.values[name]
    unit = family.units.get(name, "")
    shown = formatting.si(value, unit) if name in UNITS else f"{formatting.three_digits(value)} {unit}".strip()
    return shown if not place.ratios or place.ratios[name].value == 1 else f"{shown} ({place.ratios[name].value:.3g})"


def table_rows(family: Family) -> list[list[str]]:
    """A row for each place and line, with the place in the first cell; ordered by place, then by line."""
    rows = []
    for at in sorted({place.at for places in family.lines.values() for place in places}):
        for line, places in family.lines.items():
            rows += [
                [binary(at), line, *(cell(family, name, place) for name in family.panels)]
                for place in places
                if place.at == at
            ]
    return rows


def headings(family: Family) -> list[str]:
    """The headings of the columns of `table_rows`."""
    return [family.over, "", *(" ".join(title.split()) for title in family.panels.values())]


def plot_of(family: Family, name: str) -> TabledPlot:
    """A family as a plot whose files have this name; its table has ratios to the reference line in brackets."""
    aside = f"; in brackets over {family.relative_to}"
    return TabledPlot(name, family.title, plot(family), headings(family), table_rows(family), (1,), aside)


def plot(family: Family) -> svg.Plot:
    """A panel for each quantity: the ratio to the reference line, over the factor, with intervals."""
    tips = svg.Tips()
    with svg.drawing():
        figure, axes = svg.panels(len(family.panels), 2.9)
        for panel, (name, title) in zip(axes, family.panels.items(), strict=True):
            for number, line in enumerate(family.lines):
                _line(panel, number, line, name, family, tips)
            panel.axhline(1, color=svg.INK, linewidth=0.8, linestyle=(0, (5, 3)), alpha=0.7, zorder=1)
            panel.set_title(title)
            panel.set_xlabel(family.over)
            size_axis(panel, sorted({place.at for places in family.lines.values() for place in places}))
            places = [place for line in family.lines.values() for place in line if name in place.ratios]
            if svg.wants_logarithm(place.ratios[name].value for place in places):
                panel.set_yscale("log")
            else:
                panel.set_ylim(0, max(panel.get_ylim()[1], 1.1))
        axes[0].set_ylabel(f"over {family.relative_to}")
        svg.legend_below(figure, axes[0])
        words = f"{family.title}. {', '.join(headings(family)[2:])} over {family.over}, divided by {family.relative_to}"
        return svg.Plot(figure, words, tips.words)


def _line(axes: Axes, number: int, line: str, name: str, family: Family, tips: svg.Tips) -> None:
    places = [place for place in family.lines[line] if name in place.ratios]
    look: dict[str, Any] = {"color": svg.PALETTE[number % len(svg.PALETTE)]}
    style = LOOKS[number % len(LOOKS)]
    shown = [place.ratios[name] for place in places]
    axes.plot([place.at for place in places], [one.value for one in shown], style[1:], linewidth=1.2, **look)
    axes.plot([], [], style, label=line, markersize=4, linewidth=1.2, **look)
    for place, one in zip(places, shown, strict=True):
        ends = None if one.low is None or one.high is None else [[one.value - one.low], [one.high - one.value]]
        drawn = axes.errorbar([place.at], [one.value], yerr=ends, fmt=style[0], markersize=4, capsize=2, **look)
        tips.add(
            drawn.lines[0], f"{line} at {place.at:g}: {' '.join(family.panels[name].split())} {formatting.ratio(one)}"
        )


def size_axis(axes: Axes, values: Sequence[float]) -> None:
    """Put ticks only at these values, on an axis of powers of two."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(list(values)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: binary(value)))
    axes.tick_params(axis="x", labelrotation=60, labelsize=7.5)


def binary(value: float) -> str:
    """A number with K or M for 1024 and its square, if that is exact."""
    for factor, letter in ((1 << 20, "M"), (1 << 10, "K")):
        if value >= factor and value % factor == 0:
            return f"{value / factor:g}{letter}"
    return f"{value:g}"
