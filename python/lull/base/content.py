"""Fingerprints of files by content, which show whether a program or an input has changed."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

PROGRAM = "program"
OUTPUT_OPTIONS = ("-o", "--out", "--output")  # the output of a run is not one of its inputs
LARGE = 1 << 30  # bytes of an input whose hash takes some seconds


def fingerprint(path: Path) -> str:
    """The fingerprint of a regular file, which begins with PROGRAM if the file is executable.

    For a very large file, or a program without read permission, it consists of size and modification time.
    """
    status = path.stat()
    what = PROGRAM if os.access(path, os.X_OK) else "file"
    if status.st_size <= LARGE and os.access(path, os.R_OK):
        with path.open("rb") as file:
            return f"{what} sha256 {hashlib.file_digest(file, 'sha256').hexdigest()}"
    return f"{what} {status.st_size} bytes, {status.st_mtime_ns} ns"


def files_named(command: Iterable[str], search: str | None = None) -> set[Path]:
    """The regular files that the words of a command name: paths, programs on PATH, and values of options (`--in=FILE`).

    Args:
        command: Its words; relative paths refer to the working directory.
        search: Its PATH; None: ours.
    """
    found = set()
    before = ""
    for word in command:
        option, _, value = word.partition("=") if word.startswith("-") else (before, "", word)
        before = word
        if option in OUTPUT_OPTIONS:
            continue
        path = Path(value)
        try:
            if value and "/" not in value and not path.is_file():
                path = Path(shutil.which(value, path=search) or "")
            if value and path.is_file():
                found.add(path.absolute())
        except (OSError, ValueError):  # the word is not a path: too long, or with a zero byte
            continue
    return found
