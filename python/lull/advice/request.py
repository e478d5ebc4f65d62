"""`lull advise` as a function: advice about a command, which runs first, about a record, or about a trace."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from lull import record
from lull.advice.account import Advice, Objective, objective_named
from lull.advice.advise import advise
from lull.advice.facts import facts_of
from lull.advice.links import link_modes
from lull.advice.verify import PRESENT, Variant, candidates, label_of, outcome_of, run_in_turn
from lull.base.errors import LullError, UsageError
from lull.base.interrupts import InterruptedBySignal
from lull.base.native import checked_settings
from lull.base.whole_file import write_whole
from lull.experiment.conditions import identified
from lull.experiment.state import ExperimentState, has_only_begun
from lull.experiment.unfinished import Wanted, find_unfinished
from lull.measurement.command import Command
from lull.measurement.series import conditions_of
from lull.model.machine import HERE, Machine, kept_machine, read_machine
from lull.prediction import request as prediction
from lull.prediction.program import names_record, names_traces
from lull.present.messages import say
from lull.record.new_folder import check_free, default_folder

FILE: Final = "advice.json"
VERIFIED: Final = "verified"


@dataclass(frozen=True)
class AdviceRequest:
    """The options of `lull advise`."""

    what: Sequence[str]  # a command, a record or traces
    objective: str = "time"
    on: str = HERE
    runs: int = 3  # of a command; verification runs each side twice as often
    verify: bool = False
    out: Path | None = None
    fresh: bool = False


def answer(asked: AdviceRequest) -> tuple[Advice, Path | None]:
    """The advice, and the folder of its measurements; None if nothing was measured.

    Raises:
        UsageError: Options, the objective or the machine are wrong.
        LullError: The command fails, or the record or trace cannot be read.
    """
    objective = objective_named(asked.objective)
    if names_traces(asked.what):
        return _of_trace(asked, objective)
    machine = read_machine(asked.on)
    if names_record(asked.what):
        for given, option in ((asked.verify, "--verify"), (asked.out is not None, "--out"), (asked.fresh, "--fresh")):
            if given:
                raise UsageError("advise", f"{option} is for commands, {asked.what[0]} is a record", "leave it out")
        run = record.read(Path(asked.what[0]))
        if not run.repeats or record.is_simulated(run):
            raise LullError(f"advise by {asked.what[0]}", "nothing in it was measured", "lull predict --on MACHINE")
        return advise(facts_of(run), machine, objective), None
    first = Path(asked.what[0])
    if first.is_dir():
        raise UsageError(f"advise by {first}", "it is neither a record nor a trace", "lull measure makes a record")
    settings = checked_settings()
    name = re.sub(r"[^\w.-]", "-", first.name)
    folder = asked.out or default_folder(f"advise-{name}", datetime.now())
    with _opened(asked, folder, settings) as state:
        try:
            found = _by_running(asked, machine, objective, settings, state.out)
        except LullError as error:
            # Only a call that was interrupted is continued, and only if it has measured something.
            if not isinstance(error, InterruptedBySignal) or not (state.out / PRESENT).exists():
                state.end()
                with suppress(OSError):
                    state.out.rmdir()
            raise
        content = (found.model_dump_json(by_alias=True, indent=1) + "\n").encode()
        write_whole(state.out / FILE, content, "advice", "--out")
        state.end()
        return found, state.out


def _opened(asked: AdviceRequest, folder: Path, settings: Mapping[str, str]) -> ExperimentState:
    """The folder of the advice: a new one, or that of an earlier call that was killed.

    Raises:
        LullError: It is taken, or holds unfinished advice of other conditions.
    """
    command = Command(Path(asked.what[0]).name, asked.what, folder)
    machine = kept_machine()
    conditions = conditions_of([command], float(settings["LULL_METER_HZ"]), settings)
    now = conditions.model_copy(
        update={
            "what": "advice",
            "options": [f"--runs {asked.runs}", f"--on {asked.on}", *(["--verify"] if asked.verify else [])],
            "programs": conditions.programs | identified([machine] if machine is not None and machine.exists() else []),
        }
    )
    made = (PRESENT, VERIFIED, FILE)
    wanted = Wanted(folder, now.what, named=asked.out is not None, fresh=asked.fresh, results=lambda: made)
    found, line = find_unfinished(wanted, now, lambda _: None)
    if line:
        say(line)
    if found is None:
        if not has_only_begun(folder):
            check_free(folder)
        found = ExperimentState(folder, now.what)
        found.begin(now)
    return found


def _by_running(
    asked: AdviceRequest, machine: Machine, objective: Objective, settings: Mapping[str, str], folder: Path
) -> Advice:
    hz = float(settings["LULL_METER_HZ"])
    run_in_turn({PRESENT: Variant(asked.what)}, asked.runs, hz, settings, folder)
    facts = replace(facts_of(record.read(folder / PRESENT)), name=shlex.join(asked.what))
    found = advise(facts, machine, objective)
    if asked.verify and (tried := candidates(found, asked.what)):
        in_turn = {PRESENT: Variant(asked.what), **{label_of(one): variant for one, variant in tried}}
        repeats = run_in_turn(in_turn, 2 * asked.runs, hz, settings, folder / VERIFIED)
        outcomes = [outcome_of(one, found, repeats[PRESENT], repeats[label_of(one)]) for one, _ in tried]
        found = found.model_copy(update={"outcomes": outcomes})
    return found


def _of_trace(asked: AdviceRequest, objective: Objective) -> tuple[Advice, Path | None]:
    if asked.verify:
        raise UsageError("advise", "links of a machine that is simulated cannot be verified here", "leave out --verify")
    slowdown = objective.slowdown if objective.slowdown >= 0 else 1.0
    found, folder = prediction.answer(
        prediction.PredictionRequest(
            asked.what,
            on=asked.on,
            most_slowdown=slowdown,
            out=asked.out,
            placements=0,
            command=["lull", "advise", *asked.what],
        )
    )
    return link_modes(found, objective), folder
