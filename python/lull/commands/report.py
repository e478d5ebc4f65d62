"""`lull report DIR...`: write records and their comparisons as one offline HTML file."""

from __future__ import annotations

from pathlib import Path

import click

from lull import record
from lull.base.errors import UsageError
from lull.report.write import PlotFiles, records_in, with_baseline, write_report


@click.command(short_help="Write records and their comparisons as one HTML file.")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--to", "out", metavar="FILE.html", required=True, type=click.Path(path_type=Path), help="File to write.")
@click.option("--title", metavar="TEXT", help="Heading of the page.")
@click.option(
    "--baseline",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Record to compare the others with.  [default: the first]",
)
@click.option("--region", metavar="R", help="Use this region of the program instead of whole runs.")
@click.option("--per", metavar="METRIC", help="Divide time and energy by this metric of the program.")
@click.option("--allow-mixed", is_flag=True, help="Compare energies of different kinds, e.g. measured with estimated.")
@click.option(
    "--plots",
    "plots_to",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder for plots: every plot is also written there, as a file.",
)
@click.option(
    "--plots-as",
    "plots_format",
    type=click.Choice(["svg", "pdf"]),
    help="Format of the files of --plots.  [default: svg]",
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
    """Write the records DIR... and their comparisons as one HTML file, which needs no network.

    A folder of records, such as that of a study, stands for all of them.
    """
    if plots_format is not None and plots_to is None:
        raise UsageError(f"report --plots-as {plots_format}", "no plots are written", "name a folder with --plots")
    chosen = PlotFiles(plots_to, plots_format or "svg") if plots_to is not None else None
    found, _ = with_baseline(records_in(list(folders)), baseline)
    if all(record.is_simulated(record.read(folder)) for folder in found):
        from lull.simulation.report import write_simulation_report

        if region or per:
            words = "simulations have no regions and no work to divide by"
            raise UsageError(f"write the report {out}", words, "leave out --region and --per")
        made = write_simulation_report(found, out, title, baseline=baseline, plot_files=chosen)
    else:
        from lull.trace.report import plots_of_records

        made = write_report(
            found,
            out,
            title,
            traces=plots_of_records(found),
            baseline=baseline,
            region=region,
            per=per,
            allow_mixed=allow_mixed,
            plot_files=chosen,
        )
    for path in [out, *made]:
        click.echo(path)
