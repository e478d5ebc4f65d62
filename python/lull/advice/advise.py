"""Judge all choices by one objective, and summarize the advice in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lull import _core
from lull.advice.account import Advice, Alternative, Band, Objective, Unpredicted
from lull.advice.at_run_time import AGGREGATION, fixed_choices
from lull.advice.facts import Facts
from lull.advice.outputs import output_approaches
from lull.advice.puts import CHOICE as REWRITTEN
from lull.advice.puts import rewritten_puts
from lull.advice.waits import own_polling, wait_policies
from lull.base.native import native_errors
from lull.model.machine import Machine
from lull.record import EnergyKind
from lull.statistics.formatting import percent

NO_ROUTE: Final = Unpredicted(
    choice=AGGREGATION,
    why="the program aggregates, and the record has no account of its route and buffers",
    measure="lull measure --interleave: the program under LULL_AGGREGATE=per-pe and LULL_AGGREGATE=per-node in turn",
)
NOTHING: Band = (0.0, 0.0, 0.0)


def advise(facts: Facts, machine: Machine, objective: Objective) -> Advice:
    """Predict all choices, and advise only alternatives that are better with their whole interval."""
    fixed, unpredicted = fixed_choices(facts)
    judged: list[Alternative] = []
    choices: list[list[Alternative] | Unpredicted] = [
        wait_policies(facts, machine),
        fixed,
        output_approaches(facts, machine, objective),
    ]
    known = {one.choice for one in fixed} | {one.choice for one in unpredicted}
    if REWRITTEN not in known:
        choices.append(rewritten_puts(facts, machine))
    if AGGREGATION not in known and _aggregates(facts):
        choices.append(NO_ROUTE)
    for found in choices:
        if isinstance(found, Unpredicted):
            unpredicted.append(found)
            continue
        for one in found:
            told = _judged(one, facts, objective)
            if isinstance(told, Unpredicted):
                unpredicted += [told] if told not in unpredicted else []
            else:
                judged.append(told)
    found_advice = Advice(
        program=facts.name,
        machine=machine.title,
        objective=objective,
        seconds=facts.seconds[1],
        joules=None if facts.joules is None else facts.joules[1],
        kind=None if facts.joules is None else EnergyKind.ESTIMATED,
        alternatives=judged,
        unpredicted=unpredicted,
        sentence="",
        polling=own_polling(facts.waiting),
    )
    return found_advice.model_copy(update={"sentence": sentence(found_advice)})


def _aggregates(facts: Facts) -> bool:
    return facts.waiting is not None and any(row.operation == "aggregate" for row in facts.waiting.rows)


def _judged(one: Alternative, facts: Facts, objective: Objective) -> Alternative | Unpredicted:
    needs_energy = objective.of != "time"
    if needs_energy and one.joules is None:
        why = "its effect on energy is unknown: the machine file lacks the watts for it"
        return Unpredicted(choice=one.choice, why=why, measure="lull calibrate on an idle machine; --objective time")
    if needs_energy and facts.joules is None:
        why = "the record has no energy of the node"
        return Unpredicted(choice=one.choice, why=why, measure="lull sources says what can be read; --objective time")
    present = (facts.seconds, facts.joules or NOTHING)
    change = (one.seconds, one.joules or NOTHING)
    with native_errors():
        least = _core.OutputMachine().least_gain
        verdict = _core.judge(present, change, objective.of, objective.slowdown, least)
        gain = _core.gain_of(present, change, objective.of)
    return one.model_copy(update={"verdict": verdict, "gain": gain})


def sentence(advice: Advice) -> str:
    """The advice in one sentence."""
    what = {"time": "time", "energy": "energy", "edp": "energy times time"}[advice.objective.of]
    advised = advice.advised
    if advised:
        parts = []
        for one in advised:
            assert one.gain is not None
            low, mid, high = (percent(-share) for share in one.gain)
            parts.append(f"{one.choice} {one.name} instead of {one.instead_of}: {mid} less {what} ({high} to {low})")
        return "Take " + "; ".join(parts) + "."
    unsure = _names(advice.alternatives, "unsure")
    if unsure:
        return f"No alternative is certainly better; {unsure} may be: --verify tries it."
    if advice.alternatives:
        return f"Change nothing: no predicted alternative gives less {what}."
    return f"No prediction of {what} is possible yet; the lines above say what to measure."


def _names(alternatives: Sequence[Alternative], verdict: str) -> str:
    found = [f"{one.choice} {one.name}" for one in alternatives if one.verdict == verdict]
    return " or ".join(found)
