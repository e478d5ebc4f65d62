"""How much data a program moved, when a metric it reported counts bytes."""

from __future__ import annotations

from lull.record import Metric

BYTES_PER_MB = 1e6
UNITS = {
    **dict.fromkeys(("B", "byte", "bytes"), 1.0),
    **{prefix + "B": 1000.0**power for power, prefix in enumerate(("k", "M", "G", "T"), start=1)},
    **{prefix + "iB": 1024.0**power for power, prefix in enumerate(("K", "M", "G", "T"), start=1)},
}


def bytes_per_unit(unit: str) -> float | None:
    """How many bytes a unit stands for: B, kB, MB ..., KiB, MiB ...; None when it does not count bytes."""
    return UNITS.get(unit.strip())


def bytes_of(metric: Metric) -> float | None:
    """A metric in bytes; None when it counts something else."""
    factor = bytes_per_unit(metric.unit)
    return None if factor is None else metric.value * factor
