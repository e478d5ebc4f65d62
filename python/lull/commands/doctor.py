"""`lull doctor`: show on one screen what works on this machine and what does not, with the fix."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lull import __version__
from lull.base.terminal import output
from lull.doctor.areas import Area, examine
from lull.doctor.finding import Machine

STYLES = {"works": "green", "limited": "yellow", "off": "dim", "missing": "red"}


@click.command(short_help="Check what works on this machine, and show how to fix what does not.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, to put into a bug report.")
@click.option(
    "--sysroot",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path("/"),
    help="Look below this folder instead of /, for a copy of another machine's sys/ and proc/; no program is run then.",
)
@click.pass_context
def doctor(ctx: click.Context, as_json: bool, sysroot: Path) -> None:
    """Check everything that Lull needs or can use here: what works, what is limited, what is missing, and the fix.

    It runs small programs, such as jobs of two PEs and a pair of virtual hosts, for some seconds. The exit code is 1 if
    Lull itself does not work; something that the machine lacks is not a failure.
    """
    where = Machine(sysroot)
    console = output()
    areas: list[Area] = []
    for area in examine(where):
        areas.append(area)
        if not as_json:
            _show(console, area)
    if as_json:
        click.echo(json.dumps(as_dict(areas), indent=1))
    ctx.exit(1 if any(area.broken for area in areas) else 0)


def as_dict(areas: list[Area]) -> dict[str, object]:
    """All findings, in the form of --json."""
    return {"lull": __version__, "areas": {area.name: [asdict(one) for one in area.findings] for area in areas}}


def _show(console: Console, area: Area) -> None:
    table = Table(pad_edge=False, box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(min_width=26)
    table.add_column(min_width=7)
    table.add_column(overflow="fold")
    for one in area.findings:
        words = Text(one.found)
        if one.fix and one.state != "works":
            words.append(f"\n→ {one.fix}", style="bold")
        table.add_row(Text(f"  {one.what}"), Text(one.state, style=STYLES[one.state]), words)
    console.print(Text(area.name, style="bold"))
    console.print(table)
