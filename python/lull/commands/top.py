"""`lull top`: show the present power of this node, or of the nodes of a measurement in progress."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from lull.base.errors import UsageError
from lull.base.native import checked_settings
from lull.base.terminal import output
from lull.live.feed import feed_of, read_with_power
from lull.live.node_reading import NodeReading, totals
from lull.live.rows import HEADINGS, History, rows, what_is_measured

EVERY_S = 1.0


@click.command(short_help="Show the power live, by domain and source, of this node or of a measurement.")
@click.argument("records", metavar="[RECORD]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--once", is_flag=True, help="Print one table and exit; the default without a terminal.")
@click.option("--json", "as_json", is_flag=True, help="Print the readings once, as JSON, and exit.")
@click.option(
    "--every",
    "every_s",
    metavar="SECONDS",
    type=click.FloatRange(0.2, 60),
    help="Interval between updates of the screen.  [default: 1]",
)
@click.option(
    "--sysroot",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Read below this folder instead of /.",
)
def top(records: tuple[Path, ...], once: bool, as_json: bool, every_s: float | None, sysroot: Path | None) -> None:
    """Show the power of every domain and source of this node, with its kind, until you press q.

    For a RECORD that `lull measure --publish` is writing, it shows all nodes of the measurement.
    """
    if every_s is not None and (once or as_json):
        raise UsageError("top --every", "power is shown only once", "leave it out")
    checked_settings()
    feed = feed_of(records, sysroot)
    try:
        if as_json or once or not (sys.stdout.isatty() and sys.stdin.isatty()):
            readings = read_with_power(feed)
            if as_json:
                click.echo(json.dumps([as_dict(reading) for reading in readings], indent=1))
            else:
                print_once(readings)
            return
        feed.read()  # reports a mistake in a line, before the screen is drawn
        from lull.live.screen import PowerScreen

        PowerScreen(feed, every_s or EVERY_S).run()
    finally:
        feed.close()


def as_dict(reading: NodeReading) -> dict[str, object]:
    """A reading with its totals, in the form of --json."""
    shown: dict[str, object] = reading.model_dump(mode="json", by_alias=True)
    shown["totals"] = [
        {
            "domain": total.domain.value,
            "scope": total.scope,
            "kind": total.kind.value,
            "watts": total.watts,
            "bytes_per_s": total.bytes_per_s,
        }
        for total in totals(reading)
    ]
    return shown


def print_once(readings: Sequence[NodeReading]) -> None:
    """Print the table of all rows, without a history."""
    table = Table(pad_edge=False, box=None, padding=(0, 2, 0, 0), header_style="bold")
    shown = HEADINGS[:-1]
    for heading in shown:
        table.add_column(heading, justify="right" if heading in {"power", "energy", "bytes/s"} else "left")
    empty = History()
    for row in rows(readings):
        cells = row.cells(empty.of(row))[: len(shown)]
        table.add_row(*(Text(text, "bold" if row.is_total else "") for text in cells))
    console = output()
    if table.row_count:
        console.print(table)
    else:
        console.print("No readings yet.")
    if words := what_is_measured(readings):
        console.print(Text(words), soft_wrap=True)
