"""`lull show`: any result of Lull on the terminal, or in another form."""

from __future__ import annotations

from pathlib import Path

import click

from lull.base.errors import LullError
from lull.present.forms import format_option, show_result
from lull.present.messages import say


@click.command(short_help="Show a record, simulation, prediction or trace.")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@format_option
def show(folder: Path | None, form: str) -> None:
    """Show the result in DIR: a run, a simulation, a prediction, or a trace.  [default: the newest below results/]

    lull list lists the results, lull compare compares them, and lull report draws them.
    """
    from lull.library.listing import RESULTS, results_below
    from lull.library.loading import load
    from lull.library.recorded import Recorded
    from lull.trace.convert import is_trace

    if folder is None:
        found = results_below(RESULTS) if RESULTS.is_dir() else []
        if not found:
            raise LullError("show the newest result", f"there is none in {RESULTS}", "name the folder of a result")
        folder = Path(found[0].folder)
    result = load(folder)
    show_result(form, result.describe, result.as_json)
    if isinstance(result, Recorded) and is_trace(folder):
        say(f"lull archive info {folder} shows the messages of this run")
