"""The energy of one more megabyte: the slope of energy over bytes moved, across records that differ in little else.

Energy per megabyte divides all energy by the bytes, including the energy of starting up and of idling. The slope over a
sweep contains only what grows with the bytes. It is computed if all records belong to one sweep: they have the same
settings, the same factors except for a numeric one, and bytes that differ at least twofold. The line is fitted by least
squares over all runs; the interval of its slope is the percentile bootstrap, which resamples the runs of each record
separately.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lull.comparison.bytes_moved import BYTES_PER_MB
from lull.comparison.quantity import Quantity
from lull.comparison.result import Marginal
from lull.record import Run, weakest
from lull.statistics import bootstrap
from lull.statistics.bootstrap import Floats, Interval

LEAST_SPREAD = 2.0  # largest over smallest bytes; below this, noise dominates the slope


def marginal(sides: Sequence[Quantity]) -> Marginal | None:
    """The slope over all runs of `sides`, or None if they are not a sweep of the bytes moved."""
    factor = _swept([side.run for side in sides])
    if factor is None or len({side.moved for side in sides}) != 1 or not sides[0].moved:
        return None
    rows = [
        np.array([((one.moved_bytes or 0.0) / BYTES_PER_MB, one.energy_j) for one in side.samples]) for side in sides
    ]
    medians = [float(np.median(side[:, 0])) for side in rows]
    if min(medians) <= 0 or max(medians) / min(medians) < LEAST_SPREAD:
        return None
    slope, rest = _line(np.concatenate(rows))
    interval = Interval(slope)
    if min(len(side) for side in rows) >= bootstrap.runs_for_interval():
        interval = bootstrap.percentile_interval(slope, _resampled_slopes(rows))
    return Marginal(
        factor=factor,
        basis=sides[0].moved,
        records=len(sides),
        runs=sum(len(side) for side in rows),
        least_mb=min(medians),
        most_mb=max(medians),
        j_per_mb=interval,
        without_j=rest,
        kind=weakest([side.kind for side in sides]),
    )


def _swept(runs: Sequence[Run]) -> str | None:
    """The only factor in which the runs differ, if it is numeric; None if they differ in more, or in nothing."""
    first = runs[0]
    if any(run.settings != first.settings or set(run.factors) != set(first.factors) for run in runs):
        return None
    varying = [name for name in first.factors if len({run.factors[name] for run in runs}) > 1]
    if len(varying) != 1 or not all(isinstance(run.factors[varying[0]], int | float) for run in runs):
        return None
    return varying[0]


def _line(rows: Floats) -> tuple[float, float]:
    """Slope and intercept of the second column over the first, by least squares."""
    centre = rows.mean(axis=0)
    apart = rows - centre
    slope = float((apart[:, 0] * apart[:, 1]).sum() / (apart[:, 0] ** 2).sum())
    return slope, float(centre[1] - slope * centre[0])


def _resampled_slopes(rows: Sequence[Floats]) -> Floats:
    """The slope in each resample; runs are resampled within their record, so that every resample has all sizes."""
    generator = np.random.default_rng([bootstrap.SEED, 2])
    drawn = [side[generator.integers(0, len(side), size=(bootstrap.RESAMPLES, len(side)))] for side in rows]
    points = np.concatenate(drawn, axis=1)
    apart = points - points.mean(axis=1, keepdims=True)
    slopes: Floats = (apart[:, :, 0] * apart[:, :, 1]).sum(axis=1) / (apart[:, :, 0] ** 2).sum(axis=1)
    return slopes
