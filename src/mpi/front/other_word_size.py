"""Writes the library that stands for the front in programs of 32 bits on this machine: it is empty.

    other_word_size.py MACHINE FILE    MACHINE as CMake names the processor of the build

The loader says in a line of each process that it cannot preload a library. A script under `lull trace` whose steps are
of 32 bits would have as many lines; with this file, where their loader looks, it has none.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

MACHINES = {"x86_64": (3, 0), "aarch64": (40, 0x05000400)}  # ELF's number of the 32-bit processor, and its flags
SHARED, LOADED, DYNAMIC, STACK = 3, 1, 2, 0x6474E551
READ, WRITE = 4, 2
END, HASH, STRINGS, SYMBOLS, STRING_BYTES, SYMBOL_BYTES = 0, 4, 5, 6, 10, 11
HEADER, SEGMENT, SYMBOL = 52, 32, 16


def empty_library(machine: str) -> bytes:
    """A shared library of ELF with 32 bits that defines nothing and needs nothing."""
    number, flags = MACHINES[machine]
    dynamic = HEADER + 3 * SEGMENT
    strings = dynamic + 6 * 8
    symbols = strings + 4
    table = symbols + SYMBOL
    size = table + 4 * 4
    entries = [
        *((HASH, table), (STRINGS, strings), (SYMBOLS, symbols)),
        *((STRING_BYTES, 1), (SYMBOL_BYTES, SYMBOL), (END, 0)),
    ]
    segments = [
        (LOADED, 0, 0, 0, size, size, READ | WRITE, 0x1000),  # the loader writes into the dynamic section
        (DYNAMIC, dynamic, dynamic, dynamic, 6 * 8, 6 * 8, READ | WRITE, 4),
        (STACK, 0, 0, 0, 0, 0, READ | WRITE, 16),  # without it stacks become executable
    ]
    made = b"\x7fELF" + bytes([1, 1, 1]) + bytes(9)
    made += struct.pack("<HHIIIIIHHHHHH", SHARED, number, 1, 0, HEADER, 0, flags, HEADER, SEGMENT, 3, 0, 0, 0)
    made += b"".join(struct.pack("<8I", *segment) for segment in segments)
    made += b"".join(struct.pack("<iI", *entry) for entry in entries)
    made += bytes(4) + bytes(SYMBOL) + struct.pack("<4I", 1, 1, 0, 0)
    return made


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(empty_library(sys.argv[1]))
