"""The summary of a measurement: each repeat, the medians, and the cost of waiting."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from statistics import median

from lull.present.document import Cell, Column, Document, Line, Note, Part, Table, row, table
from lull.record import Domain, Repeat, Run, succeeded, weakest
from lull.record.notes import notes_of_times
from lull.record.output import typical_output
from lull.record.share import SHARED, load_of_others, share_of_node
from lull.record.totals import OverNodes, over_nodes
from lull.record.waiting import typical_waiting
from lull.statistics import formatting


def describe(run: Run) -> Document:
    """A record: what ran, the time and energy of every repeat, and what a reader must know."""
    hosts = ", ".join(f"{host.node} ({host.processor})" for host in run.hosts)
    where = f" on {hosts}" if hosts else ""
    failed = [repeat for repeat in run.repeats if repeat.exit_code != 0]
    parts: list[Part] = [
        Line(shlex.join(run.command)),
        Line(f"{formatting.count(len(run.repeats), 'run')}{where}, {run.created:%Y-%m-%d %H:%M} UTC", "aside"),
        summary_table(run.repeats),
    ]
    if failed:
        parts.append(Note(f"{len(failed)} of {len(run.repeats)} repeats failed"))
    shares = [line] if (line := share_in_words(run)) else []
    parts += map(Line, [*costs_in_words(run.repeats), *shares])
    parts += map(Note, notes_of_times(run.repeats))
    return Document(run.label, tuple(parts))


def summary_table(repeats: Sequence[Repeat]) -> Table:
    """A table of wall and CPU seconds and every total in joules with its kind: a row per repeat and one of medians.

    The medians are those of the repeats that succeeded.

    Energies are summed over the nodes: one column for each domain.

    Args:
        repeats: One or more, all of one command on the same nodes.
    """
    sums = list(map(_sums, repeats))
    domains = list(dict.fromkeys(domain for of_repeat in sums for domain in of_repeat))
    columns = [
        Column("repeat", words=True),
        Column("exit", words=True),
        Column("wall s"),
        Column("CPU s"),
        *(Column(heading(domain, sums), key=f"{domain.value}_j") for domain in domains),
    ]
    rows = [
        row(
            Cell(str(repeat.index + 1), repeat.index + 1),
            Cell(str(repeat.exit_code), repeat.exit_code),
            _number(repeat.wall_s),
            _number(repeat.cpu_s),
            *(_joules(of_repeat.get(domain)) for domain in domains),
        )
        for repeat, of_repeat in zip(repeats, sums, strict=True)
    ]
    good = succeeded(repeats)
    if len(repeats) > 1 and good:
        medians = [median(repeat.wall_s for repeat in good), median(repeat.cpu_s for repeat in good)]
        of_good = list(map(_sums, good))
        energies = [[of[domain].energy.joules for of in of_good if domain in of] for domain in domains]
        found = [*map(_number, medians), *(_number(median(joules)) if joules else Cell("-") for joules in energies)]
        rows.append(row("median", "", *found, tone="strong"))
    return table(columns, rows)


def _number(value: float) -> Cell:
    return Cell(f"{value:.4g}", value)


def _joules(total: OverNodes | None) -> Cell:
    return Cell("-") if total is None else Cell(joules_in_words(total), total.energy.joules)


def _sums(repeat: Repeat) -> dict[Domain, OverNodes]:
    return over_nodes(repeat.totals)


def heading(domain: Domain, sums: Sequence[dict[Domain, OverNodes]]) -> str:
    """The heading of a column of energy, with the number of nodes if there are several."""
    of_domain = [of[domain] for of in sums if domain in of]
    nodes = max(of.nodes for of in of_domain)
    where = f" on {nodes} nodes" if nodes > 1 else ""
    return f"{domain.value} J{where}\n{weakest([of.energy.kind for of in of_domain]).value}"


def joules_in_words(total: OverNodes) -> str:
    """Joules, marked if a reset hid part of them or readings failed."""
    of = total.energy
    marks = (" or more" if of.lower_bound else "") + (f" ({formatting.count(of.gaps, 'gap')})" if of.gaps else "")
    return f"{of.joules:.4g}{marks}"


def share_in_words(run: Run) -> str:
    """What the command used of a node that it shared, the median over repeats, in one line; empty if it was alone."""
    cores = sum(host.cores for host in run.hosts)
    loads = [load for one in run.succeeded if (load := load_of_others(one, cores)) is not None]
    shares = [share for one in run.succeeded if (share := share_of_node(run, one)) is not None]
    if not loads or max(loads) < SHARED or len(shares) < len(run.succeeded):
        return ""
    of = sorted(shares, key=lambda share: share.joules)[len(shares) // 2]
    return (
        f"other programs used up to {formatting.percent(max(loads))} of the CPUs: the command's share of the node's"
        f" energy is {formatting.si(of.joules, 'J')} ({of.kind.value}, {formatting.si_range(of.low_j, of.high_j, 'J')})"
    )


def costs_in_words(repeats: Sequence[Repeat]) -> list[str]:
    """What waiting and output cost in the successful repeats, a line for each that was counted."""
    good = succeeded(repeats)
    return [line for line in (waiting_in_words(good), output_in_words(good)) if line]


def output_in_words(repeats: Sequence[Repeat]) -> str:
    """What staged output cost, the median over the repeats, in one line; empty if the repeats do not contain it."""
    found = typical_output(repeats)
    if found is None:
        return ""
    clients, *servers = found.roles
    held_up = (clients.stall_s or 0) + clients.write_s
    words = f"output by {found.approach} held {formatting.count(clients.processes, 'client')} up for"
    words += f" {formatting.si(held_up, 's')} of {formatting.si(held_up + (clients.compute_s or 0), 's')}"
    for server in servers:
        words += f"; {formatting.count(server.processes, 'server')} took {formatting.si(server.cpu_s, 's')} of CPU time"
        if (energy := server.energy) is not None:
            words += f" and {formatting.si(energy.joules, 'J')} ({energy.kind.value})"
    return words


def waiting_in_words(repeats: Sequence[Repeat]) -> str:
    """What waiting cost, the median over the repeats, in one line; empty if the repeats do not contain it."""
    found = typical_waiting(repeats)
    if found is None:
        return ""
    words = f"waiting with policy {found.policy} took {formatting.percent(found.share(found.whole))} of the CPU time of"
    words += f" {formatting.count(found.pes, 'PE')}"
    if (energy := found.whole.energy) is None:
        return f"{words}; no meter read the energy of the processors"
    least = "at least " if energy.lower_bound else ""
    return f"{words} and {least}{formatting.si(energy.joules, 'J')} ({energy.kind.value})"
