"""Files known by their content: whether a program or an input is still what it was."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

PROGRAM = "program"
OUTPUT_OPTIONS = ("-o", "--out", "--output")  # what a run writes is no part of what it starts from
LARGE = 1 << 30  # bytes, of inputs: hashing takes some seconds for each of so many


def fingerprint(path: Path) -> str:
    """What is in a regular file, in a few words, which begin with PROGRAM if it can be run.

    Of a very large file, and of a program that may not be read, it is the size and the time of the last change.
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
        command: Its words; relative paths are those of the working directory.
        search: The PATH it has; None: ours.
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
        except (OSError, ValueError):  # a word that is no path: too long, or with a zero byte
            continue
    return found
