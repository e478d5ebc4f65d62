"""The consoles for tables."""

from __future__ import annotations

from rich.console import Console

PIPED_WIDTH = 160  # columns without a terminal; wide enough that no line of a table is folded


def output(*, stderr: bool = False) -> Console:
    """A console on stdout or stderr, as wide as the terminal, or of PIPED_WIDTH if there is none."""
    console = Console(stderr=stderr)
    return console if console.is_terminal else Console(stderr=stderr, width=PIPED_WIDTH)
