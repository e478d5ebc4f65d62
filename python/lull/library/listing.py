"""The results below a folder: what each is, when it was made, and its time and energy."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from lull import record
from lull.base.errors import LullError
from lull.comparison.quantity import quantity
from lull.prediction.account import PREDICTION_FILE, read_prediction
from lull.present import cells
from lull.present.document import Column, Document, Line, row, table
from lull.record import EnergyKind, Model, Run
from lull.simulation.account import SIMULATION_FILE
from lull.statistics import bootstrap
from lull.trace.convert import is_trace

Sort = Literal["run", "simulation", "prediction", "trace"]
RESULTS: Final = Path("results")  # where commands write by default


class ListedResult(Model):
    """One result; what is not known is null."""

    folder: str  # its folder
    is_a: Sort  # what it is
    label: str  # its label, or the folder's name
    created: datetime  # when it was made
    runs: int | None = None  # number of runs
    seconds: float | None = None  # median over the runs, or predicted or simulated time
    joules: float | None = None  # the same for energy
    kind: EnergyKind | None = None  # kind of the energy
    damage: str | None = None  # why it cannot be read


def results_below(folder: Path) -> list[ListedResult]:
    """All results in `folder` and the folders below it, the newest first.

    Raises:
        LullError: There is no such folder.
    """
    if not folder.is_dir():
        raise LullError(f"list {folder}", "there is no such folder", "name a folder with results")
    return sorted(map(_listed, _folders(folder)), key=lambda one: one.created, reverse=True)


def describe(results: Sequence[ListedResult], folder: Path) -> Document:
    """A row for each result."""
    columns = [
        Column("folder", words=True, wraps=True),
        Column("is a", words=True),
        Column("label", words=True, wraps=True, optional=1),
        Column("created (UTC)", words=True, key="created"),
        Column("runs", optional=2),
        Column("time", "s"),
        Column("energy", "J"),
        Column("kind", words=True),
    ]
    rows = [
        row(
            one.folder,
            one.is_a,
            one.label,
            f"{one.created:%Y-%m-%d %H:%M}",
            cells.count(one.runs),
            cells.si(one.seconds, "s"),
            cells.si(one.joules, "J"),
            one.damage or (one.kind.value if one.kind else "–"),
        )
        for one in results
    ]
    return Document("", (table(columns, rows) if rows else Line(f"no results in {folder}"),), f"Results in {folder}")


def _folders(top: Path) -> Iterator[Path]:
    """The folders that hold a result. What is inside a prediction belongs to it, hidden folders to their commands."""
    for path, names, files in os.walk(top):
        names[:] = sorted(name for name in names if not name.startswith("."))
        if {record.RUN_FILE, PREDICTION_FILE, SIMULATION_FILE} & set(files) or is_trace(Path(path)):
            yield Path(path)
        if PREDICTION_FILE in files:
            names.clear()


def _listed(folder: Path) -> ListedResult:
    name = str(folder)
    created = datetime.fromtimestamp(folder.stat().st_mtime, UTC)
    try:
        if (folder / PREDICTION_FILE).is_file():
            found = read_prediction(folder)
            energy = found.best.energy.total
            joules = None if energy is None else energy.joules
            return ListedResult(
                folder=name, is_a="prediction", label=found.program, created=created,
                seconds=found.best.run_time_s, joules=joules, kind=found.kind,
            )  # fmt: skip
        if (folder / record.RUN_FILE).is_file():
            return _listed_run(name, record.read(folder))
    except LullError as error:
        return ListedResult(
            folder=name, is_a="run", label=folder.name, created=created, damage=str(error).partition(": ")[2]
        )
    is_a: Sort = "simulation" if (folder / SIMULATION_FILE).is_file() else "trace"
    return ListedResult(folder=name, is_a=is_a, label=folder.name, created=created)


def _listed_run(name: str, run: Run) -> ListedResult:
    listed = ListedResult(
        folder=name,
        is_a="simulation" if record.is_simulated(run) else "run",
        label=run.label,
        created=run.created,
        runs=len(run.repeats),
    )
    if not run.succeeded:
        return listed
    seconds = bootstrap.median([one.wall_s for one in run.succeeded])
    listed = listed.model_copy(update={"seconds": seconds})
    try:
        of = quantity(run)
    except LullError:  # no energy was counted
        return listed
    joules = bootstrap.median([one.energy_j for one in of.samples])
    return listed.model_copy(update={"joules": joules, "kind": of.kind})
