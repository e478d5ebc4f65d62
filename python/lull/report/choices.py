"""The section of a report on the runtime's choices: predicted against observed costs, and a table with the regret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from lull.comparison.quantity import Quantity
from lull.record.choices import TypicalAlternative, TypicalChoice, typical_choices
from lull.report import svg
from lull.report.section import Body, Figure, ReportData
from lull.report.tables import Cell, Table, seconds
from lull.statistics import formatting

MARKERS = "osD^vP*X<>"
MOST_DRAWN = 200  # most marks; more are too dense to distinguish

WORDS = Markup(
    "The choices that the runtime made by its model (<code>LULL_CHOOSE</code>): medians over the runs, of whole runs. "
    "A cost is the time of a process for one operation: <em>predicted</em> from the constants of the machine alone, "
    "<em>corrected</em> with the measurements of the job at its end, or <em>observed</em> if it was timed. "
    "<em>Regret</em> is the time that all processes would have saved if each operation had taken the best alternative, "
    "by its observed cost or else its corrected prediction."
)

Named = Sequence[tuple[str, TypicalChoice]]


def choices(data: ReportData) -> Body | None:
    """A mark for each alternative that was predicted and observed, and a row for each choice."""
    named = choices_of(data.quantities)
    if not named:
        return None
    plot = choices_plot(named)
    caption = (
        "Each mark is one alternative of a choice, filled for its predicted and hollow for its corrected cost. On the "
        "dashed line, prediction and observation are equal."
    )
    table = Table(
        "Choices of the runtime",
        ["Record", "Choice", "Taken", "Predicted", "Corrected", "Observed", "Error", "Switches", "Regret"],
        choice_rows(named),
        texts=(0, 1, 2),
        caption="Costs and error are those of the alternative taken most often. The largest regret comes first, with "
        "its share of the time of all processes. A dash means unknown.",
    )
    return Body(words=WORDS, figure=Figure("choices", plot, caption) if plot else None, tables=[table])


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
