"""The kinds of studies. The key `kind` of a study's file names the kind; the default is a study of runs."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, cast

from lull.base.errors import LullError, UsageError
from lull.study.file import Study, nearest, read_toml, validated
from lull.study.kind import Request, StudyKind

# A kind is imported only when a study of it is read, because its imports take time.
KINDS = {
    "runs": "lull.study.runs.kind",
    "simulations": "lull.study.simulations.kind",
    "choices": "lull.study.choices.kind",
    "publications": "lull.study.publications.kind",
}


def read_study(path: Path) -> Study:
    """Read a study of any kind.

    Raises:
        LullError: The file does not exist, is not TOML, or does not describe a study; the line says where and why.
    """
    return _read(path)[1]


def run_study(request: Request) -> None:
    """Run the missing points of a study, print its results and write its report.

    Raises:
        LullError: The file does not describe a study, or a step of the study failed.
        UsageError: An option was given that has no meaning for studies of this kind.
    """
    kind, whole = _read(request.path)
    for option in request.options():
        if option not in kind.options:
            raise UsageError(
                f"run the study {request.path.stem}", f"{option} is not for studies of {kind.name}", "leave it out"
            )
    kind.run(whole, request, all_results)


def all_results() -> list[str]:
    """The files that studies write into the results folder, of every kind: another kind may have used it before."""
    return [name for kind in KINDS for name in _kind(kind).results]


def _read(path: Path) -> tuple[StudyKind[Study], Study]:
    asked = f"read the study {path}"
    content = read_toml(path, asked)
    name = content.get("kind", "runs")
    if name not in KINDS:
        raise LullError(asked, f"kind: there is no {name!r}", nearest(str(name), list(KINDS)))
    kind = _kind(name)
    if "kind" not in content and (other := _kind_with_the_keys_of(content)):
        raise LullError(asked, f"it has the tables of a study of {other}", f'write kind = "{other}" at its top')
    return kind, validated(kind.description, content, asked)


def _kind(name: str) -> StudyKind[Study]:
    return cast(StudyKind[Study], importlib.import_module(KINDS[name]).KIND)


def _kind_with_the_keys_of(content: dict[str, Any]) -> str | None:
    """The kind that has all keys of a file, if studies of runs do not."""
    if content.keys() <= _kind("runs").description.model_fields.keys():
        return None
    return next((name for name in KINDS if content.keys() <= _kind(name).description.model_fields.keys()), None)
