"""A calibrated machine as a document: a row for each constant, with its spread."""

from __future__ import annotations

from collections.abc import Iterator

from lull.model.machine import Figure, Machine
from lull.present.document import Cell, Column, Document, Note, row, table
from lull.statistics.formatting import si

Row = tuple[str, str, Figure, str]  # subject, constant, figure, unit


def describe(machine: Machine) -> Document:
    """The constants for choosers and predictions, and the remarks."""
    columns = [
        Column("", words=True, key="subject"),
        Column("constant", words=True),
        Column("unit", words=True, shown=False),
        Column("median"),
        Column("quartiles", in_data=False),
    ]
    shown = []
    before = ""
    for of, constant, figure, unit in rows(machine):
        low, value, high = figure.band
        kind = f" {figure.kind.value}" if figure.kind is not None else ""
        between = f"{si(low, unit)} to {si(high, unit)}" if figure.low is not None else ""
        subject = Cell(of if of != before else "")
        shown.append(row(subject, constant + kind, unit, Cell(si(value, unit), value, low, high), between))
        before = of
    remarks = machine.measured.remarks if machine.measured else []
    return Document(machine.title, (table(columns, shown), *map(Note, remarks)))


def rows(machine: Machine) -> Iterator[Row]:
    """The constants, in the order of the form."""
    yield from _transfers(machine)
    memory = machine.memory
    for constant, figure in (
        ("copy, warm", memory.copy_warm_bytes_per_s),
        ("copy, cold", memory.copy_cold_bytes_per_s),
        ("copy, cold, all cores", memory.copy_cold_all_cores_bytes_per_s),
    ):
        if figure is not None:
            yield "memory", constant, figure, "B/s"
    if machine.wake_ups.timer_ns is not None:
        yield "wake-ups", "timer is late", _seconds(machine.wake_ups.timer_ns), "s"
    for policy, lengths in machine.wake_ups.policies.items():
        for one in lengths:
            of = si(one.length_ns * 1e-9, "s")
            yield f"wait {policy}", f"{of}: late", _seconds(one.late_ns), "s"
            yield f"wait {policy}", f"{of}: CPU time", _seconds(one.cpu_ns), "s"
    for writers, figure in machine.storage.by_writers.items():
        yield "storage", f"{writers} writer{'s' if writers > 1 else ''}", figure, "B/s"
    if machine.recording.ns_per_event is not None:
        yield "recording", "event", _seconds(machine.recording.ns_per_event), "s"
    watts = machine.watts
    for constant, figure in (("idle", watts.idle_node), ("one core", watts.one_core), ("all cores", watts.busy_node)):
        if figure is not None:
            yield "power", constant, figure, "W"
    for policy, figure in watts.waiting.items():
        yield "power", f"all wait, {policy}", figure, "W"


def _transfers(machine: Machine) -> Iterator[Row]:
    for name, transport in machine.transports.items():
        for piece in transport.pieces:
            begin = f", from {si(piece.from_bytes, 'B')}" if piece.from_bytes else ""
            for constant, figure in (
                ("latency", piece.latency_ns),
                ("sender", piece.send_ns),
                ("receiver", piece.receive_ns),
                ("gap", piece.gap_ns),
            ):
                if figure is not None:
                    yield name + begin, constant, _seconds(figure), "s"
            if piece.ns_per_byte is not None and piece.ns_per_byte.value > 0:
                yield name + begin, "bandwidth", _rate(piece.ns_per_byte), "B/s"
        for constant, figure in (
            ("atomic, fetching", transport.atomics.fetching_ns),
            ("atomic, not fetching", transport.atomics.non_fetching_ns),
        ):
            if figure is not None:
                yield name, constant, _seconds(figure), "s"


def _seconds(ns: Figure) -> Figure:
    low, value, high = (part * 1e-9 for part in ns.band)
    return Figure(value=value, low=low, high=high, source=ns.source)


def _rate(ns_per_byte: Figure) -> Figure:
    low, value, high = ns_per_byte.band
    return Figure(
        value=1e9 / value, low=1e9 / high, high=1e9 / low if low > 0 else 1e9 / value, source=ns_per_byte.source
    )
