"""Energy sources, and whether the frequency of a core can be lowered during a wait."""

from __future__ import annotations

import os
from collections.abc import Sequence

from lull import _core
from lull.base.native import native_errors
from lull.doctor.finding import Finding, Machine, State
from lull.statistics import formatting

SERVED = "served"

# What helps against a refusal of the service (src/service/rights.cpp).
REFUSALS = (
    ("no job on this node", "measure in a job that has the node alone, for example sbatch --exclusive"),
    ("share this node", "request the node alone, for example sbatch --exclusive"),
    ("administrators only", "an administrator may add this user to the group lull-admin"),
)


def look(machine: Machine) -> list[Finding]:
    """Check every energy source of this machine, what a measurement would use, and how to lower frequencies."""
    with native_errors():
        sources = _core.sources(str(machine.sysroot))
    found = []
    for source in sources:
        if source.name == SERVED:
            found += service(source, sources)
        elif source.readable:
            words = f"{source.kind}: {', '.join(channel.name for channel in source.channels) or 'no channel'}"
            if not source.used:
                words += f"; not used, {source.reason}" if source.reason else "; not used"
            state: State = "limited" if source.kind == "estimated" else "works"
            fix = "calibrate it once by a meter: lull sources --calibrate" if source.kind == "estimated" else source.fix
            found.append(Finding(source.name, state, words, fix))
        elif source.fix:
            found.append(
                Finding(
                    source.name, "off" if source.reason.startswith("LULL_") else "missing", source.reason, source.fix
                )
            )
    measured = [source for source in sources if source.used and source.kind == "measured"]
    if not measured:
        absent = [source.name for source in sources if not source.readable and not source.fix]
        words = "nothing here is measured" + (f"; this machine has no {', '.join(absent)}" if absent else "")
        found.append(Finding("counters", "missing", words))
    return [*found, _frequency(machine)]


def service(served: _core.Source, sources: Sequence[_core.Source]) -> list[Finding]:
    """The service of this node: whether it runs, whether it serves this user, and whether it would help."""
    what = "lull-meterd"
    if served.readable:
        channels = ", ".join(channel.name for channel in served.channels)
        return [Finding(what, "works", f"runs, and serves this user: {channels}")]
    if served.reason.startswith("LULL_"):
        return [Finding(what, "off", served.reason, "unset LULL_SERVICE_SOCKET")]
    if served.reason.startswith("the service at "):
        return [Finding(what, "missing", served.reason, "an administrator: systemctl status lull-meterd")]
    if served.reason.startswith("no service "):
        closed = ", ".join(source.name for source in sources if "ermission" in source.reason)
        fix = "an administrator installs it: docs/how-to/measure/meter-every-job.md"
        words = f"no service reads {closed} for users who may not"
        return [Finding(what, "off", words, fix)] if closed else []
    if served.reason.startswith("the service "):  # of this machine only, or has no counters for this user
        return []
    fix = next((fix for words, fix in REFUSALS if words in served.reason), served.fix)
    return [Finding(what, "limited", f"runs, but does not serve this user: {served.reason}", fix)]


def _frequency(machine: Machine) -> Finding:
    cores = sorted(os.sched_getaffinity(0)) if machine.is_this else [0]
    with native_errors():
        method, problem = _core.frequency_way(str(machine.sysroot), cores[:1])
    if problem:
        words, _, fix = problem.partition("; ")
        return Finding("frequency", "missing", words, fix)
    return Finding("frequency", "works", f"lowered in waits by {method}, on {formatting.count(len(cores), 'core')}")
