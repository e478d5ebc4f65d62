"""How a program is linked, from its file (ELF, 64 bits, with this machine's byte order)."""

from __future__ import annotations

import mmap
import stat
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_HEADER = struct.Struct("=16xHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("=IIQQQQQQ")
_DYNAMIC = struct.Struct("=qQ")
_LOAD, _DYNAMIC_SEGMENT, _INTERPRETER = 1, 2, 3
_END, _NEEDED, _STRINGS = 0, 1, 5


@dataclass(frozen=True)
class Program:
    """How a program is linked."""

    static: bool  # no loader runs before it
    set_id: bool  # it runs as another user or group
    libraries: tuple[str, ...]  # direct dependencies only


def read_program(path: Path) -> Program | None:
    """Read the file; None if it is not an ELF program (such as a script), or cannot be read."""
    try:
        with path.open("rb") as file:
            if file.read(5) != b"\x7fELF\x02":
                return None
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                segments = list(_segments(content))
                libraries = tuple(_needed(content, segments))
        mode = path.stat().st_mode
    except (OSError, struct.error):
        return None
    return Program(
        static=all(kind != _INTERPRETER for kind, *_ in segments),
        set_id=bool(mode & (stat.S_ISUID | stat.S_ISGID)),
        libraries=libraries,
    )


def _segments(content: mmap.mmap) -> Iterator[tuple[int, int, int, int]]:
    """Kind, offset in the file, address and size of each segment."""
    header = _HEADER.unpack_from(content)
    first, size, count = header[4], header[8], header[9]
    for index in range(count):
        kind, _, offset, address, _, length, _, _ = _SEGMENT.unpack_from(content, first + index * size)
        yield kind, offset, address, length


def _needed(content: mmap.mmap, segments: list[tuple[int, int, int, int]]) -> Iterator[str]:
    entries: list[tuple[int, int]] = []
    for kind, offset, _, length in segments:
        if kind == _DYNAMIC_SEGMENT:
            entries = [_DYNAMIC.unpack_from(content, at) for at in range(offset, offset + length, _DYNAMIC.size)]
    entries = entries[: next((i for i, (tag, _) in enumerate(entries) if tag == _END), len(entries))]
    strings = next((value for tag, value in entries if tag == _STRINGS), None)
    if strings is None:
        return
    for kind, offset, address, length in segments:
        if kind == _LOAD and address <= strings < address + length:
            base = strings - address + offset
            for tag, value in entries:
                if tag == _NEEDED:
                    yield content[base + value : content.find(b"\0", base + value)].decode(errors="replace")
