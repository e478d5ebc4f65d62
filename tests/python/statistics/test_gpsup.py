"""Greenup, Powerup, Speedup: orientation, the eight categories, and what belongs to none."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lull.statistics import gpsup
from lull.statistics.bootstrap import Interval
from lull.statistics.gpsup import Side

ratios = st.floats(0.05, 20)


def exact(speedup, greenup):
    return gpsup.classify(Interval(speedup), Interval(greenup), Interval(gpsup.powerup(speedup, greenup)))


def ratios_of(time_a, energy_a, time_b, energy_b):
    return time_a / time_b, energy_a / energy_b


def test_quarter_time_half_energy_is_category_3():
    speedup, greenup = ratios_of(100, 20e3, 25, 10e3)
    assert (speedup, greenup, gpsup.powerup(speedup, greenup)) == (4, 2, 2)
    assert exact(speedup, greenup).category == 3
    assert gpsup.energy_delay(10e3, 25) == 250e3


def test_half_time_quarter_energy_is_category_1_at_the_same_edp():
    speedup, greenup = ratios_of(100, 20e3, 50, 5e3)
    assert (speedup, greenup, gpsup.powerup(speedup, greenup)) == (2, 4, 0.5)
    assert exact(speedup, greenup).category == 1
    assert gpsup.energy_delay(5e3, 50) == 250e3


def test_powerup_is_the_ratio_of_mean_powers_candidate_over_baseline():
    speedup, greenup = ratios_of(10, 1000, 5, 900)
    assert gpsup.powerup(speedup, greenup) == pytest.approx((900 / 5) / (1000 / 10))


@pytest.mark.parametrize(
    ("speedup", "greenup", "category"),
    [
        (2.0, 4.0, 1),
        (2.0, 2.0, 2),
        (2.0, 1.99, 2),
        (4.0, 2.0, 3),
        (0.8, 1.25, 4),
        (1.5, 0.5, 5),
        (0.5, 0.8, 6),
        (0.5, 0.5, 7),
        (0.8, 0.4, 8),
    ],
)
def test_every_category(speedup, greenup, category):
    assert exact(speedup, greenup).category == category
    assert exact(speedup, greenup).name == gpsup.CATEGORIES[category]


@given(ratios, ratios)
def test_categories_1_to_4_save_energy_and_the_others_do_not(speedup, greenup):
    found = exact(speedup, greenup).category
    assume(found is not None)
    assert (greenup > 1) == (found <= 4)
    assert (speedup > 1) == (found in {1, 2, 3, 5})


@given(ratios, ratios)
def test_a_category_is_missing_only_on_a_border(speedup, greenup):
    if exact(speedup, greenup).category is None:
        near = 1.0001 * gpsup.DELTA
        assert abs(speedup - 1) <= near or abs(greenup - 1) <= near


@given(ratios, ratios)
def test_swapping_the_sides_swaps_saving_and_wasting(speedup, greenup):
    forward, backward = exact(speedup, greenup), exact(1 / speedup, 1 / greenup)
    assume(forward.category and backward.category)
    assert (forward.category <= 4) != (backward.category <= 4)


def test_an_interval_across_the_border_of_energy_claims_no_category():
    found = gpsup.classify(Interval(2, 1.9, 2.1), Interval(1.1, 0.9, 1.3), Interval(1.8, 1.5, 2.2))
    assert found.category is None
    assert found.green is Side.UNDECIDED
    assert found.saves is None
    assert found.name == "faster, energy undecided"


def test_a_difference_that_the_rank_test_does_not_confirm_is_undecided():
    ratios = Interval(2, 1.9, 2.1), Interval(2, 1.8, 2.2), Interval(1, 0.9, 1.1)
    assert gpsup.classify(*ratios, time_p=0.04, energy_p=0.04).category == 2
    assert gpsup.classify(*ratios, time_p=0.06).name == "saves energy, speed undecided"
    assert gpsup.classify(*ratios, energy_p=0.06).name == "faster, energy undecided"


def test_no_change_is_neutral_not_undecided():
    found = gpsup.classify(Interval(1.0, 0.99, 1.01), Interval(1.0, 0.99, 1.01), Interval(1.0, 0.99, 1.01))
    assert (found.category, found.name) == (None, "neutral")


def test_same_time_with_less_energy_is_none_of_the_eight():
    found = gpsup.classify(Interval(1.0, 0.99, 1.01), Interval(1.3, 1.2, 1.4), Interval(0.77, 0.7, 0.83))
    assert found.category is None
    assert (found.speed, found.green) == (Side.SAME, Side.ABOVE)
    assert found.saves
    assert found.name == "saves energy at the same speed"


def test_an_interval_of_power_that_contains_one_reads_as_same_power():
    assert gpsup.classify(Interval(2, 1.9, 2.1), Interval(2, 1.8, 2.2), Interval(1, 0.9, 1.1)).category == 2
    assert gpsup.classify(Interval(0.5, 0.4, 0.6), Interval(0.5, 0.4, 0.6), Interval(1, 0.9, 1.1)).category == 7


def test_delta_sets_what_counts_as_no_difference():
    wide = Interval(1.04, 1.03, 1.05)
    assert gpsup.side_of_one(wide) is Side.ABOVE
    assert gpsup.side_of_one(wide, delta=0.1) is Side.SAME


def test_reduction_is_the_share_saved():
    assert gpsup.reduction(2) == 0.5
    assert gpsup.reduction(0.8) == pytest.approx(-0.25)


EXACTLY = Interval(1.0)
WITHIN = Interval(1.0, 0.985, 1.015)
MORE, LESS = Interval(1.5, 1.4, 1.6), Interval(0.7, 0.65, 0.75)


@pytest.mark.parametrize(
    ("speedup", "greenup", "powerup", "name"),
    [
        (WITHIN, WITHIN, WITHIN, "neutral"),
        (EXACTLY, EXACTLY, EXACTLY, "neutral"),
        (WITHIN, MORE, LESS, "saves energy at the same speed"),
        (WITHIN, LESS, MORE, "wastes energy at the same speed"),
        (MORE, WITHIN, MORE, "faster at the same energy"),
        (LESS, WITHIN, LESS, "slower at the same energy"),
        (Interval(1.1, 0.9, 1.3), WITHIN, Interval(1.1, 0.9, 1.3), "undecided"),
        (Interval(1.1, 0.9, 1.3), Interval(1.1, 0.9, 1.3), WITHIN, "undecided"),
    ],
)
def test_on_the_borders_of_time_and_energy_there_is_no_category(speedup, greenup, powerup, name):
    found = gpsup.classify(speedup, greenup, powerup)
    assert (found.category, found.name) == (None, name)


@pytest.mark.parametrize("power", [EXACTLY, WITHIN, Interval(1.1, 0.95, 1.25)])
def test_on_the_border_of_power_the_category_is_2_or_7(power):
    assert gpsup.classify(MORE, MORE, power).category == 2
    assert gpsup.classify(LESS, LESS, power).category == 7


def test_the_band_around_one_includes_its_ends():
    assert gpsup.side_of_one(Interval(1 + gpsup.DELTA)) is Side.SAME
    assert gpsup.side_of_one(Interval(1 - gpsup.DELTA)) is Side.SAME
    assert gpsup.side_of_one(Interval(1.0201)) is Side.ABOVE
    assert gpsup.side_of_one(Interval(1.03, 1.001, 1.05)) is Side.ABOVE, "decided, though it begins within the band"


def test_a_reduction_has_the_interval_of_its_ratio():
    found = gpsup.reduction_interval(Interval(2.0, 1.6, 2.5))
    assert (found.value, found.low, found.high) == pytest.approx((0.5, 0.375, 0.6))
    assert gpsup.reduction_interval(Interval(2.0)) == Interval(0.5)
