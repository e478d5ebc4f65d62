"""Statistics of repeated runs: medians, joint bootstrap, rank tests. Pure functions; numbers in, numbers out.

What is assumed, and nothing more:

- Repeats of one side are independent draws of one distribution. Drift of the machine breaks this; alternate the sides.
- Time and energy of one repeat belong together: a slow repeat also costs more. They are resampled jointly, as rows,
  which makes the interval of their quotient several times narrower than resampling them apart.
- The two sides are independent of each other and resampled independently.
- No distribution is assumed to be normal. The centre is the median, the test is by ranks.
- A systematic error of a sensor is no part of this: repeating does not shrink it.

The interval is the percentile bootstrap. The bias-corrected one (BCa) takes its acceleration from the jackknife, which
is inconsistent for a median: dropping one run moves the median by a whole step or not at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
RESAMPLES = 9_999
SEED = 1
RUNS_ADVISED = 10  # of each side; at a spread of 1 % a rank test then sees a difference of 2 % nearly always
EXACT_ARRANGEMENTS = 20_000  # with ties, up to this many ways to deal the runs are tried one by one: 8 and 8 runs


@dataclass(frozen=True)
class Interval:
    """A figure with its confidence interval; `low` and `high` are None when there are too few runs for one."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Spread:
    """Median, quartiles and extremes of the runs of one side."""

    median: float
    quartile_low: float
    quartile_high: float
    smallest: float
    largest: float

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
    """Whether both sides have the runs an interval needs, and a rank test could reach its level at all."""
    return (
        min(baseline, candidate) >= runs_for_interval(confidence) and smallest_p(baseline, candidate) < 1 - confidence
    )


def smallest_p(baseline: int, candidate: int) -> float:
    """The least two-sided p that Mann-Whitney's test can give: 2 of all ways to deal the runs; 0.1 for 3 and 3."""
    return min(1.0, 2 / math.comb(baseline + candidate, baseline))


def resampled_ratios(
    baseline: ArrayLike, candidate: ArrayLike, *, seed: int = SEED, resamples: int = RESAMPLES
) -> Floats:
    """Ratios of medians, baseline over candidate, in bootstrap resamples of whole runs.

    Args:
        baseline: One row per run, one column per quantity, e.g. time and energy. Positive.
        candidate: Likewise, with the same columns; the number of runs may differ.
        seed: Of the generator: the same seed and data give the same figures.
        resamples: How many.

    Returns:
        Shape (resamples, columns).
    """
    first = np.asarray(baseline, dtype=np.float64)
    second = np.asarray(candidate, dtype=np.float64)
    if first.ndim != 2 or second.ndim != 2 or first.shape[1] != second.shape[1]:
        raise ValueError("runs are rows, quantities are columns, the same columns on both sides")
    generator = np.random.default_rng(seed)

    def medians(runs: Floats) -> Floats:
        chosen = generator.integers(0, len(runs), size=(resamples, len(runs)))
        return np.asarray(np.median(runs[chosen], axis=1), dtype=np.float64)

    return medians(first) / medians(second)


def percentile_interval(value: float, resampled: ArrayLike, confidence: float = CONFIDENCE) -> Interval:
    """The percentile bootstrap interval of `value` from its resampled values."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.asarray(resampled, dtype=np.float64), [tail, 1 - tail])
    return Interval(value, min(float(low), value), max(float(high), value))  # rounding must not put it outside


def hodges_lehmann(baseline: ArrayLike, candidate: ArrayLike) -> float:
    """The shift from baseline to candidate: the median of all pairwise differences, in the unit of the values."""
    differences = np.subtract.outer(np.asarray(candidate, dtype=np.float64), np.asarray(baseline, dtype=np.float64))
    return float(np.median(differences))


def mann_whitney(baseline: ArrayLike, candidate: ArrayLike) -> float:
    """Two-sided p of Mann-Whitney's rank test, exact where that is feasible (always for few runs, ties or not)."""
    from scipy import stats

    first = np.asarray(baseline, dtype=np.float64)
    second = np.asarray(candidate, dtype=np.float64)
    values = np.concatenate([first, second])
    if np.ptp(values) == 0:
        return 1.0
    if len(np.unique(values)) == len(values) and len(values) <= 100:
        return float(stats.mannwhitneyu(first, second, method="exact").pvalue)
    if math.comb(len(values), len(first)) <= EXACT_ARRANGEMENTS:
        every_way = stats.PermutationMethod(n_resamples=EXACT_ARRANGEMENTS)
        return float(stats.mannwhitneyu(first, second, method=every_way).pvalue)
    return float(stats.mannwhitneyu(first, second, method="asymptotic").pvalue)


def holm(values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment of p-values for testing several quantities of the same runs, in the given order."""
    adjusted = [0.0] * len(values)
    reached = 0.0
    for place, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        reached = max(reached, min(1.0, (len(values) - place) * values[index]))
        adjusted[index] = reached
    return adjusted
