"""Detect runs of different kinds: a first run that differs from the rest, or two groups.

With a normal distribution, both are found in less than one of a hundred series.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

LEAST_SHARE = 0.1  # of the median; smaller differences are noise on most machines
FIRST_RUNS, FIRST_SPREADS = 4, 3.0
GROUP_RUNS, GROUP_SPREADS, SMALLEST_GROUP = 6, 2.0, 2


def first_differs(values: Sequence[float]) -> bool:
    """Whether the first value is farther from the median of the others than three times their range."""
    if len(values) < FIRST_RUNS:
        return False
    first, *rest = values
    middle = median(rest)
    return abs(first - middle) > max(FIRST_SPREADS * (max(rest) - min(rest)), LEAST_SHARE * middle)


def two_groups(values: Sequence[float]) -> tuple[list[float], list[float]] | None:
    """The lower and the upper group, if the gap between them is twice as wide as either; otherwise None."""
    if len(values) < GROUP_RUNS:
        return None
    ordered = sorted(values)
    least = LEAST_SHARE * median(ordered)
    for cut in range(SMALLEST_GROUP, len(ordered) - SMALLEST_GROUP + 1):
        low, high = ordered[:cut], ordered[cut:]
        widest = max(low[-1] - low[0], high[-1] - high[0])
        if high[0] - low[-1] > max(GROUP_SPREADS * widest, least):
            return low, high
    return None
