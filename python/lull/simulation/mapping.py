"""Place the processes of jobs on nodes; a node has processes of one job only.

A node has one process of its job; for a program, it has `per_node` processes with consecutive ranks, and the last node
may have fewer. Lists of nodes in the description are placed first. At most one job may omit its number of processes: it
gets the remaining nodes. Then the jobs take nodes in the order of the file: `linear` takes the next free ones, `random`
draws free ones with the seed.
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
        description: The description of the jobs and of the seed.
        nodes: Number of nodes of the network.
        asked: The action, with which errors begin.

    Raises:
        UsageError: There are not enough nodes, two jobs name the same node, or a job cannot run on this number; the
            line names the key.
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
        chosen = job.nodes
        if not chosen:
            there = [node for node, is_free in enumerate(free) if is_free]
            wanted = _nodes_for(job, size)
            if wanted > len(there):
                each = "" if job.per_node == 1 else f" on {wanted} nodes"
                left = f"{len(there)} of {formatting.count(nodes, 'node')} free"
                found = f"jobs.{index}.processes is {size}{each}, with {left}"
                raise UsageError(asked, found, "ask for fewer, or take a larger network")
            drawn = random.Random(f"{seed}/{index}")
            chosen = there[:wanted] if job.mapping == "linear" else drawn.sample(there, wanted)
        for node in chosen:
            free[node] = False
        placed.append([chosen[rank // job.per_node] for rank in range(size)])
    with native_errors():
        _core.check_placement(description, placed)
    return placed


def _sizes(jobs: Sequence[_core.DescribedJob], free: int, asked: str) -> list[int]:
    """The number of processes of each job."""
    open_ended = [i for i, job in enumerate(jobs) if job.processes is None and not job.nodes]
    if len(open_ended) > 1:
        found = f"jobs.{open_ended[0]} and jobs.{open_ended[1]} both leave out processes"
        raise UsageError(asked, found, "only one job can have all remaining nodes")
    taken = sum(_nodes_for(job, job.processes or 0) for job in jobs if not job.nodes)
    if open_ended and taken >= free:
        raise UsageError(asked, f"jobs.{open_ended[0]} would have no node", "give it processes, and others fewer")
    return [job.processes or (len(job.nodes) or free - taken) * job.per_node for job in jobs]


def _nodes_for(job: _core.DescribedJob, processes: int) -> int:
    """The number of nodes for this number of processes of the job."""
    return -(-processes // job.per_node)
