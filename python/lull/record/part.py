"""One node's part of the record of a job, from which `lull.record.merging` makes the whole.

Times are taken by CLOCK_MONOTONIC, which starts anew on every machine; an anchor, the same moment by CLOCK_MONOTONIC
and by CLOCK_REALTIME, puts them on an axis that nodes have in common as far as their clocks agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from lull.record.schema import Rank, Run


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Anchor(_Part):
    """One moment by both clocks, in nanoseconds, known to `width_ns`."""

    monotonic_ns: int
    realtime_ns: int
    width_ns: int

    @property
    def offset_ns(self) -> int:
        """What must be added to CLOCK_MONOTONIC for CLOCK_REALTIME."""
        return self.realtime_ns - self.monotonic_ns


class NodePart(_Part):
    """What one node adds to the record of a job, beside a record of its own."""

    node: str
    boot_id: str
    zero_ns: int  # CLOCK_MONOTONIC when its repeat began
    first: Anchor
    last: Anchor
    clock_error_s: float | None  # by which the kernel thinks CLOCK_REALTIME may be off; None: it is not disciplined
    size: int  # ranks of the whole job
    ranks: list[Rank]
    interrupted: list[int] = []  # ranks that a signal asked to stop
    warnings: list[str] = []
    disputed: list[str] = []  # metrics about which its processes differ

    @property
    def error_s(self) -> float | None:
        """How far a time of this node may be off on the axis of all nodes; None: that is not known."""
        if self.clock_error_s is None:
            return None
        moved = abs(self.last.offset_ns - self.first.offset_ns)
        return self.clock_error_s + (moved + self.first.width_ns) / 1e9


@dataclass(frozen=True)
class NodeRecord:
    """What a node has handed in."""

    part: NodePart
    run: Run
    samples: pa.Table
