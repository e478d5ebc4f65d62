"""What a result says, before a form is chosen: lines, headings, notes and tables.

The room of each result has a function `describe(result) -> Document`; `forms.py` shows the document on a terminal, as
Markdown, CSV or HTML. A cell keeps its number next to its text, so that what a reader sees and what a program reads are
the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Tone = Literal["plain", "strong", "aside", "good", "bad", "note"]


@dataclass(frozen=True)
class Cell:
    """One cell of a table: its text, and its number in the unit of the column if it has one."""

    text: str
    number: float | int | None = None
    low: float | None = None  # ends of the interval
    high: float | None = None
    tone: Tone = "plain"


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Args:
        title: Its heading.
        unit: Unit of the numbers, part of the column's name in data.
        words: Whether it holds words, which are aligned to the left; numbers are aligned to the right.
        wraps: Whether a terminal may break its text into several lines.
        optional: Where a terminal is too narrow, columns with the largest value are left out first; 0: never.
        key: Name in data.  By default the title and the unit.
        shown: Whether it is shown to people; otherwise it is in data only.
        in_data: Whether it is in data; otherwise it repeats in words what the numbers of another column say.
    """

    title: str
    unit: str = ""
    words: bool = False
    wraps: bool = False
    optional: int = 0
    key: str = ""
    shown: bool = True
    in_data: bool = True

    @property
    def name(self) -> str:
        """The name in data: `run_time_s` for the title `run time` and the unit `s`."""
        return self.key or slug(" ".join(part for part in (self.title, self.unit) if part)) or "name"


@dataclass(frozen=True)
class Row:
    """A row of a table: a cell for each column."""

    cells: tuple[Cell, ...]
    tone: Tone = "plain"


@dataclass(frozen=True)
class Table:
    """A table. A terminal shows `most` rows if it is not None, and says how many `of` are not shown."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    title: str = ""
    most: int | None = None
    of: str = "rows"
    headings: bool = True  # whether the headings are shown; data always have names

    def __post_init__(self) -> None:
        for row in self.rows:
            assert len(row.cells) == len(self.columns), (self.title, [cell.text for cell in row.cells])

    @property
    def hidden(self) -> str:
        """The number of rows that a terminal does not show, in words; empty if it shows all."""
        left = 0 if self.most is None else len(self.rows) - self.most
        return f"and {left} more {self.of}; --format json has all" if left > 0 else ""


@dataclass(frozen=True)
class Line:
    """One line, a sentence as a rule."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True)
class Heading:
    """The heading of what follows."""

    text: str


@dataclass(frozen=True)
class Item:
    """One of several lines that belong to the line before."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True)
class Note:
    """A caveat that a reader must know to judge the figures."""

    text: str


@dataclass(frozen=True)
class Code:
    """Lines that a reader copies: settings or commands."""

    lines: tuple[str, ...]


Part = Line | Heading | Item | Note | Code | Table


@dataclass(frozen=True)
class Document:
    """A result in words and tables. CSV contains the first table, and those that have the same columns.

    Args:
        title: Its first line; empty: a terminal shows none.
        parts: What follows.
        name: Title of its page where `title` is empty.
    """

    title: str
    parts: tuple[Part, ...]
    name: str = ""

    @property
    def tables(self) -> Iterator[Table]:
        """Its tables, in order."""
        return (part for part in self.parts if isinstance(part, Table))


Columns = Sequence[Column | str]  # the first text is the title of a column of words, others of columns of numbers


def row(*cells: Cell | str, tone: Tone = "plain") -> Row:
    """A row of cells, of which texts are cells without a number."""
    return Row(tuple(Cell(cell) if isinstance(cell, str) else cell for cell in cells), tone)


def table(
    columns: Columns,
    rows: Sequence[Row],
    *,
    title: str = "",
    most: int | None = None,
    of: str = "rows",
    headings: bool = True,
) -> Table:
    """A table; a column that is a text has numbers, except for the first, which has words."""
    made = [Column(one, words=place == 0) if isinstance(one, str) else one for place, one in enumerate(columns)]
    return Table(tuple(made), tuple(rows), title, most, of, headings)


def slug(text: str) -> str:
    """The text as a name in data: `energy_j` for `energy J`, `cpu_use_percent` for `CPU use %`."""
    text = text.replace("%", " percent ").replace("²", "2").replace("µ", "u").replace("/", " per ")
    return "_".join(re.findall(r"[a-z0-9]+", text.lower()))
