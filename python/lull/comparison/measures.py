"""The columns of one side of a comparison: time, energy and their products for each run, and their medians."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lull.comparison.bytes_moved import BYTES_PER_MB
from lull.comparison.quantity import Quantity, Sample
from lull.statistics import bootstrap
from lull.statistics.bootstrap import Floats, Interval, Spread


@dataclass(frozen=True)
class Measures:
    """Named columns with a value for each run, and their medians over the runs and over each resample of whole runs."""

    values: dict[str, Floats]
    medians: dict[str, float]
    resampled: dict[str, Floats]  # empty if the runs are too few for an interval

    def spread(self, name: str) -> Spread:
        """Median with its interval, quartiles and extremes of a column."""
        found = bootstrap.spread(self.values[name])
        if name not in self.resampled:
            return found
        interval = bootstrap.percentile_interval(found.median, self.resampled[name])
        ends = {"low": interval.low, "high": interval.high}
        return Spread(found.median, found.quartile_low, found.quartile_high, found.smallest, found.largest, **ends)


def measures(side: Quantity, *, seed: int, stream: int, metrics: Sequence[str] = (), wire: bool = False) -> Measures:
    """The columns of one side, with its runs resampled jointly; the sides of a comparison use different streams.

    Metrics that every run reports may be added as columns, under their own names, and the energy on the wire if every
    run has one.
    """
    time, energy = np.array(side.rows, dtype=np.float64).T
    values: dict[str, Floats] = {
        "time": time,
        "energy": energy,
        "power": energy / time,
        "cpu": _column(side.samples, lambda one: one.cpu_s / one.work),
        "edp": energy * time,
        "ed2p": energy * time**2,
    }
    if side.moved:
        values["j_per_mb"] = _column(side.samples, lambda one: one.energy_j / (one.moved_bytes or 1) * BYTES_PER_MB)
    if wire and all(sample.wire is not None for sample in side.samples):
        values["wire"] = _column(side.samples, lambda one: (one.wire.joules if one.wire else 0.0) / one.work)
    if all(sample.idle is not None for sample in side.samples):
        values["dynamic"] = _column(side.samples, lambda one: (one.dynamic_j or 0.0) / one.work)
    repeats = {repeat.index: repeat for repeat in side.run.repeats}
    for metric in metrics:
        if all(metric in repeats[sample.index].metrics for sample in side.samples):
            values[metric] = np.array([repeats[one.index].metrics[metric].value for one in side.samples])
    table = np.column_stack(list(values.values()))
    resampled: dict[str, Floats] = {}
    if len(table) >= bootstrap.runs_for_interval():
        drawn = bootstrap.resampled_medians(table, seed=seed, stream=stream)
        resampled = dict(zip(values, drawn.T, strict=True))
    medians = np.median(table, axis=0)
    return Measures(values, {name: float(value) for name, value in zip(values, medians, strict=True)}, resampled)


def ratio(first: Measures, second: Measures, name: str) -> Interval:
    """The median of the first over that of the second, with its interval if both sides have enough runs."""
    value = first.medians[name] / second.medians[name]
    if not bootstrap.enough_runs(len(first.values[name]), len(second.values[name])):
        return Interval(value)
    return bootstrap.percentile_interval(value, first.resampled[name] / second.resampled[name])


def ratio_if_positive(first: Measures, second: Measures, name: str) -> Interval | None:
    """Like `ratio`; None if a side lacks the column, or has a value from which no ratio can be formed."""
    there = all(name in side.values and bool((side.values[name] > 0).all()) for side in (first, second))
    return ratio(first, second, name) if there else None


def _column(samples: Sequence[Sample], of: Callable[[Sample], float]) -> Floats:
    return np.array([of(sample) for sample in samples], dtype=np.float64)
