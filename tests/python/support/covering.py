"""Pairwise covering arrays: some of the cases of a product, which together contain each possible pair of values.

Most faults need one or two particular values, so that such a selection finds nearly what all cases find. `make test`
uses one, another for each seed; `make test-all` uses all cases.
"""

import heapq
import os
import random
import time
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from itertools import combinations
from typing import Any, TypeVar

Case = TypeVar("Case", bound=tuple[Any, ...])
"""A case is a tuple: the values of its factors, which have the same order in all cases."""

DAYS = 365
"""This many consecutive seeds choose each case at least once."""


def seed_of_today() -> int:
    """The seed in the variable SEED, or the day of the year."""
    return int(os.environ.get("SEED") or time.localtime().tm_yday)


def pairs(cases: Iterable[tuple[Any, ...]]) -> set[Hashable]:
    """The pairs of values, with their factors, that occur in the cases; of one factor alone, its values."""
    return {pair for case in cases for pair in combinations(enumerate(case), min(2, len(case)))}


def share(cases: Iterable[Case], seed: int, days: int = DAYS) -> set[Case]:
    """The cases that the seed chooses without regard to pairs, so that `days` consecutive seeds choose all of them."""
    order = list(cases)
    random.Random(0).shuffle(order)
    return set(order[seed % days :: days])


def cover(
    cases: Sequence[Case], seed: int, always: Collection[Case] = (), cost: Callable[[Case], float] = lambda _: 1.0
) -> set[Case]:
    """Cases with all pairs of all cases: those of `always`, the seed's share, and those that add most pairs for their
    cost.

    The seed decides among cases that add equally many.
    """
    chosen = set(always) | share(cases, seed)
    lacking = pairs(cases) - pairs(chosen)
    order = list(cases)
    random.Random(seed).shuffle(order)
    found = [(pairs([case]), cost(case)) for case in order]
    # What a case adds only decreases: one that still adds as much as when it was queued adds most.
    queue = [(-len(here) / price, place) for place, (here, price) in enumerate(found)]
    heapq.heapify(queue)
    while lacking:
        filed, place = heapq.heappop(queue)
        here, price = found[place]
        adds = len(here & lacking) / price
        if adds == -filed:
            chosen.add(order[place])
            lacking -= here
        elif adds:
            heapq.heappush(queue, (-adds, place))
    return chosen
