"""The data of advice: alternatives with their changes, and choices that cannot be predicted."""

from __future__ import annotations

import re
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from lull.base.errors import UsageError
from lull.record import EnergyKind

Band = tuple[float, float, float]  # low, mid, high
BETTER: Final = "better"


class AccountTable(BaseModel):
    """Base class of all parts."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Objective(AccountTable):
    """The quantity to minimize."""

    of: str  # time, energy or edp
    slowdown: float = -1  # most slowdown for less energy, a share; negative: no limit

    @property
    def words(self) -> str:
        """The objective in the notation of --objective."""
        return self.of if self.slowdown < 0 else f"{self.of}@slowdown={100 * self.slowdown:g}%"


def objective_named(text: str) -> Objective:
    """Parse `time`, `energy`, `edp` or `energy@slowdown=2%`.

    Raises:
        UsageError: The text is none of these.
    """
    if text in ("time", "energy", "edp"):
        return Objective(of=text)
    found = re.fullmatch(r"energy@slowdown=(\d+(?:\.\d+)?)%?", text)
    if found is None:
        raise UsageError(f"advise for {text}", "there is no such objective", "time, energy, edp or energy@slowdown=2%")
    return Objective(of="energy", slowdown=float(found[1]) / 100)


class Alternative(AccountTable):
    """An alternative to a choice of the run, and what it would change."""

    choice: str  # the choice: "wait policy"
    name: str  # the alternative
    instead_of: str  # the present choice
    seconds: Band  # change of a run's time; negative: less
    joules: Band | None  # change of a run's energy; None: unknown
    set: dict[str, str] = {}  # settings
    options: dict[str, str] = {}  # options of the command that get another value
    arguments: dict[str, str] = {}  # first arguments of verbs of lull in the command that get another value, by verb
    lines: list[str] = []  # lines for the user to set or call
    terms: list[str] = []  # terms of the prediction, in words
    verdict: str = ""  # better, no better, unsure, too slow
    gain: Band | None = None  # relative change of the objective; below 0 is better


class Unpredicted(AccountTable):
    """A choice that cannot be predicted."""

    choice: str  # the choice: "wait policy"
    why: str  # why it cannot be predicted
    measure: str  # the measurement that would allow a prediction


class OwnPolling(AccountTable):
    """A place where the program polls in a loop of its own, to which no wait policy applies."""

    function: str  # "MPI_Test"
    site: str  # call site in the program, "FUNCTION+OFFSET" or "FILE+OFFSET"
    calls: float  # number of these calls
    seconds: float  # of CPU time in calls that found nothing, of all ranks
    share: float  # of the CPU time of the ranks
    instead: str  # the call that waits


class Outcome(AccountTable):
    """Measured results of an alternative that ran in turn with the present state: ratios of medians with intervals."""

    name: str  # the alternative
    runs: int = Field(ge=1)  # runs of each side
    predicted_seconds: Band  # as a share of the present time
    seconds: Band  # measured, as a share of the present time
    predicted_joules: Band | None  # as a share of the present energy; None: not predicted
    joules: Band | None  # measured, as a share of the present energy; None: not measured
    confirmed: bool = Field(serialization_alias="came_true")  # whether the intervals of prediction and outcome overlap


class Advice(AccountTable):
    """All advice about a run."""

    program: str  # name of the program
    machine: str  # name of the machine
    objective: Objective  # what is minimized
    seconds: float  # of the present run
    joules: float | None  # of the present run; None: unknown
    kind: EnergyKind | None  # of the predicted energies: estimated or weaker
    alternatives: list[Alternative]  # every alternative, evaluated
    unpredicted: list[Unpredicted] = Field(serialization_alias="untold")  # choices without a prediction
    sentence: str  # the advice in one sentence
    outcomes: list[Outcome] = []  # with --verify: what was measured
    polling: list[OwnPolling] = []  # where the program polls itself

    @property
    def advised(self) -> list[Alternative]:
        """The best alternative of each choice, if one is better."""
        best: dict[str, Alternative] = {}
        for one in self.alternatives:
            if one.verdict == BETTER and one.gain is not None:
                known = best.get(one.choice)
                if known is None or known.gain is None or one.gain[1] < known.gain[1]:
                    best[one.choice] = one
        return list(best.values())
