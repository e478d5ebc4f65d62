"""A plot, and its data as a table for the screen and the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

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

    def print(self, console: Console) -> None:
        """Print the table."""
        console.print(Text(self.title + self.aside, style="bold"), soft_wrap=True)
        table = Table(box=None, pad_edge=False, header_style="dim")
        for place, heading in enumerate(self.headings):
            side: Literal["left", "right"] = "left" if place in self.texts else "right"
            table.add_column(heading, justify=side, no_wrap=place <= self.texts[-1])
        for row in self.rows:
            table.add_row(*row)
        console.print(table)
