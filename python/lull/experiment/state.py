"""The state of an experiment on disk. Every run is saved when it ends, so that a kill loses at most those in progress.

OUT/.state/conditions.json     the conditions of the experiment
OUT/.state/lock                locked by the one process that works there
OUT/.state/<point>/000.json    a run, whole if it exists; 000.log its output, other files what else belongs to it
OUT/<point>/                   the record of a point of which all runs exist
OUT/...                        results, whose names the caller knows
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Self

from pydantic import ValidationError

from lull.base.documents import DamagedError, parse_json
from lull.base.errors import LullError, describe_os_error
from lull.base.file_lock import FileLock, Taken
from lull.experiment.conditions import Conditions
from lull.present.messages import say

STATE: Final = ".state"
CONDITIONS: Final = "conditions.json"
LOCK: Final = "lock"


class ExperimentState:
    """The folder of an experiment, locked by one process at a time until `close`.

    Args:
        out: The folder.
        what: The kind of experiment, for errors: `study`.
        results: Names the files that experiments may write into such a folder, in addition to the records of points. It
            is called only when the content of the folder is removed or moved.
        shared: Whether the folder may have other content.
        option: Names another folder, for errors.

    Raises:
        LullError: The folder cannot be written, holds something else, or another process works in it.
    """

    def __init__(
        self,
        out: Path,
        what: str,
        results: Callable[[], Iterable[str]] = tuple,
        *,
        shared: bool = False,
        option: str = "--out",
    ) -> None:
        self.out, self.what = out, what
        self._results = results
        self._asked = f"keep the {what} in {out}"
        try:
            taken = out.exists() and not (out / STATE).is_dir() and (not out.is_dir() or any(out.iterdir()))
            if taken and not shared:
                raise LullError(self._asked, "something else is there", f"name another folder with {option}")
            (out / STATE).mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(out / STATE / LOCK)
        except OSError as error:
            raise LullError(self._asked, describe_os_error(error), f"choose a folder with {option}") from error
        except Taken as error:
            words = f"another process works on a {what} there"
            raise LullError(self._asked, words, f"wait for its end, or use {option}") from error
        if not self._lock.works:
            say(f"the file system of {out} has no locks; see that no other command works there")
        self.conditions: Conditions | None = None
        self.damage: LullError | None = None  # why the conditions cannot be read
        try:
            self.conditions = self._read_conditions()
        except LullError as error:
            self.damage = error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the folder."""
        self._lock.release()

    def begin(self, conditions: Conditions) -> None:
        """Write down the conditions of the experiment, before its first run."""
        self.write(self.out / STATE / CONDITIONS, conditions.model_dump_json(indent=1).encode())
        self.conditions = conditions

    def end(self) -> None:
        """Remove the state, because everything that it holds is elsewhere."""
        shutil.rmtree(self.out / STATE, ignore_errors=True)

    def clear(self, points: Sequence[str]) -> None:
        """Remove only what earlier runs made here; if the conditions are damaged, for the present `points`."""
        known = self.conditions.points if self.conditions else points
        for path in [*self._made(known), *self._inside()]:  # the state last
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        self.conditions = self.damage = None

    def set_aside(self) -> Path:
        """Move the content to a folder next to this one, OUT-1 or the next free number, and return that folder.

        The conditions are moved last: if this process is killed before, the next one moves the rest.

        Raises:
            LullError: It cannot be moved.
        """
        number = 1
        here = self.out.resolve()  # has a name even if --out is . or ends in ..
        while (aside := here.with_name(f"{here.name}-{number}")).exists():
            number += 1
        made = self._made(self.conditions.points if self.conditions else [])
        inside = sorted(self._inside(), key=lambda path: path.name == CONDITIONS)
        try:
            (aside / STATE).mkdir(parents=True)
            for path in [*made, *inside]:
                if path.exists():
                    path.rename(aside / path.relative_to(self.out))
        except OSError as error:
            raise LullError(self._asked, describe_os_error(error), "name another folder with --out") from error
        self.conditions = None
        return aside

    def path(self, point: str, index: int, suffix: str = "json") -> Path:
        """The file of a run with this suffix."""
        return self.out / STATE / point / f"{index:03}.{suffix}"

    def log(self, point: str, index: int) -> Path:
        """The file for the output of a run; warm-ups have a negative index."""
        path = self.path(point, index, "log") if index >= 0 else self.out / STATE / point / "warmup.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def has(self, point: str, index: int) -> bool:
        """Whether this run exists; if so, it is whole."""
        return self.path(point, index).exists()

    def keep(self, point: str, index: int, content: bytes, beside: Mapping[str, bytes] | None = None) -> None:
        """Keep a finished run: first the files `beside` by suffix, then NNN.json, whose existence means that all exist.

        Raises:
            LullError: A file cannot be written.
        """
        for suffix, more in (beside or {}).items():
            self.write(self.path(point, index, suffix), more)
        self.write(self.path(point, index), content)

    def damaged(self, point: str) -> LullError:
        """The error for a point of which a run is missing or damaged."""
        words = f"the saved data in {self.out / STATE / point} is damaged"
        return LullError(f"continue {point}", words, "start --fresh")

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

    def _made(self, points: Sequence[str]) -> list[Path]:
        """The files next to the state that this experiment, or an earlier one in the same folder, may have written."""
        return [self.out / name for name in (*points, *self._results())]

    def _inside(self) -> list[Path]:
        return [path for path in (self.out / STATE).iterdir() if path.name != LOCK]

    def _read_conditions(self) -> Conditions | None:
        asked = f"continue the {self.what} in {self.out}"
        path = self.out / STATE / CONDITIONS
        if not path.exists():
            if any(not found.name.startswith(".") for found in self._inside()):
                # Runs of unknown conditions, which are written before the first run.
                raise LullError(asked, f"{CONDITIONS} is missing", "--fresh starts again")
            return None
        try:
            return Conditions.model_validate(parse_json(path.read_bytes()))
        except (OSError, DamagedError, ValidationError) as error:
            raise LullError(asked, f"{CONDITIONS} is damaged", "--fresh starts again") from error


def has_only_begun(folder: Path) -> bool:
    """Whether a call that was killed at its very begin has left the folder, before its conditions were on disk."""
    if not folder.is_dir() or [path.name for path in folder.iterdir()] != [STATE]:
        return False
    return all(path.name == LOCK or path.name.startswith(".") for path in (folder / STATE).iterdir())


def take_up(state: ExperimentState, now: Conditions, *, fresh: bool = False) -> str:
    """Continue the experiment in the folder, or begin one; if the folder holds another, move that aside.

    Args:
        state: The folder.
        now: The present conditions.
        fresh: Whether to remove what earlier calls have left, instead of continuing it.

    Returns:
        What was moved aside and why, for the user; empty if nothing was.

    Raises:
        LullError: The conditions in the folder cannot be read, or its content cannot be moved.
    """
    if fresh:
        state.clear(now.points)
    if state.damage is not None:
        raise state.damage
    words = ""
    differences = state.conditions.differences(now) if state.conditions else []
    if differences:
        aside = state.set_aside()
        words = f"the former content of {state.out} is now in {aside}: {'; '.join(differences)}"
    if state.conditions is None:
        state.begin(now)
    return words
