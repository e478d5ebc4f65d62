"""Aggregated or not, on 64 to 4,608 nodes: skeletons simulated on the machine slingshot-4608, and what they would draw.

    python studies/aggregation/at_scale.py [--most-nodes 4608] [--workers 2]

Adds what is missing to docs/results/aggregation-at-scale.json, from which docs/explanation/aggregation-at-scale.md has
its table; a point that is there is not simulated again. One process on each node, in the order of nodes. Links are
always active, so all draw the same, and the network of so many nodes is that share of the machine's; where the job has
all nodes, the same is simulated with links that sleep, too.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from lull import __version__
from lull.base.interrupts import Interrupts
from lull.model.machine import read_machine
from lull.prediction.energy import energies
from lull.prediction.modes import modes_named
from lull.prediction.predict import Question, content_of
from lull.prediction.program import Program
from lull.simulation.account import SimulationFile
from lull.simulation.sweep_run import run_tasks
from lull.simulation.task import Task, TaskResult
from lull.simulation.workers import LocalWorkers

RESULT = Path(__file__).resolve().parents[2] / "docs" / "results" / "aggregation-at-scale.json"
MACHINE = "slingshot-4608"
ALL_NODES, SWITCHES = 4608, 576
NODES = (64, 256, 1024, ALL_NODES)
ITEMS = 2000  # of each process
APPLICATIONS = ("histogram", "index-gather", "radix-sort")
WAYS: dict[str, dict[str, Any]] = {
    "direct": {"mode": "direct"},
    "one hop": {"mode": "per-pe", "hops": 1},
    "two hops": {"mode": "per-node", "hops": 2},
}
ASLEEP = "deep-sleep:2 Ts"
TOO_LARGE = ("radix-sort", ALL_NODES)  # 170 million messages of its all-to-alls of counts


def tasks(most_nodes: int, there: set[str]) -> list[Task]:
    """What is to be simulated; last what has a message from each to each of all nodes."""
    machine = read_machine(MACHINE)
    found = []
    for nodes in NODES:
        for application in APPLICATIONS:
            for way, keys in WAYS.items():
                for mode in modes_named([ASLEEP] if nodes == ALL_NODES else ["active"]):
                    name = f"{application}, {way}, {nodes}, {mode.name}"
                    if nodes > most_nodes or name in there or (application, nodes) == TOO_LARGE:
                        continue
                    program = Program(application, {"pattern": application, "items": ITEMS, **keys}, nodes)
                    question = Question(machine, [mode], 0, 0, [], 1, [], Path())
                    found.append(Task(name, 0, json.dumps(content_of(program, question, mode)), links=False))
    return sorted(found, key=lambda task: f"one hop, {ALL_NODES}" in task.point)


def row(task: Task, outcome: TaskResult) -> dict[str, Any]:
    """Of the table."""
    application, way, nodes, mode = task.point.split(", ", 3)
    file = SimulationFile.model_validate_json(outcome.file)
    (repeat,) = file.repeats
    (job,) = repeat.jobs
    assert job.time is not None
    share = int(nodes) / ALL_NODES
    drawn = energies(
        read_machine(MACHINE), repeat, job, links=file.links, switches=SWITCHES, nodes=int(nodes)
    ).model_dump()
    for name in ("links", "switches"):
        drawn[name] = {bound: value * share for bound, value in drawn[name].items()}
    return {
        "application": application,
        "way": way,
        "nodes": int(nodes),
        "links": mode,
        "run_time_s": job.run_time_s,
        "computing_s": job.time.computing_s,
        "messages": job.messages,
        "bytes": job.bytes,
        "link_power": repeat.power.share,
        "joules": drawn,
        "simulator_cpu_s": repeat.simulator_cpu_s,
    }


def main() -> None:
    """Simulate what is missing, and keep each point as soon as it is done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most-nodes", type=int, default=max(NODES))
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    asked = parser.parse_args()
    kept: dict[str, dict[str, Any]] = {}
    if RESULT.exists():
        kept = json.loads(RESULT.read_text(encoding="utf-8"))["points"]

    def keep(task: Task, outcome: TaskResult) -> None:
        kept[task.point] = row(task, outcome)
        content = {"lull_version": __version__, "machine": MACHINE, "items": ITEMS, "kind": "simulated", "points": kept}
        RESULT.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")

    left = tasks(asked.most_nodes, set(kept))
    if left:
        with Interrupts() as interrupts:
            run_tasks(left, LocalWorkers(min(asked.workers, len(left))), keep, interrupts, asked="simulate at scale")


if __name__ == "__main__":
    main()
