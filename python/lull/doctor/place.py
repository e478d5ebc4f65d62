"""Where this runs: on which node, in which container, in which job; and what that means for what is found."""

from __future__ import annotations

import os
from typing import Final

from lull.base.errors import UsageError
from lull.doctor.finding import Finding, Machine
from lull.job.launchers import LAUNCHERS, Launcher, find_allocation, find_place, seconds_left
from lull.statistics import formatting

POWERCAP: Final = "/sys/devices/virtual/powercap"


def look(machine: Machine) -> list[Finding]:
    """Say where this runs, in the first line of the output."""
    found = [_here(machine)]
    if machine.container is not None and (hidden := _hidden_counters(machine)):
        found.append(hidden)
    return found


def _here(machine: Machine) -> Finding:
    words = [f"node {os.uname().nodename}" if machine.is_this else f"a copy of a machine, {machine.sysroot}"]
    inside = machine.container
    if inside is not None:
        words.append(f"in a container of {inside.engine}{f' ({inside.name})' if inside.name else ''}")
    if not machine.is_this:
        return Finding("here", "works", ", ".join(words))
    allocation = find_allocation(machine.environment)
    if allocation is not None:
        words.append(f"in the job {allocation.job} of {allocation.system}{_extent(machine, allocation.nodes)}")
        try:
            place = find_place(machine.environment)
        except UsageError as error:
            return Finding("here", "limited", f"{', '.join(words)}; {error}")
        if place is not None:
            words.append(f"as rank {place.rank} of {place.size}")
        return Finding("here", "works", ", ".join(words))
    system = next((one for one in LAUNCHERS if one.probe and _answers(machine, one)), None)
    if system is None:
        return Finding("here", "works", ", ".join([*words, "under no batch system"]))
    words.append(f"in no job of {system.name}, as on a login node: others use it, too")
    return Finding("here", "limited", ", ".join(words), f"to see what jobs see: {system.one_node} lull doctor")


def _extent(machine: Machine, nodes: int | None) -> str:
    words = [formatting.count(nodes, "node")] if nodes is not None else []
    left = seconds_left(machine.environment)
    if left is not None:
        words.append(f"ends in {formatting.duration(max(left, 0))}")
    return f" ({', '.join(words)})" if words else ""


def _answers(machine: Machine, system: Launcher) -> bool:
    """Whether a batch system works here. Its commands may be installed where it does not."""
    path = machine.program(system.probe[0])
    return path is not None and machine.output_of([path, *system.probe[1:]])[0] == 0


def _hidden_counters(machine: Machine) -> Finding | None:
    """Docker, from 24.0.7 and 25 on, covers the counters of RAPL with an empty folder."""
    folder = machine.below(POWERCAP)
    if not folder.is_dir() or any(folder.iterdir()):
        return None
    return Finding(
        "energy counters",
        "missing",
        f"the container hides {POWERCAP}",
        "start it with --security-opt systempaths=unconfined, if the site permits, or run lull measure outside of it",
    )
