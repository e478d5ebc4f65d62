"""The amount of data that a program moved, if a metric of the program counts bytes."""

from __future__ import annotations

from lull.record import Metric

BYTES_PER_MB = 1e6
UNITS = {
    **dict.fromkeys(("B", "byte", "bytes"), 1.0),
    **{prefix + "B": 1000.0**power for power, prefix in enumerate(("k", "M", "G", "T"), start=1)},
    **{prefix + "iB": 1024.0**power for power, prefix in enumerate(("K", "M", "G", "T"), start=1)},
}


def bytes_per_unit(unit: str) -> float | None:
    """The bytes in a unit: B, kB, MB ..., KiB, MiB ...; None if it does not count bytes."""
    return UNITS.get(unit.strip())


def bytes_of(metric: Metric) -> float | None:
    """A metric in bytes; None if it counts something else."""
    factor = bytes_per_unit(metric.unit)
    return None if factor is None else metric.value * factor
