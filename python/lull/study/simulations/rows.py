"""Results of a study's simulations: a row for each job of each point, compared with links always active. The row of a
sampled point has the means over its samples, and their intervals.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from pydantic import ValidationError

from lull.base.errors import LullError
from lull.experiment.state import ExperimentState
from lull.simulation.account import JobAccount, RepeatAccount, SimulationFile
from lull.simulation.latency import student_half_width
from lull.simulation.result import slowdown_between
from lull.study.file import Value
from lull.study.simulations.description import FACTORS, Only
from lull.study.simulations.grids import ACTIVE, Point

FIGURES = (
    "runs",
    "saved",
    "network_saved",
    "used_saved",
    "run_time_s",
    "slowdown",
    "computing",
    "sampled",
    "saved_error",
    "slowdown_error",
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
    runs: int  # that the job has ended
    saved: float  # power of all links of the network, not only of this job's
    network_saved: float  # power of links between switches
    used_saved: float | None  # power of links that carried a packet
    run_time_s: float  # of one run
    slowdown: float | None  # time of as many runs over that with active links, minus 1; None if there is none
    computing: float | None  # share of its time in which processes compute
    sampled: float | None  # share of the packet-hops that was simulated; None: all
    saved_error: float | None  # half of the 95 % interval over the samples; None: fewer than two
    slowdown_error: float | None  # the same
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
    active: list[SimulationFile] = []
    of_active = ""
    for point in points:
        files = load(point, state)
        if point.factors["mode"] == ACTIVE:
            active, of_active = files, point.name
        if files:
            baseline = active if of_active == point.active else []
            rows += [_row(point, files, baseline, place) for place in range(len(point.jobs))]
        else:
            rows += (taken or {}).get(point.name, ())
    return rows


def load(point: Point, state: ExperimentState) -> list[SimulationFile]:
    """The simulations of a point, one for each sample; empty if some are missing.

    Raises:
        LullError: A saved simulation is damaged.
    """
    found = []
    for index in range(point.samples):
        path = state.path(point.name, index)
        try:
            found.append(SimulationFile.model_validate_json(path.read_bytes()))
        except FileNotFoundError:
            return []
        except (OSError, ValidationError) as error:
            asked = f"continue {point.name}"
            raise LullError(asked, f"the saved data in {path} is damaged", "start --fresh") from error
    return found


def _row(point: Point, files: Sequence[SimulationFile], active: Sequence[SimulationFile], place: int) -> Row:
    """The means over the samples; `active` has the same samples with links always active."""
    figures = [file.repeats[0] for file in files]
    jobs = [one.jobs[place] for one in figures]
    saved = [one.power.saved for one in figures]
    used = [one.used_power.saved for one in figures if one.used_power is not None]
    slowdowns = [
        slowdown
        for job, baseline in zip(jobs, active, strict=False)
        if (slowdown := slowdown_between(job, baseline.repeats[0].jobs[place])) is not None
    ]
    computing = [share for job, one in zip(jobs, figures, strict=True) if (share := _computing(job, one)) is not None]
    asked = point.jobs[place]
    return Row(
        point=point.name,
        description=point.key,
        grid=point.grid,
        factors={**point.factors, "application": asked.application, "processes": asked.processes},
        runs=min(job.runs for job in jobs),
        saved=fmean(saved),
        network_saved=fmean(one.network_power.saved for one in figures),
        used_saved=fmean(used) if used else None,
        run_time_s=fmean(job.run_time_s for job in jobs),
        slowdown=fmean(slowdowns) if slowdowns else None,
        computing=fmean(computing) if computing else None,
        sampled=fmean(one.sampled.share for one in figures if one.sampled) if figures[0].sampled else None,
        saved_error=student_half_width(saved) if len(saved) > 1 else None,
        slowdown_error=student_half_width(slowdowns) if len(slowdowns) > 1 else None,
        simulator_cpu_s=sum(one.simulator_cpu_s for one in figures),
        packet_hops=sum(one.packet_hops for one in figures),
    )


def _computing(job: JobAccount, of: RepeatAccount) -> float | None:
    lasted_s = of.simulated_s if job.together and of.sampled is None else job.run_time_s
    return job.time.computing_s / lasted_s if job.time is not None and lasted_s else None


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
