"""Labels of records that tell them apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lull.record.schema import Run


def distinct(folders: Sequence[Path], runs: Sequence[Run]) -> list[Run]:
    """The runs with labels that tell them apart: the folder's name, or its whole path, where labels are alike."""
    names = [run.label for run in runs]
    for of in (lambda folder: folder.resolve().name, str):
        names = [of(folder) if names.count(name) > 1 else name for folder, name in zip(folders, names, strict=True)]
    return [run.model_copy(update={"label": name}) for run, name in zip(runs, names, strict=True)]
