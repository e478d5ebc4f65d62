"""`lull sources`: list the energy sources of this machine, which are readable, and the fix for the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from lull import _core
from lull.base.errors import LullError, UsageError
from lull.base.interrupts import Interrupts
from lull.base.native import checked_settings, native_errors
from lull.base.whole_file import write_whole
from lull.present.document import Cell, Column, Document, Heading, Item, Line, Part, row, table
from lull.present.forms import format_option, show_result
from lull.present.messages import say
from lull.record import EnergyKind
from lull.schemas.machine import EnergySource
from lull.schemas.text import json_text


@click.command(short_help="List the energy sources of this machine, and how to make them readable.")
@format_option
@click.option(
    "--sysroot",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path("/"),
    help="Read below this folder instead of /, for a copy of another machine's sys/ and proc/.",
)
@click.option(
    "--calibrate",
    "seconds",
    metavar="[SECONDS]",
    type=click.FloatRange(1, 3600),
    is_flag=False,
    flag_value=30.0,
    help="Calibrate the estimate by a meter: for this long idle (default: 30), then as long under full load.",
)
@click.option(
    "--to",
    "out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File to write the calibration to, a site file, instead of printing it.",
)
def sources(form: str, sysroot: Path, seconds: float | None, out: Path | None) -> None:
    """List the energy sources of this machine: which are readable, and why the others are not.

    With --calibrate, write the table [calibration] of a site file (LULL_SITE) instead.
    """
    if seconds is not None:
        if form != "table":
            raise UsageError("sources --calibrate", f"a calibration is TOML, not {form}", "leave out --format")
        _calibrate(seconds, sysroot, out)
        return
    if out is not None:
        raise UsageError("sources --to", "the list is printed", "leave it out, or add --calibrate")
    with native_errors():
        found = _core.sources(str(sysroot))
    show_result(form, lambda: describe(found), lambda: json_text(list[EnergySource], found))


def _calibrate(seconds: float, sysroot: Path, out: Path | None) -> None:
    from lull.meter.calibration import calibrate

    if out is not None and out.exists():  # a site file may hold other tables that the user wrote
        words = "the file exists already"
        raise LullError(f"write the site file {out}", words, "name another with --to and copy the table over")
    checked_settings()
    with Interrupts() as interrupts:
        text = calibrate(sysroot, seconds, interrupts, say)
    if out is None:
        click.echo(text, nl=False)
        return
    write_whole(out, text.encode(), "site file", "--to")
    say(f"calibration in {out}; LULL_SITE={out} lets the estimate use it")


def describe(found: Sequence[_core.Source]) -> Document:
    """A row for each source, with its channels below one another, and what makes the others readable."""
    columns = [
        Column("source", words=True),
        Column("readable", words=True),
        Column("used", words=True),
        Column("channels", words=True, wraps=True),
        Column("why not", words=True, wraps=True),
    ]
    rows = []
    for source in found:
        channels = [
            f"{channel.name}: {channel.domain}, {channel.kind}, {describe_interval(channel.interval_s)}"
            for channel in source.channels
        ]
        rows.append(
            row(
                Cell(source.name, tone="strong"),
                _yes(source.readable),
                _yes(source.used),
                "\n".join(channels) or "-",
                "; ".join(why for why in (source.reason, source.left_out) if why),
            )
        )
    fixes = [Item(f"{source.name}: {source.fix}") for source in found if source.fix and not source.readable]
    parts: list[Part] = [table(columns, rows)]
    if fixes:
        parts += [Heading("To read more"), *fixes]
    words = Line(what_a_measurement_uses(found))
    return Document("", (*parts, Heading("What a measurement reads"), words), "Energy sources of this machine")


def _yes(is_so: bool) -> Cell:
    return Cell("yes", tone="good") if is_so else Cell("no")


def describe_interval(seconds: float) -> str:
    """The interval at which a channel's value changes, in words."""
    if seconds <= 0:
        return "at every reading"
    return f"every {seconds * 1e3:g} ms" if seconds < 1 else f"every {seconds:g} s"


def what_a_measurement_uses(found: Sequence[_core.Source]) -> str:
    """One line: what `lull measure` would read on this machine, and of which kind its energies are."""
    used = [source for source in found if source.used]
    if not used:
        return "A measurement here would have no energy source: only times would be recorded."
    named = ", ".join(
        f"{source.name} ({', '.join(dict.fromkeys(channel.kind for channel in source.channels)) or source.kind})"
        for source in used
    )
    line = f"A measurement here uses: {named}."
    kinds = {channel.kind for source in used for channel in source.channels if channel.domain not in ("wire", "nic")}
    if not kinds:
        line += " Only traffic is counted: the consumption of the node is unknown."
    elif kinds <= {EnergyKind.ESTIMATED.value}:
        line += " No meter can be read: the energy of the node is an estimate from CPU time, with a wide band."
    return line
