"""Write records and their comparisons as one offline HTML file, and the plots as separate files.

`lull.report.page` collects the data of the page, `lull.report.sections` lists its sections.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lull import record
from lull.base.errors import LullError, UsageError
from lull.base.text import readable
from lull.base.whole_file import write_whole
from lull.comparison.result import Comparison

if TYPE_CHECKING:
    from lull.report.svg import Plot
    from lull.report.tabled_plot import TabledPlot


@dataclass(frozen=True)
class PlotFiles:
    """The folder and format (svg or pdf) of a report's plot files."""

    folder: Path
    format: str


def write_report(
    folders: list[Path],
    out: Path,
    title: str | None = None,
    comparisons: list[tuple[str, Comparison]] | None = None,
    claims: list[dict[str, str]] | None = None,
    *,
    curves: Sequence[TabledPlot] = (),
    impacts: Sequence[TabledPlot] = (),
    bars: Sequence[TabledPlot] = (),
    traces: Sequence[TabledPlot] = (),
    source: str = "",
    baseline: Path | None = None,
    region: str | None = None,
    per: str | None = None,
    allow_mixed: bool = False,
    plot_files: PlotFiles | None = None,
) -> list[Path]:
    """Write one HTML file about the records in `folders`.

    Args:
        folders: Records, or folders of records.
        out: The file; an existing one is replaced in one step, so that it is never incomplete.
        title: Heading of the page.
        comparisons: Named comparisons to show; None: every record is compared with the baseline.
        claims: Rows of a table of published results and ours; the keys are its columns.
        curves: Plots over a factor, in a separate section.
        impacts: Plots of savings over a factor, in a separate section.
        bars: Plots of energies of the nodes and on the wire, in a separate section.
        traces: Plots of traces of the runs, in a separate section.
        source: The publication of the claims, in one line.
        baseline: The record with which others are compared; None: the first of `folders`.
        region: Report this region instead of whole runs.
        per: Divide time and energy by this metric.
        allow_mixed: Compare energies of different kinds, too.
        plot_files: Where to write the plots as separate files.

    Returns:
        The files of plots that were written.

    Raises:
        LullError: A record cannot be read, or the file cannot be written.
    """
    from lull.report.page import render_page
    from lull.report.section import Supplied

    found, first = with_baseline(records_in(folders), baseline)
    page = render_page(
        found,
        Supplied(curves, impacts, bars, traces, claims or [], source),
        title=title,
        comparisons=comparisons,
        baseline=first,
        region=region,
        per=per,
        allow_mixed=allow_mixed,
    )
    made = write_plots(page.plots, plot_files) if plot_files else []
    write_page(out, page.text)
    return made


def write_page(out: Path, text: str) -> None:
    """Write a page to `out`, and replace an existing one in one step."""
    write_whole(out, readable(text).encode(), "report", "--to")


def with_baseline(found: list[Path], baseline: Path | None) -> tuple[list[Path], int]:
    """The records including the baseline, and its index: `baseline`, or the first record."""
    if baseline is None:
        return found, 0
    places = [folder.resolve() for folder in found]
    if baseline.resolve() not in places:
        return [baseline, *found], 0
    return found, places.index(baseline.resolve())


def write_plots(plots: Mapping[str, Plot], to: PlotFiles) -> list[Path]:
    """Write standalone plots, one file each, named after their content."""
    made = []
    for name, plot in plots.items():
        made.append(to.folder / f"{name}.{to.format}")
        content = plot.pdf() if to.format == "pdf" else plot.svg(name).encode()
        write_whole(made[-1], content, "plot", "--plots")
    return made


def records_in(folders: list[Path]) -> list[Path]:
    """The folders that are records, and the records in the other folders, in the order of their paths."""
    found: list[Path] = []
    for folder in folders:
        if (folder / record.RUN_FILE).exists() or not folder.is_dir():
            inside = [folder]  # reading rejects what is not a record
        else:
            inside = sorted(
                path.parent
                for path in folder.rglob(record.RUN_FILE)
                if not any(part.startswith(".") for part in path.relative_to(folder).parts)
            )
            if not inside:
                raise LullError(f"report {folder}", "no record in it", "name folders that lull measure or study wrote")
        found += [path for path in inside if path not in found]
    if not found:
        raise UsageError("report", "no folder was named", "name at least one record")
    return found
