"""Statistics of repeated runs: medians and their joint bootstrap. All functions are pure.

They assume the following:

- Repeats of one side are independent draws from one distribution. Drift of the machine violates this; alternate the
  sides.
- Time and energy of one repeat are correlated: a slow repeat also uses more energy. They are resampled jointly, as
  rows, which makes the interval of their quotient several times narrower than separate resampling.
- The two sides are independent of each other and resampled independently.
- No distribution need be normal. The centre is the median, the test uses ranks (`lull.statistics.ranks`).
- Systematic errors of a sensor are not included: repeats do not reduce them.

The interval is the percentile bootstrap. The bias-corrected one (BCa) takes its acceleration from the jackknife, which
is inconsistent for a median: dropping one run moves the median by a whole step or not at all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
RESAMPLES = 9_999
SEED = 1
RUNS_ADVISED = 10  # of each side; with a spread of 1 %, a rank test then nearly always detects a difference of 2 %
DRAWN_AT_ONCE = 1 << 17  # runs whose ranks fit into a cache


@dataclass(frozen=True)
class Interval:
    """A figure with its confidence interval; `low` and `high` are None if there are too few runs for one."""

    value: float  # the figure itself
    low: float | None = None  # lower end of the 95 % interval; null if there are too few runs for one
    high: float | None = None  # upper end; null like `low`


@dataclass(frozen=True)
class Spread:
    """Median, quartiles and extremes of the runs of one side; `low` and `high` hold the median's interval."""

    median: float  # median of the runs
    quartile_low: float  # first quartile
    quartile_high: float  # third quartile
    smallest: float  # least value of a run
    largest: float  # greatest value of a run
    low: float | None = None  # null if there are too few runs for an interval
    high: float | None = None  # upper end of the median's 95 % interval; null like `low`

    @property
    def relative(self) -> float:
        """Half the distance of the quartiles over the median: a robust coefficient of variation, about 0.67 sigma."""
        return (self.quartile_high - self.quartile_low) / 2 / self.median if self.median else 0.0


def median(values: ArrayLike) -> float:
    """The median: the middle value, or the mean of the two middle ones."""
    return float(np.median(np.asarray(values, dtype=np.float64)))


def spread(values: ArrayLike) -> Spread:
    """Median, quartiles (linear between order statistics) and extremes of `values`, which must not be empty."""
    smallest, low, middle, high, largest = np.quantile(np.asarray(values, dtype=np.float64), [0, 0.25, 0.5, 0.75, 1])
    return Spread(float(middle), float(low), float(high), float(smallest), float(largest))


def runs_for_interval(confidence: float = CONFIDENCE) -> int:
    """Fewest runs whose extremes enclose the true median with `confidence`: 1 - 2 (1/2)^n; 6 for 95 %."""
    return math.ceil(1 - math.log2(1 - confidence))


def enough_runs(baseline: int, candidate: int, confidence: float = CONFIDENCE) -> bool:
    """Whether both sides have enough runs for an interval and for a rank test to reach its level."""
    return (
        min(baseline, candidate) >= runs_for_interval(confidence) and smallest_p(baseline, candidate) < 1 - confidence
    )


def smallest_p(baseline: int, candidate: int) -> float:
    """The least two-sided p that Mann-Whitney's test can give: 2 of all divisions of the runs; 0.1 for 3 and 3."""
    return min(1.0, 2 / math.comb(baseline + candidate, baseline))


def resampled_medians(runs: ArrayLike, *, seed: int = SEED, stream: int = 0, resamples: int = RESAMPLES) -> Floats:
    """Medians of every column in bootstrap resamples of whole runs.

    A resample is drawn as indices of runs, so that the columns stay together. Its medians are found among the ranks of
    the runs, two bytes each, instead of among the values: this gives the same medians in a tenth of the time.

    Args:
        runs: One row per run, one column per quantity, e.g. time and energy.
        seed: Seed of the generator: the same seed, stream and data give the same figures.
        stream: Stream of the generator; independent sides use different streams.
        resamples: Number of resamples.

    Returns:
        Shape (resamples, columns).
    """
    values = np.asarray(runs, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError("runs are rows, quantities are columns")
    number, columns = values.shape
    order = np.argsort(values, axis=0, kind="stable")
    by_rank = np.take_along_axis(values, order, axis=0)
    ranks = np.empty((columns, number), dtype=np.int16 if number < 2**15 else np.int64)
    np.put_along_axis(ranks, order.T, np.arange(number, dtype=ranks.dtype)[np.newaxis], axis=1)
    below, above = (number - 1) // 2, number // 2
    generator = np.random.default_rng([seed, stream])
    medians = np.empty((resamples, columns))
    step = max(1, DRAWN_AT_ONCE // number)
    for begin in range(0, resamples, step):
        rows = slice(begin, min(begin + step, resamples))
        chosen = generator.integers(0, number, size=(rows.stop - begin, number))
        for column in range(columns):
            drawn = ranks[column][chosen]
            drawn.partition(above, axis=1)
            upper = drawn[:, above]
            lower = upper if below == above else drawn[:, :above].max(axis=1)
            medians[rows, column] = (by_rank[lower, column] + by_rank[upper, column]) / 2
    return medians


def resampled_ratios(
    baseline: ArrayLike, candidate: ArrayLike, *, seed: int = SEED, resamples: int = RESAMPLES
) -> Floats:
    """Ratios of medians, baseline over candidate, in bootstrap resamples of whole runs.

    Args:
        baseline: One row per run, one column per quantity, e.g. time and energy. Positive.
        candidate: In the same form, with the same columns; the number of runs may differ.
        seed: Seed of the generator: the same seed and data give the same figures.
        resamples: Number of resamples.

    Returns:
        Shape (resamples, columns).
    """
    if np.shape(baseline)[1:] != np.shape(candidate)[1:]:
        raise ValueError("runs are rows, quantities are columns, the same columns on both sides")
    first = resampled_medians(baseline, seed=seed, stream=0, resamples=resamples)
    return first / resampled_medians(candidate, seed=seed, stream=1, resamples=resamples)


def resampled_ratios_of_pairs(
    baseline: ArrayLike, candidate: ArrayLike, *, seed: int = SEED, resamples: int = RESAMPLES
) -> Floats:
    """Like `resampled_ratios`, for paired runs (row by row): variation common to both sides of a pair cancels.

    Returns:
        Shape (resamples, columns).
    """
    if np.shape(baseline) != np.shape(candidate):
        raise ValueError("pairs have as many rows and columns on both sides")
    both = np.hstack([np.asarray(baseline, dtype=np.float64), np.asarray(candidate, dtype=np.float64)])
    drawn = resampled_medians(both, seed=seed, resamples=resamples)
    columns = drawn.shape[1] // 2
    return np.asarray(drawn[:, :columns] / drawn[:, columns:])


def percentile_interval(value: float, resampled: ArrayLike, confidence: float = CONFIDENCE) -> Interval:
    """The percentile bootstrap interval of `value` from its resampled values."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.asarray(resampled, dtype=np.float64), [tail, 1 - tail])
    return Interval(value, min(float(low), value), max(float(high), value))  # rounding must not put the value outside


def density(values: ArrayLike, points: int = 64) -> tuple[Floats, Floats] | None:
    """Density of the values, smoothed by normal kernels of Silverman's width; None without any spread.

    Returns:
        `points` positions, from below the smallest value to above the largest, and the density at each.
    """
    found = np.asarray(values, dtype=np.float64)
    if len(found) < 3 or np.ptp(found) == 0:
        return None
    quartiles = np.quantile(found, [0.25, 0.75])
    robust = float(quartiles[1] - quartiles[0]) / 1.34
    deviation = float(np.std(found, ddof=1))
    width = 0.9 * (min(deviation, robust) if robust > 0 else deviation) * len(found) ** -0.2
    at = np.linspace(found.min() - 2 * width, found.max() + 2 * width, points)
    kernels = np.exp(-0.5 * ((at[:, np.newaxis] - found) / width) ** 2)
    return at, kernels.mean(axis=1) / (width * math.sqrt(2 * math.pi))
