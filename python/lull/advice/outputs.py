"""Advice on the approach to write output: the model of `lull approaches`, with the figures of the run."""

from __future__ import annotations

from typing import Final

from lull import _core
from lull.advice.account import Alternative, Band, Objective, Unpredicted
from lull.advice.facts import Facts
from lull.base.native import native_errors
from lull.model.figures import case_of_runs, seconds_of
from lull.model.machine import Machine
from lull.statistics.formatting import percent

CHOICE: Final = "output"
FEW: Final = 3  # alternatives that are shown


def output_approaches(facts: Facts, machine: Machine, objective: Objective) -> list[Alternative] | Unpredicted:
    """The best approaches instead of the run's; or why there is no prediction."""
    if not facts.output:
        why = "the record holds no output: the program's output was not counted"
        measure = "lull measure -- lull stage --approach time-partitioning -- CMD, for programs that write by HDF5"
        return Unpredicted(choice=CHOICE, why=why, measure=measure)
    run = facts.output[-1]
    case = case_of_runs([run])
    if case is None:
        return Unpredicted(choice=CHOICE, why="the run wrote nothing", measure="a run that writes")
    on, simulation = case
    idle, one = machine.watts.idle_node, machine.watts.one_core
    told = idle is not None and one is not None and one.value > idle.value
    if idle is not None and one is not None and told:
        on.idle_node_watts, on.busy_core_watts = idle.value, one.value - idle.value
    with native_errors():
        approaches = _core.output_ways(on)
        name = run.approach if run.approach in approaches else approaches[0]
        (present,) = _core.choose_output(on, simulation, [name])
        others = [one for one in _core.choose_output(on, simulation, approaches, objective.of) if one.way != name][:FEW]
    took = seconds_of(run)
    miss = abs(present.seconds - took) / took if took > 0 else 1.0

    def band(of: float, now: float) -> Band:
        off = miss * max(of, now)
        return of - now - off, of - now, of - now + off

    return [
        Alternative(
            choice=CHOICE,
            name=one.way,
            instead_of=name,
            seconds=band(one.seconds, present.seconds),
            joules=band(one.joules, present.joules) if told else None,
            options={"--approach": one.way},
            lines=[f"lull stage --approach {one.way} -- CMD"],
            terms=[
                f"{one.way}: {one.seconds:.4g} s, stalled {one.stall_seconds_per_output:.3g} s for each output",
                f"{name}: {present.seconds:.4g} s by the model, {took:.4g} s in the run: it misses by {percent(miss)}",
            ],
        )
        for one in others
    ]
