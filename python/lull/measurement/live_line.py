"""The line of power at the foot of the terminal while a command runs, beside what the command itself prints.

The terminal is told to scroll all lines but the last, so that the command prints above and never through the line. Each
drawing is one write, with the cursor put back where it was. A program that takes the whole screen for itself may draw
over the line; `--quiet` leaves it out.
"""

from __future__ import annotations

import io
import os
import sys

from rich.console import Console
from rich.text import Text

from lull.base.streams import PLAINLY
from lull.live.node_reading import NodeReading, parts, totals
from lull.record import Domain, EnergyKind
from lull.statistics import formatting

SAVE, RESTORE, CLEAR_LINE = "\x1b7", "\x1b8", "\x1b[2K"
ALL_SCROLL, OFF_THE_LAST_LINE = "\x1b[r", "\x1bD\x1b[A"  # one down, scrolling if need be, and up: the column stays
LEAST_ROWS, LEAST_COLUMNS = 5, 30
COLOURS = {EnergyKind.MEASURED: "green", EnergyKind.ESTIMATED: "yellow", EnergyKind.DERIVED: "cyan"}


def is_wanted() -> bool:
    """Whether stderr is a terminal that can be drawn on, and ours to draw on: we are not in its background."""
    if not sys.stderr.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        return False
    try:
        return os.tcgetpgrp(sys.stderr.fileno()) == os.getpgrp()
    except OSError:
        return False


class LiveLine:
    """Draws at the foot of the terminal that stderr is."""

    def __init__(self) -> None:
        self._descriptor = sys.stderr.fileno()
        self._size: os.terminal_size | None = None  # for which the foot is kept free

    def show(self, reading: NodeReading) -> None:
        """Draw the line anew."""
        try:
            size = os.get_terminal_size(self._descriptor)
            if size.lines < LEAST_ROWS or size.columns < LEAST_COLUMNS or not is_wanted():
                return
            begin = "" if size == self._size else self._keep_foot_free(size)
            line = rendered(line_of(reading), size.columns - 1)
            self._write(f"{begin}{SAVE}\x1b[{size.lines};1H{CLEAR_LINE}{line}{RESTORE}")
        except OSError:  # the terminal is gone; the measurement is not
            return

    def close(self) -> None:
        """Give the last line back to the terminal, empty."""
        if self._size is None:
            return
        lines = self._size.lines
        self._size = None
        try:
            self._write(f"{SAVE}{ALL_SCROLL}\x1b[{lines};1H{CLEAR_LINE}{RESTORE}")
        except OSError:
            return

    def _keep_foot_free(self, size: os.terminal_size) -> str:
        """What makes all lines but the last scroll; setting it moves the cursor, so that is put back."""
        self._size = size
        return f"{SAVE}{ALL_SCROLL}{RESTORE}{OFF_THE_LAST_LINE}{SAVE}\x1b[1;{size.lines - 1}r{RESTORE}"

    def _write(self, text: str) -> None:
        sys.stderr.flush()
        os.write(self._descriptor, text.encode(sys.stderr.encoding, PLAINLY))


def line_of(reading: NodeReading) -> Text:
    """What is running, for how long, and the power of the node and its domains with their kinds."""
    text = Text()
    if (at := reading.measuring) is not None:
        which = f"{'warm-up ' if at.warmup else ''}{at.run}/{at.runs}"
        text.append(f"{at.label} {which}, {at.elapsed_s:.0f} s", "bold")
    inside = [f"{one.domain.value} {formatting.si(one.watts, 'W')}" for one in parts(reading)]
    for total in totals(reading):
        text.append(f"  {total.domain.value} ")
        text.append(formatting.si(total.watts, "W"), "bold")
        if total.domain is Domain.NODE and len(inside) > 1:
            text.append(f" ({', '.join(inside)})")
        text.append(f" {total.kind.value}", COLOURS.get(total.kind, "default"))
    if not any(one.watts is not None for one in reading.channels):
        text.append("  reading power ..." if reading.channels else "  no energy source", "dim")
    return text


def rendered(text: Text, columns: int) -> str:
    """The text with its colours, cut to the width of the terminal."""
    text.truncate(columns, overflow="ellipsis")
    out = io.StringIO()
    Console(file=out, force_terminal=True, color_system="standard", width=columns + 1).print(text, end="")
    return out.getvalue()
