"""Simulations as one offline HTML file, and their plots as files."""

from __future__ import annotations

from pathlib import Path

from lull import record
from lull.record.labels import distinct
from lull.report.write import PlotFiles, records_in, with_baseline, write_page
from lull.simulation.account import read_simulation
from lull.simulation.page import render_simulations
from lull.simulation.plots import write_plots


def write_simulation_report(
    folders: list[Path],
    out: Path,
    title: str | None = None,
    *,
    baseline: Path | None = None,
    plot_files: PlotFiles | None = None,
) -> list[Path]:
    """Write one HTML file about the simulations in `folders`, the baseline first; return the files of plots.

    Raises:
        LullError: A record cannot be read, or a file cannot be written.
    """
    found, first = with_baseline(records_in(folders), baseline)
    text = render_simulations(found, title=title, baseline=first)
    made = []
    if plot_files is not None:
        runs = distinct(found, [record.read(folder) for folder in found])
        named = [(run.label, read_simulation(folder)) for run, folder in zip(runs, found, strict=True)]
        made = write_plots(plot_files.folder, named, plot_files.format)
    write_page(out, text)
    return made
