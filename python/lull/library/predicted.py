"""Predictions from Python: `lull.predict` corresponds to the command `lull predict`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from lull.base.errors import UsageError
from lull.library.display import as_pandas
from lull.prediction.account import Prediction, read_prediction
from lull.prediction.describe import describe
from lull.prediction.request import PredictionRequest, answer
from lull.present.document import Document
from lull.present.page import as_fragment
from lull.simulation.account import read_simulation

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class PredictionResult:
    """A prediction; `found` has all figures, which are simulated, in SI units."""

    found: Prediction
    folder: Path

    def to_pandas(self) -> pd.DataFrame:
        """A row for each mode of links: times (s), slowdown, link power over active power, joules by domain."""
        rows = []
        for mode in self.found.modes:
            energies = {
                f"{name}_j": None if energy is None else energy.joules
                for name in ("links", "switches", "nics", "nodes", "network", "total")
                for energy in [getattr(mode.energy, name)]
            }
            rows.append({**mode.model_dump(exclude={"energy", "time"}), **mode.time.model_dump(), **energies})
        return as_pandas(pa.Table.from_pylist(rows))

    def plot(self) -> list[Axes]:
        """Draw the share of time that links spend in each state, for each mode."""
        from lull.simulation.plots import time_in_states

        named = [(mode.name, read_simulation(self.folder / mode.folder)) for mode in self.found.modes]
        return list(time_in_states(named).figure.axes)

    def _repr_html_(self) -> str:
        return as_fragment(self.describe())

    def as_json(self) -> str:
        """All figures as JSON, by the schema of the result's file."""
        return self.found.model_dump_json(by_alias=True, indent=1)

    def describe(self) -> Document:
        """Everything as a document."""
        return describe(self.found)


def predict(
    what: str | Path | Sequence[str | Path],
    *,
    processes: int | None = None,
    on: str | Path,
    power: str | Sequence[str] = "all",
    slowdown: float = 0.01,
    tolerance: bool = False,
    per_node: int | None = None,
    smaller: int | None = None,
    runs: int = 1,
    placements: int = 2,
    settings: Sequence[str] = (),
    out: str | Path | None = None,
    label: str | None = None,
    workers: int | None = None,
) -> PredictionResult:
    """Predict the time and energy of a program on another machine.

    Args:
        what: A command (a text is split like in a shell), the folder of a trace or a list of two, or the record of an
            application of Lull that has a skeleton.
        processes: Number of processes to predict; default: as many as traced.
        on: A machine that comes with Lull, a preset of a network, or a machine.toml.
        power: Modes of links to try, in the notation of `lull predict --power`.
        slowdown: Most slowdown by sleeping links, as a share.
        tolerance: Whether to compute how much longer messages may take until the program is slower by `slowdown`.
        per_node: Processes on a node; default: that of the machine.
        smaller: Processes of the second run of a command; default: half as many.
        runs: Number of runs of a command to trace.
        placements: Number of random placements to simulate.
        settings: Keys of the simulation, `KEY=VALUE`.
        out: Folder; default: results/predict-LABEL-TIME.
        label: Name of the prediction.
        workers: Simulations at a time; default: one per core.

    Raises:
        UsageError: An argument is wrong.
        LullError: The program cannot be traced or extrapolated, or its simulation fails.
    """
    if isinstance(what, str | Path):
        words = [str(what)] if Path(what).exists() else shlex.split(str(what))
    else:
        words = [str(word) for word in what]
    if not words:
        raise UsageError("predict", "the command is empty", "name a program")
    asked = PredictionRequest(
        words,
        str(on),
        processes,
        (power,) if isinstance(power, str) else power,
        slowdown,
        per_node,
        smaller,
        runs,
        placements,
        settings,
        None if out is None else Path(out),
        label,
        workers,
        tolerance,
        command=["lull.predict", *words],
    )
    return PredictionResult(*answer(asked))


def load_prediction(folder: Path) -> PredictionResult:
    """Load the prediction in `folder`.

    Raises:
        LullError: There is none, or it is damaged.
    """
    return PredictionResult(read_prediction(folder), folder)
