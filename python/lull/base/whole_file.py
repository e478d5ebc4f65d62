"""Writing an output file, whatever the user named: the one place that decides how.

a regular file, or nothing yet   aside, synced, then renamed: whole or as it was
a link                           what it leads to is written, the link stays
a descriptor (/dev/stdout)       through the descriptor, behind what is in it already
a FIFO, a terminal, /dev/null    written through: it is never replaced by a file
a folder, a disk                 refused
"""

from __future__ import annotations

import os
import re
import stat
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lull.base.errors import LullError, describe_os_error

MOST_LINKS = 40  # as the kernel follows
DESCRIPTORS = re.compile(r"/proc/(self|thread-self|\d+)(/task/\d+)?/fd")


@dataclass(frozen=True)
class OutputTarget:
    """Where an output goes: a regular file at `path`, there or not; else what is written through.

    `descriptor` is that of this process to which `path` leads, as /dev/stdout does.
    """

    path: Path
    is_file: bool
    descriptor: int | None = None


def find_output(out: Path) -> OutputTarget:
    """What writing to `out` writes.

    Raises:
        OSError: It is a folder or a disk, a circle of links, or may not be looked at.
    """
    path = out
    for _ in range(MOST_LINKS):
        if DESCRIPTORS.fullmatch(os.path.realpath(path.parent)) and path.name.isdecimal():
            return OutputTarget(path, False, int(path.name))
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            return OutputTarget(path, True)
        if not stat.S_ISLNK(mode):
            break
        path = path.parent / path.readlink()
    if stat.S_ISDIR(mode):
        raise OSError(0, "it is a folder")
    if stat.S_ISBLK(mode):
        raise OSError(0, "it is a disk")
    if stat.S_ISLNK(mode):
        raise OSError(0, "its links lead in a circle")
    return OutputTarget(path, stat.S_ISREG(mode))


def write_whole(out: Path, content: bytes, what: str, option: str, *, sync: bool = True) -> None:
    """Write `content` to `out`, replacing what is in it.

    Args:
        out: The file; its folder is made when it is not there.
        content: All of it.
        what: What it is, for the error: `report`.
        option: The option that chooses another place, for the error: `--out`; "" where none does.
        sync: Whether it must outlast a crash of the machine.

    Raises:
        LullError: It is a folder or a disk, or cannot be written.
    """
    try:
        found = find_output(out)
        if found.is_file:
            _replace(found.path, content, sync=sync)
        else:
            _write_through(found, content)
    except OSError as error:
        fix = f"name another file with {option}" if option else "make its folder writable"
        raise LullError(f"write the {what} {out}", describe_os_error(error), fix) from error


def mode_of_new(bits: int) -> int:
    """The permissions that a new file or folder gets from the system: `bits` without those of the umask."""
    try:
        found = re.search(r"^Umask:\s*([0-7]+)$", Path("/proc/self/status").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        found = None
    return bits & ~(int(found[1], 8) if found else 0o022)


def _replace(path: Path, content: bytes, *, sync: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else mode_of_new(0o666)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    aside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        aside.chmod(mode)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _write_through(to: OutputTarget, content: bytes) -> None:
    if to.descriptor is not None:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        handle = os.dup(to.descriptor)
    else:
        handle = os.open(to.path, os.O_WRONLY | os.O_CLOEXEC)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
