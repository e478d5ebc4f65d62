"""Days and months of UTC as numbers, and the fewest stored sums that together are a span of days: pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

DAY_US: Final = 86_400_000_000
DAY_S: Final = 86_400
EPOCH: Final = date(1970, 1, 1)
LAST_DAY: Final = (date(9999, 12, 1) - EPOCH).days


@dataclass(frozen=True)
class Span:
    """Numbers from `first` to before `end`."""

    first: int
    end: int


@dataclass(frozen=True)
class Periods:
    """Spans of months and of days that do not overlap."""

    months: Span
    days: tuple[Span, ...]


def date_of(day: int) -> date:
    """The date of a day, which is its number since 1970-01-01."""
    return EPOCH + timedelta(days=min(day, LAST_DAY))


def month_of(day: int) -> int:
    """The month in which a day is, counted from January of year 0."""
    found = date_of(day)
    return found.year * 12 + found.month - 1


def first_day(month: int) -> int:
    """The first day of a month."""
    return (date(month // 12, month % 12 + 1, 1) - EPOCH).days


def days_asked(since_s: int | None, until_s: int | None) -> Span:
    """The days of all moments from `since_s` to before `until_s`, in Unix time; None: no limit."""
    first = 0 if since_s is None else min(since_s // DAY_S, LAST_DAY)
    end = LAST_DAY if until_s is None else min(-(-until_s // DAY_S), LAST_DAY)
    return Span(first, max(first, end))


def periods(days: Span) -> Periods:
    """Whole months where possible, days at both ends."""
    first_month = month_of(days.first) + (first_day(month_of(days.first)) != days.first)
    end_month = month_of(days.end)
    if first_month >= end_month:
        return Periods(Span(0, 0), (days,))
    edges = (Span(days.first, first_day(first_month)), Span(first_day(end_month), days.end))
    return Periods(Span(first_month, end_month), tuple(edge for edge in edges if edge.first < edge.end))
