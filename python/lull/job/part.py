"""The part of one node: the reports of its ranks and the readings of its meter, as a record of this node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from lull import __version__, record
from lull.base.guard import Ending
from lull.base.text import readable
from lull.job.node import Identity, clock_error_s, take_anchor
from lull.meter.meter import Series
from lull.record import Choice, Energy, Metric, Output, Rank, Repeat, Run, Waiting
from lull.record.merging import ranges
from lull.record.part import Anchor, NodePart, NodeRecord
from lull.record.totals import node_totals
from lull.regions.accounts import Account, merge_metrics, merge_regions
from lull.statistics import formatting


class Report(BaseModel):
    """The report of a rank to the reader of its node, when its command has ended."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rank: int
    started: datetime
    exit_code: int
    ending: Ending | None  # None: the command could not be started, or was stopped
    interrupted: bool = False
    accounts: list[Account] = []
    waiting: list[Waiting] = []
    output: list[Output] = []
    choices: list[Choice] = []
    visits_missing: int = 0
    warnings: list[str] = []
    cpus: list[int] = []  # hardware threads on which the rank may run

    @property
    def failed(self) -> bool:
        """Whether the command failed by itself. Its wrapper then ends at once, so that the launcher notices."""
        return self.exit_code != 0 and not self.interrupted


@dataclass(frozen=True)
class MeasurementRequest:
    """The options of the measurement, which are equal in all ranks."""

    label: str
    command: Sequence[str]
    hz: float
    settings: Mapping[str, str]
    size: int


def compose(
    asked: MeasurementRequest,
    identity: Identity,
    series: Series,
    first: Anchor,
    reports: Sequence[Report],
    lost: Sequence[int],
) -> NodeRecord:
    """Compose the part of the node whose ranks sent `reports`; ranks in `lost` ended without a report.

    The energy is that from the first begin to the last end of a rank on this node. If the meter began after the first
    rank, because an earlier reader was killed, it is a lower bound.
    """
    ended = [report.ending for report in reports if report.ending is not None]
    begin = min((ending.begin_ns for ending in ended), default=first.monotonic_ns)
    end = max((ending.end_ns for ending in ended), default=begin)
    warnings = [f"rank {report.rank}: {line}" for report in reports for line in report.warnings]
    warnings += [f"{identity.host.node}: {line}" for line in series.complaints]
    warnings += [
        f"rank {report.rank}: {report.ending.left_behind.words}"
        for report in reports
        if report.ending is not None and report.ending.left_behind.processes
    ]
    if oversubscribed := _oversubscribed(reports, identity.host.cores):
        warnings.append(f"{identity.host.node}: {oversubscribed}")
    metrics = merge_metrics([account for report in reports for account in report.accounts])
    warnings += metrics.disputed.values()
    repeats: list[Repeat] = []
    if ended:
        energy = series.energy([(begin, end)])
        late = begin < int(series.time_ns[0])
        if late:
            energy = [of.model_copy(update={"lower_bound": True}) for of in energy]
            warnings.append(f"the meter of {identity.host.node} began after its ranks: its energy is a lower bound")
        repeats.append(_repeat(reports, lost, series, energy, metrics.metrics, begin, end))
    run = Run(
        lull_version=__version__,
        label=readable(asked.label),
        command=[readable(word) for word in asked.command],
        created=datetime.now().astimezone(),
        sampling_hz=asked.hz,
        settings={name: readable(value) for name, value in asked.settings.items() if name != "LULL_RECORD"},
        hosts=[identity.host],
        channels=list(series.channels),
        repeats=repeats,
    )
    part = NodePart(
        node=identity.host.node,
        boot_id=identity.host.boot_id,
        zero_ns=begin,
        first=first,
        last=take_anchor(),
        clock_error_s=clock_error_s(),
        size=asked.size,
        ranks=_ranks(identity.host.node, reports, lost, begin),
        interrupted=[report.rank for report in reports if report.interrupted],
        warnings=warnings,
        disputed=list(metrics.disputed),
    )
    return NodeRecord(part, run, series.table(0, begin) if ended else record.SAMPLES_SCHEMA.empty_table())


def _repeat(
    reports: Sequence[Report],
    lost: Sequence[int],
    series: Series,
    energy: list[Energy],
    metrics: dict[str, Metric],
    begin: int,
    end: int,
) -> Repeat:
    ended = [report.ending for report in reports if report.ending is not None]
    accounts = [account for report in reports for account in report.accounts]
    failed = [report.exit_code for report in sorted(reports, key=lambda of: of.rank) if report.exit_code != 0]
    return Repeat(
        index=0,
        started=min(report.started for report in reports),
        wall_s=(end - begin) / 1e9,
        cpu_s=sum(ending.user_s + ending.system_s for ending in ended),
        max_rss_bytes=max(ending.max_rss_bytes for ending in ended),
        exit_code=failed[0] if failed else 1 if lost else 0,
        energy=energy,
        totals=node_totals(energy),
        regions=merge_regions(accounts, series, begin),
        metrics=metrics,
        waiting=[job for report in reports for job in report.waiting],
        output=[job for report in reports for job in report.output],
        choices=[choice for report in reports for choice in report.choices],
        left_behind=sum(ending.left_behind.processes for ending in ended),
        visits_missing=sum(report.visits_missing for report in reports),
    )


def _oversubscribed(reports: Sequence[Report], threads: int) -> str:
    """Whether ranks are bound to fewer hardware threads than they are, on a node that has enough for all."""
    allowed = [set(report.cpus) for report in reports if report.cpus]
    used = set[int]().union(*allowed)
    if not used or len(used) >= len(allowed) or len(allowed) > threads:
        return ""
    return (
        f"{len(allowed)} ranks are bound to {formatting.count(len(used), 'hardware thread')} of {threads}:"
        " look at the options of the launcher for binding"
    )


def _ranks(node: str, reports: Sequence[Report], lost: Sequence[int], zero_ns: int) -> list[Rank]:
    found = [Rank(rank=rank, node=node) for rank in lost]
    for report in reports:
        ending = report.ending
        found.append(
            Rank(
                rank=report.rank,
                node=node,
                begin_s=(ending.begin_ns - zero_ns) / 1e9 if ending else None,
                end_s=(ending.end_ns - zero_ns) / 1e9 if ending else None,
                cpu_s=ending.user_s + ending.system_s if ending else 0.0,
                exit_code=report.exit_code,
                cpus=ranges(report.cpus).replace(" ", ""),
            )
        )
    return sorted(found, key=lambda rank: rank.rank)
