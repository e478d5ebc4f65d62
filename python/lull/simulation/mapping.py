"""Which node each process of each job runs on: one process to a node, no node shared.

Lists in the description come first. At most one job may leave out its number of processes: it gets what the others
leave. Then the jobs take nodes in the order of the file: `linear` the next free ones, `random` free ones drawn from the
seed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from lull.base.errors import UsageError
from lull.simulation.description import Job
from lull.statistics import formatting


def place(jobs: Sequence[Job], nodes: int, seed: int, asked: str) -> list[list[int]]:
    """The nodes of the processes of every job.

    Args:
        jobs: As described.
        nodes: How many the network has.
        seed: Of the drawing.
        asked: What is being done, for errors.

    Raises:
        UsageError: There are not enough nodes, or two jobs name the same; the line names the key.
    """
    free = [True] * nodes
    for index, job in enumerate(jobs):
        for node in job.mapping if isinstance(job.mapping, list) else []:
            name = f"jobs.{index}.mapping"
            if node >= nodes:
                raise UsageError(asked, f"{name} names node {node}", f"the network has nodes 0 to {nodes - 1}")
            if not free[node]:
                raise UsageError(asked, f"{name} names node {node}, which another job has", "name a free one")
            free[node] = False
    sizes = _sizes(jobs, sum(free), asked)
    placed: list[list[int]] = []
    for index, (job, size) in enumerate(zip(jobs, sizes, strict=True)):
        if isinstance(job.mapping, list):
            placed.append(list(job.mapping))
            continue
        there = [node for node, is_free in enumerate(free) if is_free]
        if size > len(there):
            found = f"jobs.{index}.processes is {size}, with {len(there)} of {formatting.count(nodes, 'node')} free"
            raise UsageError(asked, found, "ask for fewer, or take a larger network")
        chosen = there[:size] if job.mapping == "linear" else random.Random(f"{seed}/{index}").sample(there, size)
        for node in chosen:
            free[node] = False
        placed.append(chosen)
    for index, (job, chosen) in enumerate(zip(jobs, placed, strict=True)):
        if job.grid is not None and math.prod(job.grid) != len(chosen):
            held = formatting.count(math.prod(job.grid), "process", "processes")
            found = f"jobs.{index}.grid holds {held}, and the job has {len(chosen)}"
            raise UsageError(asked, found, "let them agree")
    return placed


def _sizes(jobs: Sequence[Job], free: int, asked: str) -> list[int]:
    """How many processes each job has."""
    open_ended = [i for i, job in enumerate(jobs) if job.processes is None and not isinstance(job.mapping, list)]
    if len(open_ended) > 1:
        found = f"jobs.{open_ended[0]} and jobs.{open_ended[1]} both leave out processes"
        raise UsageError(asked, found, "only one job can have all that the others leave")
    taken = sum(job.processes or 0 for job in jobs if not isinstance(job.mapping, list))
    if open_ended and taken >= free:
        raise UsageError(asked, f"jobs.{open_ended[0]} would have no node", "give it processes, and others fewer")
    return [
        len(job.mapping) if isinstance(job.mapping, list) else job.processes or free - taken
        for job in jobs
    ]  # fmt: skip
