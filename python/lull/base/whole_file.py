"""Write an output file of any type that the user may name; this module alone decides how.

a regular file, or none yet      a temporary file is written, synced and renamed: whole or unchanged
a link                           its target is written, and the link is kept
a descriptor (/dev/stdout)       the descriptor is appended to
a FIFO, a terminal, /dev/null    it is written to, and never replaced by a file
a folder, a disk                 rejected
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

MOST_LINKS = 40  # the kernel's limit
DESCRIPTORS = re.compile(r"/proc/(self|thread-self|\d+)(/task/\d+)?/fd")


@dataclass(frozen=True)
class OutputTarget:
    """The target of an output: a regular file at `path`, existing or not, or something that is written to directly.

    `descriptor` is the descriptor of this process that `path` refers to, such as /dev/stdout.
    """

    path: Path
    is_file: bool
    descriptor: int | None = None


def find_output(out: Path) -> OutputTarget:
    """The target of writing to `out`.

    Raises:
        OSError: It is a folder or a disk, a loop of links, or not accessible.
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
    """Write `content` to `out`, and replace its content.

    Args:
        out: The file; a missing folder is created.
        content: The whole content.
        what: The kind of file, for the error: `report`.
        option: The option that names another file, for the error: `--out`; "" if there is none.
        sync: Whether it must survive a crash of the machine.

    Raises:
        LullError: The target is a folder or a disk, or cannot be written.
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
    """The permissions of a new file or folder: `bits` without those of the umask."""
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
