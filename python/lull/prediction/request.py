"""The request of a user, as words and numbers, from either `lull predict` or `lull.predict`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from lull.base.errors import UsageError
from lull.base.interrupts import Interrupts
from lull.base.native import checked_settings
from lull.model.machine import read_machine
from lull.prediction.account import Prediction
from lull.prediction.modes import modes_named
from lull.prediction.predict import Question, check_links, predict
from lull.prediction.program import (
    TRACES,
    Program,
    Tracing,
    names_record,
    names_traces,
    of_command,
    of_record,
    of_traces,
    program_name,
)
from lull.record.new_folder import check_free, default_folder


@dataclass(frozen=True)
class PredictionRequest:
    """The options that the user gave."""

    what: Sequence[str]  # a command, one trace or two, or a record
    on: str  # the machine
    processes: int | None = None
    power: Sequence[str] = ("all",)
    most_slowdown: float = 0.01
    per_node: int | None = None
    smaller: int | None = None
    runs: int = 1
    placements: int = 2
    assignments: Sequence[str] = field(default=())
    out: Path | None = None
    label: str | None = None
    workers: int | None = None
    tolerance: bool = False
    hz: float | None = None
    command: Sequence[str] = ("lull", "predict")


def answer(asked: PredictionRequest) -> tuple[Prediction, Path]:
    """The prediction, and its folder.

    Raises:
        UsageError: Options, the machine or numbers of processes are wrong.
        LullError: The program cannot be traced, is not regular, or its simulation fails.
    """
    machine = read_machine(asked.on)
    if not machine.topology:
        fix = "add [topology] and [network] to it, or name another with --on"
        raise UsageError(f"predict on {asked.on}", "its file does not describe the machine's network", fix)
    modes = modes_named(asked.power)
    if asked.tolerance and asked.most_slowdown <= 0:
        raise UsageError("predict with --tolerance", "--slowdown is 0", "accept some slowdown, e.g. --slowdown 1")
    check_links(machine, modes)
    settings = checked_settings()
    name = asked.label or _label(asked.what)
    folder = asked.out or default_folder(f"predict-{name}", datetime.now())
    check_free(folder)
    program = _program(
        asked,
        Tracing(
            folder / TRACES,
            asked.processes,
            asked.smaller,
            asked.runs,
            float(settings["LULL_METER_HZ"]) if asked.hz is None else asked.hz,
            settings,
        ),
    )
    per_node = [] if asked.per_node is None else [f"jobs.0.per_node={asked.per_node}"]
    question = Question(
        machine,
        modes,
        asked.most_slowdown,
        asked.placements,
        [*per_node, *asked.assignments],
        asked.workers or len(os.sched_getaffinity(0)),
        asked.command,
        folder,
        asked.tolerance,
    )
    with Interrupts() as interrupts:
        return predict(program, question, interrupts), folder


def _program(asked: PredictionRequest, tracing: Tracing) -> Program:
    traced_now = not names_traces(asked.what) and not names_record(asked.what)
    for given, option in ((asked.smaller is not None, "--smaller"), (asked.runs > 1, "--runs")):
        if given and not traced_now:
            raise UsageError("predict", f"{option} is for commands that are traced", "leave it out")
    if names_traces(asked.what):
        return of_traces([Path(word) for word in asked.what], asked.processes)
    if names_record(asked.what):
        return of_record(Path(asked.what[0]), asked.processes)
    first = Path(asked.what[0])
    if first.is_dir():
        raise UsageError(f"predict {first}", "it is neither a trace nor a record", "lull trace makes one")
    return of_command(asked.what, tracing)


def _label(what: Sequence[str]) -> str:
    there = names_traces(what) or names_record(what)
    return re.sub(r"[^\w.-]", "-", Path(what[0]).resolve().name if there else program_name(what))
