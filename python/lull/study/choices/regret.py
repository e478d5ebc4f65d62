"""Regret: by how much `auto` exceeds the fixed choice that was best in hindsight. All functions are pure.

All alternatives of a point run in turn, round by round. The ratio of `auto` to a fixed choice is computed in each
round, from runs that were seconds apart, so that a drift of the machine affects both; the median over rounds is the
ratio of the two. The best choice has the greatest ratio. In a few runs, a choice may be best by chance: `auto` and all
choices that the first rounds show to be better therefore run in more rounds, from which the regret is computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lull.statistics import bootstrap
from lull.statistics.bootstrap import Interval


@dataclass(frozen=True)
class Regret:
    """The regret of one point, as a share: 0.03 if `auto` takes 3 % more than the best fixed choice."""

    best: str
    seen: Interval  # with its interval over rounds; below 0 if `auto` was better than all
    confirmed: bool = False  # whether it comes from rounds after those that showed a better choice

    @property
    def told(self) -> float:
        """The regret if it exceeds the noise; 0 if the interval contains 0."""
        return self.seen.value if self.seen.low is not None and self.seen.low > 0 else 0.0

    @property
    def noise(self) -> float:
        """Half the width of the interval."""
        return 0.0 if self.seen.low is None or self.seen.high is None else (self.seen.high - self.seen.low) / 2


def regret(auto: Sequence[float], fixed: Mapping[str, Sequence[float]], rounds: int | None = None) -> Regret:
    """The regret of `auto`.

    Args:
        auto: Its cost in each round; positive.
        fixed: The cost of each fixed choice in the same rounds; at least one choice.
        rounds: Number of first rounds, in which all took part; None: there are no others. If some took part in later
            rounds, the regret is computed from these.
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
    """The fixed choices that these runs show to be better than `auto`."""
    return {name for name, took in fixed.items() if regret(auto, {name: took}).told > 0}


def ratio(above: Sequence[float], below: Sequence[float]) -> Interval:
    """The median of the rounds' ratios, with its 95 % interval; with few rounds, the range of the ratios."""
    of_rounds = np.asarray(above, dtype=np.float64) / np.asarray(below, dtype=np.float64)
    value = bootstrap.median(of_rounds)
    if len(of_rounds) < bootstrap.runs_for_interval():
        return Interval(value, float(of_rounds.min()), float(of_rounds.max()))
    drawn = bootstrap.resampled_medians(of_rounds.reshape(-1, 1))[:, 0]
    return bootstrap.percentile_interval(value, drawn)
