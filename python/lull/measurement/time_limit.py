"""Whether the runs of a measurement fit into what is left of a batch system's allocation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lull.job.launchers import Allocation
from lull.statistics import formatting


@dataclass
class TimeLimit:
    """Warns once, after the first run by which it is known that the others will not fit.

    Args:
        allocation: The allocation of this process, or None.
        runs: All runs, warm-ups included.
        seconds_left: Asks the batch system. It is called once, when the first of several runs has ended.
    """

    allocation: Allocation | None
    runs: int
    seconds_left: Callable[[], float | None]
    _walls: list[float] = field(default_factory=list)
    _left: float | None = None  # after the runs so far

    def warning(self, wall_s: float) -> str:
        """Note the time of a run that has ended; return a warning, or ""."""
        self._walls.append(wall_s)
        missing = self.runs - len(self._walls)
        if self.allocation is None or missing <= 0:
            return ""
        if len(self._walls) == 1:
            self._left = self.seconds_left()
        elif self._left is not None:
            self._left -= wall_s
        mean = sum(self._walls) / len(self._walls)
        if self._left is None or missing * mean <= self._left:
            return ""
        left, self._left = max(self._left, 0), None
        fit = int(left / mean)
        name = f"the job {self.allocation.job} of {self.allocation.system}"
        return (
            f"{name} ends in {formatting.duration(left)}: of {formatting.count(missing, 'run')} that are still to"
            f" come, about {fit} fit; whole runs are kept"
        )
