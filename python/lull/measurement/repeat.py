"""One measured repeat of a command, and the record of all repeats of one command."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from lull import __version__, record
from lull.base.guard import Stream, run_guarded
from lull.base.interrupts import Interrupts
from lull.base.text import readable
from lull.hosts.virtual import hosts_there
from lull.meter.cpu_time import OthersTime
from lull.meter.meter import Meter
from lull.record import Energy, IdlePower, Repeat
from lull.record.totals import disbelieved, node_totals
from lull.regions.accounts import keep_those_of, merge_metrics, merge_regions, read_accounts
from lull.regions.scratch import scratch_folder


@dataclass(frozen=True)
class MeasuredRepeat:
    """One repeat: its part of run.json, its rows of samples.parquet, warnings in words, and when it began."""

    repeat: Repeat
    samples: pa.Table
    warnings: list[str] = field(default_factory=list)
    begin_ns: int = 0  # by CLOCK_MONOTONIC; the times of samples count from here


def measure_repeat(
    command: Sequence[str],
    meter: Meter,
    index: int,
    *,
    env: Mapping[str, str],
    cwd: Path | None = None,
    interrupts: Interrupts | None = None,
    stdin: Stream = None,
    stdout: Stream = None,
    stderr: Stream = None,
) -> MeasuredRepeat:
    """Run `command` once and measure it.

    Time and energy are those between two time stamps that the guard takes around the command; they exclude the start of
    the meter and of Python.

    Args:
        command: Program and arguments.
        meter: A meter that is not running.
        index: Number of the repeat, from 0.
        env: The whole environment of the command; LULL_RECORD is added.
        cwd: The folder it runs in; None: ours.
        interrupts: Signals to pass on to the command.
        stdin: As for `subprocess.Popen`; None inherits ours.
        stdout: Likewise.
        stderr: Likewise.

    Raises:
        CannotExecuteError: The command does not exist or is not executable.
        InterruptedBySignal: A signal asked to stop; this repeat is void.
        LullError: The meter or the guard failed.
    """
    with scratch_folder() as folder:
        started = datetime.now(UTC)
        others = OthersTime()
        continued = interrupts.continued if interrupts else 0
        meter.start()
        try:
            ending = run_guarded(
                command,
                env={**env, "LULL_RECORD": str(folder)},
                cwd=cwd,
                interrupts=interrupts,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
            )
        finally:
            series = meter.stop()
        others_cpu_s = others.since(ending.user_s + ending.system_s)
        parts = [host.name for host in hosts_there()]
        found = keep_those_of(record.this_host().node, read_accounts(folder), parts)
    energy = series.energy([(ending.begin_ns, ending.end_ns)])
    metrics = merge_metrics(found.accounts)
    repeat = Repeat(
        index=index,
        started=started,
        wall_s=(ending.end_ns - ending.begin_ns) / 1e9,
        cpu_s=ending.user_s + ending.system_s,
        max_rss_bytes=ending.max_rss_bytes,
        exit_code=ending.exit_code,
        energy=energy,
        totals=node_totals(energy),
        regions=merge_regions(found.accounts, series, ending.begin_ns),
        metrics=metrics.metrics,
        waiting=found.waiting,
        output=found.output,
        choices=found.choices,
        left_behind=ending.left_behind.processes,
        others_cpu_s=others_cpu_s,
        node_cpus=os.cpu_count(),
        visits_missing=found.visits_missing,
    )
    warnings = [*found.warnings, *metrics.disputed.values(), *series.complaints, *map(_too_low, disbelieved(energy))]
    if interrupts and interrupts.continued > continued:
        warnings.append("the command was stopped for a while (Ctrl-Z), and its time and energy contain the pause")
    if ending.left_behind.processes:
        warnings.append(ending.left_behind.words)
    return MeasuredRepeat(repeat, series.table(index, ending.begin_ns), warnings, ending.begin_ns)


def _too_low(meter: Energy) -> str:
    return (
        f"{meter.channel} counted {meter.joules:.4g} J, less than the packages and memory inside the node: it is not"
        " taken for the node's energy"
    )


def compose_run(
    label: str,
    command: Sequence[str],
    meter: Meter,
    hz: float,
    settings: Mapping[str, str],
    repeats: Sequence[Repeat],
    factors: Mapping[str, str | int | float] | None = None,
    idle: Sequence[IdlePower] = (),
    series: str = "",
) -> record.Run:
    """The content of run.json for `repeats` of one command on this machine; `series` names rounds that it shares."""
    return record.Run(
        lull_version=__version__,
        label=readable(label),
        command=[readable(word) for word in command],
        created=datetime.now(UTC),
        sampling_hz=hz,
        settings={name: readable(value) for name, value in settings.items() if name != "LULL_RECORD"},
        factors=dict(factors or {}),
        hosts=[record.this_host()],
        channels=meter.channels,
        idle=list(idle),
        series=series,
        repeats=list(repeats),
    )
