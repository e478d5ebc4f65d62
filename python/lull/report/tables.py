"""Sortable tables of a report: their columns and cells."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lull.record.share import TypicalEnergy
from lull.statistics import formatting


@dataclass(frozen=True)
class Cell:
    """A cell of a sortable table: its text, and the number that is its sort key, if it is a number."""

    text: str
    sort: float | str | None = None
    kind: str = ""


@dataclass(frozen=True)
class Table:
    """A sortable table."""

    label: str  # its accessible name
    headings: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    texts: Collection[int]  # columns of text; all others hold numbers
    caption: str = ""
    fold: str = ""  # summary of the fold around the table, which is open unless the table is long


def seconds(value: float) -> Cell:
    """A time."""
    return Cell(formatting.si(value, "s"), value)


def joules(energy: TypicalEnergy | None) -> Cell:
    """An energy with its kind, or a dash."""
    if energy is None:
        return Cell("–", 0.0)
    least = "≥ " if energy.lower_bound else ""
    return Cell(f"{least}{formatting.si(energy.joules, 'J')}", energy.joules, energy.kind.value)
