"""Answers of the collector as tables of text, for the screen, CSV and pages."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Final

from lull.jobs.question import Answer, By, Energy, Job, OnNode, Part, Sum
from lull.statistics import formatting

S_PER_H: Final = 3600
US_PER_S: Final = 1e6
NOTES: Final = {
    "shared": "shared a node",
    "unsure": "division uncertain",
    "gap": "lower bound",
    "unclosed": "end not reported",
    "other": "a flag of a newer version",
}
NOT_METERED: Final = "not metered"


NUMBERS: Final = frozenset(
    ("jobs", "nodes", "time", "CPUs", "CPU time", "energy", "active", "idle held", "rest", "cost", "CO2e")
)


@dataclass(frozen=True)
class View:
    """For whom a table is written.

    Args:
        zone: In which times are shown; None: that of this machine.
        name: The name of a user.
    """

    zone: tzinfo | None = None
    name: Callable[[int], str] = str


@dataclass(frozen=True)
class Cell:
    """A cell of a page: `number` is its sort key if it has one, `below` a second line."""

    name: str
    text: str
    number: float | None
    below: str


@dataclass(frozen=True)
class JobTable:
    """A table in words; `numbers`: the columns aligned to the right; `sort`: sort keys, for each row by column."""

    headings: list[str]
    rows: list[list[str]]
    sort: list[dict[str, float]]
    numbers: frozenset[str] = NUMBERS

    def cells(self) -> list[list[Cell]]:
        """The rows for a page, on which the interval is below the energy."""
        found = []
        for row, sort in zip(self.rows, self.sort, strict=True):
            named = dict(zip(self.headings, row, strict=True))
            interval = named.get("interval", "–")
            below = {"energy": "" if interval == "–" else interval}
            found.append([Cell(name, text, sort.get(name), below.get(name, "")) for name, text in named.items()])
        return found


def jobs_table(answer: Answer, view: View) -> JobTable:
    """One line for each run of a job. Columns that are the same for all jobs are left out if they say nothing."""
    jobs = answer.jobs
    several = {
        "cluster": len({job.cluster for job in jobs}) > 1,
        "user": len({job.uid for job in jobs}) > 1,
        "note": any(notes(job) for job in jobs),
    }
    headings = ["job", "cluster", "user", "project", "began", "nodes", "time", "energy", "interval", "kind"]
    headings = [name for name in headings if several.get(name, True)] + answer.prices.headings()
    headings += ["note"] * several["note"]
    rows, sort = [], []
    for job in jobs:
        cells = {
            "job": f"{job.job} (restart {job.restart})" if job.restart else job.job,
            "cluster": job.cluster or "–",
            "user": view.name(job.uid),
            "project": job.project or "–",
            "began": began(job, view),
            "nodes": str(job.nodes or job.rows),
            "time": clock((job.end_us - job.begin_us) / US_PER_S),
            **energy_cells(job),
            **dict(zip(answer.prices.headings(), answer.prices.cells(joules(job)), strict=True)),
            "note": ", ".join(notes(job)),
        }
        rows.append([cells[name] for name in headings])
        sort.append(
            {"began": job.begin_us, "nodes": job.nodes or job.rows, "time": job.end_us - job.begin_us}
            | dict.fromkeys(("energy", "interval", "cost", "CO2e"), job.joules)
        )
    return JobTable(headings, rows, sort)


def sums_table(answer: Answer, by: By, view: View) -> JobTable:
    """One line for each user, project or day, and kind: energies of different kinds are not added up."""
    headings = [by.value, "jobs", "CPU time", "energy", "interval", "kind", *answer.prices.headings()]
    rows, sort = [], []
    for one in answer.sums:
        cells = energy_cells(one)
        rows.append(
            [
                sum_name(one, view),
                str(one.jobs),
                clock(one.cpu_us / US_PER_S),
                *(cells[name] for name in ("energy", "interval", "kind")),
                *answer.prices.cells(joules(one)),
            ]
        )
        sort.append(
            {"jobs": one.jobs, "CPU time": one.cpu_us}
            | dict.fromkeys(("energy", "interval", "cost", "CO2e"), one.joules)
        )
    return JobTable(headings, rows, sort)


def parts_table(job: Job, parts: Sequence[Part], nodes: Sequence[OnNode]) -> JobTable:
    """One line for each node and domain of a run of a job: what it used, and what it held idle."""
    key = (job.cluster, job.restart)
    of_node = {one.node: one for one in nodes if (one.cluster, one.restart) == key}
    headings = ["node", "CPUs", "CPU time", "domain", "energy", "interval", "active", "idle held", "rest", "kind"]
    rows, sort = [], []
    metered = set()
    for part in parts:
        if (part.cluster, part.restart) != key:
            continue
        node = of_node.get(part.node)
        cells = energy_cells(part)
        held = [part.active_j, part.held_j, part.overhead_j]
        rows.append(
            [
                *_node_cells(part.node, node if part.node not in metered else None),
                part.domain,
                cells["energy"],
                cells["interval"],
                *(watt_hours(one) for one in held),
                cells["kind"],
            ]
        )
        sort.append({"energy": part.joules, "active": part.active_j, "idle held": part.held_j, "rest": part.overhead_j})
        metered.add(part.node)
    for name, node in of_node.items():
        if name not in metered:
            rows.append([*_node_cells(name, node), "–", "–", "–", "–", "–", "–", NOT_METERED])
            sort.append({})
    return JobTable(headings, rows, sort)


def job_lines(job: Job, view: View) -> list[str]:
    """What is known of a run of a job besides its table."""
    name = f"job {job.job}" + (f", restart {job.restart}" if job.restart else "")
    where = f" of cluster {job.cluster}" if job.cluster else ""
    project = f", project {job.project}" if job.project else ""
    cells = energy_cells(job)
    time = clock((job.end_us - job.begin_us) / US_PER_S)
    lines = [
        f"{name}{where}: user {view.name(job.uid)}{project}; began {began(job, view)}, took {time}",
        f"energy {cells['energy']} ({cells['interval']}), {cells['kind']}"
        if job.kind is not None
        else f"energy {NOT_METERED}",
    ]
    if found := notes(job):
        lines.append("; ".join(found))
    return lines


def energy_cells(one: Energy) -> dict[str, str]:
    """Energy, interval and kind in words."""
    if one.kind is None:
        return {"energy": "–", "interval": "–", "kind": NOT_METERED}
    interval = formatting.si_range(one.low_j / S_PER_H, one.high_j / S_PER_H, "Wh")
    return {"energy": watt_hours(one.joules), "interval": interval, "kind": one.kind.value}


def joules(one: Energy) -> float | None:
    """The energy; None if no meter counted it."""
    return None if one.kind is None else one.joules


def notes(job: Job) -> list[str]:
    """What a reader of a job's energy should know."""
    found = [f"{job.rows} of {job.nodes} nodes so far"] if job.rows < job.nodes else []
    return found + [NOTES[flag] for flag in job.flags if flag in NOTES]


def watt_hours(amount_j: float) -> str:
    """An energy in Wh."""
    return formatting.si(amount_j / S_PER_H, "Wh")


def began(job: Job, view: View) -> str:
    """When a job began, to the minute."""
    return f"{datetime.fromtimestamp(job.begin_us / US_PER_S, view.zone):%Y-%m-%d %H:%M}"


def clock(seconds: float) -> str:
    """A time as hours, minutes and seconds: 0:00:41."""
    whole = round(seconds)
    return f"{whole // S_PER_H}:{whole // 60 % 60:02}:{whole % 60:02}"


def sum_name(one: Sum, view: View) -> str:
    """Of what it is the sum."""
    if one.day is not None:
        return one.day
    return (one.project or "–") if one.project is not None else view.name(one.uid or 0)


def as_csv(rows: Sequence[Energy], view: View) -> str:
    """All fields of jobs, sums or parts, in J and µs, with the names of users."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for place, one in enumerate(rows):
        fields = one.model_dump(mode="json")
        if "flags" in fields:
            fields["flags"] = " ".join(fields["flags"])
        if fields.get("uid") is not None:
            fields["user"] = view.name(fields["uid"])
        fields = {name: value for name, value in fields.items() if value is not None or name == "kind"}
        if place == 0:
            writer.writerow(fields)
        writer.writerow(fields.values())
    return text.getvalue()


def _node_cells(name: str, node: OnNode | None) -> list[str]:
    if node is None:
        return [name, "", ""]
    return [name, str(node.cpus) if node.cpus else "–", clock(node.cpu_us / US_PER_S)]
