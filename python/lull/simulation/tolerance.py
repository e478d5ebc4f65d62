"""How much longer messages may take until a program has slowed down by a given share, from one simulated run.

The simulator records what each step of the program waited for. The longest path of this graph is the run time; with
longer delays of messages it is the run time with those, as far as paths, waiting in switches and the order of messages
stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from lull import _core
from lull.present import cells
from lull.present.document import Cell, Column, Columns, Line, Part, Table, row, table
from lull.record import Model
from lull.simulation.latency import PICOSECONDS
from lull.statistics import formatting

MESSAGE, CABLE, BYTE = "message", "cable", "byte"  # of Delay.of


class CriticalPath(Model):
    """What the longest path from the begin of a program to its end consists of."""

    computing_s: float  # computing, and the overhead of messages
    sending_s: float  # until messages have left their nodes, with those before them
    latency_s: float  # latency of interfaces, cables and switches
    queueing_s: float  # waiting in the network beyond that
    memory_s: float  # messages between processes on a node
    messages: int  # number of messages of the network
    memory_messages: int  # number of messages between processes on a node
    switch_cables: int  # cables between switches that the messages cross


class Delay(Model):
    """A delay that the program bears."""

    of: str  # each message, each cable that it crosses, node cable, switch cable, byte
    most_s: float | None  # the delay at which the program is slower by the slowdown; null: none is
    growth: float  # growth of the run time per second of a small delay: how often it is on the critical path
    run_times: list[tuple[float, float]]  # pairs of delay and run time, in seconds


class Sleep(Model):
    """A power mode of [[savings]], if its wake-ups delay packets; savings are those of links that carry a packet."""

    settings: dict[str, Any]  # its entry, with all defaults that apply
    slowdown: float  # with its hold, as a share
    saved: float  # saved with its hold, as a share of active power
    shortest_hold_s: float  # the shortest hold with which the program is slower by the slowdown at most, to 19 %
    shortest_slowdown: float  # slowdown with that hold
    shortest_saved: float  # saved with that hold


class Tolerance(Model):
    """By how much longer messages may take until a program has slowed down by `slowdown`."""

    slowdown: float  # the tolerated slowdown, as a share
    run_time_s: float  # run time of the program
    steps: int  # moments of its processes, and messages, in the graph
    path: CriticalPath  # the longest path
    delays: list[Delay]  # for each message, cable and byte
    bandwidth: float | None  # of a node, as a share of today's, that is enough; null: any
    sleeps: list[Sleep] = Field(default=[])  # of the entries of [[savings]], in their order

    def of(self, what: str) -> Delay:
        """The delay of a message, byte, ..."""
        return next(one for one in self.delays if one.of == what)


def tolerance_of(found: _core.JobTolerance | None, savings: Sequence[Mapping[str, Any]]) -> Tolerance | None:
    """The tolerance of a job as simulated, with the entries of [[savings]]; None if it was not wanted."""
    if found is None:
        return None
    path = found.path
    delays = [
        Delay(
            of=of,
            most_s=None if math.isinf(most) else most / PICOSECONDS,
            growth=growth,
            run_times=[(size / PICOSECONDS, time / PICOSECONDS) for size, time in run_times],
        )
        for of, growth, most, run_times in found.delays
    ]
    return Tolerance(
        slowdown=found.slowdown,
        run_time_s=found.run_time_ps / PICOSECONDS,
        steps=found.steps,
        path=CriticalPath(
            computing_s=path.computing_ps / PICOSECONDS,
            sending_s=path.sending_ps / PICOSECONDS,
            latency_s=path.latency_ps / PICOSECONDS,
            queueing_s=path.queueing_ps / PICOSECONDS,
            memory_s=path.memory_ps / PICOSECONDS,
            messages=path.messages,
            memory_messages=path.memory_messages,
            switch_cables=path.switch_cables,
        ),
        delays=delays,
        bandwidth=found.bandwidth or None,
        sleeps=[
            Sleep(
                settings=dict(settings),
                slowdown=slowdown,
                saved=saved,
                shortest_hold_s=hold_ps / PICOSECONDS,
                shortest_slowdown=shortest_slowdown,
                shortest_saved=shortest_saved,
            )
            for settings, (slowdown, saved, hold_ps, shortest_slowdown, shortest_saved) in zip(
                savings, found.sleeps, strict=True
            )
        ],
    )


def parts_of(program: str, found: Tolerance) -> list[Part]:
    """What is shown of a program's tolerance, without modes of links."""
    return [Line(path_in_words(program, found)), delays_table(found)]


def path_in_words(program: str, found: Tolerance) -> str:
    """What the critical path consists of, in one line."""
    path = found.path
    named = {
        "computing": path.computing_s,
        "sending": path.sending_s,
        "latency": path.latency_s,
        "waiting in the network": path.queueing_s,
        "memory of nodes": path.memory_s,
    }
    whole = sum(named.values()) or 1.0
    shares = ", ".join(f"{name} {formatting.percent(part / whole)}" for name, part in named.items() if part > 0)
    crossing = formatting.count(path.messages, "message")
    return f"critical path of {program}: {shares}; {crossing} of the network"


def delays_table(found: Tolerance) -> Table:
    """A row for each kind of delay."""
    words = {
        MESSAGE: "longer latency of each message",
        CABLE: "longer delay of each cable",
        "node cable": "of each cable to a node alone",
        "switch cable": "of each cable between switches alone",
    }
    rows = [row(words[one.of], _most(one), cells.decimal(one.growth, 0)) for one in found.delays if one.of in words]
    enough = Cell("any") if found.bandwidth is None else cells.share(found.bandwidth)
    rows.append(row("bandwidth of nodes, of the present one", enough, Cell("")))
    columns: Columns = [
        f"until {formatting.percent(found.slowdown)} slower",
        Column("at most", key="most_s"),
        Column("times on the critical path", key="growth"),
    ]
    return table(columns, rows)


def sleeps_table(found: Tolerance) -> Table:
    """A row for each power mode: its slowdown and saving by the critical path, and the hold that would be enough."""
    rows = [
        row(
            in_words(one.settings),
            cells.share(one.slowdown),
            cells.share(one.saved),
            cells.si(one.shortest_hold_s, "s"),
            cells.share(one.shortest_slowdown),
            cells.share(one.shortest_saved),
        )
        for one in found.sleeps
    ]
    limit = formatting.percent(found.slowdown)
    columns: Columns = [
        "by the critical path",
        "slowdown",
        Column("saved by links in use", key="saved"),
        Column(f"hold for {limit}", "s", key="shortest_hold_s"),
        Column("slowdown with it", key="shortest_slowdown"),
        Column("saved with it", key="shortest_saved"),
    ]
    return table(columns, rows)


def in_words(settings: Mapping[str, Any]) -> str:
    """A power mode with its holds: `hybrid, hold 2.2 us, then 100 us in fast wake`."""
    later = settings.get("hybrid_hold")
    then = f", then {later} in fast wake" if later is not None and later != settings["hold"] else ""
    return f"{settings['mode']}, hold {settings['hold']}{then}"


def _most(delay: Delay) -> Cell:
    return Cell("any") if delay.most_s is None else cells.si(delay.most_s, "s")
