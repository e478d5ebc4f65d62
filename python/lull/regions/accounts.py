"""The accounts of processes: regions and metrics, merged over PEs, and the costs of waiting, output and choices.

Each process writes one `regions-*.json` into the folder that LULL_RECORD names. The k-th visits of all PEs to a region
are merged into one visit, from the first begin to the last end. `lull.record.metrics` combines the metrics of several
processes. With LULL_STATS, PE 0 of an OpenSHMEM job also writes a `waiting-*.json`, with sums over all its PEs; under
`lull stage`, one process of a job writes an `output-*.json`. Both write a `choices-*.json` if there were choices.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from lull.meter.meter import Interval, Series
from lull.record import Choice, Combination, Metric, Output, Region, RegionShare, Waiting
from lull.record.metrics import Combined, combine
from lull.statistics import formatting

_File = TypeVar("_File", bound=BaseModel)


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class Visit(_Part):
    """One visit of one PE to a region: CLOCK_MONOTONIC and CPU time of its process, in nanoseconds."""

    name: str
    begin_ns: int
    end_ns: int
    cpu_ns: int = Field(ge=0)

    @model_validator(mode="after")
    def _ends_after_it_begins(self) -> Self:
        if self.end_ns < self.begin_ns:
            raise ValueError(f"region {self.name} ends before it begins")
        return self


class ReportedMetric(_Part):
    """One metric that a process reported."""

    name: str
    value: float
    unit: str
    combination: Combination


class Account(_Part):
    """One regions-*.json."""

    version: Literal[2] = Field(alias="schema")
    node: str
    pid: int
    pe: int | None  # None: the process was not started by a launcher
    begun: int = 0  # visits when it was written, including unfinished ones
    ended: int = 0
    regions: list[Visit]
    metrics: list[ReportedMetric]

    def of_pe(self, number: int) -> Account:
        """The same account, for a process whose launcher only this process knows."""
        return self.model_copy(update={"pe": number})


class _WaitingFile(Waiting):
    """One waiting-*.json: the version of its form, and the content for the record."""

    version: Literal[1] = Field(alias="schema", exclude=True)

    def content(self) -> Waiting:
        return Waiting.model_validate(self.model_dump())


class _OutputFile(Output):
    """One output-*.json: the version of its form, and the content for the record."""

    version: Literal[1] = Field(alias="schema", exclude=True)

    def content(self) -> Output:
        return Output.model_validate(self.model_dump())


class _ChoicesFile(_Part):
    """One choices-*.json."""

    version: Literal[1] = Field(alias="schema")
    choices: list[Choice]


@dataclass(frozen=True)
class WorkOfPe:
    """The CPU time that one PE spent in a region, over all its visits."""

    node: str
    pe: int | None
    cpu_ns: int


@dataclass(frozen=True)
class Span:
    """A region merged over PEs, without energy."""

    name: str
    visits: list[Interval]
    by_pe: list[WorkOfPe]

    @property
    def cpu_ns(self) -> int:
        """CPU time of all PEs."""
        return sum(work.cpu_ns for work in self.by_pe)

    @property
    def pes(self) -> int:
        """Number of PEs that entered it."""
        return len(self.by_pe)


@dataclass
class Accounts:
    """All accounts of a program, and warnings about them."""

    accounts: list[Account] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)
    output: list[Output] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    visits_missing: int = 0


def read_accounts(folder: Path) -> Accounts:
    """Read the program's accounts in `folder`; a file that cannot be read gives a warning, and the others count."""
    warnings: list[str] = []
    accounts = _read_each(folder, "regions-*.json", Account, warnings)
    waiting = [file.content() for file in _read_each(folder, "waiting-*.json", _WaitingFile, warnings)]
    output = [file.content() for file in _read_each(folder, "output-*.json", _OutputFile, warnings)]
    choices = [
        choice for file in _read_each(folder, "choices-*.json", _ChoicesFile, warnings) for choice in file.choices
    ]
    missing, processes = _missing_visits(folder, accounts)
    if missing:
        of = formatting.count(processes, "process", "processes")
        warnings.append(
            f"{formatting.count(missing, 'visit')} to regions missing, of {of} that ended without exit handlers:"
            " killed, by os._exit or by Pool.terminate; lull.flush() before that, or lull_region_flush(), counts them"
        )
    return Accounts(accounts, waiting, output, choices, warnings, missing)


def _missing_visits(folder: Path, accounts: Sequence[Account]) -> tuple[int, int]:
    """Number of visits in no account, and of their processes, by their own counts (src/regions/visit_counts.hpp)."""
    written = {(account.node, account.pid): account for account in accounts}
    missing = processes = 0
    for path in folder.glob("visits-*.count"):
        node, _, pid = path.stem.removeprefix("visits-").rpartition("-")
        try:
            begun, ended = struct.unpack("=qq", path.read_bytes())
        except (OSError, struct.error):
            continue
        account = written.get((node, int(pid))) if pid.isdecimal() else None
        here = max(begun - account.begun, ended - account.ended) if account is not None else begun
        if here > 0:
            missing += here
            processes += 1
    return missing, processes


def _read_each(folder: Path, pattern: str, form: type[_File], warnings: list[str]) -> list[_File]:
    found: list[_File] = []
    for path in sorted(folder.glob(pattern)):
        try:
            found.append(form.model_validate_json(path.read_bytes()))
        except (OSError, ValidationError) as error:
            reason = _first_of(error) if isinstance(error, ValidationError) else error.strerror
            warnings.append(f"{path.name} of the program is left out: {reason}")
    return found


def _first_of(error: ValidationError) -> str:
    first = error.errors()[0]
    return ": ".join([*([".".join(map(str, first["loc"]))] if first["loc"] else []), first["msg"]])


def keep_those_of(node: str, found: Accounts, parts: Collection[str] = ()) -> Accounts:
    """The accounts of PEs on `node`: others have times of other clocks, and their energy was not read.

    Costs of waiting, output and choices are kept: they are sums over all processes of a job, without times.

    Args:
        node: The name of the node.
        found: All accounts.
        parts: Names of virtual hosts on this node; their accounts become the node's.
    """
    ours = [
        account.model_copy(update={"node": node}) if account.node in parts else account for account in found.accounts
    ]
    elsewhere = sorted({account.node for account in ours if account.node != node})
    warnings = list(found.warnings)
    if elsewhere:
        names = ", ".join(elsewhere[:4]) + (", ..." if len(elsewhere) > 4 else "")
        warnings.append(missing_nodes(f"PEs ran on {names} too"))
    mine = [account for account in ours if account.node == node]
    return Accounts(mine, found.waiting, found.output, found.choices, warnings, found.visits_missing)


def missing_nodes(found: str) -> str:
    """The warning about nodes of a program that this process cannot meter."""
    return (
        f"{found}: the energy of those nodes is missing;"
        " let the launcher start Lull on all of them: mpirun ... lull measure --out DIR -- CMD"
    )


def merge_spans(accounts: Sequence[Account]) -> list[Span]:
    """Regions in the order of their first begin, with the k-th visits of all PEs merged into one."""
    names = dict.fromkeys(visit.name for account in accounts for visit in account.regions)
    spans = []
    for name in names:
        by_pe = _visits_by_pe(accounts, name)
        merged: list[Interval] = []
        for k in range(max(len(visits) for _, visits in by_pe)):
            kth = [visits[k] for _, visits in by_pe if k < len(visits)]
            merged.append((min(visit.begin_ns for visit in kth), max(visit.end_ns for visit in kth)))
        work = [WorkOfPe(node, pe, sum(visit.cpu_ns for visit in visits)) for (node, pe), visits in by_pe]
        spans.append(Span(name, merged, work))
    return sorted(spans, key=lambda span: span.visits[0][0])


def _visits_by_pe(accounts: Sequence[Account], name: str) -> list[tuple[tuple[str, int | None], list[Visit]]]:
    """Visits to one region: a list per PE, with the PE's node and number.

    Processes with the same number that run one after another (a program run twice, or without a launcher) are one PE;
    if they run at the same time, they are several.
    """
    lanes: dict[tuple[str, int | None], list[list[Visit]]] = {}
    of_process = [
        (account, visits)
        for account in accounts
        if (visits := sorted((v for v in account.regions if v.name == name), key=lambda visit: visit.begin_ns))
    ]
    for account, visits in sorted(of_process, key=lambda pair: pair[1][0].begin_ns):
        same_number = lanes.setdefault((account.node, account.pe), [])
        for lane in same_number:
            if lane[-1].end_ns <= visits[0].begin_ns:
                lane.extend(visits)
                break
        else:
            same_number.append(list(visits))
    return [(pe, lane) for pe, same_number in lanes.items() for lane in same_number]


def union(intervals: Sequence[Interval]) -> list[Interval]:
    """The same times as ordered intervals that do not overlap, so that no joule counts for two visits."""
    joined: list[Interval] = []
    for begin, end in sorted(intervals):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((begin, end))
    return joined


def merge_regions(accounts: Sequence[Account], series: Series, zero_ns: int) -> list[Region]:
    """The regions of a repeat that began at `zero_ns`, each with the energy of every channel during its visits."""
    return [
        Region(
            name=span.name,
            begin_s=(min(begin for begin, _ in span.visits) - zero_ns) / 1e9,
            end_s=(max(end for _, end in span.visits) - zero_ns) / 1e9,
            wall_s=sum(end - begin for begin, end in span.visits) / 1e9,
            cpu_s=span.cpu_ns / 1e9,
            count=len(span.visits),
            pes=span.pes,
            energy=series.energy(union(span.visits)),
            shares=_shares(span),
        )
        for span in merge_spans(accounts)
    ]


def _shares(span: Span) -> list[RegionShare]:
    on_node: dict[str, int] = {}
    for work in span.by_pe:
        on_node[work.node] = on_node.get(work.node, 0) + work.cpu_ns
    return [
        RegionShare(
            node=work.node,
            pe=work.pe,
            cpu_s=work.cpu_ns / 1e9,
            share=work.cpu_ns / on_node[work.node] if on_node[work.node] > 0 else 0.0,
        )
        for work in span.by_pe
    ]


def merge_metrics(accounts: Sequence[Account]) -> Combined:
    """The metrics of a program by name."""
    return combine(
        (one.name, Metric(value=one.value, unit=one.unit, combination=one.combination))
        for account in accounts
        for one in account.metrics
    )
