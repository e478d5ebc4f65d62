"""Conditions that fail a build: their syntax, and that only certain results meet them."""

from __future__ import annotations

import pytest

from lull.base.errors import LullError, UsageError
from lull.comparison import conditions
from lull.statistics.bootstrap import Interval


def metrics(**ratios):
    return {**dict.fromkeys(conditions.METRICS), **ratios}


def met(text, interval, *, on_median=False):
    condition = conditions.parse(text)
    return conditions.judge([condition], [("B", metrics(**{condition.metric: interval}))], on_median=on_median)[0].met


@pytest.mark.parametrize(
    ("text", "interval", "expected"),
    [
        ("greenup<0.98", Interval(0.9, 0.85, 0.97), True),
        ("greenup<0.98", Interval(0.9, 0.85, 0.98), False),
        ("greenup<=0.98", Interval(0.9, 0.85, 0.98), True),
        ("greenup<0.98", Interval(0.9, 0.85, 1.01), False),
        ("powerup > 1.1", Interval(1.3, 1.2, 1.4), True),
        ("powerup > 1.1", Interval(1.3, 1.1, 1.4), False),
        (" powerup>=1.1 ", Interval(1.3, 1.1, 1.4), True),
        ("time_reduction<-0.02", Interval(-0.1, -0.12, -0.05), True),
        ("energy_reduction>=1e-1", Interval(0.2, 0.15, 0.25), True),
    ],
)
def test_the_whole_interval_must_lie_beyond(text, interval, expected):
    assert met(text, interval) is expected


def test_on_the_median_the_interval_does_not_matter():
    assert met("greenup<0.98", Interval(0.9, 0.5, 2.0), on_median=True)
    assert met("greenup<0.98", Interval(0.9), on_median=True)


def test_without_an_interval_nothing_is_met_and_it_is_said():
    found = conditions.judge([conditions.parse("speedup<1")], [("B", metrics(speedup=Interval(0.5)))], on_median=False)
    assert (found[0].met, found[0].decided) == (False, False)
    assert "not decided, B has 0.500 without an interval" in conditions.sentence(found[0])


def test_every_candidate_is_judged_by_every_condition():
    found = conditions.judge(
        [conditions.parse("speedup<1"), conditions.parse("speedup>2")],
        [("B", metrics(speedup=Interval(0.5, 0.4, 0.6))), ("C", metrics(speedup=Interval(3, 2.9, 3.1)))],
        on_median=False,
    )
    assert [one.met for one in found] == [True, False, False, True]
    assert conditions.sentence(found[0]) == "--fail-if speedup<1: met, B has 0.500 (0.400–0.600)"
    assert conditions.sentence(found[1]) is None


def test_a_metric_that_is_not_there_is_an_error_not_a_pass():
    with pytest.raises(LullError, match="B has no j_per_mb_ratio: not both sides count the same bytes"):
        met("j_per_mb_ratio<1", None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("greenup", "not METRIC OPERATOR NUMBER"),
        ("greenup=1", "not METRIC OPERATOR NUMBER"),
        ("", "not METRIC OPERATOR NUMBER"),
        ("greenness<1", "no metric 'greenness'; there are: speedup, greenup"),
        ("greenup<abc", "'abc' is not a number"),
        ("greenup<nan", "'nan' is not a number"),
        ("greenup<inf", "'inf' is not a number"),
        ("greenup<1.0 or speedup<1", "not METRIC OPERATOR NUMBER"),
    ],
)
def test_what_is_no_condition_is_a_mistake_of_usage(text, words):
    with pytest.raises(UsageError, match=words) as refused:
        conditions.parse(text)
    assert refused.value.exit_code == 2
