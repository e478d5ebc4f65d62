"""Latencies of a simulation: percentiles from its histogram, and a confidence interval from batch means.

Consecutive latencies are correlated, so an interval from their variance alone would be far too narrow. The simulator
keeps means of consecutive batches, which are equal spans of simulated time. The means of long batches are nearly
independent, and Student's t gives the interval (the method of batch means, with the ratio estimator for batches of
unequal size: Law, Simulation Modeling and Analysis). Percentiles come from bins a sixteenth of an octave wide and are
exact to 6 %.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lull import _core
from lull.statistics.bootstrap import CONFIDENCE, Interval

PICOSECONDS = 1e12  # per second; the unit of the simulator
FEWEST_BATCHES = 8  # fewer batches give no reliable interval


@dataclass(frozen=True)
class Latency:
    """Latencies of one kind, in seconds. `mean_low_s` to `mean_high_s` is a 95 % interval; None for too few batches."""

    count: int
    mean_s: float
    mean_low_s: float | None
    mean_high_s: float | None
    median_s: float
    p99_s: float
    least_s: float
    most_s: float
    edges_s: NDArray[np.float64]  # edges of the bins, one more than counts
    counts: NDArray[np.int64]

    def percentile(self, share: float) -> float:
        """The latency that `share` of all latencies do not exceed, interpolated within its bin."""
        return percentile(self.edges_s, self.counts, share, self.least_s, self.most_s)


def latency_of(histogram: _core.LatencyHistogram) -> Latency | None:
    """The latencies in a histogram of the simulator; None if there are none."""
    if histogram.count == 0:
        return None
    edges = np.asarray(histogram.lower_edges_ps, dtype=np.float64) / PICOSECONDS
    counts = np.array(histogram.counts, dtype=np.int64)
    least, most = histogram.least_ps / PICOSECONDS, histogram.most_ps / PICOSECONDS
    mean = histogram.sum_ps / histogram.count / PICOSECONDS
    interval = batch_interval(
        mean, np.asarray(histogram.batch_means_ps) / PICOSECONDS, np.asarray(histogram.batch_counts)
    )
    return Latency(
        count=histogram.count,
        mean_s=mean,
        mean_low_s=interval.low,
        mean_high_s=interval.high,
        median_s=percentile(edges, counts, 0.5, least, most),
        p99_s=percentile(edges, counts, 0.99, least, most),
        least_s=least,
        most_s=most,
        edges_s=edges,
        counts=counts,
    )


def percentile(edges: NDArray[np.float64], counts: NDArray[np.int64], share: float, least: float, most: float) -> float:
    """The value that `share` of all counted values do not exceed."""
    reached = np.cumsum(counts)
    wanted = share * reached[-1]
    place = int(np.searchsorted(reached, wanted))
    before = reached[place] - counts[place]
    inside = (wanted - before) / counts[place]
    return float(min(max(edges[place] + inside * (edges[place + 1] - edges[place]), least), most))


def batch_interval(mean: float, batches: NDArray[np.float64], counts: NDArray[np.uint64]) -> Interval:
    """A mean, with its interval from the means of consecutive batches of `counts` values."""
    if len(batches) < FEWEST_BATCHES:
        return Interval(mean)
    deviations = counts / counts.sum() * (batches - mean)
    half = student_quantile(len(batches)) * math.sqrt(float((deviations**2).sum()) * len(batches) / (len(batches) - 1))
    return Interval(mean, mean - half, mean + half)


def student_half_width(values: Sequence[float]) -> float:
    """Half the width of the 95 % interval of the mean of two or more independent values."""
    sample = np.asarray(values, dtype=np.float64)
    return student_quantile(len(sample)) * float(sample.std(ddof=1)) / math.sqrt(len(sample))


def student_quantile(values: int) -> float:
    """The half width of the 95 % interval of a mean of this many values, in standard errors."""
    from scipy.special import stdtrit  # scipy.stats takes a second to load

    return float(stdtrit(values - 1, (1 + CONFIDENCE) / 2))
