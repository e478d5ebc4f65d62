"""The output of `lull doctor`. It needs no native module, because a module that cannot be loaded is a finding."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class CheckedThing(BaseModel):
    """The state of one thing that Lull needs or can use."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    what: str  # its name: "mpirun"
    state: Literal["works", "limited", "off", "missing"]  # limited: would be better with the fix; off: must be set up
    found: str  # what was found
    fix: str  # what to do about it; empty if there is nothing to do
    needed: bool  # whether Lull itself does not work without it


class Examination(BaseModel):
    """What works on this machine and what does not."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    lull: str  # version of Lull
    areas: dict[str, list[CheckedThing]]  # by area, in the order of the check
