"""What advice is: alternatives with what they change, and what could not be told."""

from __future__ import annotations

import re
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from lull.base.errors import UsageError
from lull.record import EnergyKind

Band = tuple[float, float, float]  # low, mid, high
BETTER: Final = "better"


class AccountTable(BaseModel):
    """Base of all parts."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Objective(AccountTable):
    """What is to be least."""

    of: str  # time, energy or edp
    slowdown: float = -1  # the most that saving energy may cost, a share; negative: whatever it costs

    @property
    def words(self) -> str:
        """As it is written."""
        return self.of if self.slowdown < 0 else f"{self.of}@slowdown={100 * self.slowdown:g}%"


def objective_named(text: str) -> Objective:
    """Read `time`, `energy`, `edp` or `energy@slowdown=2%`.

    Raises:
        UsageError: It is something else.
    """
    if text in ("time", "energy", "edp"):
        return Objective(of=text)
    found = re.fullmatch(r"energy@slowdown=(\d+(?:\.\d+)?)%", text)
    if found is None:
        raise UsageError(f"advise for {text}", "there is no such objective", "time, energy, edp or energy@slowdown=2%")
    return Objective(of="energy", slowdown=float(found[1]) / 100)


class Alternative(AccountTable):
    """Something that could be chosen instead of what the run had, and what it would change."""

    choice: str  # of what: "wait policy"
    name: str
    instead_of: str
    seconds: Band  # more, of a run; negative: less
    joules: Band | None  # the same; None: it cannot be told
    set: dict[str, str] = {}  # settings
    options: dict[str, str] = {}  # of the command, that take another value instead
    lines: list[str] = []  # to be set or called
    terms: list[str] = []  # of what it is made, in words
    verdict: str = ""  # better, no better, unsure, too slow
    gain: Band | None = None  # of the objective, a share; below 0 is better


class Untold(AccountTable):
    """A choice of which nothing can be said."""

    choice: str
    why: str
    measure: str  # what would tell


class Outcome(AccountTable):
    """What came of an alternative that was run in turn with the present state: ratios of medians with intervals."""

    name: str
    runs: int = Field(ge=1)
    predicted_seconds: Band  # as shares of the present's
    seconds: Band
    predicted_joules: Band | None
    joules: Band | None
    came_true: bool  # the intervals of prediction and outcome meet


class Advice(AccountTable):
    """All of it."""

    program: str
    machine: str
    objective: Objective
    seconds: float  # of a run as it is
    joules: float | None
    kind: EnergyKind | None  # of the energies that are predicted: never better than estimated
    alternatives: list[Alternative]
    untold: list[Untold]
    sentence: str
    outcomes: list[Outcome] = []

    @property
    def advised(self) -> list[Alternative]:
        """The best of each choice, where one is better."""
        best: dict[str, Alternative] = {}
        for one in self.alternatives:
            if one.verdict == BETTER and one.gain is not None:
                known = best.get(one.choice)
                if known is None or known.gain is None or one.gain[1] < known.gain[1]:
                    best[one.choice] = one
        return list(best.values())
