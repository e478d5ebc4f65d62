"""The kinds of studies. The key `kind` of a study's file names the kind; the default is a study of runs."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, Final, cast

from lull.base.errors import LullError, UsageError
from lull.study.file import Study, nearest, read_toml, validated
from lull.study.kind import MADE, Request, StudyKind

# A kind is imported only when a study of it is read, because its imports take time.
KINDS = {
    "runs": "lull.study.runs.kind",
    "simulations": "lull.study.simulations.kind",
    "choices": "lull.study.choices.kind",
    "publications": "lull.study.publications.kind",
}
DEFAULT: Final = "runs"


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
    """What studies of every kind and sweeps write into the results folder: another kind may have used it before."""
    from lull.simulation.sweep import TABLE  # imported late, because it takes time

    return [*MADE, TABLE, *(name for kind in KINDS for name in study_kind(kind).results)]


def study_kind(name: str) -> StudyKind[Study]:
    """Import the kind of this name, one of `KINDS`."""
    return cast(StudyKind[Study], importlib.import_module(KINDS[name]).KIND)


def _read(path: Path) -> tuple[StudyKind[Study], Study]:
    asked = f"read the study {path}"
    content = read_toml(path, asked)
    if "kind" not in content:
        _check_default_fits(content, asked)
    name = content.get("kind", DEFAULT)
    if not isinstance(name, str) or name not in KINDS:
        raise LullError(asked, f"kind: there is no {name!r}", nearest(str(name), list(KINDS)))
    kind = study_kind(name)
    return kind, validated(kind.description, content, asked)


def _check_default_fits(content: dict[str, Any], asked: str) -> None:
    """Check that a file without `kind` is not one of another kind, as far as its keys tell.

    Raises:
        LullError: Another kind has all keys of the file; and the default kind lacks one, or requires more.
    """
    keys = study_kind(DEFAULT).description.model_fields
    required = [key for key, field in keys.items() if field.is_required() and key not in Study.model_fields]
    missing = [key for key in required if key not in content]
    if content.keys() <= keys.keys() and not missing:
        return
    fitting = [name for name in KINDS if content.keys() <= study_kind(name).description.model_fields.keys()]
    if fitting and DEFAULT not in fitting:
        raise LullError(
            asked, f"it has the tables of a study of {fitting[0]}", f'write kind = "{fitting[0]}" at its top'
        )
    if others := [f'"{name}"' for name in fitting if name != DEFAULT]:
        raise LullError(
            asked,
            f"it says no kind, so it is read as a study of {DEFAULT}, which requires {_listed(missing, 'and')}",
            f"add {'it' if len(missing) == 1 else 'them'}, or write kind = {_listed(others, 'or')} at its top",
        )


def _listed(names: list[str], word: str) -> str:
    *first, last = names
    return f"{', '.join(first)} {word} {last}" if first else last
