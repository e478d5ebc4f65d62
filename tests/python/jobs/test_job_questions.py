"""Moments in words, and the spans of days and months that sums are made of."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lull.base.errors import UsageError
from lull.jobs.periods import DAY_S, LAST_DAY, Span, days_asked, first_day, month_of, periods
from lull.jobs.question import moment

WEDNESDAY = datetime(2026, 11, 25, 15, 30, tzinfo=timezone(timedelta(hours=1)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("today", "2026-11-25T00:00+01:00"),
        ("yesterday", "2026-11-24T00:00+01:00"),
        ("Monday", "2026-11-23T00:00+01:00"),
        ("wednesday", "2026-11-25T00:00+01:00"),
        ("thursday", "2026-11-19T00:00+01:00"),
        ("36h", "2026-11-24T03:30+01:00"),
        ("7d", "2026-11-18T15:30+01:00"),
        ("2w", "2026-11-11T15:30+01:00"),
        ("2026-11-01", "2026-11-01T00:00+01:00"),
        ("2026-11-01 12:00", "2026-11-01T12:00+01:00"),
        ("2026-11-01T12:00Z", "2026-11-01T12:00+00:00"),
        ("1900-01-01", "1970-01-01T00:00+00:00"),
        ("99999w", "1970-01-01T00:00+00:00"),
    ],
)
def test_a_moment_in_words(text: str, expected: str) -> None:
    assert moment(text, WEDNESDAY, "--since") == datetime.fromisoformat(expected).timestamp()


@pytest.mark.parametrize("text", ["", "someday", "2026-13-01", "-3d", "3 d"])
def test_other_words_are_an_error_that_shows_examples(text: str) -> None:
    with pytest.raises(UsageError, match="is no moment; write a date such as"):
        moment(text, WEDNESDAY, "--since")


def test_sums_begin_and_end_with_whole_days() -> None:
    assert days_asked(DAY_S + 1, 2 * DAY_S + 1) == Span(1, 3)
    assert days_asked(None, None) == Span(0, LAST_DAY)
    assert days_asked(5 * DAY_S, 2 * DAY_S) == Span(5, 5)


@given(st.integers(0, LAST_DAY), st.integers(0, 4000))
def test_the_periods_are_the_days_each_once(first: int, length: int) -> None:
    asked = Span(first, min(first + length, LAST_DAY))
    found = periods(asked)
    spans = [Span(first_day(month), first_day(month + 1)) for month in range(found.months.first, found.months.end)]
    days = sorted(day for span in (*spans, *found.days) for day in range(span.first, span.end))
    assert days == list(range(asked.first, asked.end))


def test_a_year_is_twelve_months_and_no_days() -> None:
    start = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())
    found = periods(days_asked(start, start + 365 * DAY_S))
    assert found.months.end - found.months.first == 12
    assert found.days == ()
    assert found.months.first == month_of(start // DAY_S)
