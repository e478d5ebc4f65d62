"""`lull join`: join the files of all processes into one, for iterations that lack one."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(short_help="Join the files of all processes into one, for iterations that lack one.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def join(folder: Path) -> None:
    """Join the files of all processes into one file, for each iteration in DIR.

    Usually the process that writes the last file of an iteration joins the files; it cannot if a process wrote nothing
    of it, because it died, dropped its data, or had none. Missing values are NaN, or 0 in integers, and are reported.
    DIR is the folder of the output (see lull/stage.h), or that of one iteration.
    """
    from lull.stage.output import join as join_files

    for line in join_files(folder):
        click.echo(f"lull: {line}", err=True)
