"""A section of a report: its titles, the function that collects its content, and the template that prints it.

The content of most sections is a `Body`. A section that shows something else names a template of its own, in which
`content` is what its function returned. `lull.report.sections` lists all sections.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lull.comparison.quantity import Quantity
from lull.comparison.result import Comparison
from lull.record import Run
from lull.report.svg import Plot
from lull.report.tabled_plot import TabledPlot
from lull.report.tables import Table

MOST_DRAWN = 40  # most records with plots; with more, only comparisons, curves and tables are shown


@dataclass(frozen=True)
class Supplied:
    """What the caller of `write_report` shows in addition to the records; its docstring describes each."""

    curves: Sequence[TabledPlot] = ()
    impacts: Sequence[TabledPlot] = ()
    bars: Sequence[TabledPlot] = ()
    traces: Sequence[TabledPlot] = ()
    claims: Sequence[dict[str, str]] = ()
    source: str = ""


@dataclass(frozen=True)
class ReportData:
    """The data of a page, from which each section takes its content."""

    folders: list[Path]
    runs: list[Run]  # the record in each folder
    quantities: list[tuple[str, Quantity]]  # of each record, with its label
    comparisons: list[tuple[str, Comparison]]
    refused: list[str]  # records that cannot be compared, in words
    region: str | None
    supplied: Supplied

    @property
    def few(self) -> bool:
        """Whether the records are few enough to draw plots of each."""
        return len(self.runs) <= MOST_DRAWN

    @cached_property
    def energy_words(self) -> str:
        """The kind and source of the energies in a plot, in one sentence; by record if they differ."""
        by_words: dict[str, list[str]] = {}
        for name, of in self.quantities:
            sources = sorted({channel.source for channel in of.channels})
            words = f"{of.kind.value}, {' and '.join(of.scopes)}" + (f" from {', '.join(sources)}" if sources else "")
            by_words.setdefault(words, []).append(name)
        if len(by_words) == 1:
            return f"Energy is {next(iter(by_words))}."
        return "Energy: " + "; ".join(f"of {', '.join(names)} {words}" for words, names in by_words.items()) + "."


@dataclass(frozen=True)
class Figure:
    """A plot with its caption."""

    name: str  # base name of the plot's file
    plot: Plot
    caption: str


@dataclass(frozen=True)
class Body:
    """The content of most sections, in this order; each part is optional.

    Text may be `Markup`, which contains tags; all other text is escaped.
    """

    words: str = ""
    figure: Figure | None = None
    tables: Sequence[Table] = ()
    plots: Sequence[TabledPlot] = ()  # each in a fold


@dataclass(frozen=True)
class Section:
    """A row of the table of sections."""

    name: str  # its anchor
    title: str
    content: Callable[[ReportData], object]  # a Body, or the values of the template; None: the page has no such section
    template: str = "body.html.j2"  # in templates/sections
    link: str = ""  # its title in the list of contents, if another
