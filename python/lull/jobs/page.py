"""An answer of the collector as a page, rendered with `report/templates/jobs.html.j2`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from lull import __version__
from lull.base.energy_kind import EnergyKind
from lull.jobs.question import Answer, By, Question
from lull.jobs.screen import JobTable, View, job_lines, jobs_table, parts_table, sums_table
from lull.report.rendering import rendered
from lull.report.words import KINDS

MEANINGS = {
    **KINDS,
    EnergyKind.DERIVED: "a share of the energy of a node, divided by CPU time and by what each job held",
}
TITLES = {By.USER: "Energy by user", By.PROJECT: "Energy by project", By.DAY: "Energy by day"}


@dataclass(frozen=True)
class Section:
    """A table with its heading and the lines before it."""

    heading: str
    lines: list[str]
    table: JobTable


def render_jobs(answer: Answer, question: Question, view: View) -> str:
    """The page as HTML text."""
    if question.job is not None:
        title = f"Energy of job {question.job}"
        sections = [
            Section(f"Restart {one.restart}" if one.restart else "By node and domain", job_lines(one, view), table)
            for one in answer.jobs
            for table in [parts_table(one, answer.parts, answer.nodes)]
        ]
    elif question.by is not None:
        title = TITLES[question.by]
        sections = [Section("Sums", [], sums_table(answer, question.by, view))]
    else:
        title = "Energy of jobs"
        sections = [Section("Jobs, newest first", [], jobs_table(answer, view))]
    kinds = {one.kind for one in (*answer.jobs, *answer.sums, *answer.parts) if one.kind is not None}
    return rendered(
        "jobs.html.j2",
        title=title,
        version=__version__,
        span=_span(question, view),
        sections=sections,
        notes=answer.prices.notes() if question.job is None else [],
        more=answer.more,
        kinds={kind.value: MEANINGS[kind] for kind in MEANINGS if kind in kinds},
    )


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
