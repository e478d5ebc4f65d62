"""The other ranks of a job on this node, from /proc: whether they will connect with a `lull measure`.

Often only one rank is measured: the script of the job starts Lull for rank 0 only, or a program that the launcher did
not start inherits its variables. Then no other rank connects, and there is nothing to wait for.
"""

from __future__ import annotations

import os
from enum import Enum
from pathlib import Path

from lull.base.errors import UsageError
from lull.job.launchers import JobRank, find_place, nodes_allocated


class Siblings(Enum):
    """The state of other ranks on this node."""

    NONE = "no process"
    COMING = "a lull measure that has not reported yet"
    UNMEASURED = "processes, and none of them is a lull measure"


def siblings_of(place: JobRank, proc: Path = Path("/proc")) -> Siblings:
    """The state of other ranks of this job on this node, among the processes of this user, the only visible ones."""
    found = Siblings.NONE
    for folder in proc.glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes()
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:  # it has ended, or belongs to another user
            continue
        env = dict(item.split("=", 1) for item in os.fsdecode(variables).split("\0") if "=" in item)
        try:
            other = find_place(env)
        except UsageError:
            continue
        if other is None or other.rank == place.rank or (other.job, other.size) != (place.job, place.size):
            continue
        if b"measure" in words and any(b"lull" in word for word in words):
            return Siblings.COMING
        found = Siblings.UNMEASURED
    return found


def all_on_this_node(place: JobRank) -> bool:
    """Whether every rank of the job is on this node, according to the launcher and the batch system."""
    return place.on_node >= place.size if place.on_node is not None else nodes_allocated(os.environ) == 1
