"""A prediction: simulate the program with every mode of links, and with variations of what is uncertain.

OUT/prediction.json         all figures
OUT/MODE/                   the record of the simulation with each mode
OUT/report.html             all modes in one page
OUT/traces/                 for a command: its traces
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq

from lull import __version__, _core
from lull.base.errors import LullError
from lull.base.interrupts import Interrupts
from lull.base.native import native_errors
from lull.base.whole_file import write_whole
from lull.model.machine import Machine
from lull.prediction import bearing
from lull.prediction.account import PREDICTION_FILE, Check, ModeAccount, Prediction, Range
from lull.prediction.energy import energies
from lull.prediction.modes import ACTIVE, Mode
from lull.prediction.program import Program
from lull.simulation import simulation_record
from lull.simulation.account import SimulationFile
from lull.simulation.description import Description, read_description
from lull.simulation.engine import number_of_nodes
from lull.simulation.mapping import place
from lull.simulation.report import write_simulation_report
from lull.simulation.settings_by_key import changed
from lull.simulation.sweep_run import against, run_tasks
from lull.simulation.task import Task, TaskResult
from lull.simulation.workers import LocalWorkers

COUNTED: Final = ("link", "switch", "nic", "idle_node", "busy_node")  # watts that contribute to energies


@dataclass(frozen=True)
class Question:
    """The options of a prediction."""

    machine: Machine
    modes: Sequence[Mode]  # links always active first
    most_slowdown: float  # a share
    placements: int  # number of random placements in addition to that of the description
    assignments: Sequence[str]  # KEY=VALUE for the simulation's file
    workers: int
    command: Sequence[str]  # the command line of lull
    folder: Path
    tolerance: bool = False  # also find out how much longer messages may take


@dataclass(frozen=True)
class Variation:
    """Simulations of the possible values of something unknown on which the run time depends."""

    what: str
    how: str
    contents: tuple[dict[str, Any], ...]  # descriptions

    @property
    def names(self) -> list[str]:
        """The names of its simulations."""
        return [f"{self.what} {number + 1}" for number in range(len(self.contents))]


def predict(program: Program, question: Question, interrupts: Interrupts) -> Prediction:
    """Run all simulations of the request, and write the prediction.

    Raises:
        UsageError: The machine's file or an assignment is wrong, or the machine is too small.
        LullError: A simulation failed: the program is not regular, its processes deadlock ...
        InterruptedBySignal: A signal asked to stop.
    """
    asked = f"predict {program.name}"
    contents = {mode.name: content_of(program, question, mode) for mode in question.modes}
    active = contents[ACTIVE.name]
    if question.tolerance:
        most = question.most_slowdown
        contents[ACTIVE.name] = bearing.with_questions(active, question.modes, question.machine.power, most)
    for content in contents.values():
        described = read_description(content, asked)
    described = read_description(active, asked)
    nodes = number_of_nodes(described)
    used = len(set(place(described, nodes, asked)[0]))
    varied = _variations(program, active, question.placements)
    tasks = [Task(name, 0, json.dumps(content)) for name, content in contents.items()]
    for one in varied:
        tasks += [Task(name, 0, json.dumps(c), links=False) for name, c in zip(one.names, one.contents, strict=True)]
    done: dict[str, TaskResult] = {}

    def keep(task: Task, outcome: TaskResult) -> None:
        done[task.point] = outcome

    def simulate(tasks: Sequence[Task]) -> dict[str, SimulationFile]:
        workers = LocalWorkers(min(question.workers, len(tasks)))
        run_tasks(list(tasks), workers, keep, interrupts, asked=asked, fix="its traces are kept")
        return {task.point: SimulationFile.model_validate_json(done[task.point].file) for task in tasks}

    files = simulate(tasks)
    baseline = files[ACTIVE.name]
    if baseline.repeats[0].ended_early or baseline.repeats[0].jobs[0].time is None:
        raise LullError(asked, "the simulation did not reach the end of the program", "leave out end")
    tolerance = baseline.repeats[0].jobs[0].tolerance
    borne: list[Check] = []
    if tolerance is not None:
        modes_borne = bearing.further_modes(tolerance)
        question = replace(question, modes=[*question.modes, *modes_borne])
        described_further = {mode.name: content_of(program, question, mode) for mode in modes_borne}
        changes = bearing.checked(active, tolerance)
        further = [Task(name, 0, json.dumps(content)) for name, content in described_further.items()]
        further += [Task(name, 0, json.dumps(content), links=False) for name, content in changes.items()]
        files |= simulate(further) if further else {}
        borne = bearing.simulated(tolerance, {name: files[name].repeats[0].jobs[0].run_time_s for name in changes})
    for mode in question.modes[1:]:
        compared = against(files[mode.name], baseline)
        files[mode.name] = files[mode.name].model_copy(update={"repeats": [compared]})
    switches = _switches(described)
    modes = [_mode_account(mode, files[mode.name], question.machine, used, switches) for mode in question.modes]
    ranges = [_range(one, files, modes[0].run_time_s) for one in varied]
    if program.traced:
        ranges.append(_recording(program, modes[0].run_time_s))
    chosen, criterion = choose(modes, question.most_slowdown)
    job = baseline.repeats[0].jobs[0]
    found = Prediction(
        lull_version=__version__,
        command=list(question.command),
        program=program.name,
        machine=question.machine.model_dump(exclude_none=True),
        processes=job.processes,
        traced=list(program.traced),
        nodes=used,
        network_nodes=nodes,
        network_links=baseline.links,
        network_switches=switches,
        most_slowdown=question.most_slowdown,
        chosen=chosen,
        criterion=criterion,
        modes=modes,
        low_s=max(modes[0].run_time_s - sum(modes[0].run_time_s - one.low_s for one in ranges), 0.0),
        high_s=modes[0].run_time_s + sum(one.high_s - modes[0].run_time_s for one in ranges),
        uncertainty=ranges,
        tolerance=tolerance,
        checks=borne,
        not_modelled=_not_modelled(program, question, described),
        remarks=[*program.remarks, *job.remarks],
    )
    _write(question, found, files, done)
    return found


def content_of(program: Program, question: Question, mode: Mode) -> dict[str, Any]:
    """The description of the program's simulation with one mode of links."""
    job = {"name": program.name, **question.machine.job, **program.job, "processes": program.processes}
    return changed({**_network_of(question.machine, mode), "jobs": [job]}, question.assignments)


def check_links(machine: Machine, modes: Sequence[Mode]) -> None:
    """Check the network and its links before a program is traced for them.

    Raises:
        UsageError: There is a mistake; the line describes the first.
    """
    for mode in modes:
        read_description({**_network_of(machine, mode), "end": "1 us", "jobs": [{"pattern": "uniform"}]}, "predict")


def _network_of(machine: Machine, mode: Mode) -> dict[str, Any]:
    power = dict(mode.keys) if mode.keys["mode"] in ("active", "adaptive-rate") else {**machine.power, **mode.keys}
    if machine.watts.link is not None and machine.watts.link.value > 0:
        power["link_watts"] = machine.watts.link.value
    tables = {"topology": machine.topology, "network": machine.network, "routing": machine.routing, "power": power}
    return {name: dict(table) for name, table in tables.items() if table}


def choose(modes: Sequence[ModeAccount], most_slowdown: float) -> tuple[str, str]:
    """The mode of least energy among those within the accepted slowdown; and what was minimized."""
    accepted = [mode for mode in modes if mode.slowdown <= most_slowdown]
    totals = {mode.name: mode.energy.total.joules for mode in accepted if mode.energy.total is not None}
    if all(mode.energy.links is not None for mode in accepted):
        known = [name for name in ("links", "switches", "nics", "nodes") if getattr(modes[0].energy, name) is not None]
        return min(accepted, key=lambda mode: totals[mode.name]).name, f"energy of {', '.join(known)}"
    least = min(accepted, key=lambda mode: mode.link_power * mode.run_time_s)
    return least.name, "energy of links, of which only ratios are known"


def _variations(program: Program, active: Mapping[str, Any], placements: int) -> list[Variation]:
    """The variations of unknown conditions, as far as they can be simulated."""
    job = active["jobs"][0]

    def of(**keys: object) -> dict[str, Any]:
        return {**active, "jobs": [{**job, **keys}]}

    found = []
    if placements:
        drawn = tuple({**of(mapping="random"), "seed": 2 + number} for number in range(placements))
        found.append(Variation("placement", f"on nodes drawn at random, {placements} times", drawn))
    if program.core_share < 1:
        scale = float(job.get("compute_scale", 1)) * program.core_share
        how = f"while it was traced {1 / program.core_share:.3g} processes shared a core: computing that much shorter"
        found.append(Variation("shared cores", how, (of(compute_scale=scale),)))
    if program.other_runs:
        others = tuple(of(**other) for other in program.other_runs)
        found.append(Variation("runs", f"{len(others) + 1} runs of the program", others))
    return found


def _range(of: Variation, files: Mapping[str, SimulationFile], run_time_s: float) -> Range:
    times = [run_time_s, *(files[name].repeats[0].jobs[0].run_time_s for name in of.names)]
    return Range(what=of.what, low_s=min(times), high_s=max(times), how=of.how)


def _recording(program: Program, run_time_s: float) -> Range:
    with native_errors():
        ns_per_event = _core.constant_here("recording.ns_per_event")  # programs are traced on the machine that predicts
    spent = program.events_of_process * ns_per_event * 1e-9
    how = f"{ns_per_event:g} ns for each event of a process in the trace, where all of it counts as computing"
    return Range(what="recording", low_s=max(run_time_s - spent, 0.0), high_s=run_time_s, how=how)


def _not_modelled(program: Program, question: Question, described: Description) -> list[str]:
    lines = ["other jobs on the network, and noise of the operating system"]
    job = described.content["jobs"][0]
    if program.traced:
        scale = job.get("compute_scale", 1)
        as_traced = "as fast as on the traced machine" if scale == 1 else f"{scale:g} times as long as traced"
        lines.append(f"processors of the machine: computing is {as_traced}; jobs.0.compute_scale changes it")
        lines.append("files: reading and writing takes as long as on the traced machine")
        if not program.other_runs:
            lines.append("how runs of the program differ: --runs traces several")
    if str(job.get("overhead", "0 s")).split()[0] == "0":
        lines.append("the overhead of messages: jobs.0.overhead is 0")
    if len(program.traced) > 1:
        lines.append("differences between similar processes, and growth other than c P^a through two points")
    missing = [name for name in COUNTED if getattr(question.machine.watts, name) is None]
    if missing:
        lines.append(f"energy of components without watts in the machine's file: {', '.join(missing)}")
    if question.machine.watts.link is not None:
        lines.append("idle nodes of the machine; idle links of its network are counted")
    return lines


def _mode_account(mode: Mode, file: SimulationFile, machine: Machine, nodes: int, switches: int) -> ModeAccount:
    (repeat,) = file.repeats
    (job,) = repeat.jobs
    assert job.time is not None
    return ModeAccount(
        name=mode.name,
        folder=mode.folder,
        run_time_s=job.run_time_s,
        slowdown=0.0 if repeat.slowdown is None else repeat.slowdown,
        link_power=repeat.power.share,
        network_link_power=repeat.network_power.share,
        wakes=repeat.power.wakes,
        time=job.time,
        energy=energies(machine, repeat, job, links=file.links, switches=switches, nodes=nodes),
    )


def _switches(description: Description) -> int:
    with native_errors():
        cables = _core.topology_links(description.network.name, description.network.parameters)
    return 1 + int(max(max(ends, default=0) for ends in (cables.from_switch, cables.to_switch, cables.attach_switch)))


def _write(
    question: Question, found: Prediction, files: Mapping[str, SimulationFile], done: Mapping[str, TaskResult]
) -> None:
    """Write records first and prediction.json last, so that everything exists if it does."""
    question.folder.mkdir(parents=True, exist_ok=True)
    started = datetime.now(UTC)
    for mode in question.modes:
        file, links = files[mode.name], pq.ParquetFile(io.BytesIO(done[mode.name].links)).read()
        run = simulation_record.run_of(mode.name, question.command, file, [started])
        simulation_record.write(question.folder / mode.folder, run, file, links)
    folders = [question.folder / mode.folder for mode in question.modes]
    title = f"{found.program}, {found.processes} processes, on {found.machine['title']}"
    write_simulation_report(folders, question.folder / "report.html", title)
    content = (found.model_dump_json(by_alias=True, indent=1) + "\n").encode()
    write_whole(question.folder / PREDICTION_FILE, content, "the prediction", "--out")
