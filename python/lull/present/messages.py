"""Messages of Lull on stderr, one line each, so that stdout holds only the result."""

from __future__ import annotations

import sys


def say(line: str) -> None:
    """Print `line` as a message of Lull."""
    print(f"lull: {line}", file=sys.stderr, flush=True)
