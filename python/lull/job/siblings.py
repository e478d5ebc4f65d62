"""The other ranks of a job on this node, as /proc shows them: whether a `lull measure` of theirs is coming.

Often one rank alone is measured: the script of the job starts Lull for rank 0 only, or the variables of a launcher are
inherited by a program that it did not start. Nobody comes then, and nobody is to be waited for.
"""

from __future__ import annotations

import os
from enum import Enum
from pathlib import Path

from lull.base.errors import UsageError
from lull.job.launcher import JobRank, find_place, nodes_allocated


class Siblings(Enum):
    """What there is of other ranks on this node."""

    NONE = "no process"
    COMING = "a lull measure that has not reported yet"
    UNMEASURED = "processes, and none of them is a lull measure"


def siblings_of(place: JobRank, proc: Path = Path("/proc")) -> Siblings:
    """What there is on this node of other ranks of this job; of this user's processes, which are all that are shown."""
    found = Siblings.NONE
    for folder in proc.glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes()
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:  # it has ended, or is another user's
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
    """Whether every rank of the job is here, as far as the launcher and the batch system tell."""
    return place.on_node >= place.size if place.on_node is not None else nodes_allocated(os.environ) == 1
