"""A prediction as a document: the chosen mode, all modes of links, time by activity, and uncertainty."""

from __future__ import annotations

from lull.prediction import bearing
from lull.prediction.account import ModeAccount, Prediction
from lull.present import cells
from lull.present.document import (
    Cell,
    Column,
    Columns,
    Document,
    Heading,
    Item,
    Line,
    Note,
    Part,
    Table,
    row,
    table,
)
from lull.simulation import tolerance
from lull.statistics import formatting

DOMAINS = ("links", "switches", "nics", "nodes")


def describe(found: Prediction) -> Document:
    """The prediction."""
    parts: list[Part] = [
        Line(network(found)),
        *map(Note, found.remarks),
        modes_table(found),
        Line(advice(found), "strong"),
        *(tolerance.parts_of(found.program, found.tolerance) if found.tolerance else []),
        *([paths_table(found)] if found.tolerance and found.tolerance.sleeps else []),
        *([checks_table(found)] if found.checks else []),
        time_table(found),
        range_table(found),
        Heading("not modelled:"),
        *map(Item, found.not_modelled),
    ]
    return Document(heading(found), tuple(parts))


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
    columns: Columns = [
        "links",
        Column("run time", "s"),
        "slowdown",
        "link power",
        "between switches",
        "wake-ups",
        *(Column(name, "J") for name in there),
        *([Column("all, simulated", key="simulated_j")] if there else []),
    ]
    rows = []
    for mode in found.modes:
        energies = [getattr(mode.energy, name) for name in there] + ([mode.energy.total] if there else [])
        rows.append(
            row(
                mode.name,
                cells.si(mode.run_time_s, "s"),
                cells.share(None if mode is found.active else mode.slowdown),
                cells.decimal(mode.link_power, 3),
                cells.decimal(mode.network_link_power, 3),
                cells.count(mode.wakes),
                *(cells.si(None if energy is None else energy.joules, "J") for energy in energies),
                tone="strong" if mode.name == found.chosen else "plain",
            )
        )
    return table(columns, rows)


def paths_table(found: Prediction) -> Table:
    """Slowdowns by the critical path next to simulated ones."""
    assert found.tolerance is not None
    modes = {mode.name: mode for mode in found.modes}
    known = bearing.by_path(found.tolerance, list(modes))
    rows = [
        row(name, cells.share(slowdown), cells.share(modes[name].slowdown), cells.share(saved))
        for name, (slowdown, saved) in known.items()
    ]
    return table(
        ["links", "slowdown by the critical path", "simulated", Column("saved by links in use", key="saved_by_path")],
        rows,
    )


def checks_table(found: Prediction) -> Table:
    """The simulations of what the program should just bear."""
    rows = [row(one.what, cells.share(one.slowdown)) for one in found.checks]
    return table(["what it should just bear", "slowdown, simulated"], rows)


def time_table(found: Prediction) -> Table:
    """Time by activity, with links always active and with the chosen mode."""
    rows = []
    for mode in dict.fromkeys([found.active.name, found.chosen]):
        time = next(one for one in found.modes if one.name == mode).time
        parts = (time.computing_s, time.sending_s, time.waiting_s)
        whole = sum(parts) or 1.0
        shown = (Cell(f"{formatting.si(part, 's')} ({formatting.percent(part / whole)})", part) for part in parts)
        rows.append(row(mode, *shown))
    return table(
        [
            "the time of a process, mean",
            Column("computing", key="computing_s"),
            Column("sending", key="sending_s"),
            Column("waiting", key="waiting_s"),
        ],
        rows,
    )


def range_table(found: Prediction) -> Table:
    """The uncertainties of the run time with links always active; below, the bands of energies."""
    rows = [row(one.what, cells.si(one.low_s, "s"), cells.si(one.high_s, "s"), one.how) for one in found.uncertainty]
    for name in DOMAINS:
        energy = getattr(found.best.energy, name)
        if energy is not None and energy.low < energy.high:
            ends = (cells.si(energy.low, "J"), cells.si(energy.high, "J"))
            rows.append(row(f"energy of {name}", *ends, "the band of the machine's watts"))
    return table(["uncertain", "from", "to", Column("by", words=True, wraps=True)], rows)


def _saved(found: Prediction, mode: ModeAccount) -> str:
    parts = []
    for name, energy in (("links", "links"), ("all", "total")):
        before, after = getattr(found.active.energy, energy), getattr(mode.energy, energy)
        if before is not None and after is not None and before.joules > 0:
            parts.append(f"{formatting.percent(1 - after.joules / before.joules)} less energy of {name}, ")
    return "".join(parts)
