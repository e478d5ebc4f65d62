"""How energy figures were obtained, and the kind of their sums."""

from __future__ import annotations

from enum import StrEnum


class EnergyKind(StrEnum):
    """How an energy figure was obtained, from the most to the least direct."""

    MEASURED = "measured"
    VENDOR_MODEL = "vendor-model"
    DERIVED = "derived"
    ESTIMATED = "estimated"
    SIMULATED = "simulated"


def weakest(kinds: list[EnergyKind]) -> EnergyKind:
    """The kind of a sum: that of its least direct part. `kinds` must not be empty."""
    order = list(EnergyKind)
    return max(kinds, key=order.index)
