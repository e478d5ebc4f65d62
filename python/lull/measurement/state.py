"""The state of a study on disk. Every repeat is saved when it ends, so that a kill loses at most the one in progress.

OUT/.state/study.json          the conditions of the study: description, settings, node, programs
OUT/.state/<point>/000.json    a repeat, whole if it exists; 000.parquet its samples, 000.log its output
OUT/<point>/                   the record of a point of which all repeats exist
OUT/inputs/, OUT/plots/, OUT/report.html, and the results that only some studies write
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, ValidationError

from lull.base.content import PROGRAM
from lull.base.documents import DamagedError, parse_json
from lull.base.errors import LullError, describe_os_error
from lull.base.parquet import read_table
from lull.record import Repeat

STATE = ".state"
BEGUN = "study.json"
MADE = ("inputs", "plots", "report.html", "sweep.csv")  # by studies of several kinds, and by sweeps


class StudyConditions(BaseModel):
    """What must be the same for repeats to belong together."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    study: str
    quick: bool
    description: str  # hash of its content
    settings: dict[str, str]
    node: str
    programs: dict[str, str]  # path -> what identifies its content
    points: list[str]

    def differences(self, now: StudyConditions) -> list[str]:
        """What differs between these conditions and `now`, in words."""
        words = []
        if self.study != now.study:
            words.append(f"it holds the study {self.study}")
        if self.quick != now.quick:
            words.append(f"it was started with{'' if self.quick else 'out'} --quick")
        elif self.description != now.description:
            words.append("its description has changed")
        for variable in sorted({*self.settings, *now.settings}):
            before, after = self.settings.get(variable, ""), now.settings.get(variable, "")
            if before != after:
                words.append(f"{variable} was {before or 'empty'} and is {after or 'empty'}")
        if self.node != now.node:
            words.append(f"it ran on {self.node}")
        if self.description == now.description:
            # A new file that is not a program may have been written by the runs.
            changed = [
                path
                for path, state in now.programs.items()
                if self.programs.get(path, "" if state.startswith(PROGRAM) else state) != state
            ]
            words.extend(f"{Path(path).name} has been rebuilt" for path in changed)
        return words


class StudyState:
    """The folder of a study, locked by one process at a time until `close`.

    Args:
        out: The folder.
        results: Names the files that studies of any kind write into such a folder, in addition to `MADE`. It is called
            only when the content of the folder is removed or moved, because it imports every kind of study.

    Raises:
        LullError: The folder cannot be written, holds something else, or another process works in it.
    """

    def __init__(self, out: Path, results: Callable[[], Iterable[str]]) -> None:
        self.out = out
        self._results = results
        self._asked = f"keep the study in {out}"
        begun = out / STATE / BEGUN
        try:
            if out.exists() and not (out / STATE).is_dir() and (not out.is_dir() or any(out.iterdir())):
                raise LullError(self._asked, "something else is there", "name another folder with --out")
            (out / STATE).mkdir(parents=True, exist_ok=True)
            self._lock = os.open(out / STATE / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise LullError(self._asked, describe_os_error(error), "choose a folder with --out") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            raise LullError(self._asked, "another lull study is at work there", "wait for it, or use --out") from error
        self.begun: StudyConditions | None = None
        self.damage: LullError | None = None  # why study.json cannot be read
        try:
            self.begun = _read_begun(begun) if begun.exists() else None
        except LullError as error:
            self.damage = error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)

    def begin(self, begun: StudyConditions) -> None:
        """Write down the conditions of the study."""
        self.write(self.out / STATE / BEGUN, begun.model_dump_json(indent=1).encode())
        self.begun = begun

    def clear(self, points: Sequence[str]) -> None:
        """Remove only what earlier runs made here; if study.json is damaged, for the present `points`."""
        known = self.begun.points if self.begun else points
        for path in [*self._made(known), *self._inside()]:  # the state last
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        self.begun = self.damage = None

    def set_aside(self) -> Path:
        """Move the content to a folder next to this one, OUT-1 or the next free number, and return that folder.

        study.json is moved last: if this process is killed before, the next one moves the rest.

        Raises:
            LullError: It cannot be moved.
        """
        number = 1
        here = self.out.resolve()  # has a name even if --out is . or ends in ..
        while (aside := here.with_name(f"{here.name}-{number}")).exists():
            number += 1
        made = self._made(self.begun.points if self.begun else [])
        inside = sorted(self._inside(), key=lambda path: path.name == BEGUN)
        try:
            (aside / STATE).mkdir(parents=True)
            for path in [*made, *inside]:
                if path.exists():
                    path.rename(aside / path.relative_to(self.out))
        except OSError as error:
            raise LullError(self._asked, describe_os_error(error), "name another folder with --out") from error
        self.begun = None
        return aside

    def _made(self, points: Sequence[str]) -> list[Path]:
        """The files next to the state that this study, or an earlier one in the same folder, may have written."""
        return [self.out / name for name in (*points, *MADE, *self._results())]

    def _inside(self) -> list[Path]:
        return [path for path in (self.out / STATE).iterdir() if path.name != "lock"]

    def log(self, point: str, index: int) -> Path:
        """The file for the output of a repeat; warm-ups have a negative index."""
        folder = self.out / STATE / point
        folder.mkdir(parents=True, exist_ok=True)
        return folder / (f"{index:03}.log" if index >= 0 else "warmup.log")

    def has(self, point: str, index: int) -> bool:
        """Whether this repeat exists; if so, it is whole."""
        return (self.out / STATE / point / f"{index:03}.json").exists()

    def save(self, point: str, repeat: Repeat, samples: pa.Table) -> None:
        """Keep a finished repeat."""
        folder = self.out / STATE / point
        sink = pa.BufferOutputStream()
        pq.write_table(samples, sink, compression="zstd")
        self.write(folder / f"{repeat.index:03}.parquet", sink.getvalue().to_pybytes())
        self.write(folder / f"{repeat.index:03}.json", repeat.model_dump_json().encode())

    def load(self, point: str, runs: int) -> tuple[list[Repeat], pa.Table]:
        """All repeats of a point and their samples.

        Raises:
            LullError: One of them is damaged.
        """
        folder = self.out / STATE / point
        try:
            repeats = [Repeat.model_validate_json((folder / f"{i:03}.json").read_bytes()) for i in range(runs)]
            samples = pa.concat_tables([read_table(folder / f"{i:03}.parquet") for i in range(runs)])
        except (OSError, ValidationError, pa.ArrowException) as error:
            raise LullError(f"continue {point}", f"the saved data in {folder} is damaged", "start --fresh") from error
        return repeats, samples

    def write(self, path: Path, content: bytes) -> None:
        """Write a file so that it is whole or absent; a glob for whole files never matches a half-written one."""
        aside = path.with_name(f".{path.name}.aside")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with aside.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            aside.rename(path)
        except OSError as error:
            raise LullError(self._asked, describe_os_error(error), "make room and start it again") from error


def take_up(state: StudyState, now: StudyConditions, resume: bool | None) -> str:
    """Continue the study in the folder, or begin one; if the folder holds another study, move that aside.

    Returns:
        What was moved aside and why, for the user; empty if nothing was.

    Raises:
        LullError: --resume was given, and there is nothing to continue or it has changed; the line says how.
    """
    asked = f"continue the study in {state.out}"
    if resume is False:
        state.clear(now.points)
    if state.damage is not None:
        raise state.damage
    words = ""
    differences = state.begun.differences(now) if state.begun else []
    if differences and resume:
        raise LullError(asked, "; ".join(differences), "--fresh starts again, --out names another folder")
    if differences:
        aside = state.set_aside()
        words = f"the former content of {state.out} is now in {aside}: {'; '.join(differences)}"
    if state.begun is None:
        if resume:
            raise LullError(asked, "there is none", "leave out --resume to begin one")
        state.begin(now)
    return words


def _read_begun(path: Path) -> StudyConditions:
    try:
        return StudyConditions.model_validate(parse_json(path.read_bytes()))
    except (OSError, DamagedError, ValidationError) as error:
        raise LullError(
            f"continue the study in {path.parent.parent}", f"{path.name} is damaged", "--fresh starts again"
        ) from error
