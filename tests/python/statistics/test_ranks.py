"""Rank tests and effects compared with scipy, with counting every arrangement, and with values known by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from lull.statistics import ranks

TIMES = [10.1, 10.3, 9.8, 10.0, 10.6, 9.9, 10.2, 10.4]
FASTER = [5.1, 5.0, 5.3, 4.9, 5.2, 5.4, 5.05, 5.15]
LATER = [t + 0.15 for t in TIMES]
positive = st.floats(min_value=1e-6, max_value=1e9)
small = st.lists(st.integers(0, 6), min_size=1, max_size=5)


@pytest.mark.parametrize(("first", "second"), [(TIMES, FASTER), (TIMES, LATER), (TIMES[:3], LATER), (LATER, TIMES[:2])])
def test_mann_whitney_without_ties_is_scipys_exact_one(first, second):
    expected = reference.mannwhitneyu(first, second, method="exact").pvalue
    assert ranks.mann_whitney(first, second) == pytest.approx(expected, rel=1e-12)


def test_mann_whitney_of_50_and_50_is_still_exact():
    generator = np.random.default_rng(3)
    first, second = generator.normal(10, 1, 50), generator.normal(10.4, 1, 50)
    expected = reference.mannwhitneyu(first, second, method="exact").pvalue
    assert ranks.mann_whitney(first, second) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("digits", [0, 1, 9])
def test_mann_whitney_of_many_runs_is_scipys_asymptotic_one(digits):
    generator = np.random.default_rng(4)
    first = np.round(generator.normal(10, 1, 90), digits)
    second = np.round(generator.normal(10.3, 1, 70), digits)
    expected = reference.mannwhitneyu(first, second, method="asymptotic").pvalue
    assert ranks.mann_whitney(first, second) == pytest.approx(expected, rel=1e-9)


@given(small, small)
def test_mann_whitney_with_ties_counts_every_way_to_deal_the_runs(first, second):
    values = [*first, *second]
    places = [sum(v < w for v in values) + (sum(v == w for v in values) + 1) / 2 for w in values]
    sums = [sum(chosen) for chosen in itertools.combinations(places, len(first))]
    reached = sum(places[: len(first)])
    tails = [sum(s <= reached for s in sums), sum(s >= reached for s in sums)]
    assert ranks.mann_whitney(first, second) == pytest.approx(min(1.0, 2 * min(tails) / len(sums)))


def test_mann_whitney_is_the_same_from_either_side():
    assert ranks.mann_whitney(TIMES, LATER[:5]) == pytest.approx(ranks.mann_whitney(LATER[:5], TIMES))


def test_equal_runs_differ_with_p_one():
    assert ranks.mann_whitney([4.0] * 6, [4.0] * 6) == 1.0


def test_holm_adjusts_step_by_step():
    assert ranks.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert ranks.holm([0.04, 0.01]) == pytest.approx([0.04, 0.02])
    assert ranks.holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_only_raises_and_keeps_the_order(values):
    adjusted = ranks.holm(values)
    assert all(p <= q <= 1 for p, q in zip(values, adjusted, strict=True))
    by_p = sorted(range(len(values)), key=values.__getitem__)
    assert [adjusted[i] for i in by_p] == sorted(adjusted)


@given(small, small)
def test_hodges_lehmann_is_the_median_of_all_differences(first, second):
    differences = sorted(b - a for a in first for b in second)
    expected = (differences[(len(differences) - 1) // 2] + differences[len(differences) // 2]) / 2
    assert ranks.hodges_lehmann(first, second).value == expected


@given(st.lists(positive, min_size=1, max_size=12), st.floats(-1e6, 1e6))
def test_hodges_lehmann_finds_a_pure_shift(values, shift):
    found = ranks.hodges_lehmann(values, [v + shift for v in values]).value
    assert found == pytest.approx(shift, rel=1e-6, abs=1e-3)


def test_the_interval_of_the_shift_is_the_one_of_the_tables():
    """Of 6 and 6 runs P(U <= 5) = 0.0206 and P(U <= 6) = 0.0325: the 6th difference from each end."""
    first, second = TIMES[:6], LATER[2:]
    differences = sorted(b - a for a in first for b in second)
    found = ranks.hodges_lehmann(first, second)
    assert (found.low, found.high) == pytest.approx((differences[5], differences[-6]))


def test_four_runs_have_the_whole_range_as_interval_and_three_have_none():
    found = ranks.hodges_lehmann([1.0, 2.0, 4.0, 8.0], [10.0, 20.0, 40.0, 80.0])
    assert (found.low, found.high) == (2.0, 79.0)
    assert ranks.hodges_lehmann([1, 2, 3], [4, 5, 6]).low is None


@pytest.mark.parametrize(("number", "trials"), [(6, 400), (12, 300), (60, 150)])
def test_the_interval_of_the_shift_covers_the_truth_at_least_as_often_as_it_says(number, trials):
    generator = np.random.default_rng(number)
    hits = 0
    for _ in range(trials):
        found = ranks.hodges_lehmann(generator.exponential(1, number), generator.exponential(1, number) + 3)
        hits += found.low <= 3 <= found.high
    assert hits / trials >= 0.95 - 2.5 * math.sqrt(0.95 * 0.05 / trials)


@pytest.mark.parametrize(("few", "many"), [(1, 100), (100, 1), (1, 5000), (2, 300), (9, 1000), (10, 91), (60, 60)])
def test_sides_of_very_different_numbers_of_runs_compare(few: int, many: int) -> None:
    draw = np.random.default_rng(1)
    first, second = draw.normal(10, 1, few), draw.normal(10.5, 1, many)
    exact = reference.mannwhitneyu(first, second, method="exact").pvalue if few < 10 and few * many < 10_000 else None
    assert exact is None or ranks.mann_whitney(first, second) == pytest.approx(exact, rel=0.02)
    assert 0 <= ranks.mann_whitney(first, second) <= 1
    found = ranks.hodges_lehmann(first, second)
    if found.low is not None and found.high is not None:
        assert found.low <= found.value <= found.high


@pytest.mark.parametrize(("first", "second"), [(70, 70), (60, 150), (200, 12)])
def test_the_interval_of_many_runs_holds_the_shifts_that_the_test_would_not_reject(first: int, second: int) -> None:
    """Its ends are differences at which scipy's asymptotic test changes its result."""
    draw = np.random.default_rng(first)
    baseline, candidate = draw.normal(10, 1, first), draw.normal(10.5, 1, second)
    found = ranks.hodges_lehmann(baseline, candidate)
    assert found.low is not None and found.high is not None
    differences = np.sort(np.subtract.outer(candidate, baseline).ravel())
    for end, inwards in ((found.low, 1), (found.high, -1)):
        place = int(np.searchsorted(differences, end))

        def p_between(one: int, other: int) -> float:
            shift = (differences[one] + differences[other]) / 2
            return float(reference.mannwhitneyu(candidate - shift, baseline, method="asymptotic").pvalue)

        assert p_between(place - inwards, place) < 0.05
        assert p_between(place + inwards, place + 2 * inwards) > 0.05, "it is wider by one difference at most"


@given(st.integers(1, 130), st.integers(1, 130))
def test_ends_left_out_are_of_the_differences_there_are(first: int, second: int) -> None:
    assert -1 <= ranks._left_out(first, second, 0.025) <= (first * second - 1) // 2


def test_signed_ranks_without_ties_are_scipys_exact_ones():
    for candidate in (FASTER, LATER, [t * (1 + 0.01 * (-1) ** i * i) for i, t in enumerate(TIMES, 1)]):
        expected = reference.wilcoxon(np.log(candidate) - np.log(TIMES), method="exact").pvalue
        assert ranks.signed_rank(TIMES, candidate) == pytest.approx(expected, rel=1e-9)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=8))
def test_signed_ranks_with_ties_count_every_choice_of_signs(shifts):
    pairs = [(1.0, 2.0**shift) for shift in shifts]  # whose logarithms tie exactly
    sizes = [abs(shift) for shift in shifts if shift]
    places = [sum(v < w for v in sizes) + (sum(v == w for v in sizes) + 1) / 2 for w in sizes]
    sums = [sum(chosen) for n in range(len(places) + 1) for chosen in itertools.combinations(places, n)]
    reached = sum(place for place, shift in zip(places, filter(None, shifts), strict=True) if shift > 0)
    tails = [sum(s <= reached for s in sums), sum(s >= reached for s in sums)]
    assert ranks.signed_rank(*zip(*pairs, strict=True)) == pytest.approx(min(1.0, 2 * min(tails) / len(sums)))


def test_signed_ranks_of_many_pairs_are_scipys_asymptotic_ones():
    shifts = np.random.default_rng(5).normal(0.1, 1, 300)
    expected = reference.wilcoxon(shifts, method="asymptotic", correction=False).pvalue
    assert ranks.signed_rank(np.ones(300), np.exp(shifts)) == pytest.approx(expected, rel=1e-9)


def test_signed_ranks_reach_their_least_p_and_one():
    assert ranks.signed_rank(TIMES, FASTER) == ranks.smallest_p_of_rounds(len(TIMES)) == 2 / 2**8
    assert ranks.signed_rank(TIMES, TIMES) == 1.0
