"""One node's part of the record of a job; `lull.record.merging` merges the parts.

Times are taken by CLOCK_MONOTONIC, whose origin differs between machines. An anchor, which is one moment by both
CLOCK_MONOTONIC and CLOCK_REALTIME, converts them to a common axis, as exactly as the nodes' clocks agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from lull.record.schema import Rank, Run


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Anchor(_Part):
    """One moment by both clocks, in nanoseconds, with the uncertainty `width_ns`."""

    monotonic_ns: int
    realtime_ns: int
    width_ns: int

    @property
    def offset_ns(self) -> int:
        """CLOCK_REALTIME minus CLOCK_MONOTONIC, in nanoseconds."""
        return self.realtime_ns - self.monotonic_ns


class NodePart(_Part):
    """What one node contributes to the record of a job, in addition to a record of the node."""

    node: str
    boot_id: str
    zero_ns: int  # CLOCK_MONOTONIC when its repeat began
    first: Anchor
    last: Anchor
    clock_error_s: float | None  # the kernel's estimate of the error of CLOCK_REALTIME; None: it is not synchronized
    size: int  # ranks of the whole job
    ranks: list[Rank]
    interrupted: list[int] = []  # ranks that a signal asked to stop
    warnings: list[str] = []
    disputed: list[str] = []  # metrics on which its processes disagree

    @property
    def error_s(self) -> float | None:
        """The possible error of this node's times on the common axis, in seconds; None if unknown."""
        if self.clock_error_s is None:
            return None
        moved = abs(self.last.offset_ns - self.first.offset_ns)
        return self.clock_error_s + (moved + self.first.width_ns) / 1e9


@dataclass(frozen=True)
class NodeRecord:
    """What a node has submitted."""

    part: NodePart
    run: Run
    samples: pa.Table
