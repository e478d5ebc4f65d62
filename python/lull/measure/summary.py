"""The short account of a measurement on the terminal: each repeat, then the median over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from rich.table import Table

from lull.record import Domain, Energy, Repeat, weakest
from lull.record.totals import add
from lull.statistics import formatting


def summary_table(repeats: Sequence[Repeat]) -> Table:
    """Wall and CPU seconds and every total in joules with its kind, a row per repeat and one for the medians.

    Energies are summed over the nodes: one column for each domain.

    Args:
        repeats: At least one, all of one command on the same nodes.
    """
    sums = [over_nodes(repeat.totals) for repeat in repeats]
    domains = list(dict.fromkeys(domain for of_repeat in sums for domain in of_repeat))
    table = Table("repeat", "exit", pad_edge=False, box=None, padding=(0, 2, 0, 0))
    for header in ("wall s", "CPU s", *(heading(domain, sums) for domain in domains)):
        table.add_column(header, justify="right")
    for repeat, of_repeat in zip(repeats, sums, strict=True):
        energy = [figure(of_repeat[domain]) if domain in of_repeat else "-" for domain in domains]
        table.add_row(
            str(repeat.index + 1), str(repeat.exit_code), f"{repeat.wall_s:.4g}", f"{repeat.cpu_s:.4g}", *energy
        )
    if len(repeats) > 1:
        walls = median(repeat.wall_s for repeat in repeats)
        cpus = median(repeat.cpu_s for repeat in repeats)
        joules = [median(of[domain].energy.joules for of in sums if domain in of) for domain in domains]
        figures = [f"{value:.4g}" for value in (walls, cpus, *joules)]
        table.add_row("median", "", *figures, style="bold")
    return table


@dataclass(frozen=True)
class OverNodes:
    """The energy of one domain, summed over nodes."""

    energy: Energy
    nodes: int


def over_nodes(totals: Sequence[Energy]) -> dict[Domain, OverNodes]:
    """The totals of a repeat by domain, summed over nodes."""
    domains = dict.fromkeys(total.domain for total in totals)
    found = {domain: [total for total in totals if total.domain is domain] for domain in domains}
    return {
        domain: OverNodes(add(parts, domain, parts[0].channel), len({part.node for part in parts}))
        for domain, parts in found.items()
    }


def heading(domain: Domain, sums: Sequence[dict[Domain, OverNodes]]) -> str:
    """What a column of energy holds, and over how many nodes when there are several."""
    of_domain = [of[domain] for of in sums if domain in of]
    nodes = max(of.nodes for of in of_domain)
    where = f" on {nodes} nodes" if nodes > 1 else ""
    return f"{domain.value} J{where}\n{weakest([of.energy.kind for of in of_domain]).value}"


def figure(total: OverNodes) -> str:
    """Joules, marked when a reset hid part of them, or readings failed."""
    of = total.energy
    marks = (" or more" if of.lower_bound else "") + (f" ({formatting.count(of.gaps, 'gap')})" if of.gaps else "")
    return f"{of.joules:.4g}{marks}"
