"""The idle power of a record's nodes: what they would have drawn without the program, taken from its `idle` figures.

An idle power belongs to an energy only when both cover the same: one node and one channel, or one sum of channels. So
idle powers of parts are added exactly as energies of parts are, by `lull.record.totals`, nothing twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lull.record import Energy, EnergyKind, IdlePower, weakest
from lull.record.totals import node_totals


@dataclass(frozen=True)
class IdleOfNodes:
    """Idle power of several nodes together, with the systematic band of its sources."""

    watts: float
    low_w: float
    high_w: float
    kind: EnergyKind
    seconds: float  # how long it was measured, at the least, on any of the nodes


class IdlePowers:
    """The idle powers of a record, by what they cover."""

    def __init__(self, figures: Sequence[IdlePower]) -> None:
        self.seconds_: dict[tuple[str, str], float] = {}
        for idle in figures:
            place = (idle.node, idle.channel)
            self.seconds_[place] = self.seconds_.get(place, 0.0) + idle.seconds
        # The energy of one second has the figures of the power, so that energies and idle powers add up by one rule.
        merged = [_of_a_second(figures, *place) for place in self.seconds_]
        self.known_ = {(energy.node, energy.channel): energy for energy in [*node_totals(merged), *merged]}

    def of(self, parts: Sequence[Energy]) -> IdleOfNodes | None:
        """The idle power of just what `parts`, the totals of the nodes, cover; None where any of it is unknown."""
        found = [energy for part in parts if (energy := self.known_.get((part.node, part.channel))) is not None]
        if not found or len(found) < len(parts):
            return None
        nodes = {energy.node for energy in found}
        return IdleOfNodes(
            watts=sum(energy.joules for energy in found),
            low_w=sum(energy.low_j for energy in found),
            high_w=sum(energy.high_j for energy in found),
            kind=weakest([energy.kind for energy in found]),
            seconds=min(length for (node, _), length in self.seconds_.items() if node in nodes),
        )


def _of_a_second(figures: Sequence[IdlePower], node: str, channel: str) -> Energy:
    """The idle powers of one channel, averaged by the time they were measured for, as the energy of one second."""
    same = [idle for idle in figures if (idle.node, idle.channel) == (node, channel)]
    total = sum(idle.seconds for idle in same)

    def mean(values: Sequence[float]) -> float:
        return sum(value * idle.seconds for value, idle in zip(values, same, strict=True)) / total

    return Energy(
        node=node,
        domain=same[0].domain,
        channel=channel,
        kind=weakest([idle.kind for idle in same]),
        joules=mean([idle.watts for idle in same]),
        low_j=mean([idle.low_w for idle in same]),
        high_j=mean([idle.high_w for idle in same]),
    )
