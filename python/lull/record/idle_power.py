"""The idle power of a record's nodes: what they would draw without the program, from the record's `idle` powers.

An idle power applies to an energy only if both cover the same node and the same channel or sum of channels. Idle powers
of parts are therefore added by the same rule as energies of parts, that of `lull.record.totals`, which counts nothing
twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lull.base.energy_kind import EnergyKind, weakest
from lull.record.schema import Energy, IdlePower
from lull.record.totals import add, node_totals


@dataclass(frozen=True)
class IdleOfNodes:
    """Idle power of several nodes, with the systematic band of its sources."""

    watts: float
    low_w: float
    high_w: float
    kind: EnergyKind
    seconds: float  # the shortest time of measurement among the nodes


class IdlePowers:
    """The idle powers of a record, by what they cover."""

    def __init__(self, powers: Sequence[IdlePower]) -> None:
        self._seconds: dict[tuple[str, str], float] = {}
        for idle in powers:
            place = (idle.node, idle.channel)
            self._seconds[place] = self._seconds.get(place, 0.0) + idle.seconds
        # Powers are kept as energies of one second, so that one rule adds both.
        merged = [_of_a_second(powers, *place) for place in self._seconds]
        self._known = {(energy.node, energy.channel): energy for energy in [*node_totals(merged), *merged]}

    def watts(self, node: str, channel: str) -> float | None:
        """The idle power, in watts, of one channel, or of a total by its name; None if unknown."""
        found = self._known.get((node, channel))
        return None if found is None else found.joules

    def of(self, parts: Sequence[Energy]) -> IdleOfNodes | None:
        """The idle power of what `parts`, the totals of the nodes, cover; None if it is unknown for one of them."""
        found = [energy for part in parts if (energy := self._known.get((part.node, part.channel))) is not None]
        if not found or len(found) < len(parts):
            return None
        nodes = {energy.node for energy in found}
        whole = add(found, found[0].domain, "nodes")
        return IdleOfNodes(
            watts=whole.joules,
            low_w=whole.low_j,
            high_w=whole.high_j,
            kind=whole.kind,
            seconds=min(length for (node, _), length in self._seconds.items() if node in nodes),
        )


def _of_a_second(powers: Sequence[IdlePower], node: str, channel: str) -> Energy:
    """The mean idle power of one channel, weighted by the times of measurement, as the energy of one second."""
    same = [idle for idle in powers if (idle.node, idle.channel) == (node, channel)]
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
