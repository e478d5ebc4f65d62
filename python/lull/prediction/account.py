"""The file of a prediction: prediction.json, which is also the output of `lull predict --format json`.

All energies are of the kind `simulated`: simulated times and states of links, times the watts of the machine's file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field

from lull.record import EnergyKind, Model
from lull.record.model_file import read_model
from lull.simulation.account import TimeAccount
from lull.simulation.tolerance import Tolerance

SCHEMA: Final = 1
PREDICTION_FILE = "prediction.json"


class Joules(Model):
    """An energy; `low` and `high` come from the bands of the machine's figures, and are equal if there are none."""

    joules: float = Field(ge=0)  # the energy
    low: float = Field(ge=0)  # lower end of the band, in joules
    high: float = Field(ge=0)  # upper end of the band, in joules

    def __add__(self, other: Joules) -> Joules:
        """The sum, with the bands added, as for errors in the same direction."""
        return Joules(joules=self.joules + other.joules, low=self.low + other.low, high=self.high + other.high)


class Energies(Model):
    """Energy of a run by component. null: the machine's file has no watts for it, and sums omit it."""

    links: Joules | None  # of the whole network, including idle links
    switches: Joules | None  # of the whole network, without their links
    nics: Joules | None  # of the nodes of the program, without their links
    nodes: Joules | None  # of the nodes of the program

    @property
    def network(self) -> Joules | None:
        """Links, switches and network interfaces."""
        return _sum([self.links, self.switches, self.nics])

    @property
    def total(self) -> Joules | None:
        """The sum of all known energies."""
        return _sum([self.links, self.switches, self.nics, self.nodes])


class ModeAccount(Model):
    """The program with one power mode of links."""

    name: str  # the mode, as in --power
    folder: str  # folder of its record, in the folder of the prediction
    run_time_s: float  # predicted run time
    slowdown: float  # relative to links always active, as a share
    link_power: float  # mean over all links, as a share of always active
    network_link_power: float  # mean over links between switches
    wakes: int  # wake-ups of links
    time: TimeAccount  # time by activity: the mean over all processes
    energy: Energies  # energy by component


class Range(Model):
    """One source of uncertainty of the run time: the least and the greatest run time found."""

    what: str  # the source of uncertainty
    low_s: float  # least run time found
    high_s: float  # greatest run time found
    how: str  # how it was determined


class Check(Model):
    """A simulation with a change that the program should just bear."""

    what: str  # the change
    slowdown: float  # simulated, as a share


class Prediction(Model):
    """The content of prediction.json."""

    schema_version: Literal[1] = Field(default=SCHEMA, alias="schema")  # version of this form
    lull_version: str  # version of Lull that predicted
    command: list[str]  # the command line of lull
    program: str  # name of the program
    machine: dict[str, Any]  # the content of its file
    processes: int  # number of processes predicted
    traced: list[int]  # processes of the traces used, the larger first; empty for a skeleton
    nodes: int  # nodes of the program
    network_nodes: int  # nodes of the whole network
    network_links: int  # one direction each
    network_switches: int  # switches of the whole network
    most_slowdown: float  # the accepted slowdown, as a share
    chosen: str  # the mode of least energy within it
    criterion: str  # what was minimized
    modes: list[ModeAccount] = Field(min_length=1)  # links always active first
    low_s: float  # bounds of the run time with links always active, with all of `uncertainty`
    high_s: float  # the upper of these bounds
    uncertainty: list[Range]  # one for each source
    tolerance: Tolerance | None = None  # how much longer messages may take, with --tolerance
    checks: list[Check] = Field(default=[])  # simulations of what it says
    not_modelled: list[str]  # effects that no range includes
    remarks: list[str]  # what a reader must know, a sentence each
    kind: EnergyKind = EnergyKind.SIMULATED  # kind of the energies

    model_config = Model.model_config | {"populate_by_name": True}

    @property
    def active(self) -> ModeAccount:
        """The account with links always active."""
        return self.modes[0]

    @property
    def best(self) -> ModeAccount:
        """The account with the chosen mode."""
        return next(mode for mode in self.modes if mode.name == self.chosen)


def read_prediction(folder: Path) -> Prediction:
    """Read the prediction.json of a folder.

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
