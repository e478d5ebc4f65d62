"""Records as one tidy table, with a row for each energy figure of each run, or of each region of each run.

Every row contains all that distinguishes it from the others, so that any program can filter and group rows. `COLUMNS`
holds the columns and their meaning. A column for each factor, `factor_NAME`, and each metric, `metric_NAME`, follows.
"""

from __future__ import annotations

import io
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from lull import record
from lull.base.errors import LullError
from lull.base.text import readable
from lull.record import Energy, Repeat, Run
from lull.record.idle_power import IdlePowers
from lull.record.totals import node_totals

COLUMNS: Final[dict[str, tuple[pa.DataType, str]]] = {
    "record": (pa.string(), "folder of the record, as given"),
    "label": (pa.string(), "label of the run"),
    "command": (pa.string(), "the command, quoted for a shell"),
    "run": (pa.int64(), "number of the repeat, from 1"),
    "started": (pa.timestamp("us", tz="UTC"), "when the repeat began"),
    "exit_code": (pa.int64(), "exit code of the command; 128 + n for signal n"),
    "region": (pa.string(), "region of the program; empty for whole runs"),
    "host": (pa.string(), "the node whose energy it is"),
    "processor": (pa.string(), "processor of the node"),
    "is_total": (pa.bool_(), "whether this is a total, which counts nothing twice; do not add totals to channels"),
    "domain": (pa.string(), "what the energy covers: node, package, dram, gpu, nic or wire"),
    "channel": (pa.string(), "channel of the meter, or the sum in words"),
    "kind": (pa.string(), "how the energy was obtained"),
    "energy": (pa.float64(), "energy of the run or region, in `unit`"),
    "energy_low": (pa.float64(), "lower end of the source's own band, in `unit`"),
    "energy_high": (pa.float64(), "upper end of this band, in `unit`"),
    "unit": (pa.string(), "unit of the energies: J"),
    "time_s": (pa.float64(), "time of the run or region, s"),
    "cpu_s": (pa.float64(), "CPU time of all processes, s"),
    "idle_w": (pa.float64(), "idle power of the same channel or total, W; empty if not measured"),
    "bytes": (pa.int64(), "bytes sent and received, for the domain wire"),
    "wraps": (pa.int64(), "how often the counter wrapped around"),
    "gaps": (pa.int64(), "readings that failed"),
    "resets": (pa.int64(), "how often the counter was reset"),
    "stale": (pa.int64(), "readings that had not changed although they should have"),
    "lower_bound": (pa.bool_(), "whether a reset hid part of the energy"),
}
UNIT: Final = "J"

Cell = object


def tidy_table(folders: Sequence[Path], *, regions: bool) -> pa.Table:
    """The rows of all records.

    Args:
        folders: The records.
        regions: Whether rows describe regions instead of whole runs.

    Raises:
        LullError: A record cannot be read, or with `regions` none of them has a region.
    """
    return tidy_rows([(readable(str(folder)), record.read(folder)) for folder in folders], regions=regions)


def tidy_rows(runs: Sequence[tuple[str, Run]], *, regions: bool) -> pa.Table:
    """Like `tidy_table`, for runs that have been read, each with the name of its record."""
    found = [row for name, run in runs for row in _rows_of(name, run, regions=regions)]
    if not found and regions:
        raise LullError("export --regions", "no program marked a region", "leave it out for whole runs")
    factors = {f"factor_{name}": None for _, run in runs for name in run.factors}
    metrics = {f"metric_{name}": None for _, run in runs for repeat in run.repeats for name in repeat.metrics}
    fields = [pa.field(name, kind) for name, (kind, _) in COLUMNS.items()]
    fields += [pa.field(name, _type_of([row.get(name) for row in found])) for name in factors]
    fields += [pa.field(name, pa.float64()) for name in metrics]
    schema = pa.schema(fields)
    typed = [{name: _as(schema.field(name).type, row.get(name)) for name in schema.names} for row in found]
    return pa.Table.from_pylist(typed, schema=schema)


def as_csv(table: pa.Table) -> bytes:
    """The table as CSV with a header line; times in ISO 8601."""
    out = io.BytesIO()
    place = table.schema.get_field_index("started")
    started = [value.as_py().isoformat() for value in table.column(place)]
    pyarrow.csv.write_csv(table.set_column(place, "started", pa.array(started, pa.string())), out)
    return out.getvalue()


def as_parquet(table: pa.Table) -> bytes:
    """The table as Parquet; the metadata of each column holds its meaning."""
    fields = []
    for field in table.schema:
        meaning = COLUMNS[field.name][1] if field.name in COLUMNS else ""
        fields.append(field.with_metadata({"meaning": meaning}) if meaning else field)
    out = io.BytesIO()
    pq.write_table(table.cast(pa.schema(fields)), out, compression="zstd")
    return out.getvalue()


def _rows_of(name: str, run: Run, *, regions: bool) -> Iterator[dict[str, Cell]]:
    processors = {host.node: host.processor for host in run.hosts}
    idle = IdlePowers(run.idle)
    for repeat in run.repeats:
        common: dict[str, Cell] = {
            "record": name,
            "label": run.label,
            "command": shlex.join(run.command),
            "run": repeat.index + 1,
            "started": repeat.started,
            "exit_code": repeat.exit_code,
            "unit": UNIT,
            **{f"factor_{name}": value for name, value in run.factors.items()},
            **{f"metric_{name}": metric.value for name, metric in repeat.metrics.items()},
        }
        for of_part, energies in _parts(repeat, regions=regions):
            for is_total, energy in energies:
                yield {
                    **common,
                    **of_part,
                    **_of_energy(energy),
                    "is_total": is_total,
                    "processor": processors.get(energy.node, ""),
                    "idle_w": idle.watts(energy.node, energy.channel),
                }


def _parts(repeat: Repeat, *, regions: bool) -> Iterator[tuple[dict[str, Cell], list[tuple[bool, Energy]]]]:
    """The repeat, or each of its regions: its times, and its energies, each with whether it is a total."""
    if not regions:
        whole: dict[str, Cell] = {"region": "", "time_s": repeat.wall_s, "cpu_s": repeat.cpu_s}
        yield whole, _labelled(repeat.totals, repeat.energy)
        return
    for region in repeat.regions:
        part: dict[str, Cell] = {"region": region.name, "time_s": region.wall_s, "cpu_s": region.cpu_s}
        yield part, _labelled(node_totals(region.energy), region.energy)


def _labelled(totals: Sequence[Energy], channels: Sequence[Energy]) -> list[tuple[bool, Energy]]:
    return [(True, total) for total in totals] + [(False, channel) for channel in channels]


def _of_energy(energy: Energy) -> dict[str, Cell]:
    same = ("wraps", "gaps", "resets", "stale", "lower_bound", "bytes", "channel")
    return {
        "host": energy.node,
        "domain": energy.domain.value,
        "kind": energy.kind.value,
        "energy": energy.joules,
        "energy_low": energy.low_j,
        "energy_high": energy.high_j,
        **{name: getattr(energy, name) for name in same},
    }


def _type_of(values: Sequence[Cell]) -> pa.DataType:
    """The narrowest type that holds all values of a factor: whole numbers, numbers or text."""
    there = [value for value in values if value is not None]
    if all(isinstance(value, int) for value in there):
        return pa.int64()
    return pa.float64() if all(isinstance(value, int | float) for value in there) else pa.string()


def _as(kind: pa.DataType, value: Cell) -> Cell:
    if value is None or not pa.types.is_string(kind):
        return value
    return str(value)
