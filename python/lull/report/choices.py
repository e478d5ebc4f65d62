"""The runtime's choices in a report: a plot of predicted against observed costs, and a table with the regret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lull.comparison.quantity import Quantity
from lull.record.choices import TypicalAlternative, TypicalChoice, typical_choices
from lull.report import svg
from lull.report.tables import Cell, seconds
from lull.statistics import formatting

MARKERS = "osD^vP*X<>"
MOST_DRAWN = 200  # most marks; more are too dense to distinguish

Named = Sequence[tuple[str, TypicalChoice]]


def choices_of(quantities: Sequence[tuple[str, Quantity]]) -> list[tuple[str, TypicalChoice]]:
    """Each choice with the name of its record: medians over the successful repeats, of whole runs."""
    found = []
    for name, of in quantities:
        succeeded = {sample.index for sample in of.samples}
        repeats = (repeat for repeat in of.run.repeats if repeat.index in succeeded)
        found += [(name, choice) for choice in typical_choices(repeats)]
    return found


def choice_rows(named: Named) -> list[list[Cell]]:
    """A row for each choice, with the alternative taken most often; the largest regret first."""
    ordered = sorted(named, key=lambda one: one[1].regret_s, reverse=True)
    return [_row(name, choice, choice.taken) for name, choice in ordered]


def _row(name: str, choice: TypicalChoice, taken: TypicalAlternative) -> list[Cell]:
    operations = sum(alternative.operations for alternative in choice.alternatives)
    share = taken.operations / operations if operations else 0.0
    often = "" if share == 1 else f" ({formatting.percent(share)})"
    return [
        Cell(name, name),
        Cell(choice.name, choice.name),
        Cell(taken.name + often, taken.name),
        _cost(taken.predicted_ns),
        _cost(taken.corrected_ns),
        _cost(taken.observed_ns),
        Cell("–", 0.0) if taken.error is None else Cell(formatting.percent(taken.error), abs(taken.error)),
        Cell(f"{choice.switches:.0f}", choice.switches),
        Cell(f"{formatting.si(choice.regret_s, 's')} ({formatting.percent(choice.regret_share)})", choice.regret_s),
    ]


def _cost(ns: float | None) -> Cell:
    return Cell("–", 0.0) if ns is None else seconds(ns * 1e-9)


@dataclass(frozen=True)
class _Mark:
    """An alternative that was predicted and observed; seconds per operation."""

    label: str
    choice: str
    per: str
    predicted: float
    corrected: float
    observed: float

    @property
    def words(self) -> str:
        costs = [("predicted", self.predicted), ("corrected", self.corrected), ("observed", self.observed)]
        return (
            f"{self.label}: " + ", ".join(f"{what} {formatting.si(s, 's')}" for what, s in costs) + f" per {self.per}"
        )


def choices_plot(named: Named) -> svg.Plot | None:
    """The predicted against the observed cost of each alternative; None if no alternative has both."""
    marks = _marks(named)
    if not marks:
        return None
    tips = svg.Tips()
    with svg.drawing():
        figure, (axes,) = svg.panels(1, 4.4)
        axes.set_xscale("log")
        axes.set_yscale("log")
        for place, choice in enumerate(dict.fromkeys(mark.choice for mark in marks)):
            look: dict[str, Any] = {
                "color": svg.PALETTE[place % len(svg.PALETTE)],
                "marker": MARKERS[place % len(MARKERS)],
                "linestyle": "",
            }
            for mark in marks:
                if mark.choice != choice:
                    continue
                ends = [mark.predicted, mark.corrected]
                axes.plot([mark.observed] * 2, ends, color=look["color"], linewidth=0.8, alpha=0.6, zorder=2)
                axes.plot(mark.observed, mark.corrected, markersize=5, markerfacecolor="none", zorder=3, **look)
                (full,) = axes.plot(
                    mark.observed, mark.predicted, markersize=7, markeredgecolor="white", zorder=4, **look
                )
                tips.add(full, mark.words)
            axes.plot([], [], label=choice, markersize=7, markeredgecolor="white", **look)
        both = [*axes.get_xlim(), *axes.get_ylim()]
        ends = [min(both), max(both)]
        axes.plot(ends, ends, color=svg.INK, linestyle=(0, (5, 3)), linewidth=0.9, alpha=0.7, zorder=1)
        axes.set_xlim(*ends)
        axes.set_ylim(*ends)
        axes.set_xlabel("Observed")
        axes.set_ylabel("Predicted")
        for axis in (axes.xaxis, axes.yaxis):
            svg.prefixed_ticks(axis, "s", logarithmic=True)
        svg.legend_below(figure, axes)
        words = "; ".join(mark.words for mark in marks)
        return svg.Plot(figure, f"Predicted against observed cost of each alternative of a choice. {words}", tips.words)


def _marks(named: Named) -> list[_Mark]:
    several = len({record for record, _ in named}) > 1
    return [
        _Mark(
            label=f"{record}: {choice.name}, {one.name}" if several else f"{choice.name}, {one.name}",
            choice=choice.choice,
            per=choice.per,
            predicted=one.predicted_ns * 1e-9,
            corrected=(one.corrected_ns or one.predicted_ns) * 1e-9,
            observed=one.observed_ns * 1e-9,
        )
        for record, choice in named
        for one in choice.alternatives
        if one.predicted_ns and one.observed_ns
    ][:MOST_DRAWN]
