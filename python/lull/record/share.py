"""Energy by share of CPU time, for what no meter measures; of the kind `derived` or weaker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from lull import _core
from lull.base.energy_kind import EnergyKind, weakest
from lull.record.idle_power import IdlePowers
from lull.record.schema import Domain, Energy, Repeat, Run
from lull.record.totals import add, counted, processors


@dataclass(frozen=True)
class TypicalEnergy:
    """The median of several energies, with the weakest of their kinds."""

    joules: float
    kind: EnergyKind
    lower_bound: bool


def energy_of_share(repeat: Repeat, cpu_s: float, of_cpu_s: float) -> Energy | None:
    """The energy of the processors in `repeat` times `cpu_s` / `of_cpu_s`; None if no meter read them."""
    whole = processors(repeat.energy)
    if whole is None or of_cpu_s <= 0:
        return None
    share = cpu_s / of_cpu_s
    return whole.model_copy(
        update={
            "kind": weakest([whole.kind, EnergyKind.DERIVED]),
            "joules": whole.joules * share,
            "low_j": whole.low_j * share,
            "high_j": whole.high_j * share,
        }
    )


SHARED = 0.05  # share of the CPUs above which the load by other programs matters


def load_of_others(repeat: Repeat, cores: int) -> float | None:
    """The share of the CPUs, 0 to 1, that other programs used; None if it is unknown."""
    if repeat.others_cpu_s is None or repeat.wall_s <= 0:
        return None
    return min(1.0, repeat.others_cpu_s / (repeat.wall_s * max(cores, 1)))


def share_of_node(run: Run, repeat: Repeat) -> Energy | None:
    """The command's share of the energy of a node that it shared with other programs; None if it is unknown.

    Idle energy goes by the CPUs that the command could use, if the record has the idle power, and the rest by CPU time
    (src/account/command_share.hpp); without idle power, the interval reaches to where all energy is idle. Accelerators
    are left out, because CPU time says nothing about them.
    """
    if len(run.hosts) != 1 or repeat.ranks or repeat.others_cpu_s is None or repeat.node_cpus is None:
        return None
    idle = IdlePowers(run.idle)
    parts = [part for of_node in counted(repeat.energy).values() for part in of_node if part.domain is not Domain.GPU]
    if not parts:
        return None
    figures = _core.share_of_command(
        [
            (p.channel, p.domain.value, p.kind.value, p.joules, p.low_j, p.high_j, idle.watts(p.node, p.channel))
            for p in parts
        ],
        seconds=repeat.wall_s,
        cpu_s=repeat.cpu_s,
        others_cpu_s=repeat.others_cpu_s,
        command_cpus=run.hosts[0].cores,
        cpus=max(run.hosts[0].cores, repeat.node_cpus),
    )
    shares = [
        part.model_copy(
            update={
                "kind": weakest([part.kind, EnergyKind.DERIVED]),
                "joules": joules,
                "low_j": low_j,
                "high_j": max(joules, high_j),
            }
        )
        for part, (joules, low_j, high_j, _) in zip(parts, figures, strict=True)
    ]
    return add(shares, Domain.NODE, "share of " + " + ".join(dict.fromkeys(part.domain.value for part in parts)))


def typical_energy(energies: Sequence[Energy | None]) -> TypicalEnergy | None:
    """The median of energies, one per repeat; None if a repeat has none."""
    read = [energy for energy in energies if energy is not None]
    if not read or len(read) < len(energies):
        return None
    joules = median(one.joules for one in read)
    return TypicalEnergy(joules, weakest([one.kind for one in read]), any(one.lower_bound for one in read))
