"""Find the experiment that a killed call has left, so that the same command continues it.

The folder of an experiment that has ended has no state; one that was killed has, with its conditions. A user who names
a folder gets that one continued or refused. Otherwise, the name of a folder ends in the time of its begin, and of the
folders of earlier calls the newest with the same conditions is continued.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Final

from lull.base.errors import LullError
from lull.experiment.conditions import Conditions
from lull.experiment.state import CONDITIONS, STATE, ExperimentState

ENDS_IN_A_TIME: Final = re.compile(r"(?P<name>.+)-\d{8}-\d{6}(-\d+)?")


@dataclass(frozen=True)
class Wanted:
    """The experiment of this call.

    Args:
        folder: Its folder: named by the user, or of a name that ends in the present time.
        what: The kind of experiment: `measurement`.
        named: Whether the user has named the folder.
        fresh: Whether to begin anew, whatever an earlier call has left.
        results: Names the files that the experiment writes into the folder, in addition to those of its points.
    """

    folder: Path
    what: str
    named: bool
    fresh: bool = False
    results: Callable[[], Iterable[str]] = tuple


def find_unfinished(
    wanted: Wanted, now: Conditions, fits: Callable[[Path], None]
) -> tuple[ExperimentState | None, str]:
    """The locked state of the unfinished experiment of the same conditions; None if there is none.

    Args:
        wanted: The experiment of this call.
        now: Its conditions.
        fits: Raises LullError if what is in a folder cannot be continued for another reason.

    Returns:
        The state, and a line for the user; empty if there is nothing to say.

    Raises:
        LullError: The folder that the user has named holds an unfinished experiment of other conditions.
    """
    if not wanted.named:
        return (None, "") if wanted.fresh else _find_default(wanted, now, fits)
    if not is_unfinished(wanted.folder):
        return None, ""
    state = ExperimentState(wanted.folder, wanted.what, wanted.results)
    try:
        if wanted.fresh:
            _remove(state, now)
            return None, ""
        if state.damage is not None:
            raise state.damage
        differences = state.conditions.differences(now) if state.conditions else []
        if differences:
            raise LullError(
                f"continue the {wanted.what} in {wanted.folder}",
                "; ".join(differences),
                "--fresh starts again, --out names another folder",
            )
        fits(wanted.folder)
    except BaseException:
        state.close()
        raise
    return state, ""


def _remove(state: ExperimentState, now: Conditions) -> None:
    """Remove an unfinished experiment.

    Raises:
        LullError: The folder is that of another kind of experiment.
    """
    known = state.conditions
    if known is not None and known.what != state.what:
        raise LullError(f"start again in {state.out}", f"a {known.what} is there", "name another folder with --out")
    state.clear(now.points)
    state.end()
    state.close()


def _find_default(wanted: Wanted, now: Conditions, fits: Callable[[Path], None]) -> tuple[ExperimentState | None, str]:
    name = ENDS_IN_A_TIME.fullmatch(wanted.folder.name)
    assert name is not None
    line = ""
    for folder in sorted(wanted.folder.parent.glob(f"{escape(name['name'])}-*"), reverse=True):
        if not ENDS_IN_A_TIME.fullmatch(folder.name) or not is_unfinished(folder):
            continue
        try:
            state = ExperimentState(folder, wanted.what, wanted.results)
        except LullError:  # another process works there
            continue
        differences = state.conditions.differences(now) if state.conditions else ["it is damaged"]
        if not differences:
            try:
                fits(folder)
            except LullError as error:
                differences = [str(error)]
            else:
                return state, ""
        about_this = state.conditions is not None and state.conditions.is_about(now)
        if about_this and not line:
            line = f"{folder} is unfinished, but not continued: {'; '.join(differences)}"
        state.close()
    return None, line


def is_unfinished(folder: Path) -> bool:
    """Whether an experiment has begun in the folder, and not ended."""
    return (folder / STATE / CONDITIONS).exists()
