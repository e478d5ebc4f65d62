"""When there are enough runs: when the intervals of the medians of time and energy are as narrow as requested.

A test after each run, which stops at the first narrow interval, sometimes stops a little too early: the true coverage
of the final interval is somewhat below 95 %. A larger minimum of runs reduces this effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from lull.record import Domain, Repeat, succeeded
from lull.record.totals import over_nodes
from lull.statistics import bootstrap

MOST_RUNS = 100  # the most runs by default


@dataclass(frozen=True)
class Precision:
    """The request: intervals within ±`percent` % of the median, after at least `least` and at most `most` runs."""

    percent: float
    least: int
    most: int

    @property
    def first_look(self) -> int:
        """The smallest number of runs that reaches the minimum and allows an interval."""
        return max(self.least, bootstrap.runs_for_interval())


def half_widths(repeats: Sequence[Repeat]) -> dict[str, float] | None:
    """Half-width of the interval of the median, as a share of the median: of time, and of node energy if there is any.

    Failed repeats are excluded; None if too few remain for an interval.
    """
    good = succeeded(repeats)
    if len(good) < bootstrap.runs_for_interval():
        return None
    columns = {"time": [repeat.wall_s for repeat in good]}
    sums = [over_nodes(repeat.totals) for repeat in good]
    nodes = [of_repeat.get(Domain.NODE) or of_repeat.get(Domain.GPU) for of_repeat in sums]
    if all(nodes):
        columns["energy"] = [total.energy.joules for total in nodes if total is not None]
    drawn = bootstrap.resampled_medians(np.column_stack(list(columns.values())))
    widths = {}
    for (name, values), resampled in zip(columns.items(), drawn.T, strict=True):
        median = bootstrap.median(values)
        interval = bootstrap.percentile_interval(median, resampled)
        assert interval.low is not None and interval.high is not None
        widths[name] = max(interval.high - median, median - interval.low) / median if median > 0 else inf
    return widths


def is_reached(asked: Precision, repeats: Sequence[Repeat]) -> bool:
    """Whether the runs so far are enough."""
    if len(repeats) < asked.first_look:
        return False
    found = half_widths(repeats)
    return found is not None and max(found.values()) <= asked.percent / 100


def is_hopeless(asked: Precision, repeats: Sequence[Repeat]) -> bool:
    """Whether more runs are useless: there are enough runs for an interval, and all have failed."""
    return len(repeats) >= asked.first_look and not succeeded(repeats)


def words(repeats: Sequence[Repeat]) -> str:
    """The half-widths in words: `time ±1.2 %, energy ±1.8 %`."""
    found = half_widths(repeats)
    if found is None:
        return f"fewer than {bootstrap.runs_for_interval()} runs succeeded, so there is no interval"
    return ", ".join(f"{name} ±{width * 100:.2g} %" if width < inf else f"{name} 0" for name, width in found.items())
