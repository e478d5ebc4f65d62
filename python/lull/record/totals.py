"""The energy of a node from channels that overlap, with nothing counted twice; and that of several nodes.

Every sum of joules or watts is computed here; powers are given as energies of one second. The meter
(src/meter/totals.hpp) decides which channels count, here and everywhere else. The energy of the wire is derived and
never measured apart from the node, so it is reported separately and not added to the total; nor is that of network
cards (domain `nic`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lull import _core
from lull.base.energy_kind import weakest
from lull.record.schema import Domain, Energy

PARTS = (Domain.PACKAGE, Domain.DRAM, Domain.GPU)


def counted(energies: Iterable[Energy]) -> dict[str, list[Energy]]:
    """For every node, the energies that make up its total: that of a meter of the whole node, otherwise of its parts.

    A meter of the node that counted less than the parts inside the node is ignored. If only accelerators are metered,
    the total consists of these. A node with neither (only a wire, only memory) is left out, rather than guessed.
    """
    found: dict[str, list[Energy]] = {}
    for node, on_node in _by_node(energies).items():
        labels = [(of.channel, of.domain.value, of.kind.value, of.low_j, of.high_j) for of in on_node]
        if parts := [on_node[i] for i in _core.counted(labels)]:
            found[node] = parts
    return found


def node_totals(energies: Iterable[Energy]) -> list[Energy]:
    """For each node its total (domain `node`) and, if it has wire channels, their sum (domain `wire`).

    `channel` names the parts of a sum in words; its kind is the weakest of theirs. If only accelerators are metered,
    their sum has the domain `gpu`, since it is not the energy of the node.
    """
    energies = list(energies)
    whole = counted(energies)
    totals: list[Energy] = []
    for node, on_node in _by_node(energies).items():
        parts = whole.get(node, [])
        if parts and parts[0].domain is Domain.NODE:
            totals.append(parts[0])
        elif parts:
            alone = all(part.domain is Domain.GPU for part in parts)
            words = " + ".join(dict.fromkeys(part.domain.value for part in parts))
            totals.append(add(parts, Domain.GPU if alone else Domain.NODE, words))
        wires = [energy for energy in on_node if energy.domain is Domain.WIRE]
        if wires:
            totals.append(add(wires, Domain.WIRE, " + ".join(energy.channel for energy in wires)))
    return totals


def disbelieved(energies: Iterable[Energy]) -> list[Energy]:
    """The energies of meters of a whole node that counted less than the packages and memory inside it."""
    energies = list(energies)
    inside = [energy for energy in energies if energy.domain in (Domain.PACKAGE, Domain.DRAM)]
    return [
        one
        for one in energies
        if one.domain is Domain.NODE
        and one not in counted([one, *(part for part in inside if part.node == one.node)]).get(one.node, [])
    ]


def processors(energies: Iterable[Energy]) -> Energy | None:
    """The energy of the processors, summed over the nodes; None if no node has any.

    For a node it is that of its packages and memory, or, if only the whole node is metered, that of the node.
    """
    energies = list(energies)
    whole = counted(energies)
    inside = counted(energy for energy in energies if energy.domain in (Domain.PACKAGE, Domain.DRAM))
    of_nodes = [inside.get(node, of_node) for node, of_node in whole.items()]
    parts = [part for of_node in of_nodes for part in of_node if part.domain is not Domain.GPU]
    if not parts:
        return None
    return add(parts, Domain.NODE, " + ".join(dict.fromkeys(part.domain.value for part in parts)))


def add(parts: Sequence[Energy], domain: Domain, channel: str) -> Energy:
    """The sum of `parts` (at least one), with the node of the first and the weakest of their kinds.

    Its bounds are the sums of the bounds: errors of a source are systematic and do not cancel.
    """
    counted = [part.bytes for part in parts if part.bytes is not None]
    return Energy(
        node=parts[0].node,
        domain=domain,
        channel=channel,
        kind=weakest([part.kind for part in parts]),
        joules=sum(part.joules for part in parts),
        low_j=sum(part.low_j for part in parts),
        high_j=sum(part.high_j for part in parts),
        bytes=sum(counted) if counted else None,
        wraps=sum(part.wraps for part in parts),
        gaps=sum(part.gaps for part in parts),
        resets=sum(part.resets for part in parts),
        stale=sum(part.stale for part in parts),
        lower_bound=any(part.lower_bound for part in parts),
    )


@dataclass(frozen=True)
class OverNodes:
    """The energy of one domain, summed over nodes."""

    energy: Energy
    nodes: int


def over_nodes(totals: Sequence[Energy]) -> dict[Domain, OverNodes]:
    """The totals of `node_totals`, or of a repeat, by domain, summed over the nodes."""
    domains = dict.fromkeys(total.domain for total in totals)
    found = {domain: [total for total in totals if total.domain is domain] for domain in domains}
    return {
        domain: OverNodes(add(parts, domain, parts[0].channel), len({part.node for part in parts}))
        for domain, parts in found.items()
    }


def _by_node(energies: Iterable[Energy]) -> dict[str, list[Energy]]:
    by_node: dict[str, list[Energy]] = {}
    for energy in energies:
        by_node.setdefault(energy.node, []).append(energy)
    return by_node
