"""The sections of a report on where the energy of the runs went: by domain, and over time."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lull import record
from lull.comparison.quantity import Quantity
from lull.record import Energy
from lull.report import plots
from lull.report.section import Body, Figure, ReportData
from lull.report.svg import Plot


def domains(data: ReportData) -> Body | None:
    """A bar of domains for each record."""
    if not data.few:
        return None
    caption = (
        "Mean over the runs. Hatched parts are derived, estimated or simulated. Energy on the wire is a separate bar "
        "and never stacked on the others, because a meter may already include part of it. " + data.energy_words
    )
    plot = plots.energy_by_domain([(name, _energies(of, data.region)) for name, of in data.quantities])
    return Body(figure=Figure("domains", plot, caption))


def _energies(of: Quantity, region: str | None) -> list[list[Energy]]:
    """The energies of each successful repeat, or of its region."""
    counts = {sample.index for sample in of.samples}
    repeats = [repeat for repeat in of.run.repeats if repeat.index in counts]
    if region is None:
        return [repeat.energy or repeat.totals for repeat in repeats]
    return [part.energy for repeat in repeats for part in repeat.regions if part.name == region]


@dataclass(frozen=True)
class PowerPlot:
    """The power of one repeat over time."""

    title: str
    name: str  # base name of the plot's file
    plot: Plot


def power(data: ReportData) -> list[PowerPlot] | None:
    """The plot of the typical repeat of each record that has samples."""
    if not data.few:
        return None
    found: list[PowerPlot] = []
    for place, (folder, run) in enumerate(zip(data.folders, data.runs, strict=True), 1):
        repeat = plots.typical_repeat(run)
        if repeat is None:
            continue
        plot = plots.power_over_time(run, record.read_samples(folder), repeat)
        if plot is not None:
            name = f"power-{place}-{re.sub('[^A-Za-z0-9]+', '-', run.label).strip('-').lower()}".strip("-")
            found.append(PowerPlot(f"{run.label}, repeat {repeat + 1}", name, plot))
    return found or None
