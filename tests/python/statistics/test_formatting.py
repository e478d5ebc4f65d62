"""How numbers are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lull.statistics import formatting
from lull.statistics.bootstrap import Interval


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "J", "0 J"),
        (0.00512, "s", "5.12 ms"),
        (7200, "s", "7200 s"),
        (2005, "J", "2.00 kJ"),
        (999.6, "J", "1.00 kJ"),
        (1e-9, "J", "1.00 nJ"),
        (250e3, "J·s", "250 kJ·s"),
        (12.34, "W", "12.3 W"),
        (4.24e-21, "J·s²", "4.24 zJ·s²"),
        (3e-26, "J", "0.0300 yJ"),
        (1.5e18, "J", "1500 PJ"),
    ],
)
def test_si(value, unit, text):
    assert formatting.si(value, unit) == text


@given(st.floats(1e-23, 1e16))
def test_si_keeps_three_digits(value):
    factor, name = formatting.scale(value, "J")
    assert float(formatting.si(value, "J").split()[0]) * factor == pytest.approx(value, rel=0.006)
    assert 0.99 <= value / factor < 1000 or name == "PJ"


def test_ratios_and_shares():
    assert formatting.ratio(Interval(2.1, 2.05, 2.161)) == "2.10 (2.05–2.16)"
    assert formatting.ratio(Interval(2.1)) == "2.10"
    assert formatting.percent(0.0312) == "3.1 %"
    assert formatting.percent(0.5) == "50 %"
    assert [formatting.percent(v) for v in (0.9949, 0.9966, 0.99996, 1.0)] == ["99 %", "99.7 %", "> 99.9 %", "100 %"]
    assert [formatting.percent(v) for v in (-0.05, -0.3891, -0.0001)] == ["−5.0 %", "−39 %", "0.0 %"]
    assert [formatting.probability(p) for p in (None, 0.0002, 0.0123, 0.5)] == ["–", "< 0.001", "0.012", "0.50"]
    assert [formatting.count(1, "gap"), formatting.count(2, "gap")] == ["1 gap", "2 gaps"]
    assert [formatting.duration(s) for s in (0, 95.9, 720, 12_059)] == ["0 s", "95 s", "12 min", "3 h 20 min"]


def test_ranges_share_a_unit_and_differences_have_a_sign():
    assert formatting.si_range(9.93, 10.25, "s") == "9.93–10.2 s"
    assert formatting.si_range(950, 1050, "J") == "0.950–1.05 kJ"
    assert formatting.si_range(-2.0, 3.0, "J") == "-2.00 to 3.00 J"
    assert [formatting.shift(v, "s") for v in (1.2, -0.0123, 0.0)] == ["+1.20 s", "−12.3 ms", "0 s"]


def test_what_is_no_number_is_written_too():
    assert [formatting.si(v, "J") for v in (float("inf"), float("nan"))] == ["inf J", "nan J"]
    assert formatting.si_range(1.0, float("inf"), "s") == "1.00–inf s"
    assert [formatting.per(m) for m in ("items", "matches", "entries", "boxes", "class")] == [
        "per item", "per match", "per entry", "per box", "per class",
    ]  # fmt: skip
