"""What the output of a job cost by role: the figures in its record, and energy by the share of the processes' CPU time.

No meter sees a role. What it took is the energy of the processors over the program's run times (CPU seconds of the role
/ CPU seconds of clients and servers); so its kind is `derived`, or weaker where that energy's kind is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median

from lull.record.schema import Output, Repeat
from lull.record.share import TypicalEnergy, energy_of_share, typical_energy


@dataclass(frozen=True)
class OutputOfRole:
    """A row of the table, each figure the median over the repeats; None: the role has no such time."""

    role: str
    processes: int
    compute_s: float | None
    stall_s: float | None
    idle_s: float | None
    write_s: float
    cpu_s: float
    files: float
    bytes: float
    energy: TypicalEnergy | None  # None: a repeat has none


@dataclass(frozen=True)
class TypicalOutput:
    """What output cost in the median of several repeats."""

    approach: str  # several, if jobs had several
    roles: list[OutputOfRole]  # clients, then servers if there are any


def typical_output(repeats: Iterable[Repeat]) -> TypicalOutput | None:
    """The median over those of `repeats` that hold what output cost; None where none does."""
    held = [repeat for repeat in repeats if repeat.output]
    if not held:
        return None

    def of(figure: Callable[[Output], float]) -> float:
        return median(sum(figure(job) for job in repeat.output) for repeat in held)

    def energy(cpu_s: Callable[[Output], float]) -> TypicalEnergy | None:
        def both(job: Output) -> float:
            return job.clients.cpu_s + job.servers.cpu_s

        return typical_energy(
            [energy_of_share(repeat, sum(map(cpu_s, repeat.output)), sum(map(both, repeat.output))) for repeat in held]
        )

    clients = OutputOfRole(
        "client",
        processes=round(of(lambda job: job.clients.processes)),
        compute_s=of(lambda job: job.clients.compute_s),
        stall_s=of(lambda job: job.clients.stall_s),
        idle_s=None,
        write_s=of(lambda job: job.clients.write_s),
        cpu_s=of(lambda job: job.clients.cpu_s),
        files=of(lambda job: job.clients.handed_over.files + job.clients.wrote_itself.files),
        bytes=of(lambda job: job.clients.handed_over.bytes + job.clients.wrote_itself.bytes),
        energy=energy(lambda job: job.clients.cpu_s),
    )
    servers = OutputOfRole(
        "server",
        processes=round(of(lambda job: job.servers.processes)),
        compute_s=None,
        stall_s=None,
        idle_s=of(lambda job: job.servers.idle_s),
        write_s=of(lambda job: job.servers.write_s),
        cpu_s=of(lambda job: job.servers.cpu_s),
        files=of(lambda job: job.servers.written.files),
        bytes=of(lambda job: job.servers.written.bytes),
        energy=energy(lambda job: job.servers.cpu_s),
    )
    approaches = ", ".join(dict.fromkeys(job.approach for repeat in held for job in repeat.output))
    return TypicalOutput(approaches, [clients, servers] if servers.processes else [clients])
