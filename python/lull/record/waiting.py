"""The cost of a job's waiting: the counts in its record, and energy by share of the PEs' CPU time.

No meter measures an operation. The energy of its waits is that of the processors over the run of the program, times CPU
seconds of the waits / CPU seconds of the PEs. Its kind is `derived`, or weaker if the kind of the processors' energy
is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from lull.record.schema import Energy, Repeat, WaitingRow
from lull.record.share import TypicalEnergy, energy_of_share, typical_energy


def energy_of_waits(cpu_s: float, repeat: Repeat) -> Energy | None:
    """The energy of waits that took `cpu_s` CPU seconds in `repeat`; None if no meter read the processors.

    Several jobs in one repeat share its energy by the CPU time of all their PEs.
    """
    return energy_of_share(repeat, cpu_s, sum(job.cpu_s for job in repeat.waiting))


@dataclass(frozen=True)
class Waits:
    """A row of the cost of waiting, with the fields of a `WaitingRow`; each figure is the median over the repeats."""

    operation: str
    site: str
    up_to_bytes: int
    count: float
    bytes: float
    waits: float
    waited_s: float
    asleep_s: float
    cpu_s: float
    energy: TypicalEnergy | None  # None if a repeat has none


@dataclass(frozen=True)
class TypicalWaiting:
    """The cost of waiting, as medians over several repeats."""

    policy: str  # several if jobs of one repeat used several
    pes: int  # of all jobs of a repeat
    cpu_s: float  # of the PEs
    progress_cpu_s: float
    whole: Waits  # all operations together
    rows: list[Waits]  # those whose waits took the most CPU time first

    def share(self, of: Waits) -> float:
        """The share of the PEs' CPU time that the waits took."""
        return of.cpu_s / self.cpu_s if self.cpu_s > 0 else 0.0


def typical_waiting(repeats: Iterable[Repeat]) -> TypicalWaiting | None:
    """The medians over those of `repeats` that contain the cost of waiting; None if none does."""
    held = [repeat for repeat in repeats if repeat.waiting]
    if not held:
        return None
    jobs = [job for repeat in held for job in repeat.waiting]
    kinds_of_row = dict.fromkeys((row.operation, row.site, row.up_to_bytes) for job in jobs for row in job.rows)
    rows = [_median(held, *which, [_rows(repeat, which) for repeat in held]) for which in kinds_of_row]
    return TypicalWaiting(
        policy=", ".join(dict.fromkeys(job.policy for job in jobs)),
        pes=max(sum(job.pes for job in repeat.waiting) for repeat in held),
        cpu_s=median(sum(job.cpu_s for job in repeat.waiting) for repeat in held),
        progress_cpu_s=median(sum(job.progress_cpu_s for job in repeat.waiting) for repeat in held),
        whole=_median(held, "all", "", 0, [_rows(repeat) for repeat in held]),
        rows=sorted(rows, key=lambda row: -row.cpu_s),
    )


def _rows(repeat: Repeat, which: tuple[str, str, int] | None = None) -> list[WaitingRow]:
    """The rows of all jobs of a repeat: those of one operation, call site and size, or all."""
    rows = (row for job in repeat.waiting for row in job.rows)
    return [row for row in rows if which is None or which == (row.operation, row.site, row.up_to_bytes)]


def _median(
    held: Sequence[Repeat], operation: str, site: str, up_to_bytes: int, by_repeat: Sequence[Sequence[WaitingRow]]
) -> Waits:
    def of(field: Callable[[WaitingRow], float]) -> float:
        return median(sum(field(row) for row in rows) for rows in by_repeat)

    energies = [
        energy_of_waits(sum(row.cpu_s for row in rows), repeat) for repeat, rows in zip(held, by_repeat, strict=True)
    ]
    return Waits(
        operation,
        site,
        up_to_bytes,
        count=of(lambda row: row.count),
        bytes=of(lambda row: row.bytes),
        waits=of(lambda row: row.waits),
        waited_s=of(lambda row: row.waited_s),
        asleep_s=of(lambda row: row.asleep_s),
        cpu_s=of(lambda row: row.cpu_s),
        energy=typical_energy(energies),
    )
