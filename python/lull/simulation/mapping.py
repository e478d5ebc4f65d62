"""Which node each process of each job runs on: one process to a node, no node shared.

Lists in the description come first. At most one job may leave out its number of processes: it gets what the others
leave. Then the jobs take nodes in the order of the file: `linear` the next free ones, `random` free ones drawn from the
seed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from lull import _core
from lull.base.errors import UsageError
from lull.base.native import native_errors
from lull.simulation.description import Description
from lull.statistics import formatting


def place(description: Description, nodes: int, asked: str) -> list[list[int]]:
    """The nodes of the processes of every job.

    Args:
        description: Of the jobs, and of the seed of what is drawn.
        nodes: How many the network has.
        asked: What is being done, for errors.

    Raises:
        UsageError: There are not enough nodes, two jobs name the same, or a job cannot run on so many; the line names
            the key.
    """
    jobs, seed = description.jobs, description.seed
    free = [True] * nodes
    for index, job in enumerate(jobs):
        for node in job.nodes:
            name = f"jobs.{index}.mapping"
            if node >= nodes:
                raise UsageError(asked, f"{name} names node {node}", f"the network has nodes 0 to {nodes - 1}")
            if not free[node]:
                raise UsageError(asked, f"{name} names node {node}, which another job has", "name a free one")
            free[node] = False
    sizes = _sizes(jobs, sum(free), asked)
    placed: list[list[int]] = []
    for index, (job, size) in enumerate(zip(jobs, sizes, strict=True)):
        if job.nodes:
            placed.append(job.nodes)
            continue
        there = [node for node, is_free in enumerate(free) if is_free]
        if size > len(there):
            found = f"jobs.{index}.processes is {size}, with {len(there)} of {formatting.count(nodes, 'node')} free"
            raise UsageError(asked, found, "ask for fewer, or take a larger network")
        chosen = there[:size] if job.mapping == "linear" else random.Random(f"{seed}/{index}").sample(there, size)
        for node in chosen:
            free[node] = False
        placed.append(chosen)
    with native_errors():
        _core.check_placement(description, placed)
    return placed


def _sizes(jobs: Sequence[_core.DescribedJob], free: int, asked: str) -> list[int]:
    """How many processes each job has."""
    open_ended = [i for i, job in enumerate(jobs) if job.processes is None and not job.nodes]
    if len(open_ended) > 1:
        found = f"jobs.{open_ended[0]} and jobs.{open_ended[1]} both leave out processes"
        raise UsageError(asked, found, "only one job can have all that the others leave")
    taken = sum(job.processes or 0 for job in jobs if not job.nodes)
    if open_ended and taken >= free:
        raise UsageError(asked, f"jobs.{open_ended[0]} would have no node", "give it processes, and others fewer")
    return [
        len(job.nodes) or job.processes or free - taken
        for job in jobs
    ]  # fmt: skip
