"""Advice on the power mode of a machine's links for a traced program, from a prediction (`lull predict`)."""

from __future__ import annotations

from typing import Final

from lull import _core
from lull.advice.account import Advice, Alternative, Band, Objective, Unpredicted
from lull.advice.advise import sentence
from lull.base.native import native_errors
from lull.prediction.account import ModeAccount, Prediction
from lull.prediction.modes import ACTIVE
from lull.record import EnergyKind
from lull.statistics.formatting import percent

CHOICE: Final = "link power mode"


def link_modes(found: Prediction, objective: Objective) -> Advice:
    """The simulated power modes as alternatives to links that are always active."""
    present = next(mode for mode in found.modes if mode.name == ACTIVE.name)
    whole = present.energy.total
    unpredicted: list[Unpredicted] = []
    alternatives: list[Alternative] = []
    if objective.of != "time" and (whole is None or present.energy.links is None):
        why = "the machine's file has no watts of its links: only shares of their power are known"
        unpredicted.append(Unpredicted(choice=CHOICE, why=why, measure="add [watts.link] to it, or --objective time"))
    else:
        alternatives = [_alternative(mode, present, objective) for mode in found.modes if mode is not present]
    made = Advice(
        program=found.program,
        machine=str(found.machine.get("title", "")),
        objective=objective,
        seconds=present.run_time_s,
        joules=None if whole is None else whole.joules,
        kind=None if whole is None else EnergyKind.SIMULATED,
        alternatives=alternatives,
        unpredicted=unpredicted,
        sentence="",
    )
    return made.model_copy(update={"sentence": sentence(made)})


def _alternative(mode: ModeAccount, present: ModeAccount, objective: Objective) -> Alternative:
    later = mode.run_time_s - present.run_time_s
    joules: Band | None = None
    whole, of_mode = present.energy.total, mode.energy.total
    if whole is not None and of_mode is not None:
        changes = sorted((of_mode.low - whole.low, of_mode.joules - whole.joules, of_mode.high - whole.high))
        joules = (changes[0], of_mode.joules - whole.joules, changes[2])
    time: tuple[Band, Band] = ((present.run_time_s,) * 3, (0.0, 0.0, 0.0) if whole is None else (whole.joules,) * 3)
    change: tuple[Band, Band] = ((later, later, later), joules or (0.0, 0.0, 0.0))
    with native_errors():
        verdict = _core.judge(time, change, objective.of, objective.slowdown, _core.OutputMachine().least_gain)
        gain = _core.gain_of(time, change, objective.of)
    return Alternative(
        choice=CHOICE,
        name=mode.name,
        instead_of=present.name,
        seconds=(later, later, later),
        joules=joules,
        lines=[f"the network's configuration: {mode.name}"],
        terms=[f"link power {percent(mode.link_power)} of active, {mode.wakes} wake-ups; simulated"],
        verdict=verdict,
        gain=gain,
    )
