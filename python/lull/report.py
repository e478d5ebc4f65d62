"""`lull report DIR...`: records and their comparisons as one offline HTML file that a person reads, prints or sends.

What the page holds is gathered in `lull.page`; how it looks is `templates/report.html.j2`.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click

from lull import record
from lull.comparison import Comparison
from lull.errors import LullError, UsageError, describe_os_error

__all__ = ["records_in", "report", "write_report"]


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
def report(
    folders: tuple[Path, ...],
    out: Path,
    title: str | None,
    baseline: Path | None,
    region: str | None,
    per: str | None,
    allow_mixed: bool,
) -> None:
    """Write the records DIR... and their comparisons into one HTML file.

    A folder that holds records, as of a study, stands for all of them. The file needs no network.
    """
    write_report(list(folders), out, title, baseline=baseline, region=region, per=per, allow_mixed=allow_mixed)
    click.echo(out)


def write_report(
    folders: list[Path],
    out: Path,
    title: str | None = None,
    comparisons: list[tuple[str, Comparison]] | None = None,
    claims: list[dict[str, str]] | None = None,
    *,
    source: str = "",
    baseline: Path | None = None,
    region: str | None = None,
    per: str | None = None,
    allow_mixed: bool = False,
) -> None:
    """Write one HTML file about the records in `folders`.

    Args:
        folders: Records, or folders that hold records.
        out: The file; replaced when it is there. It is written aside first, so that it is whole or as it was.
        title: Heading of the page.
        comparisons: Named comparisons to show; otherwise every record is compared with the baseline.
        claims: Rows of a table of published figures beside ours; the keys are its columns.
        source: The publication the claims are from, in one line.
        baseline: The record others are compared with; the first of `folders` otherwise.
        region: Report this region instead of whole runs.
        per: Divide time and energy by this metric.
        allow_mixed: Compare energies of different kinds too.

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
        _write_aside(out, render_simulations(found, title=title, baseline=first))
        return
    text = render_page(
        found,
        title=title,
        comparisons=comparisons,
        claims=claims or [],
        source=source,
        baseline=first,
        region=region,
        per=per,
        allow_mixed=allow_mixed,
    )
    _write_aside(out, text)


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


def _write_aside(out: Path, text: str) -> None:
    asked = f"write the report {out}"
    if out.is_dir():
        raise LullError(asked, "it is a folder", "name a file with --out")
    aside: Path | None = None
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{out.name}.", dir=out.parent)
        aside = Path(name)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        aside.chmod(0o644)
        aside.replace(out)
    except OSError as error:
        raise LullError(asked, describe_os_error(error), "choose a folder you may write with --out") from error
    finally:
        if aside is not None:
            aside.unlink(missing_ok=True)
