"""The record of a run in Python, made by `lull measure` or `lull.measuring`."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from lull import record
from lull.comparison.quantity import Quantity, quantity
from lull.library.display import as_pandas
from lull.measurement.summary import describe
from lull.present.document import Document
from lull.present.page import as_fragment
from lull.record import SAMPLES_SCHEMA, EnergyKind, Run
from lull.record.table import tidy_rows
from lull.statistics import bootstrap

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Recorded:
    """A command, or a block of a program, with the time and energy of its runs.

    Figures are medians over the successful runs. The energy is that of the nodes, with nothing counted twice; its
    `kind` says how it was obtained.

    Args:
        run: The content of the record.
        folder: Its folder; None if it is not on disk.
    """

    run: Run
    folder: Path | None = None
    readings: pa.Table = field(default_factory=SAMPLES_SCHEMA.empty_table, repr=False, compare=False)

    @property
    def label(self) -> str:
        """The name in tables and plots."""
        return self.run.label

    @cached_property
    def _of(self) -> Quantity:
        return quantity(self.run)

    @property
    def seconds(self) -> float:
        """Time of a run, s."""
        return bootstrap.median([sample.time_s for sample in self._of.samples])

    @property
    def cpu_seconds(self) -> float:
        """CPU time of all processes of a run, s."""
        return bootstrap.median([sample.cpu_s for sample in self._of.samples])

    @property
    def joules(self) -> float:
        """Energy of a run, J, of the kind `kind`."""
        return bootstrap.median([sample.energy_j for sample in self._of.samples])

    @property
    def watts(self) -> float:
        """Mean power in a run, W."""
        return bootstrap.median([sample.energy_j / sample.time_s for sample in self._of.samples])

    @property
    def kind(self) -> EnergyKind:
        """How the energy was obtained: the kind of its least direct part."""
        return self._of.kind

    def to_pandas(self, *, regions: bool = False) -> pd.DataFrame:
        """A row for each energy figure of each run, or of each region of each run; `lull export` writes the same."""
        return as_pandas(tidy_rows([(str(self.folder or self.label), self.run)], regions=regions))

    def samples(self) -> pd.DataFrame:
        """The readings of the meter: repeat, time (s), node, channel, domain, kind, energy since the run began (J)."""
        return as_pandas(self._readings())

    def plot(self, *, run: int | None = None) -> list[Axes]:
        """Draw time and energy of every run, or with `run` (from 0) the power over time of one.

        Raises:
            ValueError: The run has too few readings to draw.
        """
        from lull.report import plots

        if run is None:
            return list(plots.runs_of_each([(self.label, self._of)]).figure.axes)
        drawn = plots.power_over_time(self.run, self._readings(), run)
        if drawn is None:
            raise ValueError(f"there are too few readings of run {run} of {self.label} to draw")
        return list(drawn.figure.axes)

    def save(self, folder: str | Path) -> Recorded:
        """Write a record, which every command of Lull reads.

        Raises:
            LullError: The folder is taken or cannot be written.
        """
        target = Path(folder)
        record.write(target, self.run, self._readings())
        return Recorded(self.run, target, self.readings)

    def _readings(self) -> pa.Table:
        if self.readings.num_rows or self.folder is None:
            return self.readings
        return record.read_samples(self.folder)

    def _repr_html_(self) -> str:
        return as_fragment(self.describe())

    def as_json(self) -> str:
        """All figures as JSON, by the schema of the result's file."""
        return self.run.model_dump_json(by_alias=True, indent=1)

    def describe(self) -> Document:
        """The time and energy of every run, and what a reader must know."""
        return describe(self.run)


def load_record(folder: Path) -> Recorded:
    """Load the record in `folder`.

    Raises:
        LullError: There is none, or it is damaged.
    """
    return Recorded(record.read(folder), folder)
