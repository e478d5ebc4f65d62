"""Rank tests and effects: Mann-Whitney, Wilcoxon's signed ranks, Holm, Hodges-Lehmann. All functions are pure.

They assume no distribution and allow ties. For up to 100 runs of both sides together, and for more if one side has few
runs, the distribution of the rank sum is exact: it is counted run by run, including ties. Beyond that it is practically
normal. `scipy` computes the same (the tests compare with it), but takes longer to load than these functions take to
run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lull.statistics.bootstrap import CONFIDENCE, Floats, Interval, smallest_p

EXACT_RUNS = 100  # of both sides together
EXACT_PAIRS = 200
FEW_RUNS, EXACT_WORK = 10, 15_000  # runs of the smaller side, and these times all runs: a second of counting


def mann_whitney(baseline: ArrayLike, candidate: ArrayLike) -> float:
    """Two-sided p of Mann-Whitney's rank test; exact, also with ties, for up to 100 runs of both sides together."""
    first = np.asarray(baseline, dtype=np.float64)
    second = np.asarray(candidate, dtype=np.float64)
    doubled, ties = _doubled_ranks(np.concatenate([first, second]))
    if len(ties) == 1:
        return 1.0
    if not _is_countable(len(first), len(second)):
        return _asymptotic(doubled, ties, len(first))
    few, reached = (first, doubled[: len(first)]) if len(first) <= len(second) else (second, doubled[len(first) :])
    ways = _rank_sums(doubled, len(few))
    at = int(reached.sum())
    total = float(ways.sum())
    return min(1.0, 2 * min(float(ways[: at + 1].sum()), float(ways[at:].sum())) / total)


def signed_rank(baseline: ArrayLike, candidate: ArrayLike) -> float:
    """Two-sided p of Wilcoxon's signed-rank test of the ratios of paired, positive runs; equal pairs are left out.

    It is exact, also with ties, for up to `EXACT_PAIRS` pairs, and beyond that practically normal.
    """
    logs = np.log(np.asarray(candidate, dtype=np.float64)) - np.log(np.asarray(baseline, dtype=np.float64))
    differing = logs[logs != 0]
    if len(differing) == 0:
        return 1.0
    doubled, ties = _doubled_ranks(np.abs(differing))
    at = int(doubled[differing > 0].sum())
    total = int(doubled.sum())
    if len(differing) > EXACT_PAIRS:
        tied = float((ties.astype(np.float64) ** 3 - ties).sum())
        number = len(differing)
        deviation = math.sqrt(number * (number + 1) * (2 * number + 1) / 24 - tied / 48)
        return min(1.0, math.erfc(abs(at - total / 2) / 2 / deviation / math.sqrt(2)))
    chances = np.zeros(total + 1)  # of each sum of doubled ranks, if each sign is drawn by a coin
    chances[0] = 1.0
    for rank in (int(rank) for rank in doubled):
        chances /= 2
        chances[rank:] += chances[: total + 1 - rank].copy()
    return min(1.0, 2 * min(float(chances[: at + 1].sum()), float(chances[at:].sum())))


def smallest_p_of_rounds(rounds: int) -> float:
    """The least two-sided p that Wilcoxon's signed-rank test can give: 2 of all divisions of signs."""
    return min(1.0, 2.0 * 0.5**rounds)


def holm(values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment of p-values for several tests; the result is in the order of `values`."""
    adjusted = [0.0] * len(values)
    reached = 0.0
    for place, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        reached = max(reached, min(1.0, (len(values) - place) * values[index]))
        adjusted[index] = reached
    return adjusted


def hodges_lehmann(baseline: ArrayLike, candidate: ArrayLike, confidence: float = CONFIDENCE) -> Interval:
    """The shift from baseline to candidate: the median of all pairwise differences, in the unit of the values.

    Its interval contains the shifts that Mann-Whitney's test would not reject; there is none if the test cannot reject
    any.
    """
    first = np.asarray(baseline, dtype=np.float64)
    second = np.asarray(candidate, dtype=np.float64)
    differences = np.subtract.outer(second, first).ravel()
    value = float(np.median(differences))
    if smallest_p(len(first), len(second)) > 1 - confidence:
        return Interval(value)
    out = _left_out(len(first), len(second), (1 - confidence) / 2)
    ends = np.partition(differences, [out, len(differences) - 1 - out])
    return Interval(value, float(ends[out]), float(ends[len(differences) - 1 - out]))


def _left_out(first: int, second: int, tail: float) -> int:
    """The number of ordered differences outside the interval at each end, such that each end misses at most `tail`."""
    if not _is_countable(first, second):
        spread = math.sqrt(first * second * (first + second + 1) / 12)
        return max(0, math.floor(first * second / 2 + NormalDist().inv_cdf(tail) * spread) - 1)
    few = min(first, second)
    ways = _rank_sums(2 * np.arange(1, first + second + 1), few)[few * (few + 1) :: 2]  # by U, from 0
    reached = np.cumsum(ways) / ways.sum()
    return int(np.searchsorted(reached, tail, side="right")) - 1


def _is_countable(first: int, second: int) -> bool:
    """Whether to count the distribution: for up to 100 runs, and for more if one side is too small to be normal."""
    few, total = min(first, second), first + second
    return total <= EXACT_RUNS or (few < FEW_RUNS and few * total <= EXACT_WORK)


def _doubled_ranks(values: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Twice the rank of each value, where ties share their mean rank, and the number of values at each rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (2 * last - counts + 1)[place], counts


def _rank_sums(doubled: NDArray[np.int64], few: int) -> Floats:
    """The number of choices of `few` runs for each sum of doubled ranks: the exact distribution of no difference."""
    ranks = np.sort(doubled)
    ways = np.zeros((few + 1, int(ranks[-few:].sum()) + 1))
    ways[0, 0] = 1
    reached = 0
    for seen, rank in enumerate(int(rank) for rank in ranks):
        most = min(seen + 1, few)
        reached = min(reached + rank, ways.shape[1] - 1)
        ways[1 : most + 1, rank : reached + 1] += ways[:most, : reached + 1 - rank]
    return np.asarray(ways[few])


def _asymptotic(doubled: NDArray[np.int64], ties: NDArray[np.int64], first: int) -> float:
    """The p-value by the normal distribution, corrected for ties and for the steps of U (continuity)."""
    total = len(doubled)
    second = total - first
    above = float(doubled[:first].sum()) / 2 - first * (first + 1) / 2
    larger = max(above, first * second - above)
    tied = float((ties.astype(np.float64) ** 3 - ties).sum())
    deviation = math.sqrt(first * second / 12 * (total + 1 - tied / (total * (total - 1))))
    z = (larger - first * second / 2 - 0.5) / deviation
    return min(1.0, math.erfc(z / math.sqrt(2)))
