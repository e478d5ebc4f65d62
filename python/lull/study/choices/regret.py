"""Regret: by how much `auto` takes more than the best fixed choice that is known afterwards. Numbers in, numbers out.

All alternatives of a point run in turn, round by round. In each round the ratio of `auto` to a fixed choice is of runs
that were seconds apart, so that a drift of the machine falls on both; the ratio of the two is the median over rounds.
The best is the choice of the greatest ratio. What is best by some runs is so by luck too: `auto` and all that the first
rounds tell to be better run in further rounds, and the regret is of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lull.statistics import bootstrap
from lull.statistics.bootstrap import Interval


@dataclass(frozen=True)
class Regret:
    """Of one point: a share, e.g. 0.03 where `auto` takes 3 % more than the best fixed choice."""

    best: str
    seen: Interval  # with its interval over rounds, beyond 0 where `auto` was better than all
    confirmed: bool = False  # of further rounds than those that told something to be better

    @property
    def told(self) -> float:
        """What exceeds the noise: 0 where the interval reaches to 0."""
        return self.seen.value if self.seen.low is not None and self.seen.low > 0 else 0.0

    @property
    def noise(self) -> float:
        """Half the width of the interval."""
        return 0.0 if self.seen.low is None or self.seen.high is None else (self.seen.high - self.seen.low) / 2


def regret(auto: Sequence[float], fixed: Mapping[str, Sequence[float]], rounds: int | None = None) -> Regret:
    """The regret of `auto`.

    Args:
        auto: What it took, round by round; positive.
        fixed: What each fixed choice took in the same rounds; at least one.
        rounds: The first ones, in which all took part; without it there are no others. Where some took part in further
            rounds, the regret is of these.
    """
    further = {name: took[rounds:] for name, took in fixed.items() if rounds is not None and len(took) > rounds}
    if further:
        auto = auto[rounds:]
    ratios = {name: ratio(auto, took) for name, took in (further or fixed).items()}
    best = max(ratios, key=lambda name: ratios[name].value)
    found = ratios[best]
    low, high = (None if end is None else end - 1 for end in (found.low, found.high))
    return Regret(best, Interval(found.value - 1, low, high), bool(further))


def better(auto: Sequence[float], fixed: Mapping[str, Sequence[float]]) -> set[str]:
    """The fixed choices that these runs tell to be better than `auto`."""
    return {name for name, took in fixed.items() if regret(auto, {name: took}).told > 0}


def ratio(above: Sequence[float], below: Sequence[float]) -> Interval:
    """The median of the ratios of the rounds, with the interval of 95 %; of few rounds from the least to the most."""
    of_rounds = np.asarray(above, dtype=np.float64) / np.asarray(below, dtype=np.float64)
    value = bootstrap.median(of_rounds)
    if len(of_rounds) < bootstrap.runs_for_interval():
        return Interval(value, float(of_rounds.min()), float(of_rounds.max()))
    drawn = bootstrap.resampled_medians(of_rounds.reshape(-1, 1))[:, 0]
    return bootstrap.percentile_interval(value, drawn)
