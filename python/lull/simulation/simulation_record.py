"""The record of a simulation: a run that all parts of Lull read, with simulation.json and links.parquet added.

Its time is simulated time. Its energy has the domain `wire` and the kind `simulated`, and exists only if the power of a
link was given. The metrics always contain the share of active power.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from lull import __version__, record
from lull.base.text import readable
from lull.record import Channel, Domain, Energy, EnergyKind, Repeat, Run
from lull.simulation.account import (
    LINKS_FILE,
    SIMULATION_FILE,
    RepeatAccount,
    SimulationFile,
    metrics_of,
    parquet_bytes,
)
from lull.statistics import formatting

CHANNEL = "links:all"
NETWORK = "network"  # the node of all energies: the simulated network as a whole
SOURCE = "links"


def repeat_of(figures: RepeatAccount, index: int, started: datetime) -> Repeat:
    """One simulation as a repeat of a record."""
    energy = []
    if figures.joules is not None:
        energy = [
            Energy(
                node=NETWORK,
                domain=Domain.WIRE,
                channel=CHANNEL,
                kind=EnergyKind.SIMULATED,
                joules=figures.joules,
                low_j=figures.joules,
                high_j=figures.joules,
                bytes=figures.bytes_delivered,
            )
        ]
    return Repeat(
        index=index,
        started=started,
        wall_s=figures.simulated_s,
        cpu_s=0,
        max_rss_bytes=0,
        exit_code=0,
        energy=energy,
        totals=energy,
        metrics=metrics_of(figures),
    )


def run_of(
    label: str,
    command: Sequence[str],
    file: SimulationFile,
    started: Sequence[datetime],
    factors: Mapping[str, str | int | float] | None = None,
) -> Run:
    """The run.json of a simulation with its repeats; `started` has the time at which each was simulated."""
    watts = file.description["power"].get("link_watts")
    power = f"{watts:g} W each when active" if watts else "power as a share of active power only"
    channel = Channel(
        name=CHANNEL,
        source=SOURCE,
        node=NETWORK,
        domain=Domain.WIRE,
        kind=EnergyKind.SIMULATED,
        interval_s=0,
        basis=f"time of {formatting.count(file.links, 'link')} in each power state, {power}",
    )
    return Run(
        lull_version=__version__,
        label=readable(label),
        command=[readable(word) for word in command],
        created=datetime.now(UTC),
        sampling_hz=1,
        settings={},
        factors=dict(factors or {}),
        hosts=[],
        channels=[channel],
        repeats=[repeat_of(figures, i, at) for i, (figures, at) in enumerate(zip(file.repeats, started, strict=True))],
    )


def write(folder: Path, run: Run, file: SimulationFile, links: pa.Table) -> None:
    """Write the record of a simulation so that it is whole or absent.

    Raises:
        LullError: The folder is taken or cannot be written.
    """
    beside = {
        SIMULATION_FILE: (file.model_dump_json(by_alias=True, indent=1) + "\n").encode(),
        LINKS_FILE: parquet_bytes(links),
    }
    record.write(folder, run, pa.Table.from_batches([], record.SAMPLES_SCHEMA), beside)
