"""`lull report DIR...`: records and their comparisons as one offline HTML file that a person reads, prints or sends.

What the page holds is gathered in `lull.page`; how it looks is `templates/report.html.j2`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lull import record
from lull.base.errors import LullError, UsageError
from lull.base.whole_file import write_whole
from lull.compare import distinct
from lull.comparison import Comparison

if TYPE_CHECKING:
    from lull.svg import Plot
    from lull.tabled_plot import TabledPlot

__all__ = ["PlotFiles", "records_in", "report", "write_plots", "write_report"]


@dataclass(frozen=True)
class PlotFiles:
    """Where the plots of a report are written as files, and in which format: svg or pdf."""

    folder: Path
    format: str


@click.command(short_help="Write records and their comparisons into one HTML file.")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", metavar="FILE.html", required=True, type=click.Path(path_type=Path), help="The file to write.")
@click.option("--title", metavar="TEXT", help="Heading of the page.")
@click.option(
    "--baseline",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The record the others are compared with; the first otherwise.",
)
@click.option("--region", metavar="R", help="Report this region of the program instead of whole runs.")
@click.option("--per", metavar="METRIC", help="Divide time and energy by this metric the program reported.")
@click.option("--allow-mixed", is_flag=True, help="Compare energies of different kinds, e.g. measured with estimated.")
@click.option(
    "--plots",
    "plots_to",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Write every plot here, too, as a file.",
)
@click.option(
    "--format", "plots_format", type=click.Choice(["svg", "pdf"]), help="Of the files of --plots.  [default: svg]"
)
def report(
    folders: tuple[Path, ...],
    out: Path,
    title: str | None,
    baseline: Path | None,
    region: str | None,
    per: str | None,
    allow_mixed: bool,
    plots_to: Path | None,
    plots_format: str | None,
) -> None:
    """Write the records DIR... and their comparisons into one HTML file.

    A folder that holds records, as of a study, stands for all of them. The file needs no network.
    """
    if plots_format is not None and plots_to is None:
        raise UsageError(f"report --format {plots_format}", "no plots are asked for", "name a folder with --plots")
    chosen = PlotFiles(plots_to, plots_format or "svg") if plots_to is not None else None
    made = write_report(
        list(folders),
        out,
        title,
        baseline=baseline,
        region=region,
        per=per,
        allow_mixed=allow_mixed,
        plot_files=chosen,
    )
    for path in [out, *made]:
        click.echo(path)


def write_report(
    folders: list[Path],
    out: Path,
    title: str | None = None,
    comparisons: list[tuple[str, Comparison]] | None = None,
    claims: list[dict[str, str]] | None = None,
    *,
    curves: Sequence[TabledPlot] = (),
    bars: Sequence[TabledPlot] = (),
    source: str = "",
    baseline: Path | None = None,
    region: str | None = None,
    per: str | None = None,
    allow_mixed: bool = False,
    plot_files: PlotFiles | None = None,
) -> list[Path]:
    """Write one HTML file about the records in `folders`.

    Args:
        folders: Records, or folders that hold records.
        out: The file; replaced when it is there. It is written aside first, so that it is whole or as it was.
        title: Heading of the page.
        comparisons: Named comparisons to show; otherwise every record is compared with the baseline.
        claims: Rows of a table of published figures beside ours; the keys are its columns.
        curves: Figures over a factor, drawn; a section of their own.
        bars: Energies end to end, drawn; likewise.
        source: The publication the claims are from, in one line.
        baseline: The record others are compared with; the first of `folders` otherwise.
        region: Report this region instead of whole runs.
        per: Divide time and energy by this metric.
        allow_mixed: Compare energies of different kinds too.
        plot_files: Where to write the plots as files of their own.

    Returns:
        The files of plots that were written.

    Raises:
        LullError: A record cannot be read, or the file cannot be written.
    """
    from lull.page import render_page

    found = records_in(folders)
    first = 0
    if baseline is not None:
        places = [folder.resolve() for folder in found]
        if baseline.resolve() not in places:
            found.insert(0, baseline)
        else:
            first = places.index(baseline.resolve())
    if comparisons is None and all(record.is_simulated(record.read(folder)) for folder in found):
        from lull.simulation.page import render_simulations

        if region or per:
            words = "simulations have no regions and no work to divide by"
            raise UsageError(f"write the report {out}", words, "leave out --region and --per")
        text = render_simulations(found, title=title, baseline=first)
        made = _plots_of_simulations(found, plot_files) if plot_files else []
        _write_aside(out, text.encode())
        return made
    page = render_page(
        found,
        title=title,
        comparisons=comparisons,
        claims=claims or [],
        curves=curves,
        bars=bars,
        source=source,
        baseline=first,
        region=region,
        per=per,
        allow_mixed=allow_mixed,
    )
    made = write_plots(page.plots, plot_files) if plot_files else []
    _write_aside(out, page.text.encode())
    return made


def write_plots(plots: Mapping[str, Plot], to: PlotFiles) -> list[Path]:
    """Write plots that stand alone, one file each, named after what they show."""
    made = []
    for name, plot in plots.items():
        made.append(to.folder / f"{name}.{to.format}")
        _write_aside(made[-1], plot.pdf() if to.format == "pdf" else plot.svg(name).encode(), what="plot")
    return made


def _plots_of_simulations(folders: list[Path], to: PlotFiles) -> list[Path]:
    from lull.simulation.account import read_simulation
    from lull.simulation.plots import write_plots

    runs = distinct(folders, [record.read(folder) for folder in folders])
    named = [(run.label, read_simulation(f)) for run, f in zip(runs, folders, strict=True)]
    return write_plots(to.folder, named, to.format)


def records_in(folders: list[Path]) -> list[Path]:
    """The folders that are records, and of the others the records in them, in the order of their paths."""
    found: list[Path] = []
    for folder in folders:
        if (folder / record.RUN_FILE).exists() or not folder.is_dir():
            inside = [folder]  # what is no record is refused when it is read
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


def _write_aside(out: Path, content: bytes, what: str = "report") -> None:
    write_whole(out, content, what, "--out" if what == "report" else "--plots")
