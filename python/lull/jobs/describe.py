"""Answers of the collector as documents: jobs, one job by node and domain, or sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Final

from lull.base.energy_kind import EnergyKind
from lull.jobs.price import Prices
from lull.jobs.question import Answer, By, Energy, Job, OnNode, Part, Question, Sum
from lull.present import cells
from lull.present.document import Cell, Column, Document, Heading, Line, Row, Table, row, table
from lull.present.document import Part as DocumentPart
from lull.present.kinds import MEANINGS
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
SHARE: Final = "a share of the energy of a node, divided by CPU time and by what each job held"
TITLES: Final = {By.USER: "Energy by user", By.PROJECT: "Energy by project", By.DAY: "Energy by day"}
INTERVAL: Final = (
    "The interval contains the uncertainty of the meters, of the idle power and of the division among jobs that shared"
    " a node. It does not contain that CPU time is a convention as the key of division. Energies of different kinds are"
    " not added up."
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


def describe(answer: Answer, question: Question, view: View) -> Document:
    """An answer, for the terminal."""
    parts: list[DocumentPart] = []
    if question.job is not None:
        for one in answer.jobs:
            first, *others = job_lines(one, view)
            parts += [Line(first, "strong"), *map(Line, others), parts_table(one, answer.parts, answer.nodes)]
    elif question.by is not None:
        parts.append(sums_table(answer, question.by, view))
    elif answer.jobs:
        parts.append(jobs_table(answer, view))
    else:
        parts.append(Line("no jobs that you may see"))
    if question.job is None:
        parts += [Line(line, "aside") for line in answer.prices.notes()]
    if answer.more:
        parts.append(Line("there are more: --last, --since and --until choose others", "aside"))
    return Document("", tuple(parts))


def describe_page(answer: Answer, question: Question, view: View) -> Document:
    """An answer with a title and what a reader must know, for a page."""
    kinds = {one.kind for one in (*answer.jobs, *answer.sums, *answer.parts) if one.kind is not None}
    meanings = MEANINGS | {EnergyKind.DERIVED: SHARE}
    span = _span(question, view)
    body = describe(answer, question, view)
    title = f"Energy of job {question.job}" if question.job is not None else "Energy of jobs"
    parts: list[DocumentPart] = [
        Line(f"Metered by lull-meterd{', ' if span else ''}{span}", "aside"),
        *body.parts,
        Heading("How to read it"),
        Line(INTERVAL),
        *(Line(f"{kind.value}: {meanings[kind]}") for kind in meanings if kind in kinds),
    ]
    return Document(TITLES[question.by] if question.by is not None else title, tuple(parts))


def jobs_table(answer: Answer, view: View) -> Table:
    """One line for each run of a job. Columns that say nothing because they are the same for all are in data only."""
    jobs = answer.jobs
    columns = [
        Column("job", words=True),
        Column("restart", shown=False),
        Column("cluster", words=True, shown=len({job.cluster for job in jobs}) > 1),
        Column("uid", shown=False),
        Column("user", words=True, shown=len({job.uid for job in jobs}) > 1),
        Column("project", words=True),
        Column("began", words=True),
        Column("nodes"),
        Column("time", key="time_s"),
        Column("CPU time", key="cpu_time_s", shown=False),
        *_energy_columns(answer.prices),
        Column("note", words=True, wraps=True, shown=any(notes(job) for job in jobs)),
    ]
    rows = [
        row(
            f"{job.job} (restart {job.restart})" if job.restart else job.job,
            cells.count(job.restart),
            job.cluster or "–",
            str(job.uid),
            view.name(job.uid),
            job.project or "–",
            began(job, view),
            cells.count(job.nodes or job.rows),
            clock((job.end_us - job.begin_us) / US_PER_S),
            clock(job.cpu_us / US_PER_S),
            *_energy_cells(job, answer.prices),
            ", ".join(notes(job)),
        )
        for job in jobs
    ]
    return table(columns, rows)


def sums_table(answer: Answer, by: By, view: View) -> Table:
    """One line for each user, project or day, and kind: energies of different kinds are not added up."""
    columns = [
        Column(by.value, words=True),
        Column("jobs"),
        Column("CPU time", key="cpu_time_s"),
        *_energy_columns(answer.prices),
    ]
    rows = [
        row(
            sum_name(one, view),
            cells.count(one.jobs),
            clock(one.cpu_us / US_PER_S),
            *_energy_cells(one, answer.prices),
        )
        for one in answer.sums
    ]
    return table(columns, rows)


def parts_table(job: Job, parts: Sequence[Part], nodes: Sequence[OnNode]) -> Table:
    """One line for each node and domain of a run of a job: what it used, and what it held idle."""
    key = (job.cluster, job.restart)
    of_node = {one.node: one for one in nodes if (one.cluster, one.restart) == key}
    columns = [
        Column("node", words=True),
        Column("CPUs"),
        Column("CPU time", key="cpu_time_s"),
        Column("domain", words=True),
        Column("energy", key="energy_j"),
        Column("interval", words=True, in_data=False),
        *(Column(name, key=f"{name.replace(' ', '_')}_j") for name in ("active", "idle held", "rest")),
        Column("kind", words=True),
    ]
    rows: list[Row] = []
    metered = set()
    for part in parts:
        if (part.cluster, part.restart) != key:
            continue
        node = of_node.get(part.node)
        energy, interval, kind = energy_cells(part)
        held = (part.active_j, part.held_j, part.overhead_j)
        first = _node_cells(part.node, node if part.node not in metered else None)
        rows.append(row(*first, part.domain, energy, interval, *map(watt_hours, held), kind))
        metered.add(part.node)
    for name, node in of_node.items():
        if name not in metered:
            rows.append(row(*_node_cells(name, node), *["–"] * 6, NOT_METERED))
    return table(columns, rows)


def job_lines(job: Job, view: View) -> list[str]:
    """What is known of a run of a job besides its table."""
    name = f"job {job.job}" + (f", restart {job.restart}" if job.restart else "")
    where = f" of cluster {job.cluster}" if job.cluster else ""
    project = f", project {job.project}" if job.project else ""
    energy, interval, kind = energy_cells(job)
    time = clock((job.end_us - job.begin_us) / US_PER_S).text
    lines = [
        f"{name}{where}: user {view.name(job.uid)}{project}; began {began(job, view)}, took {time}",
        f"energy {energy.text} ({interval}), {kind}" if job.kind is not None else f"energy {NOT_METERED}",
    ]
    if found := notes(job):
        lines.append("; ".join(found))
    return lines


def energy_cells(one: Energy) -> tuple[Cell, str, str]:
    """Energy, interval and kind."""
    if one.kind is None:
        return Cell("–"), "–", NOT_METERED
    interval = formatting.si_range(one.low_j / S_PER_H, one.high_j / S_PER_H, "Wh")
    return Cell(watt_hours(one.joules).text, one.joules, one.low_j, one.high_j), interval, one.kind.value


def notes(job: Job) -> list[str]:
    """What a reader of a job's energy should know."""
    found = [f"{job.rows} of {job.nodes} nodes so far"] if job.rows < job.nodes else []
    return found + [NOTES[flag] for flag in job.flags if flag in NOTES]


def watt_hours(amount_j: float) -> Cell:
    """An energy in Wh; the number is in J."""
    return Cell(formatting.si(amount_j / S_PER_H, "Wh"), amount_j)


def began(job: Job, view: View) -> str:
    """When a job began, to the minute."""
    return f"{datetime.fromtimestamp(job.begin_us / US_PER_S, view.zone):%Y-%m-%d %H:%M}"


def clock(seconds: float) -> Cell:
    """A time as hours, minutes and seconds: 0:00:41."""
    whole = round(seconds)
    return Cell(f"{whole // S_PER_H}:{whole // 60 % 60:02}:{whole % 60:02}", seconds)


def sum_name(one: Sum, view: View) -> str:
    """Of what it is the sum."""
    if one.day is not None:
        return one.day
    return (one.project or "–") if one.project is not None else view.name(one.uid or 0)


def _energy_columns(prices: Prices) -> list[Column]:
    return [
        Column("energy", key="energy_j"),
        Column("interval", words=True, in_data=False),
        Column("kind", words=True),
        *map(Column, prices.headings()),
    ]


def _energy_cells(one: Energy, prices: Prices) -> list[Cell | str]:
    return [*energy_cells(one), *prices.cells(None if one.kind is None else one.joules)]


def _node_cells(name: str, node: OnNode | None) -> list[Cell | str]:
    if node is None:
        return [name, "", ""]
    return [name, cells.count(node.cpus or None), clock(node.cpu_us / US_PER_S)]


def _span(question: Question, view: View) -> str:
    def day(seconds: int) -> str:
        return f"{datetime.fromtimestamp(seconds, view.zone):%Y-%m-%d %H:%M}"

    words = []
    if question.since_s is not None:
        words.append(f"from {day(question.since_s)}")
    if question.until_s is not None:
        words.append(f"until {day(question.until_s)}")
    if question.project is not None:
        words.append(f"of project {question.project}")
    if question.uid is not None:
        words.append(f"of user {view.name(question.uid)}")
    return " ".join(words)
