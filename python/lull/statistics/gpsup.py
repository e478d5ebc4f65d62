"""Greenup, Powerup and Speedup: whether a change is worth its energy.

With A the baseline and B the candidate, T their times and E their energies:

    Speedup S = T_A / T_B      > 1: B is faster
    Greenup G = E_A / E_B      > 1: B uses less energy
    Powerup P = S / G          > 1: B draws more power on average, as P = (E_B / T_B) / (E_A / T_A)

(S. Abdulsalam, Z. Zong, Q. Gu, M. Qiu: Using the Greenup, Powerup, and Speedup metrics to evaluate software energy
efficiency, IGSC 2015.) They divide the plane of S and P into eight categories; 1 to 4 save energy, 5 to 8 waste it:

    1  S > 1, P < 1                 5  S > 1, P > 1, P > S
    2  S > 1, P = 1                 6  S < 1, P < 1, P > S
    3  S > 1, P > 1, P < S          7  S < 1, P = 1
    4  S < 1, P < 1, P < S          8  S < 1, P > 1

The borders (S = 1, or G = 1) belong to no category. Measured ratios have intervals, so "= 1" means that the interval
contains 1, or lies within 1 +- delta. If an interval crosses S = 1 or G = 1, there is no category.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lull.statistics.bootstrap import CONFIDENCE, Interval

DELTA = 0.02  # ratios this close to 1 are too small a difference to act upon

CATEGORIES = {
    1: "faster and cooler",
    2: "faster at the same power",
    3: "buys speed with power, still saves energy",
    4: "slower, but saves energy",
    5: "faster, but wastes energy",
    6: "cooler, but so slow that it wastes energy",
    7: "slower at the same power",
    8: "slower and hotter",
}


class Side(StrEnum):
    """The position of a ratio relative to 1."""

    ABOVE = "above"
    SAME = "same"  # wholly within 1 +- delta: no relevant difference
    UNDECIDED = "undecided"  # contains 1 and exceeds 1 +- delta: too uncertain
    BELOW = "below"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a comparison: the side of each ratio, and the category if all borders are decided."""

    speed: Side
    green: Side
    power: Side
    category: int | None

    @property
    def name(self) -> str:
        """The category in words, or why there is none."""
        if self.category is not None:
            return CATEGORIES[self.category]
        return _BETWEEN.get((self.speed, self.green), "undecided")

    @property
    def saves(self) -> bool | None:
        """Whether energy is saved; None if it is the same or undecided."""
        return {Side.ABOVE: True, Side.BELOW: False}.get(self.green)


_BETWEEN = {  # names of the borders between categories, by the sides of Speedup and Greenup
    (Side.SAME, Side.SAME): "neutral",
    (Side.SAME, Side.ABOVE): "saves energy at the same speed",
    (Side.SAME, Side.BELOW): "wastes energy at the same speed",
    (Side.ABOVE, Side.SAME): "faster at the same energy",
    (Side.BELOW, Side.SAME): "slower at the same energy",
    (Side.UNDECIDED, Side.ABOVE): "saves energy, speed undecided",
    (Side.UNDECIDED, Side.BELOW): "wastes energy, speed undecided",
    (Side.ABOVE, Side.UNDECIDED): "faster, energy undecided",
    (Side.BELOW, Side.UNDECIDED): "slower, energy undecided",
}


def side_of_one(ratio: Interval, delta: float = DELTA) -> Side:
    """The side of 1 on which the whole interval lies; a ratio without an interval counts as exact."""
    low = ratio.value if ratio.low is None else ratio.low
    high = ratio.value if ratio.high is None else ratio.high
    if 1 - delta <= low and high <= 1 + delta:
        return Side.SAME
    if low > 1:
        return Side.ABOVE
    if high < 1:
        return Side.BELOW
    return Side.UNDECIDED


def classify(
    speedup: Interval,
    greenup: Interval,
    powerup: Interval,
    delta: float = DELTA,
    *,
    time_p: float = 0.0,
    energy_p: float = 0.0,
) -> Outcome:
    """The category of a comparison, or None if an interval crosses S = 1 or G = 1.

    A difference that the rank test (`time_p`, `energy_p`) does not confirm is undecided.
    """
    speed, green, power = (side_of_one(ratio, delta) for ratio in (speedup, greenup, powerup))
    speed, green = _confirmed(speed, time_p), _confirmed(green, energy_p)
    category: int | None = None
    if speed is Side.ABOVE and green is Side.ABOVE:
        category = {Side.BELOW: 1, Side.ABOVE: 3}.get(power, 2)
    elif speed is Side.ABOVE and green is Side.BELOW and power is Side.ABOVE:
        category = 5
    elif speed is Side.BELOW and green is Side.ABOVE and power is Side.BELOW:
        category = 4
    elif speed is Side.BELOW and green is Side.BELOW:
        category = {Side.BELOW: 6, Side.ABOVE: 8}.get(power, 7)
    return Outcome(speed, green, power, category)


def _confirmed(side: Side, p: float) -> Side:
    return Side.UNDECIDED if side in (Side.ABOVE, Side.BELOW) and p >= 1 - CONFIDENCE else side


def powerup(speedup: float, greenup: float) -> float:
    """Powerup from Speedup and Greenup."""
    return speedup / greenup


def energy_delay(energy_j: float, time_s: float, exponent: int = 1) -> float:
    """Energy-delay product E T (J s), or E T^2 (J s^2) with `exponent` 2."""
    return float(energy_j * time_s**exponent)


def reduction(ratio: float) -> float:
    """The share saved, from Speedup or Greenup: 1 - 1/ratio; negative if more is used."""
    return 1 - 1 / ratio


def reduction_interval(ratio: Interval) -> Interval:
    """The share saved, with its interval, from Speedup or Greenup and its interval."""
    ends = [None if end is None else reduction(end) for end in (ratio.low, ratio.high)]
    return Interval(reduction(ratio.value), *ends)
