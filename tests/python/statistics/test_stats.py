"""The statistics compared with scipy and with values known by hand."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest
from scipy import stats as reference

from lull.statistics import bootstrap, groups, ranks

TIMES = [10.1, 10.3, 9.8, 10.0, 10.6, 9.9, 10.2, 10.4]
FASTER = [5.1, 5.0, 5.3, 4.9, 5.2, 5.4, 5.05, 5.15]
# scipy's name of the parameter for random numbers, from 1.15 on and before.
RANDOM = "rng" if "rng" in inspect.signature(reference.bootstrap).parameters else "random_state"


def test_three_and_three_can_never_reach_five_percent():
    assert bootstrap.smallest_p(3, 3) == pytest.approx(0.1)
    assert ranks.mann_whitney([1, 2, 3], [4, 5, 6]) == pytest.approx(0.1)
    assert ranks.mann_whitney([1, 1, 1], [2, 2, 2]) == pytest.approx(0.1), "ties make it no stronger"
    assert not bootstrap.enough_runs(3, 3)
    assert not bootstrap.enough_runs(3, 100)


def test_six_runs_enclose_the_median_at_95_percent():
    assert bootstrap.runs_for_interval() == 6
    assert bootstrap.runs_for_interval(0.99) == 8
    assert bootstrap.enough_runs(6, 6)
    assert not bootstrap.enough_runs(6, 5)


def test_bootstrap_agrees_with_scipy():
    resampled = bootstrap.resampled_ratios(np.c_[TIMES], np.c_[FASTER], seed=3)[:, 0]
    ours = bootstrap.percentile_interval(np.median(TIMES) / np.median(FASTER), resampled)
    theirs = reference.bootstrap(
        (TIMES, FASTER),
        lambda a, b, axis: np.median(a, axis=axis) / np.median(b, axis=axis),
        method="percentile",
        **{RANDOM: np.random.default_rng(4)},
    ).confidence_interval
    assert ours.low == pytest.approx(theirs.low, rel=0.01)
    assert ours.high == pytest.approx(theirs.high, rel=0.01)


@pytest.mark.parametrize("number", [1, 2, 7, 8, 10, 101])
def test_medians_of_resamples_are_those_of_the_runs_drawn(number):
    """The same indices drawn, their medians by numpy: with ties, even and odd numbers, several columns, many chunks."""
    runs = np.random.default_rng(number).integers(0, 50, size=(number, 3)).astype(float)
    found = bootstrap.resampled_medians(runs, seed=5, stream=2, resamples=3001)
    generator = np.random.default_rng([5, 2])
    step = max(1, bootstrap.DRAWN_AT_ONCE // number)
    parts = [min(step, 3001 - begin) for begin in range(0, 3001, step)]
    chosen = np.concatenate([generator.integers(0, number, size=(part, number)) for part in parts])
    assert np.array_equal(found, np.median(runs[chosen], axis=1))


def test_the_median_of_more_runs_than_a_short_integer_counts_is_theirs():
    runs = np.random.default_rng(1).permutation(2**16)[:, np.newaxis].astype(float)
    found = bootstrap.resampled_medians(runs, seed=2, resamples=3)
    assert np.all(np.abs(found - 2**15) < 1000), "the middle of as many different numbers, by some eight deviations"


def test_the_interval_is_the_one_scipy_makes_of_the_same_resamples():
    runs = np.c_[TIMES]
    found = bootstrap.percentile_interval(np.median(TIMES), bootstrap.resampled_medians(runs, seed=7)[:, 0])
    chosen = np.random.default_rng([7, 0]).integers(0, len(runs), size=(bootstrap.RESAMPLES, len(runs)))

    class SameDraws(np.random.Generator):
        """Gives scipy the indices that were drawn here, whatever it requests."""

        def integers(self, *arguments, **options):
            return chosen

    theirs = reference.bootstrap(
        (TIMES,),
        np.median,
        n_resamples=bootstrap.RESAMPLES,
        method="percentile",
        **{RANDOM: SameDraws(np.random.PCG64(0))},
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))


def test_resampling_runs_jointly_keeps_a_constant_power_exact():
    """Energy proportional to time in each run: the quotient of the ratios does not vary at all."""
    base = np.c_[TIMES, np.multiply(TIMES, 200.0)]
    cand = np.c_[FASTER, np.multiply(FASTER, 300.0)]
    ratios = bootstrap.resampled_ratios(base, cand)
    powerup = ratios[:, 0] / ratios[:, 1]
    assert np.allclose(powerup, 1.5)
    assert np.ptp(ratios[:, 0]) > 0.01


def test_the_same_seed_gives_the_same_interval():
    first = bootstrap.resampled_ratios(np.c_[TIMES], np.c_[FASTER], seed=9)
    assert np.array_equal(first, bootstrap.resampled_ratios(np.c_[TIMES], np.c_[FASTER], seed=9))
    assert not np.array_equal(first, bootstrap.resampled_ratios(np.c_[TIMES], np.c_[FASTER], seed=10))


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    generator = np.random.default_rng(1)
    hits = 0
    for _ in range(200):
        base = generator.normal(100, 2, size=(10, 1))
        cand = generator.normal(50, 1, size=(10, 1))
        found = bootstrap.percentile_interval(2, bootstrap.resampled_ratios(base, cand, resamples=999)[:, 0])
        hits += found.low <= 2 <= found.high
    assert hits >= 180


def test_columns_must_match():
    with pytest.raises(ValueError, match="rows"):
        bootstrap.resampled_ratios([1.0, 2.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="same columns"):
        bootstrap.resampled_ratios(np.c_[TIMES], np.c_[FASTER, FASTER])


def test_spread_has_median_quartiles_and_extremes():
    found = bootstrap.spread([5, 1, 2, 4, 3])
    assert (found.smallest, found.quartile_low, found.median, found.quartile_high, found.largest) == (1, 2, 3, 4, 5)
    assert math.isclose(found.relative, 1 / 3)


def test_runs_that_are_all_zero_have_no_relative_spread():
    assert bootstrap.spread([0, 0, 0]).relative == 0


@pytest.mark.parametrize("values", [TIMES, [*TIMES, 30.0], [1.0, 1, 1, 1, 1, 9]], ids=["even", "far", "same"])
def test_the_density_is_that_of_normal_kernels_of_silvermans_width(values):
    """0.9 n^(-1/5) times the smaller of the standard deviation and, unless 0, the interquartile range over 1.34."""
    at, density = bootstrap.density(values)
    deviation, robust = np.std(values, ddof=1), reference.iqr(values) / 1.34
    width = 0.9 * min(deviation, robust or deviation) * len(values) ** (-1 / 5)
    assert (at[0], at[-1]) == pytest.approx((min(values) - 2 * width, max(values) + 2 * width))
    assert density == pytest.approx(reference.gaussian_kde(values, bw_method=width / deviation)(at))


def test_values_without_spread_have_no_density():
    assert bootstrap.density([1.0, 2.0]) is None
    assert bootstrap.density([2.0, 2.0, 2.0]) is None
    assert bootstrap.density([1.0, 2.0, 3.0]) is not None


def test_a_first_run_far_from_the_others_differs():
    """By more than three times their whole spread, and by more than a tenth of their median."""
    assert groups.first_differs([14.0, 9.5, 10.0, 10.5])
    assert groups.first_differs([6.0, 9.5, 10.0, 10.5]), "it may be smaller"
    assert not groups.first_differs([12.9, 9.5, 10.0, 10.5])
    assert groups.first_differs([11.2, 10.0, 10.0, 10.0])
    assert not groups.first_differs([10.9, 10.0, 10.0, 10.0]), "a difference of a machine's noise"
    assert not groups.first_differs([14.0, 9.5, 10.0]), "two others have no spread to speak of"


def test_two_groups_have_a_gap_twice_as_wide_as_either():
    assert groups.two_groups([15, 10, 12, 11, 16, 17]) is None, "the gap is of 3, the groups of 2"
    assert groups.two_groups([17, 10, 12, 11, 18, 19]) == ([10, 11, 12], [17, 18, 19])
    assert groups.two_groups([20, 10, 10, 11, 10, 21]) == ([10, 10, 10, 11], [20, 21])
    assert groups.two_groups([20, 22, 21, 10, 10.5, 20]) == ([10, 10.5], [20, 20, 21, 22])


def test_there_are_no_two_groups_of_few_runs_or_small_gaps():
    assert groups.two_groups([10, 10, 20, 20, 20]) is None
    assert groups.two_groups([10, 20, 20, 20, 20, 20]) is None, "one run is no group"
    assert groups.two_groups([10, 10, 10, 10.9, 10.9, 10.9]) is None, "nine hundredths are a machine's noise"
    assert groups.two_groups([10, 10, 10, 11.2, 11.2, 11.2]) == ([10, 10, 10], [11.2, 11.2, 11.2])
