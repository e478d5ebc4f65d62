"""`lull apps`: the applications that come with Lull, and where they are."""

from __future__ import annotations

import subprocess
from pathlib import Path

import click

from lull.base import installed
from lull.base.completing import one_of
from lull.base.errors import UsageError
from lull.present.document import Column, Document, row, table
from lull.present.forms import format_option, show_result

HELP_S = 20.0  # most seconds that an application may take to print its help


@click.command(short_help="List the applications that come with Lull.")
@click.argument("name", required=False, shell_complete=one_of(installed.applications))
@format_option
def apps(name: str | None, form: str) -> None:
    """List the applications that come with Lull, or print the path of NAME, for another launcher.

    \b
        lull run -n 2 histogram
        mpirun -n 2 "$(lull apps histogram)"
    """
    found = installed.applications()
    if name is not None:
        if name not in found:
            raise UsageError(
                f"find the application {name}", "there is none of this name", f"there are {', '.join(found)}"
            )
        click.echo(found[name])
        return
    words = {one: first_line_of_help(path) for one, path in found.items()}
    columns = [
        Column("application", words=True),
        Column("what it does", words=True, wraps=True),
        Column("path", words=True, optional=1),
    ]
    rows = [row(one, words[one], str(path)) for one, path in found.items()]
    content = [{"name": one, "does": words[one], "path": str(path)} for one, path in found.items()]
    show_result(form, lambda: Document("", (table(columns, rows),), "Applications"), lambda: _as_json(content))


def _as_json(content: list[dict[str, str]]) -> str:
    from lull.schemas.machine import InstalledApplication
    from lull.schemas.text import json_text

    return json_text(list[InstalledApplication], content)


def first_line_of_help(program: Path) -> str:
    """What the program says it does; a dash if it does not say it."""
    try:
        done = subprocess.run(
            [program, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HELP_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return "–"
    return done.stdout.split("\n", 1)[0] if done.returncode == 0 and done.stdout else "–"
