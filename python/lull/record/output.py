"""The cost of a job's output by role: the figures in its record, and energy by share of the processes' CPU time.

No meter measures a role. Its energy is that of the processors over the run of the program, times CPU seconds of the
role / CPU seconds of clients and servers. Its kind is `derived`, or weaker if the kind of the processors' energy is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median

from lull.record.schema import Output, Repeat
from lull.record.share import TypicalEnergy, energy_of_share, typical_energy


@dataclass(frozen=True)
class OutputOfRole:
    """A row of the table. Each figure is the median over the repeats; None: the role has no such time."""

    role: str
    processes: int
    compute_s: float | None
    stall_s: float | None
    idle_s: float | None
    write_s: float
    cpu_s: float
    files: float
    bytes: float
    energy: TypicalEnergy | None  # None if a repeat has none


@dataclass(frozen=True)
class TypicalOutput:
    """The cost of output, as medians over several repeats."""

    approach: str  # several if the jobs used several
    roles: list[OutputOfRole]  # clients, then servers if there are any


def typical_output(repeats: Iterable[Repeat]) -> TypicalOutput | None:
    """The medians over those of `repeats` that contain the cost of output; None if none does."""
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
