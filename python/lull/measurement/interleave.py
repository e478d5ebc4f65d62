"""Runs in turn: round after round, each member once, so that a drift of the machine falls on all alike.

The order within a round is drawn anew from a seed and the round's number: with a fixed order the second member would
always run in the warmth that the first left. It does not depend on what ran before, so a resumed series runs what an
uninterrupted one would. Rounds below 0 are warm-ups. The commands of `lull measure`, the points of a study and the
simulations of a sweep take their turns from here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from lull.base.interrupts import Interrupts
from lull.measurement.repeat import MeasuredRepeat

T = TypeVar("T")


@dataclass(frozen=True)
class Turn(Generic[T]):
    """One run that is to come: of which member, and which of its repeats, from 0; negative for warm-ups."""

    of: T
    number: int


def order(members: Sequence[T], number: int, seed: int | None) -> list[T]:
    """The members as they run in round `number`; as they are without a seed."""
    drawn = list(members)
    if seed is not None:
        random.Random(f"{seed}/{number}").shuffle(drawn)
    return drawn


def interleaved(
    members: Sequence[T], rounds: Iterable[int], seed: int | None, *, wanted: Callable[[T, int], bool]
) -> Iterator[Turn[T]]:
    """The turns of all members, as they are due.

    Args:
        members: What is run.
        rounds: Their numbers; the next is asked for when all turns of the one before have been taken, so that it may
            end by what these gave.
        seed: Of the order in each round; None keeps that of `members`, for runs that no drift reaches.
        wanted: Whether a member takes part in a round: not where its repeat is there already.
    """
    for number in rounds:
        for member in order(members, number, seed):
            if wanted(member, number):
                yield Turn(member, number)


def take_turns(
    turns: Iterable[Turn[T]],
    measure: Callable[[Turn[T]], MeasuredRepeat],
    interrupts: Interrupts,
    asked: str,
    *,
    begins: Callable[[Turn[T]], None],
    ended: Callable[[Turn[T], MeasuredRepeat], None],
) -> None:
    """Measure turn by turn, one at a time.

    Args:
        turns: What is run, in this order.
        measure: Runs one of them.
        interrupts: Signals that may ask to stop.
        asked: What is being done, for the line that says it was stopped.
        begins: Called before each.
        ended: Called after each with its result, and keeps it.

    Raises:
        InterruptedBySignal: A signal asked to stop; turns that ended are kept.
        LullError: What `measure` or `ended` raises.
    """
    for turn in turns:
        interrupts.check(asked)
        begins(turn)
        ended(turn, measure(turn))
