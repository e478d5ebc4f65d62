"""The record of a simulation in Python: what `lull simulate --out` leaves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from lull.library.shown import as_pandas, table
from lull.simulation.account import LINKS_FILE, SimulationFile, read_simulation
from lull.statistics import formatting

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Simulated:
    """A simulation that was kept; `file` has every figure of each repeat, in SI units, all of them simulated."""

    file: SimulationFile
    folder: Path

    def to_pandas(self) -> pd.DataFrame:
        """A row for each job of each repeat: times (s), slowdown, messages, bytes, link power over active power."""
        rows = [
            {
                "repeat": place,
                "seed": one.seed,
                **job.model_dump(),
                "power_share": one.power.share,
                "joules": one.joules,
            }
            for place, one in enumerate(self.file.repeats)
            for job in one.jobs
        ]
        return as_pandas(pa.Table.from_pylist(rows))

    def links(self) -> pd.DataFrame:
        """A row for each link of each repeat: its ends, packets, bytes, wake-ups, seconds in each state."""
        import pyarrow.parquet as pq

        return as_pandas(pq.read_table(self.folder / LINKS_FILE))

    def plot(self) -> list[Axes]:
        """Draw the share of time that links spend in each state of power."""
        from lull.simulation.plots import time_in_states

        return list(time_in_states([(self.folder.name, self.file)]).figure.axes)

    def _repr_html_(self) -> str:
        body = [
            [
                f"{job.name}, seed {one.seed}",
                str(job.processes),
                formatting.si(job.run_time_s, "s"),
                "" if job.slowdown is None else formatting.percent(job.slowdown),
                formatting.percent(1 - one.power.share),
            ]
            for one in self.file.repeats
            for job in one.jobs
        ]
        return table(["job", "processes", "run time", "slowdown", "link power saved"], body, ["simulated"])


def load_simulation(folder: Path) -> Simulated:
    """The simulation in `folder`.

    Raises:
        LullError: There is none, or it is damaged.
    """
    return Simulated(read_simulation(folder), folder)
