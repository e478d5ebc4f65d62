"""Energy of the nodes and on the wire, with a bar for each value of one factor of a study.

The figures are medians over the runs of a point, for the study's region and per unit of its metric. The energy on the
wire is never added to that of the nodes: a node's meter may include part of it already.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lull.comparison.measures import measures
from lull.comparison.quantity import Quantity, quantity
from lull.record import EnergyKind, Run, weakest
from lull.report import svg
from lull.report.tabled_plot import TabledPlot
from lull.statistics import bootstrap, formatting
from lull.statistics.bootstrap import Spread
from lull.study.file import Value
from lull.study.runs.description import Bars, StudyOfRuns
from lull.study.runs.points import factors_in_words, in_matrix, point_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = {"energy": "Nodes", "wire": "On the wire"}


@dataclass(frozen=True)
class Bar:
    """The energies of one point, in J per unit of work, by the names of COLUMNS; no wire if none was metered."""

    group: str
    name: str
    energies: dict[str, Spread]
    kinds: dict[str, EnergyKind]


def bar_plots(study: StudyOfRuns, runs: Mapping[str, Run]) -> list[TabledPlot]:
    """The drawings of all [[bars]] of a study: one for each combination of the factors that it does not show.

    Args:
        study: The study that was run.
        runs: Its records, by the names of the points.
    """
    found: list[TabledPlot] = []
    for wanted in study.bars:
        others = [name for name in study.factors if name not in (wanted.groups, wanted.bars)]
        for values in itertools.product(*(study.factors[name] for name in others)):
            fixed = dict(zip(others, values, strict=True))
            bars = _bars(study, wanted, fixed, runs)
            if bars:
                varying = {name: value for name, value in fixed.items() if len(study.factors[name]) > 1}
                title = f"{wanted.name}: {factors_in_words(varying)}" if varying else wanted.name
                found.append(_tabled(f"bars-{len(found) + 1}", title, wanted, bars, study.measure.per))
    return found


def _bars(study: StudyOfRuns, wanted: Bars, fixed: dict[str, Value], runs: Mapping[str, Run]) -> list[Bar]:
    bars = []
    for group, name in itertools.product(study.factors[wanted.groups], study.factors[wanted.bars]):
        of = {**fixed, wanted.groups: group, wanted.bars: name}
        factors = {factor: of[factor] for factor in study.factors}
        shown = all(factors[factor] in values for factor, values in wanted.only.items())
        if shown and in_matrix(study, factors):
            run = runs[point_name(factors)]
            of_point = quantity(run, region=study.measure.region, per=study.measure.per)
            bars.append(_bar(str(group), str(name), of_point))
    return bars


def _bar(group: str, name: str, of: Quantity) -> Bar:
    columns = measures(of, seed=bootstrap.SEED, stream=0, wire=True)
    kinds = {"energy": of.kind}
    wires = [sample.wire.kind for sample in of.samples if sample.wire]
    if "wire" in columns.values:
        kinds["wire"] = weakest(wires)
    return Bar(group, name, {column: columns.spread(column) for column in kinds}, kinds)


def _tabled(name: str, title: str, wanted: Bars, bars: list[Bar], per: str | None) -> TabledPlot:
    headings = [_heading(column, bars, per) for column in COLUMNS]
    rows = [[bar.group, bar.name, *(_cell(bar, column) for column in COLUMNS), _share_of_wire(bar)] for bar in bars]
    return TabledPlot(
        name,
        title,
        _plot(title, bars, headings),
        [wanted.groups, wanted.bars, *headings, "wire / nodes"],
        rows,
        texts=(0, 1),
    )


def _heading(column: str, bars: list[Bar], per: str | None) -> str:
    kinds = [bar.kinds[column].value for bar in bars if column in bar.kinds]
    words = COLUMNS[column] + (f" {formatting.per(per)}" if per else "")
    return ", ".join([words, *dict.fromkeys(kinds)])


def _cell(bar: Bar, column: str) -> str:
    return formatting.si(bar.energies[column].median, "J") if column in bar.energies else "–"


def _share_of_wire(bar: Bar) -> str:
    if "wire" not in bar.energies:
        return "–"
    return formatting.three_digits(bar.energies["wire"].median / bar.energies["energy"].median)


def _plot(title: str, bars: list[Bar], headings: list[str]) -> svg.Plot:
    """A panel for each of COLUMNS, with a common scale, which is logarithmic if a linear one would hide bars."""
    groups = list(dict.fromkeys(bar.group for bar in bars))
    names = list(dict.fromkeys(bar.name for bar in bars))
    heights = [one.median for bar in bars for one in bar.energies.values() if one.median > 0]
    logarithmic = svg.wants_logarithm(heights)
    tips = svg.Tips()
    with svg.drawing():
        figure, axes = svg.panels(len(COLUMNS), 3.1)
        for panel, column, heading in zip(axes, COLUMNS, headings, strict=True):
            if logarithmic:
                panel.set_yscale("log")
            for bar in bars:
                if column in bar.energies and bar.energies[column].median > 0:
                    _draw(panel, bar, column, groups.index(bar.group), names, tips)
            panel.set_title(heading)
            panel.set_xticks(range(len(groups)), groups)
            panel.tick_params(axis="x", length=0)
            panel.set_xlim(-0.5, len(groups) - 0.5)
            panel.set_ylim((min(heights) / 3 if logarithmic else 0), max(heights) * (2 if logarithmic else 1.1))
            svg.prefixed_ticks(panel.yaxis, "J", logarithmic=logarithmic)
        axes[1].set_yticklabels([])
        handles, labels = axes[0].get_legend_handles_labels()
        shown = dict(zip(labels, handles, strict=True))
        columns = len(shown) if len(shown) <= 4 else 3
        figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=columns)
        words = "; ".join(f"{bar.group}, {bar.name}: {_cell(bar, 'energy')}, wire {_cell(bar, 'wire')}" for bar in bars)
        return svg.Plot(figure, f"{title}. {words}", tips.words)


def _draw(panel: Axes, bar: Bar, column: str, group: int, names: list[str], tips: svg.Tips) -> None:
    number, width = names.index(bar.name), 0.8 / len(names)
    at = group + (number - (len(names) - 1) / 2) * width
    one = bar.energies[column]
    ends = None if one.low is None or one.high is None else [[one.median - one.low], [one.high - one.median]]
    colour = svg.PALETTE[number % len(svg.PALETTE)]
    look: dict[str, Any] = {"capsize": 2, "error_kw": {"elinewidth": 0.8, "ecolor": svg.INK}}
    drawn = panel.bar(at, one.median, width * 0.9, yerr=ends, color=colour, label=bar.name, **look)
    interval = "" if one.low is None or one.high is None else f" ({formatting.si_range(one.low, one.high, 'J')})"
    words = f"{formatting.si(one.median, 'J')}{interval}, {bar.kinds[column].value}"
    tips.add(drawn.patches[0], f"{bar.group}, {bar.name}, {COLUMNS[column].lower()}: {words}")
