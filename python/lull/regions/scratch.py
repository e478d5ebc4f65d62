"""The folder in which a program leaves its account of one repeat.

It is held by a lock for as long as this process lives. One that a killed process left behind is held by nobody, and is
removed by the next measurement.
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
NEW_S = 60.0  # a folder younger than this may just not be locked yet


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder, removed at the end with all that is in it."""
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
    """Remove folders of this user that no process holds any more."""
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
