"""The energy of a node that counts nothing twice, out of channels that overlap.

A meter of the whole node already holds its parts: the controller's (pm_counters, ipmi, redfish), the outlet's (snmp),
or the platform counter psys, the most direct of them. Without one, the parts are packages, memory and accelerators.
Packages and memory come from one source each: two sources of one domain read the same silicon twice. Accelerators of
different makers have different sources and are added, with these exceptions:

- pm_counters counts accelerators of any maker, so nothing else does beside it;
- rocm and hwmon's amdgpu show the same cards;
- a module of Grace Hopper (grace:module-N) holds its GPU.

The wire is derived, never measured apart from the node, so it stands beside the total and is not added to it; nor are
network cards (domain `nic`).
"""

from __future__ import annotations

from collections.abc import Iterable

from lull.record import Domain, Energy, EnergyKind, weakest

PARTS = (Domain.PACKAGE, Domain.DRAM, Domain.GPU)


def counted(energies: Iterable[Energy]) -> dict[str, list[Energy]]:
    """For every node the energies that make up its total, nothing twice: what meters the node itself, else its parts.

    A node without a package (only a wire, only memory) is left out: nothing is made up.
    """
    found: dict[str, list[Energy]] = {}
    for node, on_node in _by_node(energies).items():
        whole = _of_one_source(on_node, Domain.NODE)
        packages = _of_one_source(on_node, Domain.PACKAGE)
        parts = [packages, _of_one_source(on_node, Domain.DRAM), _accelerators(on_node, packages)]
        if whole:
            found[node] = whole[:1]
        elif parts[0]:
            found[node] = [energy for part in parts for energy in part]
    return found


def node_totals(energies: Iterable[Energy]) -> list[Energy]:
    """Per node its total (domain `node`) and, where wire channels are, their sum (domain `wire`).

    The sum of parts is labelled in words in `channel` and by the weakest kind of its parts.
    """
    energies = list(energies)
    whole = counted(energies)
    totals: list[Energy] = []
    for node, on_node in _by_node(energies).items():
        parts = whole.get(node, [])
        if parts and parts[0].domain is Domain.NODE:
            totals.append(parts[0])
        elif parts:
            totals.append(add(parts, Domain.NODE, " + ".join(dict.fromkeys(part.domain.value for part in parts))))
        wires = [energy for energy in on_node if energy.domain is Domain.WIRE]
        if wires:
            totals.append(add(wires, Domain.WIRE, " + ".join(energy.channel for energy in wires)))
    return totals


def add(parts: list[Energy], domain: Domain, channel: str) -> Energy:
    """The sum of `parts` (at least one; the sum bears the node of the first), labelled by the weakest of their kinds.

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


def _by_node(energies: Iterable[Energy]) -> dict[str, list[Energy]]:
    by_node: dict[str, list[Energy]] = {}
    for energy in energies:
        by_node.setdefault(energy.node, []).append(energy)
    return by_node


def _accelerators(energies: list[Energy], packages: list[Energy]) -> list[Energy]:
    """The channels of accelerators that show no card twice and are not inside `packages`."""
    if any(energy.channel.startswith("grace:module-") for energy in packages):
        return []
    found = [energy for energy in energies if energy.domain is Domain.GPU]
    of_node = [energy for energy in found if energy.channel.startswith("pm_counters:")]
    if of_node:
        return of_node
    if any(energy.channel.startswith("rocm:") for energy in found):
        return [energy for energy in found if not energy.channel.startswith("hwmon:amdgpu")]
    return found


def _of_one_source(energies: list[Energy], domain: Domain) -> list[Energy]:
    """The channels of `domain` from its most direct source, the first of equals. A source is what precedes a colon."""
    sources: dict[str, list[Energy]] = {}
    for energy in energies:
        if energy.domain is domain:
            sources.setdefault(energy.channel.partition(":")[0], []).append(energy)
    order = list(EnergyKind)
    return min(sources.values(), key=lambda found: order.index(weakest([e.kind for e in found])), default=[])
