"""The results of a study of choices as tables, and drawings of predicted against observed costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from lull.record import EnergyKind
from lull.report import svg
from lull.report.tabled_plot import TabledPlot
from lull.statistics import formatting
from lull.statistics.bootstrap import Interval
from lull.statistics.formatting import percent, si
from lull.study.choices.description import AUTO
from lull.study.choices.regret import Regret
from lull.study.choices.rows import Row
from lull.study.runs.points import factors_in_words

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


@dataclass(frozen=True)
class Table:
    """A table for the screen and the report."""

    name: str
    title: str
    headings: list[str]
    rows: list[list[str]]
    texts: tuple[int, ...]  # columns of text


def regrets(rows: Sequence[Row]) -> Table:
    """A row for each point: the costs of `auto`, the best fixed choice, and the regret."""
    found = []
    for row in rows:
        regret = row.time
        found.append(
            [
                row.group.application.name,
                factors_in_words(row.group.factors),
                row.took,
                _time(row, AUTO),
                regret.best,
                _shares(regret),
                percent(regret.told),
                "–" if row.product is None else percent(row.product.told),
            ]
        )
    headings = ["application", "point", "auto", "time", "best fixed", "seen", "regret", "of energy x time"]
    return Table("regret", "Regret: excess of auto over the best fixed choice", headings, found, (0, 1, 2, 4))


def costs(rows: Sequence[Row]) -> Table:
    """A row for each application and fixed choice: time and energy over those of `auto`, over all its points."""
    found = []
    for application in _applications(rows):
        own = [row for row in rows if row.group.application.name == application]
        for name in dict.fromkeys(name for row in own for name in row.taken if name != AUTO):
            there = [row for row in own if name in row.taken]
            times = [row.relative(name).value - 1 for row in there]
            energies = [
                after.joules / before.joules - 1
                for row in there
                for before, after in [(row.taken[AUTO].costs, row.taken[name].costs)]
                if before.joules and after.joules
            ]
            found.append(
                [
                    application,
                    own[0].group.application.chooses,
                    name,
                    str(len(there)),
                    *_ends(times),
                    *(_ends(energies) if energies else ["–"] * 3),
                ]
            )
    headings = ["application", "of", "choice", "points", "time", "least", "most", "energy", "least", "most"]
    return Table("costs", "Cost of each fixed choice relative to auto", headings, found, (0, 1, 2))


def errors(rows: Sequence[Row]) -> Table:
    """A row for each application: errors of predictions, and alternatives without one."""
    found = []
    for application in _applications(rows):
        own = [row for row in rows if row.group.application.name == application]
        off = [one for row in own for one in row.errors()]
        times, energies = [time for _, time, _ in off], [energy for *_, energy in off if energy is not None]
        unpredicted = [why for row in own for why in row.predicted.unpredicted.values()]
        found.append(
            [
                application,
                str(len(times)),
                percent(median(times)) if times else "–",
                percent(max(times)) if times else "–",
                percent(median(energies)) if energies else "–",
                percent(max(energies)) if energies else "–",
                str(len(unpredicted)),
                "; ".join(dict.fromkeys(unpredicted)),
            ]
        )
    headings = ["application", "predictions", "time off by", "worst", "energy off by", "worst", "no prediction", "why"]
    return Table("errors", "Errors of predictions", headings, found, (0, 7))


def wrong(rows: Sequence[Row]) -> Table | None:
    """A row for each point: the cost of a wrong machine file; None if none was used."""
    found = [
        [
            row.group.application.name,
            factors_in_words(row.group.factors),
            _interval(row.wrong.start, less=1),
            row.wrong.rest.best,
            _shares(row.wrong.rest),
            percent(row.wrong.rest.told),
        ]
        for row in rows
        if row.wrong is not None
    ]
    headings = ["application", "point", "first tenth", "best fixed", "seen", "regret of the rest"]
    title = (
        "Auto with a wrong machine file: its first tenth relative to that with the right one, and regret of the rest"
    )
    return Table("wrong", title, headings, found, (0, 1, 3)) if found else None


def drawings(rows: Sequence[Row], kind: EnergyKind | None) -> list[TabledPlot]:
    """Predicted against observed time and energy, if any was predicted."""
    of_time = [
        (row, name, told.seconds[1], row.taken[name].costs.seconds)
        for row in rows
        for name, told in row.predicted.told.items()
    ]
    of_energy = [
        (row, name, told.joules[1], seen)
        for row in rows
        for name, told in row.predicted.told.items()
        if told.joules is not None and (seen := row.taken[name].costs.joules) is not None
    ]
    found = []
    if of_time:
        found.append(_diagonal("predicted-time", "Predicted against observed time", of_time, "s"))
    if of_energy:
        words = f", {kind.value}" if kind is not None else ""
        found.append(_diagonal("predicted-energy", f"Predicted against observed energy{words}", of_energy, "J"))
    return found


def _diagonal(name: str, title: str, points: Sequence[tuple[Row, str, float, float]], unit: str) -> TabledPlot:
    """Each prediction against the observation, with the diagonal on which both are equal."""
    tips = svg.Tips()
    names = list(dict.fromkeys(row.group.application.name for row, *_ in points))
    with svg.drawing():
        figure, (panel,) = svg.panels(1, 4.2)
        for number, application in enumerate(names):
            look: dict[str, Any] = {
                "color": svg.PALETTE[number % len(svg.PALETTE)],
                "linestyle": "none",
                "markersize": 4,
            }
            look["marker"] = MARKERS[number % len(MARKERS)]
            panel.plot([], [], label=application, **look)
            for row, choice, predicted, seen in points:
                if row.group.application.name == application:
                    (drawn,) = panel.plot([seen], [predicted], **look)
                    words = f"{choice}: predicted {si(predicted, unit)}, observed {si(seen, unit)}"
                    tips.add(drawn, f"{row.group.title}, {words}")
        values = [value for _, _, predicted, seen in points for value in (predicted, seen) if value > 0]
        ends = [min(values) / 1.5, max(values) * 1.5]
        panel.plot(ends, ends, color=svg.INK, linewidth=0.8, linestyle=(0, (5, 3)), alpha=0.7, zorder=1)
        for axis, words in ((panel.xaxis, "observed"), (panel.yaxis, "predicted")):
            axis.set_label_text(words)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_xlim(*ends)
        panel.set_ylim(*ends)
        for axis in (panel.xaxis, panel.yaxis):
            svg.prefixed_ticks(axis, unit, logarithmic=True)
        svg.legend_below(figure, panel)
        plot = svg.Plot(figure, f"{title}, per unit of each application's work, with the diagonal", tips.words)
    rows = [
        [
            row.group.application.name,
            factors_in_words(row.group.factors),
            choice,
            si(predicted, unit),
            si(seen, unit),
            percent(predicted / seen - 1),
        ]
        for row, choice, predicted, seen in points
    ]
    return TabledPlot(
        name, title, plot, ["application", "point", "choice", "predicted", "observed", "off by"], rows, (0, 1, 2)
    )


def _applications(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row.group.application.name for row in rows))


def _time(row: Row, name: str) -> str:
    per = row.group.application.per
    words = f" {formatting.per(per)}" if per is not None else ""
    return si(row.taken[name].costs.seconds, "s") + words


def _ends(shares: Sequence[float], middle: Callable[[Sequence[float]], float] = fmean) -> list[str]:
    return [percent(middle(shares)), percent(min(shares)), percent(max(shares))]


def _shares(regret: Regret) -> str:
    return _interval(regret.seen, less=0)


def _interval(found: Interval, *, less: float) -> str:
    value = percent(found.value - less)
    if found.low is None or found.high is None:
        return value
    return f"{value} ({percent(found.low - less)} to {percent(found.high - less)})"
