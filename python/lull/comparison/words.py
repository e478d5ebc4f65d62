"""What comparisons say in words: their category, what their energies cover, and the band of the sensors."""

from __future__ import annotations

from lull.comparison.bytes_moved import BYTES_PER_MB
from lull.comparison.result import Comparison, Marginal
from lull.statistics import formatting


def category_words(found: Comparison) -> str:
    """The category with its number, or why there is none."""
    return f"{found.category}: {found.outcome}" if found.category else found.outcome


def scope_words(found: Comparison) -> str:
    """What the energies cover, and their sources."""
    scopes = dict.fromkeys((found.baseline.scope, found.candidate.scope))
    wire = found.baseline.wire or found.candidate.wire
    return "; ".join(scopes) + (". Wire bytes are those sent and received, over all nodes" if wire else "")


def sensor_words(found: Comparison) -> str:
    """The effect of the sensor band on Greenup, as a sentence."""
    words = "The sensor band is the source's own error; more runs do not narrow it."
    if found.sensor.cancels:
        return f"{words} In Greenup it largely cancels: the same node, read by the same channels."
    high = found.sensor.greenup_high
    ends = f"{formatting.three_digits(found.sensor.greenup_low)} to {formatting.three_digits(high) if high else 'any'}"
    return f"{words} Nodes or channels differ, so it does not cancel: by it alone Greenup may be {ends}."


def marginal_words(found: Marginal) -> str:
    """The energy of one more megabyte, as a sentence."""
    cost = formatting.si(found.j_per_mb.value, "J")
    if found.j_per_mb.low is not None and found.j_per_mb.high is not None:
        cost += f" ({formatting.si_range(found.j_per_mb.low, found.j_per_mb.high, 'J')})"
    moved = formatting.si_range(found.least_mb * BYTES_PER_MB, found.most_mb * BYTES_PER_MB, "B")
    return (
        f"Each further MB costs {cost}, {found.kind.value}: least squares over {found.runs} runs of {found.records}"
        f" records that differ in {found.factor} and move {moved} ({found.basis})."
    )
