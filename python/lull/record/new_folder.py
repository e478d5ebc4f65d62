"""The new folder of a record, checked for write access before the measurement."""

from __future__ import annotations

import tempfile
from datetime import datetime
from pathlib import Path

from lull.base.errors import LullError, describe_os_error


def check_free(folder: Path) -> None:
    """Check that a record can later be written to `folder`, without creating the folder.

    Raises:
        LullError: The folder exists already, or its parent cannot be written.
    """
    asked = f"write the record {folder}"
    try:
        if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
            raise LullError(asked, "it exists already", "name another folder with --out or remove it")
        there = next(parent for parent in folder.absolute().parents if parent.exists())
        Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=there)).rmdir()
    except OSError as error:
        raise LullError(asked, describe_os_error(error), "choose a folder you may write with --out") from error


def default_folder(label: str, now: datetime) -> Path:
    """results/<label>-<time>, followed by a number if that is taken."""
    base = Path("results") / f"{label}-{now:%Y%m%d-%H%M%S}"
    folder, number = base, 1
    while folder.exists():
        number += 1
        folder = base.with_name(f"{base.name}-{number}")
    return folder
