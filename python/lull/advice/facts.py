"""The facts in a record on which choices depend: medians over its repeats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from lull.base.energy_kind import weakest
from lull.base.errors import LullError
from lull.record import Domain, Energy, EnergyKind, Output, Repeat, Run
from lull.record.schema import RewrittenPuts
from lull.record.waiting import TypicalWaiting, typical_waiting

if TYPE_CHECKING:
    from lull.advice.at_run_time import AccountOfChoice

Band = tuple[float, float, float]  # low, mid, high


@dataclass(frozen=True)
class Facts:
    """A measured program."""

    name: str
    seconds: Band  # of a run
    joules: Band | None  # None: the energy of the node is unknown
    kind: EnergyKind | None
    cores: int  # number that it could use
    nodes: int  # emulated nodes included; 1 if unknown
    settings: Mapping[str, str]
    waiting: TypicalWaiting | None
    rewritten: RewrittenPuts | None  # of the last successful repeat
    output: Sequence[Output]  # of that repeat
    choices: Sequence[AccountOfChoice] = ()  # choices at run time of that repeat


def facts_of(run: Run) -> Facts:
    """The facts of the successful repeats of a record.

    Raises:
        LullError: No repeat succeeded.
    """
    good = run.succeeded
    if not good:
        raise LullError(f"advise by {run.label}", "none of its repeats succeeded", "measure a run that ends well")
    last = good[-1]
    energies = [whole for repeat in good if (whole := _whole(repeat.totals)) is not None]
    joules = None
    if len(energies) == len(good):
        joules = (
            median(one.low_j for one in energies),
            median(one.joules for one in energies),
            median(one.high_j for one in energies),
        )
    seconds = sorted(repeat.wall_s for repeat in good)
    return Facts(
        name=run.label,
        seconds=(seconds[0], median(seconds), seconds[-1]),
        joules=joules,
        kind=weakest([one.kind for one in energies]) if joules is not None else None,
        cores=sum(host.cores for host in run.hosts),
        nodes=_nodes(run, last),
        settings=run.settings,
        waiting=typical_waiting(good),
        rewritten=next((job.rewritten for job in last.waiting if job.rewritten is not None), None),
        output=last.output,
        choices=last.choices,
    )


def _nodes(run: Run, last: Repeat) -> int:
    """The number of nodes, including emulated ones; the nodes of an MPI job report separately."""
    told = max((job.nodes for job in last.waiting), default=max((job.nodes for job in last.output), default=1))
    of_mpi = [job for job in last.waiting if any(row.operation.startswith("MPI_") for row in job.rows)]
    return max(told, len(of_mpi), len(run.hosts))


def _whole(totals: Sequence[Energy]) -> Energy | None:
    nodes = [total for total in totals if total.domain is Domain.NODE]
    if not nodes:
        return None
    first = nodes[0]
    return first.model_copy(
        update={
            "joules": sum(one.joules for one in nodes),
            "low_j": sum(one.low_j for one in nodes),
            "high_j": sum(one.high_j for one in nodes),
            "kind": weakest([one.kind for one in nodes]),
        }
    )
