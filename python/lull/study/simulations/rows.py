"""Results of a study's simulations: a row for each job of each point, compared with links always active."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import ValidationError

from lull.base.errors import LullError
from lull.experiment.state import ExperimentState
from lull.simulation.account import JobAccount, SimulationFile
from lull.study.file import Value
from lull.study.simulations.description import FACTORS, Only
from lull.study.simulations.grids import ACTIVE, Job, Point

FIGURES = (
    "repeats",
    "saved",
    "network_saved",
    "used_saved",
    "run_time_s",
    "slowdown",
    "computing",
    "simulator_cpu_s",
    "packet_hops",
)


@dataclass(frozen=True)
class Row:
    """One job of one point. Shares: 0.1 is 10 %."""

    point: str
    description: str  # the key of the point
    grid: str
    factors: dict[str, Value]  # values of FACTORS
    repeats: int
    saved: float  # power of all links of the network, not only of this job's
    network_saved: float  # power of links between switches
    used_saved: float | None  # power of links that carried a packet
    run_time_s: float
    slowdown: float | None  # run time over that with active links, minus 1; None if there is none
    computing: float | None  # share of the run time in which processes compute
    simulator_cpu_s: float  # of the point
    packet_hops: int

    def is_at(self, at: Only) -> bool:
        """Whether each factor of `at` has one of its values."""
        return all(self.factors[name] in values for name, values in at.items())

    def quantity(self, name: str) -> float | None:
        """The figure `name`."""
        value: float | None = getattr(self, name)
        return value


def rows_of(
    points: Sequence[Point], state: ExperimentState, taken: Mapping[str, Sequence[Row]] | None = None
) -> list[Row]:
    """Rows of all finished points, in their order, including those with active links. For a point not simulated here,
    the rows come from `taken`, if it has them.

    Raises:
        LullError: A saved simulation is damaged.
    """
    rows: list[Row] = []
    active: Sequence[float] = []  # run times
    of_active = ""
    for point in points:
        file = load(point, state)
        if file is None:
            made = list((taken or {}).get(point.name, ()))
        else:
            known = active if of_active == point.active else [0.0] * len(point.jobs)
            made = [_row(point, file, *of_job) for of_job in zip(point.jobs, file.repeats[0].jobs, known, strict=True)]
        if made and point.factors["mode"] == ACTIVE:
            made = [replace(row, slowdown=0.0) for row in made]
            active, of_active = [row.run_time_s for row in made], point.name
        rows += made
    return rows


def load(point: Point, state: ExperimentState) -> SimulationFile | None:
    """The simulation of a point; None if it is not finished.

    Raises:
        LullError: The saved simulation is damaged.
    """
    path = state.path(point.name, 0)
    try:
        return SimulationFile.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise LullError(f"continue {point.name}", f"the saved data in {path} is damaged", "start --fresh") from error


def _row(point: Point, file: SimulationFile, asked: Job, job: JobAccount, active_s: float) -> Row:
    figures = file.repeats[0]
    return Row(
        point=point.name,
        description=point.key,
        grid=point.grid,
        factors={**point.factors, "application": asked.application, "processes": asked.processes},
        repeats=asked.repeats,
        saved=figures.power.saved,
        network_saved=figures.network_power.saved,
        used_saved=figures.used_power.saved if figures.used_power is not None else None,
        run_time_s=job.run_time_s,
        slowdown=job.run_time_s / active_s - 1 if active_s > 0 else None,
        computing=job.time.computing_s / job.run_time_s if job.time is not None and job.run_time_s else None,
        simulator_cpu_s=figures.simulator_cpu_s,
        packet_hops=figures.packet_hops,
    )


def heading() -> list[str]:
    """The columns of points.csv: the point, its description's key, the grid, the factors, the figures."""
    return ["point", "description", "grid", *FACTORS, *FIGURES]


def csv_text(rows: Sequence[Row]) -> str:
    """The text of points.csv, with a line for each row."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heading())
    for row in rows:
        values = [getattr(row, name) for name in FIGURES]
        cells = ["" if value is None else repr(value) for value in values]
        writer.writerow([row.point, row.description, row.grid, *(row.factors[name] for name in FACTORS), *cells])
    return out.getvalue()
