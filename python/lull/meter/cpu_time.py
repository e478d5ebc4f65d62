"""Utilisation of a machine's CPUs between two moments: the share of their time that was not idle."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from lull.base.errors import LullError, describe_os_error

IDLE_COLUMNS = (3, 4, 7)  # idle, iowait, and steal, which is the energy of other virtual machines
COUNTED_COLUMNS = 8  # user, nice, system, idle, iowait, irq, softirq, steal; user includes guests


@dataclass(frozen=True)
class CpuTime:
    """Ticks of all CPUs since the machine started."""

    idle: int
    total: int

    @property
    def busy_s(self) -> float:
        """CPU seconds that were not idle."""
        return (self.total - self.idle) / os.sysconf("SC_CLK_TCK")


def cpu_time(sysroot: Path = Path("/")) -> CpuTime:
    """Read proc/stat below `sysroot`.

    Raises:
        LullError: It cannot be read, or has another form.
    """
    path = sysroot / "proc" / "stat"
    asked = f"read CPU time from {path}"
    try:
        first = path.read_text(encoding="utf-8").partition("\n")[0].split()
    except (OSError, UnicodeDecodeError) as error:
        raise LullError(asked, describe_os_error(error) if isinstance(error, OSError) else "it is not text") from error
    columns = first[1 : COUNTED_COLUMNS + 1]
    if not first or first[0] != "cpu" or len(columns) < COUNTED_COLUMNS or not all(map(str.isdigit, columns)):
        raise LullError(asked, "it does not begin with the time of all CPUs")
    ticks = [int(column) for column in columns]
    return CpuTime(sum(ticks[place] for place in IDLE_COLUMNS), sum(ticks))


def utilisation(before: CpuTime, after: CpuTime) -> float:
    """Busy share of the CPU time between two readings, 0 to 1; 0 if no tick has passed."""
    passed = after.total - before.total
    return min(1.0, max(0.0, 1 - (after.idle - before.idle) / passed)) if passed > 0 else 0.0


class OthersTime:
    """CPU time used by others than a command and this process, since the construction of this object."""

    def __init__(self) -> None:
        self._begin = self._now()

    def since(self, of_command_s: float) -> float | None:
        """CPU seconds of others, if the command has used `of_command_s`; None if unknown."""
        end = self._now()
        if self._begin is None or end is None:
            return None
        return max(0.0, end - self._begin - of_command_s)

    @staticmethod
    def _now() -> float | None:
        try:
            return cpu_time().busy_s - time.process_time()
        except LullError:
            return None
