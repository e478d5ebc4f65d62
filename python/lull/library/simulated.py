"""Simulations in Python: `lull.simulate`, and records of `lull simulate --out`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lull.base.errors import UsageError
from lull.base.parquet import read_table
from lull.library.display import as_pandas
from lull.present import cells
from lull.present.document import Column, Document, Line, row, table
from lull.present.page import as_fragment
from lull.record import EnergyKind
from lull.simulation import account, simulation_record
from lull.simulation.account import LINKS_FILE, JobAccount, LatencyAccount, PowerAccount, RepeatAccount, SimulationFile
from lull.simulation.description import Description, read_description, read_file
from lull.simulation.engine import Progress, run
from lull.simulation.result import Result
from lull.simulation.settings_by_key import with_keys

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class SimulationResult:
    """A simulation and its results, which are all simulated, in SI units.

    Figures are those of the first repeat. A simulation has one repeat; a point of a sweep has one for each seed, in
    `repeats`.

    Args:
        file: All figures of each repeat, as in simulation.json.
        folder: Its folder; None if it is not on disk.
        result: The result, with one numpy array per quantity of the links; None for a loaded simulation.
    """

    file: SimulationFile
    folder: Path | None = None
    result: Result | None = field(default=None, repr=False, compare=False)
    label: str = "simulation"
    started: datetime = field(default_factory=lambda: datetime.now(UTC), repr=False, compare=False)

    @property
    def description(self) -> dict[str, Any]:
        """Every setting that applies; `lull.simulate` repeats the simulation from it, to the bit."""
        return self.file.description

    @property
    def repeats(self) -> list[RepeatAccount]:
        """The accounts of all repeats, one for each seed."""
        return self.file.repeats

    @property
    def seconds(self) -> float:
        """Simulated time, s."""
        return self.repeats[0].simulated_s

    @property
    def jobs(self) -> list[JobAccount]:
        """The results of each job: run time (s), slowdown, messages, latency (s)."""
        return self.repeats[0].jobs

    @property
    def slowdown(self) -> float | None:
        """The largest slowdown of a job relative to active links, as a share: 0.03 is 3 %. None without a baseline."""
        return self.repeats[0].slowdown

    @property
    def power(self) -> PowerAccount:
        """Mean power of all links as a share of their active power, and the share of time in each state."""
        return self.repeats[0].power

    @property
    def packet_latency(self) -> LatencyAccount | None:
        """From the creation of a message to the delivery of its packets, s."""
        return self.repeats[0].packet_latency

    @property
    def joules(self) -> float | None:
        """Energy of all links, J; None unless power.link_watts was given."""
        return self.repeats[0].joules

    @property
    def kind(self) -> EnergyKind:
        """How the energy was obtained: by simulation."""
        return EnergyKind.SIMULATED

    def to_pandas(self) -> pd.DataFrame:
        """A row for each job of each repeat: times (s), slowdown, messages, bytes, link power over active, joules."""
        rows = [
            {
                "simulation": self.label,
                "repeat": place,
                "seed": one.seed,
                **job.model_dump(),
                "power_share": one.power.share,
                "joules": one.joules,
            }
            for place, one in enumerate(self.repeats)
            for job in one.jobs
        ]
        return as_pandas(pa.Table.from_pylist(rows))

    def links(self) -> pd.DataFrame:
        """A row for each link of each repeat: its ends, packets, bytes, wake-ups, seconds in each state."""
        return as_pandas(self._links())

    def plot(self, *others: SimulationResult) -> list[Axes]:
        """Draw the share of time that links spend in each power state, also for `others`."""
        from lull.simulation.plots import time_in_states

        return list(time_in_states([(one.label, one.file) for one in (self, *others)]).figure.axes)

    def labelled(self, label: str) -> SimulationResult:
        """The same simulation with another label."""
        return replace(self, label=label)

    def save(self, folder: str | Path, *, command: Sequence[str] = ("lull.simulate",)) -> SimulationResult:
        """Write a record, which every command of Lull reads.

        Args:
            folder: Its folder, which must not exist yet.
            command: The command in the record.

        Raises:
            LullError: The folder is taken or cannot be written.
        """
        target = Path(folder)
        run_json = simulation_record.run_of(self.label, command, self.file, [self.started] * len(self.repeats))
        simulation_record.write(target, run_json, self.file, self._links())
        return SimulationResult(self.file, target, self.result, self.label, self.started)

    def _links(self) -> pa.Table:
        if self.result is not None:
            return account.links_table(self.result.links, 0)
        assert self.folder is not None, "a simulation is in memory or on disk"
        return read_table(self.folder / LINKS_FILE)

    def _repr_html_(self) -> str:
        return as_fragment(self.describe())

    def as_json(self) -> str:
        """All figures as JSON, by the schema of the result's file."""
        return self.file.model_dump_json(by_alias=True, indent=1)

    def describe(self) -> Document:
        """A row for each job and seed."""
        columns = [
            Column("job", words=True),
            Column("seed"),
            Column("processes"),
            Column("run time", "s"),
            Column("slowdown"),
            Column("link power saved"),
            Column("energy of links", "J"),
        ]
        rows = [
            row(
                job.name,
                cells.count(one.seed),
                cells.count(job.processes),
                cells.si(job.run_time_s, "s"),
                cells.share(job.slowdown),
                cells.share(1 - one.power.share),
                cells.si(one.joules, "J"),
            )
            for one in self.repeats
            for job in one.jobs
        ]
        network = f"{self.description['topology']['name']}, {self.file.nodes:,} nodes, {self.file.links:,} links"
        return Document(self.label, (Line(f"{network}; everything here is simulated.", "aside"), table(columns, rows)))


def simulate(
    config: Mapping[str, Any] | str | Path,
    *,
    changes: Mapping[str, Any] | None = None,
    label: str | None = None,
    progress: Progress | None = None,
    baseline: bool = True,
) -> SimulationResult:
    """Simulate a network, like the command `lull simulate`.

    Args:
        config: The description: a dict with the content of the TOML file, or the path of such a file or of a
            simulation.json.
        changes: Single keys to change, such as {"power.mode": "hybrid", "jobs.0.load": 0.3}.
        label: Name in tables and plots; default: that of the file.
        progress: Called about ten times per second of real time; if it returns False, the simulation ends at once with
            the results so far (`result.stopped`).
        baseline: Whether to simulate the same with links always active, too, if the power mode is another; `slowdown`
            needs it.

    Raises:
        UsageError: The description is wrong; the line says where.
        LullError: The network deadlocks.
    """
    return described(config, changes or {}, label).simulated(progress=progress, baseline=baseline)


@dataclass(frozen=True)
class DescribedSimulation:
    """A simulation with a valid description, ready to run."""

    description: Description
    asked: str  # the action, with which errors begin
    label: str

    def simulated(self, *, progress: Progress | None = None, baseline: bool = True) -> SimulationResult:
        """Run the simulation, like `simulate`."""
        started = datetime.now(UTC)
        result = run(self.description, self.asked, progress=progress, baseline=baseline)
        return SimulationResult(account.file_of(result), None, result, self.label, started)


def described(
    config: Mapping[str, Any] | str | Path, changes: Mapping[str, Any], label: str | None = None
) -> DescribedSimulation:
    """Read and check the arguments of `simulate`.

    Raises:
        UsageError: The description is wrong; the line says where.
    """
    if isinstance(config, Mapping):
        asked, content, name = "read the description", config, label or "simulation"
    else:
        path = Path(config)
        asked, content = f"read {config}", read_file(path)
        name = label or (path.resolve().parent.name if path.suffix == ".json" else path.stem)
    description = read_description(with_keys(content, changes), asked)
    if not name or "/" in name:
        raise UsageError("name the record", f"the label {name!r} cannot be part of a folder's name", "choose another")
    return DescribedSimulation(description, asked, name)


def load_simulation(folder: Path) -> SimulationResult:
    """Load the simulation in `folder`.

    Raises:
        LullError: There is none, or it is damaged.
    """
    return SimulationResult(account.read_simulation(folder), folder, label=folder.name)
