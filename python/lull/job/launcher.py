"""The launcher that started this process, and its rank and job, according to the environment.

The first convention that matches counts. Under Slurm, mpirun starts its daemons with srun, so its ranks inherit SLURM_*
variables that describe the daemon; therefore Slurm's variables come last. A batch script and a shell of `srun --pty`
are not ranks of a job: the first has no step, the second is the only task of its step.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lull.base.errors import UsageError

HIGHEST_SIZE = 10_000_000


@dataclass(frozen=True)
class JobRank:
    """One rank of a job."""

    launcher: str
    job: str  # equal in all ranks of the job; empty if the launcher gives it no name
    rank: int
    size: int
    on_node: int | None = None  # number of ranks on this node, if the launcher gives it


@dataclass(frozen=True)
class _Convention:
    launcher: str
    rank: str
    sizes: tuple[str, ...]
    job: tuple[str, ...]  # variables that identify the job in combination
    may_be_a_shell: bool = False  # the only task of a Slurm step: srun --pty


_SIZES_ON_NODE = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE", "PALS_LOCAL_SIZE")
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "PALS_SIZE", "SLURM_STEP_NUM_TASKS")

CONVENTIONS = (
    _Convention(
        "Open MPI",
        "OMPI_COMM_WORLD_RANK",
        ("OMPI_COMM_WORLD_SIZE",),
        ("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri"),
    ),
    _Convention("PMI", "PMI_RANK", ("PMI_SIZE",), ("PMI_JOBID", "PALS_APID", "SLURM_JOB_ID", "SLURM_STEP_ID")),
    _Convention("PMIx", "PMIX_RANK", _SIZES, ("PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID"), may_be_a_shell=True),
    _Convention(
        "Slurm",
        "SLURM_PROCID",
        ("SLURM_STEP_NUM_TASKS",),
        ("SLURM_CLUSTER_NAME", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"),
        may_be_a_shell=True,
    ),
)


def find_place(env: Mapping[str, str]) -> JobRank | None:
    """The rank of this process, or None if no launcher started it.

    Raises:
        UsageError: There is a rank, but the size of its job is missing, or one of them is invalid.
    """
    for convention in CONVENTIONS:
        if convention.rank not in env or (convention.launcher == "Slurm" and "SLURM_STEP_ID" not in env):
            continue
        asked = f"find the place in the job that {convention.launcher} started"
        told = next((name for name in convention.sizes if name in env), None)
        if told is None:
            raise UsageError(
                asked,
                f"{convention.rank} is set, the number of ranks is not",
                f"set {convention.sizes[0]}, or unset {convention.rank} to measure this process alone",
            )
        rank = _number(asked, convention.rank, env[convention.rank])
        size = _number(asked, told, env[told])
        if rank >= size or size > HIGHEST_SIZE:
            raise UsageError(asked, f"{convention.rank} is {rank}, but {told} is {size}")
        if size == 1 and convention.may_be_a_shell and "SLURM_STEP_ID" in env:
            return None
        job = " ".join(env[name] for name in convention.job if env.get(name))
        return JobRank(convention.launcher, job, rank, size, _on_node(convention, env))
    return None


def _on_node(convention: _Convention, env: Mapping[str, str]) -> int | None:
    if convention.launcher == "Slurm":
        per_node = expand_counts(env.get("SLURM_STEP_TASKS_PER_NODE", ""))
        node = env.get("SLURM_NODEID", "")
        return per_node[int(node)] if node.isdecimal() and int(node) < len(per_node) else None
    told = next((env[name] for name in _SIZES_ON_NODE if env.get(name, "").isdecimal()), None)
    return int(told) if told is not None else None


def expand_counts(text: str) -> list[int]:
    """Expand Slurm's notation of a list of counts: `4(x2),1` is 4, 4, 1. Empty for other texts."""
    counts: list[int] = []
    for item in text.split(","):
        found = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", item)
        if found is None:
            return []
        counts += [int(found[1])] * int(found[2] or 1)
    return counts


def nodes_allocated(env: Mapping[str, str]) -> int:
    """The number of nodes that a batch system allocated to this job, from the environment; 1 if that has none."""
    for name in ("SLURM_JOB_NUM_NODES", "PBS_NUM_NODES", "LSB_DJOB_NUMHOSTS"):
        if env.get(name, "").isdecimal():
            return max(1, int(env[name]))
    return 1


LAUNCHERS = ("mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "srun", "aprun", "jsrun", "ibrun", "oshrun")


def _number(asked: str, name: str, text: str) -> int:
    if not text.isdecimal():
        raise UsageError(asked, f"{name} is {text!r}, not a number")
    return int(text)
