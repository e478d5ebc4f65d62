"""A lock file, which one process of all hosts holds at a time.

The lock is of a regular file that is open for writing, not of a folder, because NFS extends only such a lock to other
hosts. It ends with the process. On a file system without locks (Lustre that is mounted with noflock) every process
gets it, and `works` is false.
"""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Self

WITHOUT_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP}


class Taken(Exception):
    """Another process holds the lock."""


class FileLock:
    """The lock of a file, which is made if it is missing and removed at the end.

    Args:
        path: The file; its folder exists.

    Attributes:
        works: Whether the file system has locks.

    Raises:
        Taken: Another process holds it.
        OSError: The file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        while True:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self.works = True
            except OSError as error:
                if error.errno not in WITHOUT_LOCKS:
                    os.close(self._descriptor)
                    raise Taken from error
                self.works = False
            if self._is_current():
                return
            os.close(self._descriptor)  # the holder before has removed it since it was opened

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Remove the file, and let another process lock one of its name."""
        with suppress(OSError):
            if self._is_current():
                self._path.unlink()
        os.close(self._descriptor)

    def _is_current(self) -> bool:
        """Whether the file of this name is still the one that is open."""
        try:
            return os.path.samestat(self._path.stat(), os.fstat(self._descriptor))
        except FileNotFoundError:
            return False
