"""`lull join`: one file over the files of all processes, for iterations that have none."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(short_help="Make one file over those of all processes, for iterations of an output without one.")
@click.argument("folder", type=click.Path(path_type=Path))
def join(folder: Path) -> None:
    """Make, for each iteration in FOLDER, the file over those of its processes.

    Who writes the last file of an iteration makes it anyway, unless some process has written nothing of it: died,
    dropped it, or had nothing. What is missing is NaN in it, or 0 in whole numbers, and is said. FOLDER is that of
    the output (see lull/stage.h), or of one iteration.
    """
    from lull.stage.output import join as join_files

    for line in join_files(folder):
        click.echo(f"lull: {line}", err=True)
