"""The statistics against scipy and against values known by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from lull import stats

TIMES = [10.1, 10.3, 9.8, 10.0, 10.6, 9.9, 10.2, 10.4]
FASTER = [5.1, 5.0, 5.3, 4.9, 5.2, 5.4, 5.05, 5.15]
positive = st.floats(min_value=1e-6, max_value=1e9)


def test_three_and_three_can_never_reach_five_percent():
    assert stats.smallest_p(3, 3) == pytest.approx(0.1)
    assert stats.mann_whitney([1, 2, 3], [4, 5, 6]) == pytest.approx(0.1)
    assert stats.mann_whitney([1, 1, 1], [2, 2, 2]) == pytest.approx(0.1), "ties make it no stronger"
    assert not stats.enough_runs(3, 3)
    assert not stats.enough_runs(3, 100)


def test_six_runs_enclose_the_median_at_95_percent():
    assert stats.runs_for_interval() == 6
    assert stats.runs_for_interval(0.99) == 8
    assert stats.enough_runs(6, 6)
    assert not stats.enough_runs(6, 5)


@pytest.mark.parametrize(
    ("first", "second"), [(TIMES, FASTER), (TIMES, [t + 0.15 for t in TIMES]), (TIMES * 9, [11.0] * 40)]
)
def test_mann_whitney_agrees_with_scipy(first, second):
    ties = len(set(first + second)) < len(first + second)
    method = "exact" if not ties else "asymptotic"
    expected = reference.mannwhitneyu(first, second, method=method).pvalue
    tolerance = 1e-12 if not ties or len(first) > 20 else 0.05
    assert stats.mann_whitney(first, second) == pytest.approx(expected, rel=1e-9, abs=tolerance)


def test_equal_runs_differ_with_p_one():
    assert stats.mann_whitney([4.0] * 6, [4.0] * 6) == 1.0


def test_holm_adjusts_step_by_step():
    assert stats.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert stats.holm([0.04, 0.01]) == pytest.approx([0.04, 0.02])
    assert stats.holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_only_raises_and_keeps_the_order(values):
    adjusted = stats.holm(values)
    assert all(p <= q <= 1 for p, q in zip(values, adjusted, strict=True))
    by_p = sorted(range(len(values)), key=values.__getitem__)
    assert [adjusted[i] for i in by_p] == sorted(adjusted)


def test_hodges_lehmann_is_the_median_of_all_differences():
    assert stats.hodges_lehmann([1, 2, 3], [11, 12, 13]) == 10
    assert stats.hodges_lehmann([1, 5], [2, 3]) == pytest.approx(-0.5)


@given(st.lists(positive, min_size=1, max_size=12), st.floats(-1e6, 1e6))
def test_hodges_lehmann_finds_a_pure_shift(values, shift):
    assert stats.hodges_lehmann(values, [v + shift for v in values]) == pytest.approx(shift, rel=1e-6, abs=1e-3)


def test_bootstrap_agrees_with_scipy():
    resampled = stats.resampled_ratios(np.c_[TIMES], np.c_[FASTER], seed=3)[:, 0]
    ours = stats.percentile_interval(np.median(TIMES) / np.median(FASTER), resampled)
    theirs = reference.bootstrap(
        (TIMES, FASTER),
        lambda a, b, axis: np.median(a, axis=axis) / np.median(b, axis=axis),
        method="percentile",
        rng=np.random.default_rng(4),
    ).confidence_interval
    assert ours.low == pytest.approx(theirs.low, rel=0.01)
    assert ours.high == pytest.approx(theirs.high, rel=0.01)


def test_resampling_runs_jointly_keeps_a_constant_power_exact():
    """Energy proportional to time in each run: the quotient of the ratios does not scatter at all."""
    base = np.c_[TIMES, np.multiply(TIMES, 200.0)]
    cand = np.c_[FASTER, np.multiply(FASTER, 300.0)]
    ratios = stats.resampled_ratios(base, cand)
    powerup = ratios[:, 0] / ratios[:, 1]
    assert np.allclose(powerup, 1.5)
    assert np.ptp(ratios[:, 0]) > 0.01


def test_the_same_seed_gives_the_same_interval():
    first = stats.resampled_ratios(np.c_[TIMES], np.c_[FASTER], seed=9)
    assert np.array_equal(first, stats.resampled_ratios(np.c_[TIMES], np.c_[FASTER], seed=9))
    assert not np.array_equal(first, stats.resampled_ratios(np.c_[TIMES], np.c_[FASTER], seed=10))


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    generator = np.random.default_rng(1)
    hits = 0
    for _ in range(200):
        base = generator.normal(100, 2, size=(10, 1))
        cand = generator.normal(50, 1, size=(10, 1))
        found = stats.percentile_interval(2, stats.resampled_ratios(base, cand, resamples=999)[:, 0])
        hits += found.low <= 2 <= found.high
    assert hits >= 180


def test_columns_must_match():
    with pytest.raises(ValueError, match="rows"):
        stats.resampled_ratios([1.0, 2.0], [1.0, 2.0])


def test_spread_has_median_quartiles_and_extremes():
    found = stats.spread([5, 1, 2, 4, 3])
    assert (found.smallest, found.quartile_low, found.median, found.quartile_high, found.largest) == (1, 2, 3, 4, 5)
    assert math.isclose(found.relative, 1 / 3)
