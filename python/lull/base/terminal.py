"""Where tables are printed."""

from __future__ import annotations

from rich.console import Console

PIPED_WIDTH = 160  # columns when no terminal sets them: no line of a table is folded


def output(*, stderr: bool = False) -> Console:
    """A console on stdout or stderr, as wide as the terminal, or wide enough when it is none."""
    console = Console(stderr=stderr)
    return console if console.is_terminal else Console(stderr=stderr, width=PIPED_WIDTH)
