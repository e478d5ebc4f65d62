"""Numbers as cells: the text has three digits and a unit with a prefix, the number is exact.

None is a value that is not known, shown as a dash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lull.present.document import Cell, Tone
from lull.statistics import formatting

if TYPE_CHECKING:
    from lull.statistics.bootstrap import Interval, Spread

UNKNOWN = "–"


def si(value: float | None, unit: str, *, tone: Tone = "plain") -> Cell:
    """A quantity with a prefixed unit: 5.12 ms."""
    return Cell(UNKNOWN if value is None else formatting.si(value, unit), value, tone=tone)


def spread(of: Spread | None, unit: str) -> Cell:
    """A median with its interval; the text is the median."""
    return Cell(UNKNOWN) if of is None else Cell(formatting.si(of.median, unit), of.median, of.low, of.high)


def ends(low: float | None, high: float | None, unit: str) -> Cell:
    """An interval: 9.93–10.2 s; empty if there is none. The numbers are in the cell whose interval it is."""
    return Cell("" if low is None or high is None else formatting.si_range(low, high, unit))


def ratio(of: Interval | None, *, tone: Tone = "plain") -> Cell:
    """A ratio with its interval: 2.10 (2.05–2.16); empty if there is none."""
    return Cell("") if of is None else Cell(formatting.ratio(of), of.value, of.low, of.high, tone)


def share(value: float | None) -> Cell:
    """A share in percent: 3.1 %."""
    return Cell(UNKNOWN if value is None else formatting.percent(value), value)


def count(value: int | None) -> Cell:
    """A whole number: 12,345."""
    return Cell(UNKNOWN if value is None else f"{value:,}", value)


def decimal(value: float | None, digits: int) -> Cell:
    """A number with `digits` decimals."""
    return Cell(UNKNOWN if value is None else f"{value:.{digits}f}", value)


def number(value: float | None) -> Cell:
    """A number without a unit, to three digits."""
    return Cell(UNKNOWN if value is None else formatting.three_digits(value), value)


def shift(of: Interval | None, unit: str) -> Cell:
    """A difference with its sign: +1.20 s; empty if there is none."""
    return Cell("") if of is None else Cell(formatting.shift(of.value, unit), of.value, of.low, of.high)


def probability(p: float | None) -> Cell:
    """A p-value; empty if there is none."""
    return Cell("") if p is None else Cell(formatting.probability(p), p)
