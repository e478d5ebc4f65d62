"""Standard input, output and error in any state: with any encoding, closed, or full.

Characters that a terminal cannot show are escaped, and are never an error. stderr never fails, because a measurement is
worth more than its messages. A closed descriptor is opened to /dev/null, so that no other file gets its number; for
programs that we start, it is closed as before.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import Any

PLAINLY = "lull.plainly"
PLAIN = {
    "–": "-",
    "—": "-",
    "−": "-",
    "→": "->",
    "←": "<-",
    "×": "x",
    "±": "+-",
    "µ": "u",
    "μ": "u",
    "…": "...",
    "≤": "<=",
    "≥": ">=",
    "·": ".",
    "⁻": "-",
}


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """Escape characters that an encoding lacks; a lone surrogate becomes the byte that it represents."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_in_ascii(character) for character in lacking), error.end


def _in_ascii(character: str) -> str:
    code = ord(character)
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else PLAIN.get(character, "?")


codecs.register_error(PLAINLY, _plainly)


class _NeverFails(io.RawIOBase):
    """A descriptor to which writes never fail, even if it is closed, full, or without a reader."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        view = memoryview(content)
        try:
            return os.write(self._descriptor, view)
        except OSError:
            return view.nbytes


def configure_streams() -> None:
    """Set up the streams of this process so that printing does not fail; called once, at the start."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)  # gets the lowest free number, which is this one
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        try:
            sys.stdout.reconfigure(errors=PLAINLY)
        except OSError:  # its descriptor has changed since Python opened it
            sys.stdout = open(1, "w", encoding=sys.stdout.encoding, errors=PLAINLY, closefd=False)  # noqa: SIM115
    if sys.stderr is None or (isinstance(sys.stderr, io.TextIOWrapper) and sys.stderr.fileno() == 2):
        encoding = "utf-8" if sys.stderr is None else sys.stderr.encoding
        raw = io.BufferedWriter(_NeverFails(2))
        sys.stderr = io.TextIOWrapper(raw, encoding, PLAINLY, line_buffering=True, write_through=True)


def give_up_output() -> None:
    """Discard pending output to stdout, because it cannot be written."""
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    os.dup2(nowhere, 1)
    os.close(nowhere)
