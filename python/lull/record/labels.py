"""Distinct labels of records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lull.base.text import readable
from lull.record.schema import Run


def distinct(folders: Sequence[Path], runs: Sequence[Run]) -> list[Run]:
    """The runs, with distinct labels."""
    names = distinct_labels([run.label for run in runs], folders)
    return [run.model_copy(update={"label": name}) for run, name in zip(runs, names, strict=True)]


def distinct_labels(labels: Sequence[str], folders: Sequence[Path | None]) -> list[str]:
    """Distinct labels: equal ones become the folder's name or its path, or get a number if there is no folder."""
    names = list(labels)
    for of in (lambda folder: folder.resolve().name, str):
        names = [
            readable(of(folder)) if folder is not None and names.count(name) > 1 else name
            for folder, name in zip(folders, names, strict=True)
        ]
    return [f"{name}-{place}" if names.count(name) > 1 else name for place, name in enumerate(names, 1)]
