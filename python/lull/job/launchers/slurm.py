"""Slurm: the tasks that srun starts, of any step, and the allocation of a job.

In a step of a heterogeneous job all tasks have the number of the first component's job, numbers and counts are those of
the whole step, and so is the list of tasks per node (observed with 22.05).
"""

from __future__ import annotations

import os
import re
from datetime import datetime
from typing import Final

from lull.job.launchers.launcher import (
    Allocation,
    Environment,
    JobRank,
    Launcher,
    Level,
    Query,
    count_in,
    joined,
)

# Ranks of the PMI library for which srun prepares its tasks.
INTERFACES: Final = ("PMIX_RANK", "PMI_RANK", "PALS_RANKID")
RANK: Final = ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS")


class Slurm(Launcher):
    """Slurm. A batch script has a rank but no step, and a shell of `srun --pty` is the only task of its step."""

    name = "Slurm"
    level = Level.BATCH
    programs = ("srun",)
    number = ("-n", "--ntasks")
    probe = ("sinfo", "--noheader", "--format=%D")
    one_node = "srun --nodes=1 --ntasks=1 --exclusive"
    starts_shells = True

    def place(self, env: Environment) -> JobRank | None:
        """See `Launcher`."""
        if "SLURM_PROCID" not in env or "SLURM_STEP_ID" not in env:
            return None
        if any(env.get(name, env["SLURM_PROCID"]) != env["SLURM_PROCID"] for name in INTERFACES):
            return None  # another launcher, within this task
        return self.rank(env, "", RANK, _on_node(env))

    def allocation(self, env: Environment) -> Allocation | None:
        """See `Launcher`."""
        job = env.get("SLURM_JOB_ID")
        if not job:
            return None
        key = joined(env, "SLURM_CLUSTER_NAME", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT")
        return Allocation(self.name, _name_of(env), key, _nodes(env))

    def seconds_left(self, env: Environment, now: float, query: Query) -> float | None:
        """See `Launcher`. The variable exists since 23.02; it does not follow later changes of the limit."""
        end = count_in(env, "SLURM_JOB_END_TIME")
        if end is not None:
            return end - now
        text = query(["squeue", "--noheader", "--format=%e", f"--jobs={env['SLURM_JOB_ID']}"]).strip()
        try:  # in local time; for a heterogeneous job, a line for each component
            return datetime.fromisoformat(text.split()[0]).timestamp() - now
        except (IndexError, ValueError):  # no answer, or no limit
            return None


def _name_of(env: Environment) -> str:
    """The job as squeue shows it: `4_3`, an element of an array; `6+0`, a component of a heterogeneous job."""
    if "SLURM_ARRAY_TASK_ID" in env and "SLURM_ARRAY_JOB_ID" in env:
        return f"{env['SLURM_ARRAY_JOB_ID']}_{env['SLURM_ARRAY_TASK_ID']}"
    return f"{env['SLURM_JOB_ID']}{'+0' if 'SLURM_HET_SIZE' in env else ''}"


def _nodes(env: Environment) -> int | None:
    """Nodes of the job. In the script of a heterogeneous job, SLURM_JOB_NUM_NODES is that of the first component."""
    components = [
        count_in(env, f"SLURM_JOB_NUM_NODES_HET_GROUP_{n}") for n in range(count_in(env, "SLURM_HET_SIZE") or 0)
    ]
    if components and None not in components:
        return sum(count or 0 for count in components)
    return count_in(env, "SLURM_JOB_NUM_NODES")


def _on_node(env: Environment) -> int | None:
    """Tasks on this machine, on which two components of a step may be, or two nodes that Slurm only emulates."""
    if "SLURM_HET_SIZE" in env or env.get("SLURMD_NODENAME", _short_name()) != _short_name():
        return None
    per_node = expand_counts(env.get("SLURM_STEP_TASKS_PER_NODE", ""))
    node = count_in(env, "SLURM_NODEID")
    return per_node[node] if node is not None and node < len(per_node) else None


def _short_name() -> str:
    return os.uname().nodename.partition(".")[0]


def expand_counts(text: str) -> list[int]:
    """Expand Slurm's notation of a list of counts: `4(x2),1` is 4, 4, 1. Empty for other texts."""
    counts: list[int] = []
    for item in text.split(","):
        found = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", item)
        if found is None:
            return []
        counts += [int(found[1])] * int(found[2] or 1)
    return counts


LAUNCHER = Slurm()
