"""`lull doctor`: show on one screen what works on this machine and what does not, with the fix."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import click

from lull import __version__
from lull.doctor.areas import Area, examine
from lull.doctor.finding import Machine
from lull.present.document import Cell, Column, Document, Heading, Part, Tone, row, table
from lull.present.forms import format_option, show_result
from lull.schemas.examination import Examination
from lull.schemas.text import json_text

TONES: Final[dict[str, Tone]] = {"works": "good", "limited": "note", "off": "aside", "missing": "bad"}
LEAST_WHAT: Final = 26  # columns of text of the first column, so that the tables of all areas are aligned


@click.command(short_help="Check what works on this machine, and show how to fix what does not.")
@format_option
@click.option(
    "--sysroot",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path("/"),
    help="Read below this folder instead of /, for a copy of another machine's sys/ and proc/; no program is run then.",
)
@click.pass_context
def doctor(ctx: click.Context, form: str, sysroot: Path) -> None:
    """Check everything that Lull needs or can use here: what works, what is limited, what is missing, and the fix.

    It runs small programs, such as jobs of two PEs and a pair of virtual hosts, for some seconds. The exit code is 1 if
    Lull itself does not work; something that the machine lacks is not a failure.
    """
    areas: list[Area] = []
    for area in examine(Machine(sysroot)):
        areas.append(area)
        if form == "table":  # at once, because an examination takes some seconds
            show_result(form, partial(describe, [area]), str)
    if form != "table":
        show_result(form, lambda: describe(areas), lambda: as_json(areas))
    ctx.exit(1 if any(area.broken for area in areas) else 0)


def as_json(areas: list[Area]) -> str:
    """All findings."""
    return json_text(Examination, {"lull": __version__, "areas": {area.name: area.findings for area in areas}})


def describe(areas: Sequence[Area]) -> Document:
    """A table of findings for each area."""
    columns = [
        Column("area", words=True, shown=False),
        Column("what", words=True),
        Column("state", words=True),
        Column("found", words=True, wraps=True),
    ]
    parts: list[Part] = []
    for area in areas:
        rows = [
            row(
                area.name,
                f"  {one.what}".ljust(LEAST_WHAT),
                Cell(one.state, tone=TONES[one.state]),
                one.found + (f"\n→ {one.fix}" if one.fix and one.state != "works" else ""),
            )
            for one in area.findings
        ]
        parts += [Heading(area.name), table(columns, rows, headings=False)]
    return Document("", tuple(parts), "What works on this machine")
