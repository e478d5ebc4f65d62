"""A comparison as one sentence about the candidate."""

from __future__ import annotations

from lull.comparison.quantity import Quantity
from lull.comparison.result import RankTests
from lull.statistics import bootstrap, formatting, gpsup
from lull.statistics.gpsup import Outcome, Side

FINE = 1.2  # ratios below this are given in percent, others as a factor


LEVEL = 1 - bootstrap.CONFIDENCE


def verdict(
    first: Quantity, second: Quantity, speedup: float, greenup: float, outcome: Outcome | None, tests: RankTests
) -> str:
    """The comparison as one sentence about the candidate, consistent with the tests printed with it."""
    name = second.run.label
    if outcome is None:
        return (
            f"too few runs to tell: {len(first.samples)} of {first.run.label} and {len(second.samples)} of {name},"
            f" at least {bootstrap.runs_for_interval()} of each are needed"
        )
    time = {
        Side.ABOVE: f"is {_more(speedup)} faster",
        Side.BELOW: f"is {_more(1 / speedup)} slower",
        Side.SAME: "takes nearly the same time" if tests.time_p < LEVEL else "takes the same time",
        Side.UNDECIDED: _undecided("time", tests.time_p),
    }[outcome.speed]
    energy = {
        Side.ABOVE: f"uses {_less(greenup)} less energy",
        Side.BELOW: f"uses {_more(1 / greenup)} more energy",
        Side.SAME: "uses nearly the same energy" if tests.energy_p < LEVEL else "uses the same energy",
        Side.UNDECIDED: _undecided("energy", tests.energy_p),
    }[outcome.green]
    neither = tests.time_p >= LEVEL and tests.energy_p >= LEVEL
    if neither and outcome.speed is outcome.green and outcome.speed in (Side.SAME, Side.UNDECIDED):
        both = (
            "takes the same time and energy"
            if outcome.speed is Side.SAME
            else ("shows no clear difference in time or energy")
        )
        return f"{name} {both}"
    group = f" (category {outcome.category}: {outcome.name})" if outcome.category else ""
    return f"{name} {time} and {energy}{group}"


def _undecided(what: str, p: float) -> str:
    return f"differs in {what}, by how much is undecided" if p < LEVEL else f"shows no clear difference in {what}"


def _more(ratio: float) -> str:
    """How much faster, slower or more: 2.1× or, for small differences, 4.2 %."""
    return f"{formatting.three_digits(ratio)}×" if ratio >= FINE else formatting.percent(ratio - 1)


def _less(ratio: float) -> str:
    """How much less: 1.8× or, for small differences, the share saved."""
    return f"{formatting.three_digits(ratio)}×" if ratio >= FINE else formatting.percent(gpsup.reduction(ratio))
