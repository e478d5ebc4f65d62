"""The spool of a node, or a folder that nodes share: files of rows, named rows-….jsonl, in the order of their names.

A file is removed when all its rows have been passed on. Lines that are no rows are kept in `refused.jsonl` beside them.
One process at a time passes rows on; the lock ends with the process.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lull.base.errors import LullError, describe_os_error
from lull.base.file_lock import FileLock
from lull.jobs.question import MOST_ROW_BYTES, MOST_ROWS
from lull.jobs.rows import Invalid, Row, read_row

SPOOL: Final = Path("/var/lib/lull/spool")
PATTERN: Final = "rows-*.jsonl"
REFUSED: Final = "refused.jsonl"
LOCK: Final = ".lock"
MOST_FILE: Final = 64 << 20  # bytes; the service's files have 256 KiB


@dataclass
class Batch:
    """Rows that are passed on together.

    Attributes:
        rows: With their lines.
        refused: Lines that are no rows, with the reason.
        finished: The files whose last line is among them.
    """

    rows: list[tuple[Row, bytes]] = field(default_factory=list)
    refused: list[tuple[bytes, str]] = field(default_factory=list)
    finished: list[Path] = field(default_factory=list)
    bytes: int = 0


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """The sole right to pass on the rows of a folder.

    Raises:
        Taken: Another process has it.
        LullError: There is no such folder.
    """
    try:
        lock = FileLock(folder / LOCK)
    except OSError as error:
        raise LullError(f"read the spool {folder}", describe_os_error(error), "name another with --spool") from error
    with lock:
        yield


def batches(folder: Path, owners: frozenset[int] | None = None) -> Iterator[Batch]:
    """The rows of all files, each batch small enough for a message.

    Args:
        folder: The spool.
        owners: Whose files are read, besides root's; None: everybody's.

    Raises:
        LullError: A file cannot be read.
    """
    batch = Batch()
    for path in sorted(folder.glob(PATTERN)):
        content = _content(path, owners)
        if content is None:
            continue
        for line in content.splitlines(keepends=True):
            if len(batch.rows) >= MOST_ROWS or batch.bytes + len(line) > MOST_ROW_BYTES:
                yield batch
                batch = Batch()
            _add(batch, line)
        batch.finished.append(path)
    if batch.finished:
        yield batch


def finish(folder: Path, batch: Batch, refused: Sequence[tuple[bytes, str]]) -> None:
    """Remove the files of a batch that has been passed on, and keep the lines that no collector takes.

    Raises:
        LullError: The folder cannot be written.
    """
    try:
        if lines := [line for line, _ in (*batch.refused, *refused)]:
            with (folder / REFUSED).open("ab") as file:
                file.writelines(line if line.endswith(b"\n") else line + b"\n" for line in lines)
                file.flush()
                os.fsync(file.fileno())
        for path in batch.finished:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise LullError(
            f"write the spool {folder}", describe_os_error(error), "run as the user it belongs to"
        ) from error


def copy(path: Path, folder: Path, node: str) -> None:
    """Copy a file of a spool into a folder that nodes share, whole or not at all, and under one name however often.

    Raises:
        OSError: It cannot be written.
    """
    content = path.read_bytes()
    name = f"rows-{node}-{hashlib.sha256(content).hexdigest()[:32]}.jsonl"
    aside = folder / f".{name}.{os.getpid()}"
    try:
        with aside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(folder / name)
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)


def _add(batch: Batch, line: bytes) -> None:
    if not line.strip():
        return
    try:
        if len(line) > MOST_ROW_BYTES:
            raise Invalid(f"a line of {len(line)} bytes is no row")
        batch.rows.append((read_row(line), line))
        batch.bytes += len(line)
    except Invalid as error:
        batch.refused.append((line, str(error)))


def _content(path: Path, owners: frozenset[int] | None) -> bytes | None:
    """None: it has gone meanwhile."""
    asked = f"read {path}"
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LullError(asked, describe_os_error(error), "run as the user to whom the spool belongs") from error
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_FILE:
            raise LullError(asked, "it is no file of rows", "remove it")
        if owners is not None and status.st_uid not in owners and status.st_uid != 0:
            found = f"it belongs to user {status.st_uid}, who may not send rows"
            raise LullError(asked, found, "remove it, or name the user in senders of the site's file")
        return file.read()
