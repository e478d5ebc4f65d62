"""Select the approach of `lull stage --approach auto` from earlier runs of the same command.

Every run of `lull stage` saves its figures in a file of the user's cache folder, by command and number of ranks. From
the second run on, they describe the machine and the simulation, for which the model (src/model/costs/output.hpp)
predicts the cost of each approach. An approach that has run with the same output is judged by the time that it took.
Without any figures, the job evaluates the model when it starts (src/stage/accounts/choice.hpp).
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lull import _core
from lull.base.errors import LullError
from lull.base.native import native_errors
from lull.model.figures import bytes_of, case_of_runs, read_figures, seconds_of
from lull.stage.programs import AUTO, StageRequest

if TYPE_CHECKING:
    from lull.record import Output

# In addition to the command, variables that determine the number of ranks, their nodes and their storage.
SURROUNDINGS = (
    "SLURM_NTASKS",
    "SLURM_JOB_NUM_NODES",
    "LULL_NODES",
    "LULL_STAGE_STORAGE_LIMIT",
    "LULL_STAGE_STORAGE_WRITERS",
)
SAME_OUTPUT = 0.01  # share by which the bytes of two runs may differ
MOST_RUNS = 24  # runs of a command that are kept
RUNS_THAT_COUNT = 3  # latest runs of an approach that count


@dataclass(frozen=True)
class Selection:
    """An approach, with the reason in one line."""

    approach: str
    why: str


class Memory:
    """The figures of earlier runs of one command."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        home = environment.get("HOME")
        base = environment.get("XDG_CACHE_HOME") or (f"{home}/.cache" if home else None)
        known = [*command, *(f"{name}={environment.get(name, '')}" for name in SURROUNDINGS)]
        self._folder = Path(base, "lull", "output") if base else None
        self._key = hashlib.sha256("\0".join(known).encode()).hexdigest()[:16]

    def file(self) -> Path | None:
        """The file for the figures of a new run, or None if none can be written; removes the oldest ones."""
        if self._folder is None:
            return None
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for old in self._paths()[MOST_RUNS - 1 :]:
                old.unlink(missing_ok=True)
        except OSError:
            return None
        if not os.access(self._folder, os.W_OK):
            return None
        return self._folder / f"{self._key}.{time.time_ns():020}.json"

    def runs(self) -> list[Output]:
        """The runs, the latest first; unreadable files are ignored."""
        found = []
        for path in self._paths():
            with suppress(LullError):
                found.append(read_figures(path))
        return found

    def _paths(self) -> list[Path]:
        return sorted(self._folder.glob(f"{self._key}.*.json"), reverse=True) if self._folder else []


def select(runs: Sequence[Output], objective: str) -> Selection | None:
    """The approach with the lowest cost, or None if the runs do not determine it.

    Args:
        runs: Earlier runs, the latest first.
        objective: "time", "energy" or "edp".

    Raises:
        UsageError: There is no such objective.
    """
    told = [run for run in runs if case_of_runs([run]) is not None]
    case = case_of_runs(told)
    if case is None:
        return None
    machine, simulation = case
    # If the program wrote nothing with an approach, it may not run on so few processes: do not try that again.
    silent = {run.approach for run in runs} - {run.approach for run in told}
    approaches = [one for one in _core.output_ways(machine) if one not in silent]
    with native_errors():
        choices = _core.choose_output(machine, simulation, approaches, objective)
    seconds = _seconds_by_approach(told, choices)
    comparable = {run.approach for run in told if _same_output(run, told[0])}
    tried = [approach for approach in seconds if approach in comparable]
    power, delay = {"time": (0, 1), "energy": (1, 1), "edp": (1, 2)}[objective]
    costs = {one.way: one.watts**power * seconds[one.way] ** delay for one in choices}
    best = min(costs, key=lambda approach: costs[approach])
    if not tried:
        return Selection(best, "by the model")
    best_tried = min(tried, key=lambda approach: costs[approach])
    gain = 1 - costs[best] / costs[best_tried]
    if best in tried or gain < machine.least_gain:
        return Selection(best_tried, f"the best of {len(tried)} tried")
    return Selection(best, f"not tried yet: the model promises {100 * gain:.0f} % less {_words(objective)}")


def _seconds_by_approach(told: Sequence[Output], choices: Sequence[_core.OutputChoice]) -> dict[str, float]:
    """The time of each approach: measured, or else predicted by the model.

    Other load on a machine only makes a run slower, so the fastest of the last runs counts. For an approach that has
    run only once, the mean with the prediction counts if that is less.
    """
    latest = told[0]
    measured: dict[str, list[float]] = {}
    for run in told:
        if _same_output(run, latest):
            measured.setdefault(run.approach, []).append(seconds_of(run))
    # The model's relative error for the latest run, from which the case comes: assume the same for other approaches.
    known = next((one for one in choices if one.way == latest.approach), None)
    factor = min(measured[latest.approach][:RUNS_THAT_COUNT]) / known.seconds if known else 1.0
    found = {}
    for one in choices:
        predicted = one.seconds * factor
        match measured.get(one.way, []):
            case []:
                found[one.way] = predicted
            case [once]:
                found[one.way] = min(once, (once + predicted) / 2)
            case several:
                found[one.way] = min(several[:RUNS_THAT_COUNT])
    return found


def selected(request: StageRequest, command: Sequence[str], environment: Mapping[str, str]) -> tuple[StageRequest, str]:
    """The request, with an approach instead of `auto` and a file for the run's figures, and a line with the reason.

    If nothing is known about the command, or learning is off (LULL_CHOOSE=off), `auto` remains, the job chooses when it
    starts, and the line is empty.

    Raises:
        UsageError: There is no such approach or objective.
    """
    environment = {**environment, **request.settings()}
    memory = Memory(command, environment)
    line = ""
    if request.approach == AUTO and environment.get("LULL_CHOOSE") != "off":
        objective = environment.get("LULL_STAGE_OBJECTIVE") or "time"
        found = select(memory.runs(), objective)
        if found is not None:
            when_full = environment.get("LULL_STAGE_WHEN_FULL") or "cheapest"
            request = replace(request, approach=found.approach, when_full=when_full)
            fewer = "; the program sees fewer ranks than are started" if "=" in found.approach else ""
            line = f"auto takes {found.approach}, by the figures of earlier runs: {found.why}{fewer}"
    if (kept := memory.file()) is not None:
        named = [Path(path) for path in environment.get("LULL_STAGE_FIGURES", "").split(":") if path]
        request = replace(request, figures=(*named, kept))
    return request, line


def _same_output(run: Output, other: Output) -> bool:
    return (
        run.nodes == other.nodes
        and run.outputs == other.outputs
        and abs(bytes_of(run) - bytes_of(other)) <= SAME_OUTPUT * bytes_of(other)
    )


def _words(objective: str) -> str:
    return {"time": "time", "energy": "energy", "edp": "energy times time"}[objective]
