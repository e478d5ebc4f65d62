"""The line of power at the bottom of the terminal while a command runs and prints its own output.

The scrolling region of the terminal excludes its last line, so that the output of the command stays above the line.
Each update is one write, which restores the position of the cursor. A full-screen program may draw over the line;
`--quiet` omits it.
"""

from __future__ import annotations

import os
import sys

from lull.base.streams import PLAINLY
from lull.live.node_reading import NodeReading, parts, totals
from lull.present.coloured import Span, coloured
from lull.record import Domain
from lull.statistics import formatting

SAVE, RESTORE, CLEAR_LINE = "\x1b7", "\x1b8", "\x1b[2K"
ALL_SCROLL, OFF_THE_LAST_LINE = (
    "\x1b[r",
    "\x1bD\x1b[A",
)  # down by one, with scrolling if needed, and up: the column stays
LEAST_ROWS, LEAST_COLUMNS = 5, 30


def is_wanted() -> bool:
    """Whether stderr is a terminal that supports the line and of which we are in the foreground."""
    if not sys.stderr.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        return False
    try:
        return os.tcgetpgrp(sys.stderr.fileno()) == os.getpgrp()
    except OSError:
        return False


class LiveLine:
    """Draws the last line of the terminal that is stderr."""

    def __init__(self) -> None:
        self._descriptor = sys.stderr.fileno()
        self._size: os.terminal_size | None = None  # for which the last line is reserved

    def show(self, reading: NodeReading) -> None:
        """Redraw the line."""
        try:
            size = os.get_terminal_size(self._descriptor)
            if size.lines < LEAST_ROWS or size.columns < LEAST_COLUMNS or not is_wanted():
                return
            begin = "" if size == self._size else self._keep_foot_free(size)
            line = coloured(line_of(reading), size.columns - 1)
            self._write(f"{begin}{SAVE}\x1b[{size.lines};1H{CLEAR_LINE}{line}{RESTORE}")
        except OSError:  # the terminal is gone, but the measurement goes on
            return

    def close(self) -> None:
        """Clear the last line and give it back to the terminal."""
        if self._size is None:
            return
        lines = self._size.lines
        self._size = None
        try:
            self._write(f"{SAVE}{ALL_SCROLL}\x1b[{lines};1H{CLEAR_LINE}{RESTORE}")
        except OSError:
            return

    def _keep_foot_free(self, size: os.terminal_size) -> str:
        """The sequence that excludes the last line from scrolling and restores the cursor, which this moves."""
        self._size = size
        return f"{SAVE}{ALL_SCROLL}{RESTORE}{OFF_THE_LAST_LINE}{SAVE}\x1b[1;{size.lines - 1}r{RESTORE}"

    def _write(self, text: str) -> None:
        sys.stderr.flush()
        os.write(self._descriptor, text.encode(sys.stderr.encoding, PLAINLY))


def line_of(reading: NodeReading) -> list[Span]:
    """What is running, for how long, and the power of the node and its domains with their kinds."""
    spans: list[Span] = []
    if (at := reading.measuring) is not None:
        which = f"{'warm-up ' if at.warmup else ''}{at.run}/{at.runs}"
        spans.append((f"{at.label} {which}, {at.elapsed_s:.0f} s", "strong"))
    inside = [f"{one.domain.value} {formatting.si(one.watts, 'W')}" for one in parts(reading)]
    for total in totals(reading):
        spans += [(f"  {total.domain.value} ", "plain"), (formatting.si(total.watts, "W"), "strong")]
        if total.domain is Domain.NODE and len(inside) > 1:
            spans.append((f" ({', '.join(inside)})", "plain"))
        spans.append((f" {total.kind.value}", "plain"))
    if not any(one.watts is not None for one in reading.channels):
        spans.append(("  reading power ..." if reading.channels else "  no energy source", "aside"))
    return spans
