"""A plot, and its data as a table for the screen and the report."""

from __future__ import annotations

from dataclasses import dataclass

from lull.present.document import Column, Table, row, table
from lull.report.svg import Plot


@dataclass(frozen=True)
class TabledPlot:
    """A plot and the rows of its table."""

    name: str  # base name of the plot's files
    title: str
    plot: Plot
    headings: list[str]
    rows: list[list[str]]
    texts: tuple[int, ...]  # columns of text; all others hold numbers
    aside: str = ""  # text after the table's title that explains additional values in cells

    def table(self) -> Table:
        """Its table."""
        columns = [
            Column(heading, words=place in self.texts, wraps=place > self.texts[-1] and place in self.texts)
            for place, heading in enumerate(self.headings)
        ]
        return table(columns, [row(*cells) for cells in self.rows], title=self.title + self.aside)
