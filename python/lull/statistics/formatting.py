"""Number formatting: three digits, SI prefixes, ratios with their interval, shares, p-values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it imports numpy, which takes longer than everything else in a short command
    from lull.statistics.bootstrap import Interval

PREFIXES = {
    -8: "y",
    -7: "z",
    -6: "a",
    -5: "f",
    -4: "p",
    -3: "n",
    -2: "µ",
    -1: "m",
    0: "",
    1: "k",
    2: "M",
    3: "G",
    4: "T",
    5: "P",
}


def three_digits(value: float) -> str:
    """`value` to three significant digits without an exponent: 1234 -> 1230, 12.34 -> 12.3, 0.01234 -> 0.0123."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    places = 2 - math.floor(math.log10(abs(value)))
    rounded = round(value, places)
    places = 2 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:.{max(places, 0)}f}"


def scale(value: float, unit: str) -> tuple[float, str]:
    """The factor and the prefixed unit in which `value` is most readable; hours and more stay in seconds."""
    if value == 0 or not math.isfinite(value):
        return 1.0, unit
    most = 0 if unit == "s" else 5
    power = min(max(math.floor(math.log10(abs(value)) / 3 + 1e-12), -8), most)
    if power < most and float(three_digits(value / 1000.0**power)) >= 1000:
        power += 1
    return 1000.0**power, PREFIXES[power] + unit


def si(value: float, unit: str) -> str:
    """`value` to three digits with an SI prefix and its unit: 0.00512 s -> 5.12 ms."""
    factor, name = scale(value, unit)
    return f"{three_digits(value / factor)} {name}"


def ratio(interval: Interval) -> str:
    """A ratio with its interval: 2.10 (2.05–2.16); the value alone if there is no interval."""
    if interval.low is None or interval.high is None:
        return three_digits(interval.value)
    return f"{three_digits(interval.value)} ({three_digits(interval.low)}–{three_digits(interval.high)})"


def si_range(low: float, high: float, unit: str) -> str:
    """A range in one prefixed unit: 9.93–10.2 s."""
    factor, name = scale(high if abs(high) >= abs(low) else low, unit)
    ends = [three_digits(end / factor) for end in (low, high)]
    between = " to " if low < 0 else "–"
    return f"{between.join(ends)} {name}"


def shift(value: float, unit: str) -> str:
    """A difference with its sign: +1.20 s, −800 mJ."""
    return f"{'−' if value < 0 else '+' if value > 0 else ''}{si(abs(value), unit)}"


def percent(share: float) -> str:
    """A share in percent, with one decimal below ten: 0.0312 -> 3.1 %; never rounded up to 100 %: 0.9966 -> 99.7 %."""
    value = share * 100
    if 99.5 <= value < 100:
        return f"{value:.1f} %" if value < 99.95 else "> 99.9 %"
    digits = f"{abs(value):.1f}" if abs(value) < 9.95 else f"{abs(value):.0f}"
    return f"{'−' if value < 0 and float(digits) else ''}{digits} %"


def probability(p: float | None) -> str:
    """A p-value: two digits down to 0.001, then `< 0.001`; an en dash if there is none."""
    if p is None:
        return "–"
    if p < 0.001:
        return "< 0.001"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def per(metric: str) -> str:
    """One unit of the work that a metric counts: `per item` for the metric `items`."""
    if metric.endswith("ies"):
        return f"per {metric[:-3]}y"
    if metric.endswith(("ches", "shes", "sses", "xes")):
        return f"per {metric[:-2]}"
    return f"per {metric[:-1] if metric.endswith('s') and not metric.endswith('ss') else metric}"


def count(number: int, one: str, many: str = "") -> str:
    """A number with its noun: 1 gap, 2 gaps."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def duration(seconds: float) -> str:
    """A time as people say it, rounded down: 95 s, 12 min, 3 h 20 min."""
    minutes = int(seconds) // 60
    if minutes < 2:
        return f"{int(seconds)} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
