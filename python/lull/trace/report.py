"""The traces among records, for a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lull import record
from lull.record.labels import distinct
from lull.report.tabled_plot import TabledPlot
from lull.trace.account import analyse
from lull.trace.convert import is_trace
from lull.trace.plots import plots_of


def plots_of_records(folders: Sequence[Path]) -> list[TabledPlot]:
    """The plots of the records that are also traces; titles name the record if there are several.

    Raises:
        LullError: An archive is damaged, or this Lull was built without OTF2.
    """
    traced = [folder for folder in folders if is_trace(folder)]
    runs = distinct(traced, [record.read(folder) for folder in traced])
    found: list[TabledPlot] = []
    for number, (folder, run) in enumerate(zip(traced, runs, strict=True), 1):
        plots = plots_of(analyse(folder), run.label if len(traced) > 1 else "")
        found += [replace(one, name=f"{one.name}-{number}") for one in plots] if len(traced) > 1 else plots
    return found
