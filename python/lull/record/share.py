"""Energy by share of CPU time, for what no meter measures; of the kind `derived` or weaker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from lull.record.schema import Energy, EnergyKind, Repeat, weakest
from lull.record.totals import processors


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


def typical_energy(energies: Sequence[Energy | None]) -> TypicalEnergy | None:
    """The median of energies, one per repeat; None if a repeat has none."""
    read = [energy for energy in energies if energy is not None]
    if not read or len(read) < len(energies):
        return None
    joules = median(one.joules for one in read)
    return TypicalEnergy(joules, weakest([one.kind for one in read]), any(one.lower_bound for one in read))
