"""What is written about a prediction: prediction.json, the same as `lull predict --json` prints.

Every energy is of the kind `simulated`: simulated times and states of links, by the watts of the machine's file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field

from lull.record import EnergyKind, Model
from lull.record.model_file import read_model
from lull.simulation.account import TimeAccount

SCHEMA: Final = 1
PREDICTION_FILE = "prediction.json"


class Joules(Model):
    """An energy; `low` and `high` are from the bands of the machine's figures, and equal where these have none."""

    joules: float = Field(ge=0)
    low: float = Field(ge=0)
    high: float = Field(ge=0)

    def __add__(self, other: Joules) -> Joules:
        """Of both, as if both were off in the same direction."""
        return Joules(joules=self.joules + other.joules, low=self.low + other.low, high=self.high + other.high)


class Energies(Model):
    """Energy of a run, by what draws it. null: the machine's file has no watts for it, and it is in no sum."""

    links: Joules | None  # of the whole network, idle ones too
    switches: Joules | None  # of the whole network, beyond their links
    nics: Joules | None  # of the nodes of the program, beyond their links
    nodes: Joules | None  # of the nodes of the program

    @property
    def network(self) -> Joules | None:
        """Links, switches and network interfaces."""
        return _sum([self.links, self.switches, self.nics])

    @property
    def total(self) -> Joules | None:
        """All that is known."""
        return _sum([self.links, self.switches, self.nics, self.nodes])


class ModeAccount(Model):
    """The program with one power mode of links."""

    name: str
    folder: str  # of its record, in the folder of the prediction
    run_time_s: float
    slowdown: float  # against links always active, as a share
    link_power: float  # mean over all links, as a share of always active
    network_link_power: float  # of those between switches
    wakes: int
    time: TimeAccount  # where the time goes: the mean of all processes
    energy: Energies


class Range(Model):
    """One thing that the run time is uncertain by: the least and the most that it was found to be."""

    what: str
    low_s: float
    high_s: float
    how: str  # what was done to know it


class Prediction(Model):
    """Everything in prediction.json."""

    schema_version: Literal[1] = Field(default=SCHEMA, alias="schema")
    lull_version: str
    command: list[str]  # how lull was called
    program: str
    machine: dict[str, Any]  # its file
    processes: int
    traced: list[int]  # processes of the traces behind it, the larger first; empty: a skeleton
    nodes: int  # that the program has
    network_nodes: int
    network_links: int  # one direction each
    network_switches: int
    most_slowdown: float  # that was accepted, as a share
    chosen: str  # the mode of least energy that keeps to it
    criterion: str  # what was least
    modes: list[ModeAccount] = Field(min_length=1)  # links always active first
    low_s: float  # of the run time with links always active, all of `uncertainty` together
    high_s: float
    uncertainty: list[Range]
    not_modelled: list[str]  # what is in no range
    remarks: list[str]
    kind: EnergyKind = EnergyKind.SIMULATED

    model_config = Model.model_config | {"populate_by_name": True}

    @property
    def active(self) -> ModeAccount:
        """With links always active."""
        return self.modes[0]

    @property
    def best(self) -> ModeAccount:
        """With the mode that was chosen."""
        return next(mode for mode in self.modes if mode.name == self.chosen)


def read_prediction(folder: Path) -> Prediction:
    """prediction.json of a folder.

    Raises:
        LullError: It is missing or damaged.
    """
    return read_model(folder / PREDICTION_FILE, Prediction, f"read the prediction {folder}", "predict it again")


def _sum(parts: list[Joules | None]) -> Joules | None:
    known = [part for part in parts if part is not None]
    whole = known[0] if known else None
    for part in known[1:]:
        assert whole is not None
        whole = whole + part
    return whole
