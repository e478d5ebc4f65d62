"""A prediction on one screen: the chosen mode, all modes of links, time by activity, and uncertainty."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lull.prediction.account import Joules, ModeAccount, Prediction
from lull.statistics import formatting

DOMAINS = ("links", "switches", "nics", "nodes")


def show(found: Prediction, console: Console) -> None:
    """Print the prediction."""
    console.print(Text(heading(found), style="bold"), soft_wrap=True)
    console.print(Text(network(found)), soft_wrap=True)
    for line in found.remarks:
        console.print(Text(f"note: {line}", style="yellow"), soft_wrap=True)
    console.print()
    console.print(modes_table(found))
    console.print()
    console.print(Text(advice(found), style="bold"), soft_wrap=True)
    for table in (time_table(found), range_table(found)):
        console.print()
        console.print(table)
    console.print()
    console.print(Text("not modelled:"))
    for line in found.not_modelled:
        console.print(Text(f"  {line}"), soft_wrap=True)


def heading(found: Prediction) -> str:
    """The subject and the predicted time, with its range."""
    time = formatting.si(found.active.run_time_s, "s")
    between = formatting.si_range(found.low_s, found.high_s, "s")
    return f"{found.program}, {found.processes:,} processes on {found.machine['title']}: {time} ({between}), simulated"


def network(found: Prediction) -> str:
    """The part of the machine that the program uses, and the source of the prediction."""
    traced = " and ".join(f"{size:,}" for size in found.traced)
    source = f"from traces of {traced} processes" if len(found.traced) > 1 else f"from a trace of {traced} processes"
    nodes = f"{found.nodes:,} of {found.network_nodes:,} nodes"
    size = f"{formatting.count(found.network_switches, 'switch', 'switches')}, {found.network_links:,} links"
    share = formatting.percent(found.nodes / found.network_nodes)
    part = f"; links and switches are those of the whole network, of which it has {share} of the nodes"
    return f"{nodes}, {size}; {source if found.traced else 'by the skeleton of the application'}{part}"


def advice(found: Prediction) -> str:
    """The recommended mode of links."""
    best, limit = found.best, formatting.percent(found.most_slowdown)
    words = f"least {found.criterion}, at a slowdown of no more than {limit}: {best.name}"
    if best is found.active:
        return words
    saved = _saved(found, best)
    return f"{words} ({saved}{formatting.percent(best.slowdown)} slower than with links always active)"


def modes_table(found: Prediction) -> Table:
    """A row for each mode."""
    there = [name for name in DOMAINS if getattr(found.active.energy, name) is not None]
    table = _table("links", "run time", "slowdown", "link power", "between switches", "wake-ups", *there)
    if there:
        table.add_column("all, simulated", justify="right")
    for mode in found.modes:
        energies = [_joules(getattr(mode.energy, name)) for name in there]
        table.add_row(
            Text(mode.name, style="bold" if mode.name == found.chosen else ""),
            formatting.si(mode.run_time_s, "s"),
            formatting.percent(mode.slowdown) if mode is not found.active else "–",
            f"{mode.link_power:.3f}",
            f"{mode.network_link_power:.3f}",
            f"{mode.wakes:,}",
            *energies,
            *([_joules(mode.energy.total)] if there else []),
        )
    return table


def time_table(found: Prediction) -> Table:
    """Time by activity, with links always active and with the chosen mode."""
    table = _table("the time of a process, mean", "computing", "sending", "waiting")
    for mode in dict.fromkeys([found.active.name, found.chosen]):
        time = next(one for one in found.modes if one.name == mode).time
        parts = (time.computing_s, time.sending_s, time.waiting_s)
        whole = sum(parts) or 1.0
        table.add_row(mode, *(f"{formatting.si(part, 's')} ({formatting.percent(part / whole)})" for part in parts))
    return table


def range_table(found: Prediction) -> Table:
    """The uncertainties of the run time with links always active; below, the bands of energies."""
    table = Table(pad_edge=False, box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("uncertain", "from", "to", "by"):
        table.add_column(name, justify="right" if name in ("from", "to") else "left")
    for one in found.uncertainty:
        table.add_row(one.what, formatting.si(one.low_s, "s"), formatting.si(one.high_s, "s"), one.how)
    for name in DOMAINS:
        energy = getattr(found.best.energy, name)
        if energy is not None and energy.low < energy.high:
            low, high = (formatting.si(value, "J") for value in (energy.low, energy.high))
            table.add_row(f"energy of {name}", low, high, "the band of the machine's watts")
    return table


def _saved(found: Prediction, mode: ModeAccount) -> str:
    parts = []
    for name, energy in (("links", "links"), ("all", "total")):
        before, after = getattr(found.active.energy, energy), getattr(mode.energy, energy)
        if before is not None and after is not None and before.joules > 0:
            parts.append(f"{formatting.percent(1 - after.joules / before.joules)} less energy of {name}, ")
    return "".join(parts)


def _joules(energy: Joules | None) -> str:
    return "–" if energy is None else formatting.si(energy.joules, "J")


def _table(first: str, *others: str) -> Table:
    table = Table(pad_edge=False, box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(first, no_wrap=True)
    for heading in others:
        table.add_column(heading, justify="right")
    return table
