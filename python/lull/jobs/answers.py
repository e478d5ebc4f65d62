"""Answers from the store: every query contains who may see what.

Queries of jobs follow an index for each part of what is visible, so that the newest jobs of a user with a million are
found at once; sums come from the tables of days and months.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final

from lull.base.errors import LullError
from lull.jobs import tables
from lull.jobs.periods import Periods, Span, date_of, days_asked, periods
from lull.jobs.question import MOST_PARTS, MOST_SUMS, Answer, By, Job, OnNode, Part, Question
from lull.jobs.store import Store, flags_of, kind_of
from lull.jobs.visible import Visible

MJ_PER_J: Final = 1e3
UJ_PER_J: Final = 1e6
US_PER_S: Final = 1_000_000

Condition = tuple[str, list[int | str]]


def answer(store: Store, question: Question, visible: Visible) -> Answer:
    """The answer to a question of someone who may see these jobs.

    Raises:
        LullError: The store cannot be read.
    """
    try:
        if question.ask == "sums":
            return _sums(store, question, visible)
        return _one_job(store, question, visible) if question.ask == "job" else _jobs(store, question, visible)
    except sqlite3.Error as error:
        raise LullError("read the store", str(error)) from error


def _jobs(store: Store, question: Question, visible: Visible) -> Answer:
    found: dict[int, tuple[Any, ...]] = {}
    filters = _filters(store, question)
    if question.since_s is not None:
        filters.append(("begin_us >= ?", [question.since_s * US_PER_S]))
    if question.until_s is not None:
        filters.append(("begin_us < ?", [question.until_s * US_PER_S]))
    for part in _visible_parts(store, visible):
        words, values = _all_of([part, *filters])
        query = f"select {tables.JOB_COLUMNS} from jobs where {words} order by begin_us desc limit ?"
        for row in store.db.execute(query, [*values, question.most + 1]):
            found[row[0]] = row
    rows = sorted(found.values(), key=lambda row: (-row[6], row[1], row[3]))
    return Answer(jobs=[_job(store, row) for row in rows[: question.most]], more=len(rows) > question.most)


def _one_job(store: Store, question: Question, visible: Visible) -> Answer:
    parts = _visible_parts(store, visible)
    of_visible = " or ".join(words for words, _ in parts)
    words, values = _all_of([("job = ?", [question.job or ""]), *_filters(store, question)])
    rows = store.db.execute(
        f"select {tables.JOB_COLUMNS} from jobs where {words} and ({of_visible}) order by begin_us limit ?",
        [*values, *(value for _, more in parts for value in more), question.most],
    ).fetchall()
    nodes: list[OnNode] = []
    energies: list[Part] = []
    for row in rows:
        nodes += _nodes(store, row)
        energies += _energies(store, row)
    more = len(energies) > MOST_PARTS or len(nodes) > MOST_PARTS
    jobs = [_job(store, row) for row in rows]
    return Answer(jobs=jobs, nodes=nodes[:MOST_PARTS], parts=energies[:MOST_PARTS], more=more)


def _nodes(store: Store, job: Sequence[Any]) -> list[OnNode]:
    run, _, cluster, restart = job[:4]
    columns = ("node", "begin_us", "end_us", "cpus", "memory_mib", "cpu_us", "flags")
    query = f"select {', '.join(columns)} from nodes where run = ? limit ?"
    rows = [
        dict(zip(columns, (store.names.of(node), *amounts, flags_of(flags)), strict=True))
        for node, *amounts, flags in store.db.execute(query, [run, MOST_PARTS + 1])
    ]
    stored = {row["node"] for row in rows}
    rows += [row for row in store.archive.nodes(run) if row["node"] not in stored]
    name = store.names.of(cluster)
    found = [OnNode(cluster=name, restart=restart, **{one: row[one] for one in columns}) for row in rows]
    return sorted(found, key=lambda one: one.node)


def _energies(store: Store, job: Sequence[Any]) -> list[Part]:
    run, _, cluster, restart = job[:4]
    columns = ("node", "domain", "kind", "active_uj", "held_uj", "overhead_uj", "low_uj", "high_uj")
    query = f"select {', '.join(columns)} from energy where run = ? limit ?"
    rows = [
        dict(zip(columns, (store.names.of(node), store.names.of(domain), kind_of(kind), *amounts), strict=True))
        for node, domain, kind, *amounts in store.db.execute(query, [run, MOST_PARTS + 1])
    ]
    stored = {row["node"] for row in rows}
    rows += [row for row in store.archive.energies(run) if row["node"] not in stored]
    found = [
        Part(
            cluster=store.names.of(cluster),
            restart=restart,
            node=row["node"],
            domain=row["domain"],
            kind=row["kind"],
            joules=(row["active_uj"] + row["held_uj"] + row["overhead_uj"]) / UJ_PER_J,
            active_j=row["active_uj"] / UJ_PER_J,
            held_j=row["held_uj"] / UJ_PER_J,
            overhead_j=row["overhead_uj"] / UJ_PER_J,
            low_j=row["low_uj"] / UJ_PER_J,
            high_j=row["high_uj"] / UJ_PER_J,
        )
        for row in rows
    ]
    return sorted(found, key=lambda one: (one.node, one.domain))


def _sums(store: Store, question: Question, visible: Visible) -> Answer:
    by = question.by or By.USER
    days = days_asked(question.since_s, question.until_s)
    stored = Periods(Span(0, 0), (days,)) if by is By.DAY else periods(days)
    parts = _visible_parts(store, visible)
    of_visible: Condition = (
        "(" + " or ".join(words for words, _ in parts) + ")",
        [value for _, values in parts for value in values],
    )
    words, values = _all_of([of_visible, *_filters(store, question)])
    # Each table in the order of its key; joined in SQL, they would have to be sorted.
    total: dict[tuple[int, int], Sequence[float]] = {}
    for table, period, span in [("months", "month", stored.months), *(("days", "day", span) for span in stored.days)]:
        column = {By.USER: "uid", By.PROJECT: "project", By.DAY: period}[by]
        rows = store.db.execute(
            f"select {column}, kind, sum(jobs), total(cpu_us), total(mj), total(low_mj), total(high_mj) from {table}"
            f" where {period} >= ? and {period} < ? and {words} group by {column}, kind",
            [span.first, span.end, *values],
        )
        found: dict[tuple[int, int], Sequence[float]] = {row[:2]: row[2:] for row in rows.fetchall()}
        for key in total.keys() & found.keys():
            found[key] = [a + b for a, b in zip(total[key], found[key], strict=True)]
        total |= found
    if by is By.DAY:
        order = sorted(total)
    elif by is By.USER:
        order = sorted(sorted(total), key=lambda key: -total[key][2])
    else:  # equal ones in the order of their names, rather than of the arrival of these
        order = sorted(total, key=lambda key: (-total[key][2], store.names.of(key[0]), key[1]))
    field, name = _names_of_sums(store, by)
    kinds = {kind: kind_of(kind) for _, kind in order}
    sums = []
    for what, kind in order[:MOST_SUMS]:  # thousands of them are checked faster together
        jobs, cpu_us, mj, low_mj, high_mj = total[what, kind]
        energies = {"joules": mj / MJ_PER_J, "low_j": low_mj / MJ_PER_J, "high_j": high_mj / MJ_PER_J}
        sums.append({field: name(what), "kind": kinds[kind], "jobs": jobs, "cpu_us": round(cpu_us)} | energies)
    return Answer.model_validate({"sums": sums, "more": len(order) > MOST_SUMS})


def _names_of_sums(store: Store, by: By) -> tuple[str, Callable[[int], object]]:
    """The field of a `Sum` that says of what it is the sum, and its value."""
    if by is By.USER:
        return "uid", int
    if by is By.PROJECT:
        return "project", store.names.of
    return "day", lambda day: date_of(day).isoformat()


def _job(store: Store, row: Sequence[Any]) -> Job:
    _, job, cluster, restart, uid, project, begin, end, nodes, rows, cpu_us, mj, low_mj, high_mj, kind, flags = row
    return Job(
        cluster=store.names.of(cluster),
        job=job,
        restart=restart,
        uid=uid,
        project=store.names.of(project),
        begin_us=begin,
        end_us=end,
        nodes=nodes,
        rows=rows,
        cpu_us=cpu_us,
        joules=mj / MJ_PER_J,
        low_j=low_mj / MJ_PER_J,
        high_j=high_mj / MJ_PER_J,
        kind=kind_of(kind),
        flags=flags_of(flags),
    )


def _visible_parts(store: Store, visible: Visible) -> list[Condition]:
    """Conditions of which each has an index; a job is visible if one of them holds."""
    if visible.everything:
        return [("1", [])]
    parts: list[Condition] = [("uid = ?", [visible.uid])]
    for project in visible.projects:
        if (number := store.names.find(project)) is not None:
            parts.append(("project = ?", [number]))
    return parts


def _filters(store: Store, question: Question) -> list[Condition]:
    filters: list[Condition] = []
    if question.uid is not None:
        filters.append(("uid = ?", [question.uid]))
    if question.project is not None:
        number = store.names.find(question.project)
        filters.append(("0", []) if number is None else ("project = ?", [number]))
    return filters


def _all_of(conditions: Sequence[Condition]) -> Condition:
    return " and ".join(words for words, _ in conditions), [value for _, values in conditions for value in values]
