"""`lull list`: the results below a folder."""

from __future__ import annotations

from pathlib import Path

import click

from lull.present.forms import format_option, show_result


@click.command("list", short_help="List the results in a folder.")
@click.argument("folder", metavar="[DIR]", default="results", type=click.Path(path_type=Path))
@format_option
def list_(folder: Path, form: str) -> None:
    """List all results in DIR and below it, the newest first: runs, simulations, predictions and traces.

    Times and energies are medians over the runs that succeeded; lull show DIR shows one result.
    """
    from pydantic import TypeAdapter

    from lull.library.listing import ListedResult, describe, results_below

    found = results_below(folder)
    as_json = TypeAdapter(list[ListedResult]).dump_json(found, indent=1).decode()
    show_result(form, lambda: describe(found, folder), lambda: as_json)
