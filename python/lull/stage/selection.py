"""Who writes under `lull stage --approach auto`: what earlier runs of the same command say.

Every run of `lull stage` leaves its figures in a file of the user's cache folder, one for each command, number of ranks
and approach. From the second run on they say what the machine and the simulation are; the model (src/model/output.hpp)
then says what each approach would cost. An approach that has been run with the same output is judged by the time that
it took. Without any figures the job itself asks the model when it starts (src/stage/choice.hpp).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lull import _core
from lull.base.errors import LullError
from lull.base.native import native_errors
from lull.model.figures import bytes_of, case_of_run, read_figures, seconds_of
from lull.stage.programs import AUTO, Wish

if TYPE_CHECKING:
    from lull.record import Output

# Beside the command's words, what says how many ranks there are, where they are, and what their storage is.
SURROUNDINGS = (
    "SLURM_NTASKS",
    "SLURM_JOB_NUM_NODES",
    "LULL_NODES",
    "LULL_STAGE_STORAGE_LIMIT",
    "LULL_STAGE_STORAGE_WRITERS",
)
SAME_OUTPUT = 0.01  # share by which the bytes of two runs may differ


@dataclass(frozen=True)
class Selection:
    """An approach, and why, in a line."""

    approach: str
    why: str


class Memory:
    """The figures of earlier runs of one command."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        base = environment.get("XDG_CACHE_HOME") or os.path.join(environment.get("HOME", "/"), ".cache")  # noqa: PTH118
        known = [*command, *(f"{name}={environment.get(name, '')}" for name in SURROUNDINGS)]
        self._folder = Path(base) / "lull" / "output"
        self._key = hashlib.sha256("\0".join(known).encode()).hexdigest()[:16]

    def file(self, approach: str) -> Path | None:
        """Where a run by this approach leaves its figures, or None where that is not possible."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return None
        return self._folder / f"{self._key}.{approach}.json" if os.access(self._folder, os.W_OK) else None

    def runs(self) -> list[Output]:
        """The last run by each approach, the latest first; what cannot be read counts as not there."""
        try:
            paths = sorted(
                self._folder.glob(f"{self._key}.*.json"), key=lambda path: path.stat().st_mtime, reverse=True
            )
        except OSError:
            return []
        found: dict[str, Output] = {}
        for path in paths:
            try:
                figures = read_figures(path)
            except LullError:
                continue
            found.setdefault(figures.approach, figures)
        return list(found.values())


def select(runs: Sequence[Output], objective: str) -> Selection | None:
    """The approach that costs least, or None where the runs do not say.

    Args:
        runs: The last run by each approach, the latest first.
        objective: "time", "energy" or "edp".
    """
    case = case_of_run(runs[0]) if runs else None
    if case is None:
        return None
    machine, simulation = case
    latest = runs[0]
    measured = {run.approach: seconds_of(run) for run in runs if _same_output(run, latest)}
    with native_errors():
        choices = _core.choose_output(machine, simulation, _core.output_ways(machine), objective)
    # By what share the model misses the run that it knows the case from: others it will miss by the same.
    known = next((one for one in choices if one.way == latest.approach), None)
    factor = seconds_of(latest) / known.seconds if known else 1.0
    power = {"time": 0, "energy": 1, "edp": 1}[objective]
    delay = {"time": 1, "energy": 1, "edp": 2}[objective]
    costs = {one.way: one.watts**power * measured.get(one.way, one.seconds * factor) ** delay for one in choices}
    tried = [way for way in costs if way in measured]
    best = min(costs, key=lambda way: costs[way])
    if not tried:
        return Selection(best, "by the model")
    best_tried = min(tried, key=lambda way: costs[way])
    gain = 1 - costs[best] / costs[best_tried]
    if best in measured or gain < machine.least_gain:
        return Selection(best_tried, f"the best of {len(tried)} tried")
    return Selection(best, f"not tried yet: the model promises {100 * gain:.0f} % less {_words(objective)}")


def selected(wish: Wish, command: Sequence[str], environment: Mapping[str, str]) -> tuple[Wish, str]:
    """The wish with an approach in place of `auto` and with a place for the run's figures, and a line that says why.

    Where nothing is known of the command, `auto` stays, for the job to choose when it starts; the line is empty then.

    Raises:
        UsageError: There is no such approach or objective.
    """
    environment = {**environment, **wish.settings()}
    memory = Memory(command, environment)
    line = ""
    if wish.approach == AUTO:
        objective = environment.get("LULL_STAGE_OBJECTIVE") or "time"
        found = select(memory.runs(), objective)
        if found is not None:
            when_full = environment.get("LULL_STAGE_WHEN_FULL") or "cheapest"
            wish = replace(wish, approach=found.approach, when_full=when_full)
            line = f"auto takes {found.approach}, by the figures of earlier runs: {found.why}"
    if (kept := memory.file(wish.approach)) is not None:
        named = [Path(path) for path in environment.get("LULL_STAGE_FIGURES", "").split(":") if path]
        wish = replace(wish, figures=(*named, kept))
    return wish, line


def _same_output(run: Output, other: Output) -> bool:
    return (
        run.nodes == other.nodes
        and run.outputs == other.outputs
        and abs(bytes_of(run) - bytes_of(other)) <= SAME_OUTPUT * bytes_of(other)
    )


def _words(objective: str) -> str:
    return {"time": "time", "energy": "energy", "edp": "energy times time"}[objective]
