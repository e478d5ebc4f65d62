"""`lull top`: show the present power of this node, or of the nodes of a measurement in progress."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from lull.base.errors import UsageError
from lull.base.native import checked_settings
from lull.live.feed import feed_of, read_with_power
from lull.live.node_reading import NodeReading, totals
from lull.live.rows import PowerRow, rows, what_is_measured
from lull.present.document import Cell, Column, Document, Line, Part, row, table
from lull.present.forms import format_option, show_result
from lull.schemas.machine import PowerReading
from lull.schemas.text import json_text

EVERY_S = 1.0


@click.command(short_help="Show the power live, by domain and source, of this node or of a measurement.")
@click.argument("records", metavar="[RECORD]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--once", is_flag=True, help="Print one table and exit; the default without a terminal.")
@format_option
@click.option(
    "--every",
    "every_s",
    metavar="SECONDS",
    type=click.FloatRange(0.2, 60),
    help="Interval between updates of the screen.  [default: 1]",
)
@click.option(
    "--sysroot",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Read below this folder instead of /.",
)
def top(records: tuple[Path, ...], once: bool, form: str, every_s: float | None, sysroot: Path | None) -> None:
    """Show the power of every domain and source of this node, with its kind, until you press q.

    For a RECORD that `lull measure --publish` is writing, it shows all nodes of the measurement.
    """
    if every_s is not None and (once or form != "table"):
        raise UsageError("top --every", "power is shown only once", "leave it out")
    checked_settings()
    feed = feed_of(records, sysroot)
    try:
        if form != "table" or once or not (sys.stdout.isatty() and sys.stdin.isatty()):
            readings = read_with_power(feed)
            show_result(
                form,
                lambda: describe(readings),
                lambda: as_json(readings),
            )
            return
        feed.read()  # reports a mistake in a line, before the screen is drawn
        from lull.live.screen import PowerScreen

        PowerScreen(feed, every_s or EVERY_S).run()
    finally:
        feed.close()


def as_json(readings: Sequence[NodeReading]) -> str:
    """Each reading with its totals."""
    content = [{**reading.model_dump(by_alias=True), "totals": totals(reading)} for reading in readings]
    return json_text(list[PowerReading], content)


def describe(readings: Sequence[NodeReading]) -> Document:
    """A row for each total and channel, without a history."""
    columns = [
        Column("node", words=True),
        Column("domain", words=True),
        Column("source", words=True),
        Column("power", "W"),
        Column("kind", words=True),
        Column("energy", "J"),
        Column("bytes/s", key="bytes_per_s"),
    ]
    shown = [row(*cells_of(one), tone="strong" if one.is_total else "plain") for one in rows(readings)]
    measured = what_is_measured(readings)
    parts: list[Part] = [table(columns, shown) if shown else Line("No readings yet.")]
    return Document("", (*parts, *([Line(measured)] if measured else [])), "Power")


def cells_of(one: PowerRow) -> list[Cell]:
    """The cells of a row, with its numbers."""
    node, domain, source, power, kind, energy, rate, _ = one.cells(())
    numbers = (Cell(power, one.watts), Cell(kind), Cell(energy, one.joules), Cell(rate, one.bytes_per_s))
    return [Cell(node), Cell(domain), Cell(source), *numbers]
