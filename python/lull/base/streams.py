"""Standard input, output and error as the user has them: in any encoding, closed, or full.

What a terminal cannot show is written plainly, never an error. stderr never fails: a measurement is worth more than
its messages. A descriptor that is closed is taken by /dev/null, so that no file of ours gets its number; programs that
we start have it closed as before.
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
    """Characters that an encoding lacks; a lone surrogate is the byte it stands for."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_in_ascii(character) for character in lacking), error.end


def _in_ascii(character: str) -> str:
    code = ord(character)
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else PLAIN.get(character, "?")


codecs.register_error(PLAINLY, _plainly)


class _NeverFails(io.RawIOBase):
    """A descriptor that takes whatever is written, also when it is closed, full, or nobody reads it."""

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
    """Make the streams of this process such that printing does not fail for their sake; called once, at its begin."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)  # the lowest that is free: this one
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        try:
            sys.stdout.reconfigure(errors=PLAINLY)
        except OSError:  # its descriptor leads elsewhere than when Python made it
            sys.stdout = open(1, "w", encoding=sys.stdout.encoding, errors=PLAINLY, closefd=False)  # noqa: SIM115
    if sys.stderr is None or (isinstance(sys.stderr, io.TextIOWrapper) and sys.stderr.fileno() == 2):
        encoding = "utf-8" if sys.stderr is None else sys.stderr.encoding
        raw = io.BufferedWriter(_NeverFails(2))
        sys.stderr = io.TextIOWrapper(raw, encoding, PLAINLY, line_buffering=True, write_through=True)


def give_up_output() -> None:
    """Let what is still to be written to stdout go nowhere: it cannot be written."""
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    os.dup2(nowhere, 1)
    os.close(nowhere)
