"""A kind of study: the tables of its file, the options of `lull study` that it accepts, how it runs, what it writes.

A kind is a folder of this room whose `kind.py` defines `KIND`, and a row in `kinds.py`. Its section of
docs/reference/study-toml.md is generated: the docstring of `kind.py`, which is 'Studies of NAME: ' and a sentence; then
`description` and the other models of its module, with their docstrings and the comments after their fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from lull.study.file import Study

MADE = ("inputs", "plots", "report.html")  # what studies of several kinds, and sweeps, write into the results folder
Of = TypeVar("Of", bound=Study)
Results = Callable[
    [], Iterable[str]
]  # names the files that studies of any kind write, which `ExperimentState` may remove

RUNNING = frozenset({"--quick", "--fresh", "--out"})  # options of every kind that runs something


@dataclass(frozen=True)
class Request:
    """The options of `lull study`."""

    path: Path  # the study's file
    quick: bool = False
    fresh: bool = False  # do not continue the same study
    out: Path | None = None
    grids: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    workers: int | None = None
    take: Path | None = None

    @property
    def folder(self) -> Path:
        """The folder of the results."""
        return self.out or Path("results") / f"study-{self.path.stem}{'-quick' if self.quick else ''}"

    def options(self) -> list[str]:
        """The options that were given."""
        given = {
            "--quick": self.quick,
            "--fresh": self.fresh,
            "--out": self.out is not None,
            "--grid": bool(self.grids),
            "--only": bool(self.only),
            "--workers": self.workers is not None,
            "--take": self.take is not None,
        }
        return [option for option, was in given.items() if was]


@dataclass(frozen=True)
class StudyKind(Generic[Of]):
    """One kind of study."""

    name: str  # `kind` in the file
    description: type[Of]  # the tables of the file
    options: frozenset[str]  # the options of `lull study` that it accepts
    run: Callable[[Of, Request, Results], None]  # runs the missing points, prints the results and writes the report
    results: tuple[
        str, ...
    ] = ()  # files that it writes into the results folder in addition to `MADE`; --fresh removes them
