"""Advice from Python: `lull.advise` corresponds to the command `lull advise`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from lull.advice.account import BETTER, Advice, Band
from lull.advice.describe import describe
from lull.advice.request import AdviceRequest, answer
from lull.base.errors import UsageError
from lull.library.display import as_pandas
from lull.present.document import Document
from lull.present.page import as_fragment
from lull.record import EnergyKind

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Advised:
    """Advice; `found` has all figures: changes of time in s and of energy in J, with their intervals."""

    found: Advice

    @property
    def sentence(self) -> str:
        """The advice in one sentence."""
        return self.found.sentence

    @property
    def settings(self) -> dict[str, str]:
        """The advised settings; empty if nothing is advised."""
        return {name: value for one in self.found.advised for name, value in one.set.items()}

    @property
    def kind(self) -> EnergyKind | None:
        """How the changes of energy were obtained; None if there are none."""
        return self.found.kind

    def to_pandas(self) -> pd.DataFrame:
        """A row for each alternative: changes of time (s) and energy (J) of a run with intervals, verdict."""
        found = [
            {"choice": one.choice, "alternative": one.name, "instead_of": one.instead_of}
            | _columns("seconds", one.seconds)
            | _columns("joules", one.joules)
            | {"verdict": one.verdict}
            for one in self.found.alternatives
        ]
        return as_pandas(pa.Table.from_pylist(found))

    def plot(self) -> list[Axes]:
        """Draw the change by each alternative, in percent of a run, with its interval."""
        from lull.report import svg

        seconds: list[Band | None] = [one.seconds for one in self.found.alternatives]
        sides = [("time", self.found.seconds, seconds)]
        if self.found.joules:
            energy = f"energy, {self.kind.value}" if self.kind else "energy"
            sides.append((energy, self.found.joules, [one.joules for one in self.found.alternatives]))
        with svg.drawing():
            figure, panels = svg.panels(len(sides), 1.0 + 0.32 * max(len(self.found.alternatives), 1))
            for axes, (name, whole, bands) in zip(panels, sides, strict=True):
                for row, (one, band) in enumerate(zip(self.found.alternatives, bands, strict=True)):
                    if band is not None:
                        low, mid, high = (100 * part / whole for part in band)
                        colour = "tab:green" if one.verdict == BETTER else "tab:gray"
                        axes.errorbar(mid, row, xerr=[[mid - low], [high - mid]], fmt="o", color=colour, capsize=3)
                axes.axvline(0, color="black", linewidth=0.8)
                axes.set_ylim(len(self.found.alternatives) - 0.5, -0.5)
                axes.set_xlabel(f"change of {name}, %")
                axes.set_yticks([])
            names = [f"{one.choice}: {one.name}" for one in self.found.alternatives]
            panels[0].set_yticks(range(len(names)), names)
        return list(figure.axes)

    def _repr_html_(self) -> str:
        return as_fragment(self.describe())

    def describe(self) -> Document:
        """Everything as a document."""
        return describe(self.found)


def _columns(name: str, band: Band | None) -> dict[str, float | None]:
    low, mid, high = band if band is not None else (None, None, None)
    return {name: mid, f"{name}_low": low, f"{name}_high": high}


def advise(
    what: str | Path | Sequence[str | Path],
    *,
    objective: str = "time",
    on: str | Path = "here",
    runs: int = 3,
    verify: bool = False,
    out: str | Path | None = None,
    fresh: bool = False,
) -> Advised:
    """Predict the cost and savings of each choice for a program, and advise one.

    Args:
        what: A command to run (a text is split like in a shell), the record of a run, or the folder of a trace.
        objective: time, energy, edp, or energy@slowdown=2%.
        on: The machine: `here`, one that comes with Lull, or a machine.toml.
        runs: Number of runs of a command.
        verify: Whether to run the advised and the present state in turn.
        out: Folder of the measurements; default: results/advise-NAME-TIME.
        fresh: Whether to start again, whatever an interrupted call has left.

    Raises:
        UsageError: An argument is wrong, or this host has not been calibrated.
        LullError: The command fails, or the record or trace cannot be read.
    """
    if isinstance(what, str | Path):
        words = [str(what)] if Path(what).exists() else shlex.split(str(what))
    else:
        words = [str(word) for word in what]
    if not words:
        raise UsageError("advise", "the command is empty", "name a program")
    return Advised(
        answer(AdviceRequest(words, objective, str(on), runs, verify, None if out is None else Path(out), fresh))[0]
    )
