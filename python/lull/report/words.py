"""The section of a report on the meaning of its words."""

from __future__ import annotations

from typing import Final

from lull.record import EnergyKind
from lull.report.section import ReportData
from lull.statistics import bootstrap, gpsup

KINDS: Final = {
    EnergyKind.MEASURED: "read from a hardware meter",
    EnergyKind.VENDOR_MODEL: "computed inside the processor or device by the vendor's model (e.g. RAPL)",
    EnergyKind.DERIVED: "computed from a measured quantity by a stated formula, e.g. bytes sent times energy per byte",
    EnergyKind.ESTIMATED: "computed from activity with published coefficients; no meter was readable",
    EnergyKind.SIMULATED: "the output of a simulator",
}


def words(_: ReportData) -> dict[str, object]:
    """Kinds of energy, and categories of comparisons."""
    return {
        "categories": gpsup.CATEGORIES,
        "delta": f"{gpsup.DELTA:.0%}".replace("%", " %"),
        "least_runs": bootstrap.runs_for_interval(),
    }
