"""When there are enough runs: the intervals of the medians of time and energy are as narrow as was asked for.

Looking again after each run and stopping at the first narrow interval stops a little too early now and then: the true
coverage of the final interval is somewhat below 95 %. The more runs at least, the less of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from lull.record import Domain, Repeat, succeeded
from lull.record.totals import over_nodes
from lull.statistics import bootstrap


@dataclass(frozen=True)
class Precision:
    """What is asked for: intervals within ±`percent` % of the median, from `least` runs on, after `most` in no case."""

    percent: float
    least: int
    most: int

    @property
    def first_look(self) -> int:
        """The number of runs from which there can be an interval and the minimum is reached."""
        return max(self.least, bootstrap.runs_for_interval())


def half_widths(repeats: Sequence[Repeat]) -> dict[str, float] | None:
    """How far the interval of a median reaches from it, as a share of it: of time, and of node energy if there is any.

    Failed repeats are left out; None where those left are too few for an interval.
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
    """Whether more runs are no use: there could be an interval by now, and every run has failed."""
    return len(repeats) >= asked.first_look and not succeeded(repeats)


def words(repeats: Sequence[Repeat]) -> str:
    """The half-widths as they are told: `time ±1.2 %, energy ±1.8 %`."""
    found = half_widths(repeats)
    if found is None:
        return f"fewer than {bootstrap.runs_for_interval()} runs succeeded, so there is no interval"
    return ", ".join(f"{name} ±{width * 100:.2g} %" if width < inf else f"{name} 0" for name, width in found.items())
