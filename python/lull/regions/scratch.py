"""The folder into which a program writes its accounts of one repeat.

This process holds the lock of the file .lock in it. If a killed process has left such a folder, the next measurement on
the same host removes it; folders of other hosts stay, as their locks may not be seen here.
"""

from __future__ import annotations

import os
import shutil
import socket
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lull.base.file_lock import FileLock, Taken

PREFIX = "lull-record-"
LOCK = ".lock"
NEW_S = 60.0  # a younger folder may not be locked yet


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder except for its lock, which is removed at the end with its content."""
    remove_leftovers()
    folder = Path(tempfile.mkdtemp(prefix=_prefix()))
    with FileLock(folder / LOCK):
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def remove_leftovers() -> None:
    """Remove folders of this host and user that no process has locked."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_prefix()}*"):
        with suppress(OSError, Taken):  # another process may remove it at the same time
            status = folder.lstat()
            if status.st_uid != os.getuid() or time.time() - status.st_mtime < NEW_S:
                continue
            if not stat.S_ISDIR(status.st_mode):
                continue
            with FileLock(folder / LOCK) as lock:
                if lock.works:
                    shutil.rmtree(folder, ignore_errors=True)


def _prefix() -> str:
    return f"{PREFIX}{socket.gethostname()}-"
