"""The summary of a measurement on the terminal: each repeat, the medians, and the cost of waiting."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from rich.table import Table

from lull.record import Domain, Repeat, Run, succeeded, weakest
from lull.record.output import typical_output
from lull.record.share import SHARED, load_of_others, share_of_node
from lull.record.totals import OverNodes, over_nodes
from lull.record.waiting import typical_waiting
from lull.statistics import formatting


def summary_table(repeats: Sequence[Repeat]) -> Table:
    """A table of wall and CPU seconds and every total in joules with its kind: a row per repeat and one of medians.

    The medians are those of the repeats that succeeded.

    Energies are summed over the nodes: one column for each domain.

    Args:
        repeats: One or more, all of one command on the same nodes.
    """
    sums = list(map(_sums, repeats))
    domains = list(dict.fromkeys(domain for of_repeat in sums for domain in of_repeat))
    table = Table("repeat", "exit", pad_edge=False, box=None, padding=(0, 2, 0, 0))
    for header in ("wall s", "CPU s", *(heading(domain, sums) for domain in domains)):
        table.add_column(header, justify="right")
    for repeat, of_repeat in zip(repeats, sums, strict=True):
        energy = [joules_in_words(of_repeat[domain]) if domain in of_repeat else "-" for domain in domains]
        table.add_row(
            str(repeat.index + 1), str(repeat.exit_code), f"{repeat.wall_s:.4g}", f"{repeat.cpu_s:.4g}", *energy
        )
    good = succeeded(repeats)
    if len(repeats) > 1 and good:
        values = [median(repeat.wall_s for repeat in good), median(repeat.cpu_s for repeat in good)]
        words = [f"{value:.4g}" for value in values]
        for domain in domains:
            joules = [of[domain].energy.joules for of in map(_sums, good) if domain in of]
            words.append(f"{median(joules):.4g}" if joules else "-")
        table.add_row("median", "", *words, style="bold")
    return table


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
