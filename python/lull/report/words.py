"""The section of a report on the meaning of its words."""

from __future__ import annotations

from lull.report.section import ReportData
from lull.statistics import bootstrap, gpsup


def words(_: ReportData) -> dict[str, object]:
    """Kinds of energy, and categories of comparisons."""
    return {
        "categories": gpsup.CATEGORIES,
        "delta": f"{gpsup.DELTA:.0%}".replace("%", " %"),
        "least_runs": bootstrap.runs_for_interval(),
    }
