"""Merge the parts of a job's nodes into one record: energy by node, counted once, and times on one axis.

Most figures need no common clock: the wall time is the longest among the nodes, and a region's energy on a node is that
of the visits there, each by the node's own clock. Only positions on the time axis (`begin_s`, `end_s`, `time_s` of
samples) rely on the agreement of the nodes' clocks, of which `clock_error_s` of a host gives the error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from lull import record
from lull.base.columns import texts
from lull.record import Channel, Energy, Host, Metric, Rank, Region, Repeat, Run
from lull.record.metrics import combine
from lull.record.part import NodeRecord
from lull.record.totals import node_totals


@dataclass(frozen=True)
class MergedRecord:
    """The record of a job, if there is one, and its problems in words."""

    run: Run | None  # None: no rank ran to its end
    samples: pa.Table
    problems: list[str] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)  # ranks without a report


def merge(submitted: Sequence[NodeRecord], size: int, *, alone: bool = False) -> MergedRecord:
    """Merge the parts, given in the order of their lowest ranks, into one record.

    Args:
        submitted: The parts that the nodes have submitted.
        size: Ranks of the job.
        alone: Whether no other rank than those of the one part ever reported: the others are not measured.
    """
    parts = _with_distinct_names(submitted)
    problems = list(dict.fromkeys(line for of in parts for line in of.part.warnings))
    ranks = {rank.rank: rank for of in parts for rank in of.part.ranks}
    alone = alone and len(ranks) == 1 < size
    expected = sorted(ranks) if alone else range(size)
    missing = [number for number in expected if number not in ranks or ranks[number].exit_code is None]
    stopped = {rank for of in parts for rank in of.part.interrupted}
    failed = {rank.rank for rank in ranks.values() if rank.exit_code != 0}
    ran = [of for of in parts if of.run.repeats]
    if alone:
        problems.append(f"rank {ranges(sorted(ranks))} of {size} ranks alone is measured: the others run without Lull")
    if missing:
        problems.append(_missing_in_words(missing, ranks))
    if not ran or (stopped and failed <= stopped):
        return MergedRecord(None, record.SAMPLES_SCHEMA.empty_table(), problems, missing)
    shifts = _shifts(ran)
    problems += _apart(ran, shifts)
    counted = _one_meter_each(ran)
    if len(counted) < len(ran):
        problems.append("two readers of one node: their energy is counted once")
    if any(of.run.command != ran[0].run.command for of in ran):
        problems.append("the ranks ran different commands: the record names that of the lowest rank")
    metrics = combine(
        (reported for of in ran for reported in of.run.repeats[0].metrics.items()),
        {name for of in ran for name in of.part.disputed},
    )
    problems += metrics.disputed.values()
    repeat = _merge_repeats(ran, shifts, counted, metrics.metrics, _all_ranks(ran, parts, shifts, expected), stopped)
    run = ran[0].run.model_copy(
        update={
            "hosts": _hosts(ran),
            "channels": [channel for of in counted for channel in of.run.channels],
            "repeats": [repeat],
        }
    )
    samples = pa.concat_tables(
        [_shifted(of.samples, shift) for of, shift in zip(ran, shifts, strict=True) if of in counted]
    )
    if failed:
        problems.append(_failed_in_words(sorted(failed - stopped - set(missing)), sorted(stopped), ranks))
    return MergedRecord(run, samples, [line for line in problems if line], missing)


def _failed_in_words(failed: Sequence[int], stopped: Sequence[int], ranks: dict[int, Rank]) -> str:
    said = []
    if failed:
        said.append(f"rank {ranges(failed)} failed, the first with exit code {ranks[failed[0]].exit_code}")
    if stopped:
        said.append(f"rank {ranges(stopped)} was stopped by a signal")
    return "; ".join(said)


def ranges(numbers: Sequence[int]) -> str:
    """Ordered numbers in the usual notation: `0-3, 7`."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in found)


def _missing_in_words(missing: Sequence[int], ranks: dict[int, Rank]) -> str:
    unknown = [number for number in missing if number not in ranks]
    known = [number for number in missing if number in ranks]
    said = []
    if known:
        where = ", ".join(dict.fromkeys(ranks[number].node for number in known))
        said.append(f"rank {ranges(known)} on {where} ended without a report")
    if unknown:
        said.append(
            f"nothing arrived from rank {ranges(unknown)}, and the energy of their nodes is missing unless it has"
            " other ranks; nodes exchange their data in the folder of the record, which must be on a shared file system"
        )
    return "; ".join(said)


def _with_distinct_names(submitted: Sequence[NodeRecord]) -> list[NodeRecord]:
    """The parts, with a distinct name for each node: two machines may have the same name."""
    boots: dict[str, list[str]] = {}
    for of in submitted:
        known = boots.setdefault(of.part.node, [])
        if of.part.boot_id not in known:
            known.append(of.part.boot_id)
    return [
        _renamed(of, f"{of.part.node}-{of.part.boot_id[:8]}") if len(boots[of.part.node]) > 1 else of
        for of in submitted
    ]


def _renamed(of: NodeRecord, node: str) -> NodeRecord:
    def named(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: node if key == "node" and old else named(old) for key, old in value.items()}
        return [named(item) for item in value] if isinstance(value, list) else value

    run = Run.model_validate(named(of.run.model_dump(by_alias=True)))
    column = of.samples.schema.get_field_index("node")
    samples = of.samples.set_column(column, "node", texts([node] * of.samples.num_rows))
    return NodeRecord(of.part.model_validate(named(of.part.model_dump())), run, samples)


def _shifts(ran: Sequence[NodeRecord]) -> list[float]:
    """The begin of each part's repeat on the common axis: seconds after the first. Parts of one boot share a clock."""
    offsets: dict[str, int] = {}
    begins = []
    for of in ran:
        offset = offsets.setdefault(of.part.boot_id, of.part.first.offset_ns)
        begins.append(of.part.zero_ns + offset)
    return [(begin - min(begins)) / 1e9 for begin in begins]


def _apart(ran: Sequence[NodeRecord], shifts: Sequence[float]) -> list[str]:
    """A line for every node whose clock says that it ran at another time than the first."""
    first_end = shifts[0] + ran[0].run.repeats[0].wall_s
    found = []
    for of, shift in zip(ran, shifts, strict=True):
        gap = max(shift - first_end, shifts[0] - (shift + of.run.repeats[0].wall_s))
        if of.part.boot_id != ran[0].part.boot_id and gap > 0:
            found.append(
                f"by their clocks {of.part.node} and {ran[0].part.node} were at work {gap:.3g} s apart:"
                " energies and durations are right, places on the time axis are not; synchronise the clocks"
            )
    return found


def _one_meter_each(ran: Sequence[NodeRecord]) -> list[NodeRecord]:
    """For every node the part whose meter ran longest; only its energy is counted, not that of another reader."""
    longest: dict[tuple[str, str], NodeRecord] = {}
    for of in ran:
        node = (of.part.node, of.part.boot_id)
        if node not in longest or of.run.repeats[0].wall_s > longest[node].run.repeats[0].wall_s:
            longest[node] = of
    return [of for of in ran if longest[of.part.node, of.part.boot_id] is of]


def _hosts(ran: Sequence[NodeRecord]) -> list[Host]:
    hosts: dict[str, Host] = {}
    reference = ran[0].part
    several = len({of.part.node for of in ran}) > 1
    for of in ran:
        error: float | None = None
        if of.part.boot_id == reference.boot_id:
            error = 0.0 if several else None
        elif of.part.error_s is not None and reference.error_s is not None:
            error = of.part.error_s + reference.error_s
        hosts.setdefault(of.part.node, of.run.hosts[0].model_copy(update={"clock_error_s": error}))
    return list(hosts.values())


def _all_ranks(
    ran: Sequence[NodeRecord], parts: Sequence[NodeRecord], shifts: Sequence[float], expected: Iterable[int]
) -> list[Rank]:
    shift_of = {id(of.part): shift for of, shift in zip(ran, shifts, strict=True)}
    found = {number: Rank(rank=number) for number in expected}
    for of in parts:
        shift = shift_of.get(id(of.part), 0.0)
        for rank in of.part.ranks:
            if rank.begin_s is None or rank.end_s is None:
                found[rank.rank] = rank
            else:
                moved = {"begin_s": rank.begin_s + shift, "end_s": rank.end_s + shift}
                found[rank.rank] = rank.model_copy(update=moved)
    return [found[number] for number in sorted(found)]


def _merge_repeats(
    ran: Sequence[NodeRecord],
    shifts: Sequence[float],
    counted: Sequence[NodeRecord],
    metrics: dict[str, Metric],
    ranks: list[Rank],
    stopped: set[int],
) -> Repeat:
    repeats = [of.run.repeats[0] for of in ran]
    energy: list[Energy] = [of_channel for of in counted for of_channel in of.run.repeats[0].energy]
    codes = [1 if rank.exit_code is None else rank.exit_code for rank in ranks if rank.rank not in stopped]
    return Repeat(
        index=0,
        started=min(repeat.started for repeat in repeats),
        wall_s=max(repeat.wall_s for repeat in repeats),
        cpu_s=sum(repeat.cpu_s for repeat in repeats),
        max_rss_bytes=max(repeat.max_rss_bytes for repeat in repeats),
        exit_code=next((code for code in codes if code != 0), 0),
        energy=energy,
        totals=node_totals(energy),
        regions=_merge_regions(ran, shifts, counted),
        metrics=metrics,
        ranks=ranks,
        waiting=[job for repeat in repeats for job in repeat.waiting],
        output=[job for repeat in repeats for job in repeat.output],
        choices=[choice for repeat in repeats for choice in repeat.choices],
        left_behind=sum(repeat.left_behind for repeat in repeats),
        visits_missing=sum(repeat.visits_missing for repeat in repeats),
    )


def _merge_regions(ran: Sequence[NodeRecord], shifts: Sequence[float], counted: Sequence[NodeRecord]) -> list[Region]:
    by_name: dict[str, list[Region]] = {}
    for of, shift in zip(ran, shifts, strict=True):
        for region in of.run.repeats[0].regions:
            moved: dict[str, Any] = {"begin_s": region.begin_s + shift, "end_s": region.end_s + shift}
            if of not in counted:
                moved["energy"] = []
            by_name.setdefault(region.name, []).append(region.model_copy(update=moved))
    merged = [
        Region(
            name=name,
            begin_s=min(region.begin_s for region in regions),
            end_s=max(region.end_s for region in regions),
            wall_s=max(region.wall_s for region in regions),
            cpu_s=sum(region.cpu_s for region in regions),
            count=max(region.count for region in regions),
            pes=sum(region.pes for region in regions),
            energy=[energy for region in regions for energy in region.energy],
            shares=[share for region in regions for share in region.shares],
        )
        for name, regions in by_name.items()
    ]
    return sorted(merged, key=lambda region: region.begin_s)


def _shifted(samples: pa.Table, shift_s: float) -> pa.Table:
    import pyarrow.compute as pc  # a tenth of the start of `lull measure`

    column = samples.schema.get_field_index("time_s")
    return samples.set_column(column, "time_s", pc.add(samples.column(column), pa.scalar(shift_s)))


def channels_of(run: Run) -> set[tuple[str, str, str, str]]:
    """The channels of a record, each by the fields that give its readings their meaning."""

    def identity(channel: Channel) -> tuple[str, str, str, str]:
        return channel.node, channel.name, channel.domain.value, channel.kind.value

    return {identity(channel) for channel in run.channels}
