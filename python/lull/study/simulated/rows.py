"""What the simulations of a study gave: a row for each job of each point, against the same with links always active."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from lull.base.errors import LullError
from lull.measurement.state import STATE, State
from lull.simulation.account import JobAccount, SimulationFile
from lull.study.description import Value
from lull.study.simulated.description import FACTORS, Only
from lull.study.simulated.grids import ACTIVE, Job, Point

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
    grid: str
    factors: dict[str, Value]  # of FACTORS
    repeats: int
    saved: float  # power of all links of the network, not of this job's alone
    network_saved: float  # of those between switches
    used_saved: float | None  # of those that carried a packet
    run_time_s: float
    slowdown: float | None  # run time over that with active links, less 1; None where that is not there
    computing: float | None  # share of the run time that processes compute
    simulator_cpu_s: float  # of the point
    packet_hops: int

    def is_at(self, at: Only) -> bool:
        """Whether each factor of `at` has one of its values."""
        return all(self.factors[name] in values for name, values in at.items())

    def quantity(self, name: str) -> float | None:
        """The figure of that name."""
        value: float | None = getattr(self, name)
        return value


def rows_of(points: Sequence[Point], state: State) -> list[Row]:
    """Rows of all points that are there, in their order; those with active links too.

    Raises:
        LullError: A simulation that was kept is damaged.
    """
    rows: list[Row] = []
    active: Mapping[str, JobAccount] = {}
    of_active = ""
    for point in points:
        file = _load(point, state)
        if file is None:
            continue
        jobs = {job.name: job for job in file.repeats[0].jobs}
        if point.factors["mode"] == ACTIVE:
            active, of_active = jobs, point.name
        known = active if of_active == point.active else {}
        rows += [
            _row(point, file, asked, job, known.get(job.name))
            for asked, job in zip(point.jobs, jobs.values(), strict=True)
        ]
    return rows


def _load(point: Point, state: State) -> SimulationFile | None:
    path = state.out / STATE / point.name / "000.json"
    try:
        return SimulationFile.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise LullError(f"take up {point.name}", f"what was kept in {path} is damaged", "start --fresh") from error


def _row(point: Point, file: SimulationFile, asked: Job, job: JobAccount, active: JobAccount | None) -> Row:
    figures = file.repeats[0]
    is_known = active is not None and active.run_time_s > 0
    return Row(
        point=point.name,
        grid=point.grid,
        factors={**point.factors, "application": asked.application, "processes": asked.processes},
        repeats=asked.repeats,
        saved=figures.power.saved,
        network_saved=figures.network_power.saved,
        used_saved=figures.used_power.saved if figures.used_power is not None else None,
        run_time_s=job.run_time_s,
        slowdown=job.run_time_s / active.run_time_s - 1 if active is not None and is_known else None,
        computing=job.time.computing_s / job.run_time_s if job.time is not None and job.run_time_s else None,
        simulator_cpu_s=figures.simulator_cpu_s,
        packet_hops=figures.packet_hops,
    )


def csv_text(rows: Sequence[Row]) -> str:
    """points.csv: the point and the grid, the factors, then the figures."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["point", "grid", *FACTORS, *FIGURES])
    for row in rows:
        values = [getattr(row, name) for name in FIGURES]
        cells = ["" if value is None else repr(value) for value in values]
        writer.writerow([row.point, row.grid, *(row.factors[name] for name in FACTORS), *cells])
    return out.getvalue()
