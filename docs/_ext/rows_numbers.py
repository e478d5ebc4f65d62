"""How numbers from kept rows read in a sentence: shares, factors, ranges; all with the digits that the pages use."""

from __future__ import annotations

from collections.abc import Iterable

from lull.statistics import formatting

WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def minus(text: str) -> str:
    """`text` with the sign of typesetting."""
    return text.replace("-", "−")


def number(value: float, digits: int | None = None) -> str:
    """`value` to three significant digits, or with so many decimals."""
    text = formatting.three_digits(value) if digits is None else f"{value:,.{digits}f}"
    return minus(f"{float(text):,.0f}" if digits is None and abs(value) >= 1000 else text)


def percent(share: float, digits: int = 0) -> str:
    """A share in percent, never rounded up to 100 %."""
    return formatting.percent(share) if 0.995 <= share < 1 else f"{number(100 * share, digits)} %"


def span(values: Iterable[float], digits: int | None = None, between: str = " to ") -> str:
    """The least and the greatest value; one number if both read the same."""
    found = sorted(values)
    ends = [number(found[0], digits), number(found[-1], digits)]
    return ends[0] if ends[0] == ends[1] else between.join(ends)


def percents(shares: Iterable[float], digits: int = 0, between: str = " to ") -> str:
    """The least and the greatest share, in percent."""
    return f"{span([100 * share for share in shares], digits, between)} %"


def count(values: Iterable[bool]) -> str:
    """How many hold, of how many: 3 of 4."""
    found = list(values)
    return f"{sum(found)} of {len(found)}"


def word(value: int) -> str:
    """A small number as a word."""
    return WORDS[value] if value < len(WORDS) else str(value)
