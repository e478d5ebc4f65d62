"""Interleaved runs: in every round each member runs once, so that a drift of the machine affects all alike.

A seed and the number of the round determine the order in the round: in a fixed order, the second member would always
run on a machine that the first has warmed up. The order does not depend on what ran before, so a resumed series runs
what an uninterrupted one would. Rounds below 0 are warm-ups. The commands of `lull measure`, the points of a study and
the simulations of a sweep are interleaved here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from lull.base.interrupts import Interrupts

T = TypeVar("T")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Turn(Generic[T]):
    """One run to come: its member, and the number of the repeat, from 0; negative for warm-ups."""

    of: T
    number: int


def order(members: Sequence[T], number: int, seed: int | None) -> list[T]:
    """The members in the order of round `number`; without a seed, in the order given."""
    drawn = list(members)
    if seed is not None:
        random.Random(f"{seed}/{number}").shuffle(drawn)
    return drawn


def interleaved(
    members: Sequence[T], rounds: Iterable[int], seed: int | None, *, wanted: Callable[[T, int], bool]
) -> Iterator[Turn[T]]:
    """The turns of all members, in the order in which they run.

    Args:
        members: What is run.
        rounds: Their numbers. The next number is taken after all turns of the round before, so that the results of
            these may end the iteration.
        seed: Seed of the order in each round; None keeps that of `members`, for runs that no drift affects.
        wanted: Whether a member takes part in a round; it does not if its repeat exists already.
    """
    for number in rounds:
        for member in order(members, number, seed):
            if wanted(member, number):
                yield Turn(member, number)


def take_turns(
    turns: Iterable[Turn[T]],
    run: Callable[[Turn[T]], Result],
    interrupts: Interrupts,
    asked: str,
    *,
    begins: Callable[[Turn[T]], None],
    ended: Callable[[Turn[T], Result], None],
) -> None:
    """Run turn by turn, one at a time.

    Args:
        turns: What to run, in this order.
        run: Runs one turn.
        interrupts: Signals that may ask to stop.
        asked: The action, for the line that reports a stop.
        begins: Called before each run.
        ended: Called after each run with its result, to keep it.

    Raises:
        InterruptedBySignal: A signal asked to stop; turns that ended are kept.
        LullError: What `run` or `ended` raises.
    """
    for turn in turns:
        interrupts.check(asked)
        begins(turn)
        ended(turn, run(turn))
