"""The folder into which a program writes its accounts of one repeat.

This process locks the folder while it runs. A folder that a killed process has left is not locked, and the next
measurement removes it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "lull-record-"
NEW_S = 60.0  # a younger folder may not be locked yet


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder, which is removed at the end with its content."""
    remove_leftovers()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_leftovers() -> None:
    """Remove folders of this user that no process has locked."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # another process may remove it at the same time
            status = folder.lstat()
            if status.st_uid != os.getuid() or time.time() - status.st_mtime < NEW_S:
                continue
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
