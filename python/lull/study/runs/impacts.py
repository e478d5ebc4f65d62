"""Savings of a transformation over one factor of a study: a line for each comparison, in percent of its baseline.

The impact of a transformation is (before - after) / before, of time, energy or their product; below 0, the
transformation is a loss. Intervals are those of the comparisons.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lull.record import EnergyKind, weakest
from lull.report import svg
from lull.report.tabled_plot import TabledPlot
from lull.statistics import formatting
from lull.statistics.bootstrap import Interval
from lull.statistics.gpsup import reduction_interval
from lull.study.file import Value
from lull.study.runs.claims import StudyComparison
from lull.study.runs.curves import LOOKS, binary, size_axis
from lull.study.runs.description import Impacts, StudyOfRuns
from lull.study.runs.points import factors_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANELS = {"time": "Time", "energy": "Energy", "edp": "Energy x time"}


@dataclass(frozen=True)
class ImpactPoint:
    """The savings of one comparison at one value of the factor, by the names of PANELS."""

    at: float
    saved: dict[str, Interval]


Lines = dict[str, list[ImpactPoint]]


def impact_plots(study: StudyOfRuns, compared: Sequence[StudyComparison]) -> list[TabledPlot]:
    """The drawings of all [[impacts]] of a study: one for each combination of the factors that it does not show.

    Args:
        study: The study that was run.
        compared: All its comparisons.
    """
    found: list[TabledPlot] = []
    for wanted in study.impacts:
        mine = [one for one in compared if one.name in wanted.lines]
        others = [name for name in study.factors if name != wanted.over and any(name in one.fixed for one in mine)]
        for values in itertools.product(*(study.factors[name] for name in others)):
            fixed = dict(zip(others, values, strict=True))
            here = [one for one in mine if all(one.fixed.get(name) == value for name, value in fixed.items())]
            if here:
                found.append(_tabled(f"impacts-{len(found) + 1}", study, wanted, fixed, here))
    return found


def _tabled(
    name: str, study: StudyOfRuns, wanted: Impacts, fixed: dict[str, Value], compared: list[StudyComparison]
) -> TabledPlot:
    varying = {factor: value for factor, value in fixed.items() if len(study.factors[factor]) > 1}
    title = f"{wanted.name}: {factors_in_words(varying)}" if varying else wanted.name
    lines: Lines = {line: [] for line in wanted.lines}
    for one in compared:
        at = one.fixed[wanted.over]
        assert not isinstance(at, str)  # ensured by the description
        saved = {
            "time": one.comparison.time_reduction,
            "energy": one.comparison.energy_reduction,
            "edp": reduction_interval(one.comparison.edp_ratio),
        }
        lines[one.name].append(ImpactPoint(float(at), saved))
    kind = weakest([one.comparison.kind for one in compared])
    over = f"{wanted.over}, {wanted.unit}" if wanted.unit else wanted.over
    headings = [over, "", *(f"{_title(panel, kind)} saved" for panel in PANELS)]
    rows = [
        [binary(place.at), line, *(_in_words(place.saved[panel]) for panel in PANELS)]
        for at in sorted({place.at for places in lines.values() for place in places})
        for line, places in lines.items()
        for place in places
        if place.at == at
    ]
    return TabledPlot(name, title, plot(title, lines, over, kind), headings, rows, (1,))


def _title(panel: str, kind: EnergyKind) -> str:
    return PANELS[panel] if panel == "time" else f"{PANELS[panel]}, {kind.value}"


def _in_words(saved: Interval) -> str:
    if saved.low is None or saved.high is None:
        return formatting.percent(saved.value)
    return f"{formatting.percent(saved.value)} ({formatting.percent(saved.low)} to {formatting.percent(saved.high)})"


def plot(title: str, lines: Lines, over: str, kind: EnergyKind) -> svg.Plot:
    """A panel for each of PANELS, with a common scale."""
    tips = svg.Tips()
    with svg.drawing():
        figure, axes = svg.panels(len(PANELS), 2.9)
        for panel, of in zip(axes, PANELS, strict=True):
            for number, (line, places) in enumerate(lines.items()):
                _line(panel, number, line, [(place.at, place.saved[of]) for place in places], tips)
            panel.axhline(0, color=svg.INK, linewidth=0.8, linestyle=(0, (5, 3)), alpha=0.7, zorder=1)
            panel.set_title(_title(of, kind).replace(", ", ",\n"))
            panel.set_xlabel(over)
            size_axis(panel, sorted({place.at for places in lines.values() for place in places}))
        limits = [axis.get_ylim() for axis in axes]
        floor = max(min(low for low, _ in limits), _floor(lines))
        for panel, of in zip(axes, PANELS, strict=True):
            panel.set_ylim(floor, min(max(high for _, high in limits), 105))
            below = [place.at for places in lines.values() for place in places if _low(place.saved[of]) < floor]
            if below:
                (marks,) = panel.plot(below, [floor] * len(below), "v", color=svg.INK, markersize=4, clip_on=False)
                marks.set_in_layout(False)
        axes[0].set_ylabel("saved, %")
        svg.legend_below(figure, axes[0])
        return svg.Plot(
            figure,
            f"{title}. Shares of time, energy and their product that are saved, over {over}; intervals that go on "
            "below the scale end at a triangle",
            tips.words,
        )


def _floor(lines: Lines) -> float:
    """The lower end of the scale, in percent: well below all values, regardless of wide intervals."""
    least = 100 * min(one.value for places in lines.values() for place in places for one in place.saved.values())
    return least - max(100 - least, 25) / 2


def _low(saved: Interval) -> float:
    return 100 * (saved.value if saved.low is None else saved.low)


def _line(axes: Axes, number: int, line: str, places: list[tuple[float, Interval]], tips: svg.Tips) -> None:
    look: dict[str, Any] = {"color": svg.PALETTE[number % len(svg.PALETTE)]}
    style = LOOKS[number % len(LOOKS)]
    axes.plot([at for at, _ in places], [100 * saved.value for _, saved in places], style[1:], linewidth=1.2, **look)
    axes.plot([], [], style, label=line, markersize=4, linewidth=1.2, **look)
    for at, saved in places:
        ends = None
        if saved.low is not None and saved.high is not None:
            ends = [[100 * (saved.value - saved.low)], [100 * (saved.high - saved.value)]]
        drawn = axes.errorbar([at], [100 * saved.value], yerr=ends, fmt=style[0], markersize=4, capsize=2, **look)
        tips.add(drawn.lines[0], f"{line} at {at:g}: {_in_words(saved)}")
