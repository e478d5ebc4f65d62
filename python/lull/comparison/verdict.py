"""A comparison as one sentence about the candidate."""

from __future__ import annotations

from lull.comparison.quantity import Quantity
from lull.statistics import bootstrap, formatting, gpsup
from lull.statistics.gpsup import Outcome, Side

FINE = 1.2  # ratios below this are told in percent, above as "times"


def verdict(first: Quantity, second: Quantity, speedup: float, greenup: float, outcome: Outcome | None) -> str:
    """The comparison as one sentence about the candidate."""
    name = second.run.label
    if outcome is None:
        return (
            f"too few runs to tell: {len(first.samples)} of {first.run.label} and {len(second.samples)} of {name},"
            f" at least {bootstrap.runs_for_interval()} of each are needed"
        )
    time = {
        Side.ABOVE: f"is {_more(speedup)} faster",
        Side.BELOW: f"is {_more(1 / speedup)} slower",
        Side.SAME: "takes the same time",
        Side.UNDECIDED: "shows no clear difference in time",
    }[outcome.speed]
    energy = {
        Side.ABOVE: f"uses {_less(greenup)} less energy",
        Side.BELOW: f"uses {_more(1 / greenup)} more energy",
        Side.SAME: "uses the same energy",
        Side.UNDECIDED: "shows no clear difference in energy",
    }[outcome.green]
    if outcome.speed is outcome.green and outcome.speed in (Side.SAME, Side.UNDECIDED):
        both = (
            "takes the same time and energy"
            if outcome.speed is Side.SAME
            else ("shows no clear difference in time or energy")
        )
        return f"{name} {both}"
    group = f" (category {outcome.category}: {outcome.name})" if outcome.category else ""
    return f"{name} {time} and {energy}{group}"


def _more(ratio: float) -> str:
    """How much faster, slower or more: 2.1× or, of small differences, 4.2 %."""
    return f"{formatting.three_digits(ratio)}×" if ratio >= FINE else formatting.percent(ratio - 1)


def _less(ratio: float) -> str:
    """How much less: 1.8× or, of small differences, the share saved."""
    return f"{formatting.three_digits(ratio)}×" if ratio >= FINE else formatting.percent(gpsup.reduction(ratio))
