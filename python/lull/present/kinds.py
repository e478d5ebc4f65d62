"""The kinds of energy as readers see them: what each means, and its one colour on every screen."""

from __future__ import annotations

from typing import Final

from lull.base.energy_kind import EnergyKind

MEANINGS: Final = {
    EnergyKind.MEASURED: "read from a hardware meter",
    EnergyKind.VENDOR_MODEL: "computed inside the processor or device by the vendor's model (e.g. RAPL)",
    EnergyKind.DERIVED: "computed from a measured quantity by a stated formula, e.g. bytes sent times energy per byte",
    EnergyKind.ESTIMATED: "computed from activity with published coefficients; no meter was readable",
    EnergyKind.SIMULATED: "the output of a simulator",
}

COLOURS: Final = {
    EnergyKind.MEASURED: "green",
    EnergyKind.VENDOR_MODEL: "green",
    EnergyKind.DERIVED: "cyan",
    EnergyKind.ESTIMATED: "yellow",
    EnergyKind.SIMULATED: "magenta",
}


_BY_WORD: Final = {kind.value: kind for kind in EnergyKind}


def meaning_of(word: str) -> str:
    """The meaning of a kind; empty if `word` is none."""
    return MEANINGS[_BY_WORD[word]] if word in _BY_WORD else ""


def colour_of(word: str) -> str:
    """The colour of a kind; empty if `word` is none."""
    return COLOURS[_BY_WORD[word]] if word in _BY_WORD else ""
