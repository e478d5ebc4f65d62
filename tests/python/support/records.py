"""A builder of synthetic records for tests: complete records with given times and energies."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa

from lull import record
from lull.record import (
    Channel,
    Combination,
    Domain,
    Energy,
    EnergyKind,
    Host,
    IdlePower,
    Metric,
    Output,
    OutputAmount,
    OutputClients,
    OutputServers,
    Region,
    Repeat,
    Run,
    Waiting,
    WaitingRow,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TIMES = [10.0, 10.2, 9.9, 10.1, 10.3, 9.8, 10.05, 9.95, 10.15, 10.0]
SPLIT = {Domain.PACKAGE: 0.8, Domain.DRAM: 0.2}


def host(node: str = "n1", processor: str = "Imaginary 9000") -> Host:
    return Host(node=node, boot_id="b" * 8, processor=processor, cores=16, memory_bytes=64 << 30, kernel="Linux 6.1")


def energy(
    joules: float,
    domain: Domain = Domain.PACKAGE,
    *,
    node: str = "n1",
    channel: str = "",
    kind: EnergyKind = EnergyKind.VENDOR_MODEL,
    band: float = 0.05,
    bytes: int | None = None,
    gaps: int = 0,
    resets: int = 0,
) -> Energy:
    return Energy(
        node=node,
        domain=domain,
        channel=channel or f"powercap:{domain.value}",
        kind=kind,
        joules=joules,
        low_j=joules * (1 - band),
        high_j=joules * (1 + band),
        bytes=bytes,
        gaps=gaps,
        resets=resets,
        lower_bound=resets > 0,
    )


def idle(watts: float, *, node: str = "n1", seconds: float = 30.0, band: float = 0.05) -> list[IdlePower]:
    """Idle power of the channels of `run`, divided among them like its energies."""
    return [
        IdlePower(
            node=node,
            domain=domain,
            channel=f"powercap:{domain.value}",
            kind=EnergyKind.VENDOR_MODEL,
            watts=watts * share,
            low_w=watts * share * (1 - band),
            high_w=watts * share * (1 + band),
            seconds=seconds,
        )
        for domain, share in SPLIT.items()
    ]


def repeat(
    index: int,
    wall_s: float,
    joules: float,
    *,
    nodes: Sequence[str] = ("n1",),
    kind: EnergyKind = EnergyKind.VENDOR_MODEL,
    started: datetime = NOON,
    exit_code: int = 0,
    wire_bytes: int = 0,
    regions: dict[str, float] | None = None,
    metrics: dict[str, float] | None = None,
    unit: str = "",
    gaps: int = 0,
    resets: int = 0,
    whole: bool = False,
) -> Repeat:
    """One repeat of `joules` over all nodes; `regions` maps a name to its share of time and energy.

    `whole`: a meter of the node itself, instead of package and dram.
    """

    def parts(share: float) -> list[Energy]:
        found = []
        for node in nodes:
            each = joules * share / len(nodes)
            if whole:
                found.append(energy(each, Domain.NODE, node=node, channel="cray:node", kind=kind))
            else:
                found += [energy(each * s, d, node=node, kind=kind) for d, s in SPLIT.items()]
            if wire_bytes:
                found.append(wire(node, share))
        return found

    def wire(node: str, share: float = 1.0) -> Energy:
        octets = int(wire_bytes * share / len(nodes))
        return energy(octets * 6e-10, Domain.WIRE, node=node, channel="net:eth0", kind=EnergyKind.DERIVED, bytes=octets)

    totals = []
    for node in nodes:
        name = "cray:node" if whole else "package + dram"
        totals.append(
            energy(joules / len(nodes), Domain.NODE, node=node, channel=name, kind=kind, gaps=gaps, resets=resets)
        )
        if wire_bytes:
            totals.append(wire(node))
    begin = 0.0
    made = []
    for name, share in (regions or {}).items():
        made.append(
            Region(
                name=name,
                begin_s=begin,
                end_s=begin + wall_s * share,
                wall_s=wall_s * share,
                cpu_s=wall_s * share * 8,
                count=1,
                pes=8,
                energy=parts(share),
            )
        )
        begin += wall_s * share
    return Repeat(
        index=index,
        started=started,
        wall_s=wall_s,
        cpu_s=wall_s * 8,
        max_rss_bytes=1 << 28,
        exit_code=exit_code,
        energy=parts(1.0),
        totals=totals,
        regions=made,
        metrics={
            name: Metric(value=value, unit=unit, combination=Combination.SUM) for name, value in (metrics or {}).items()
        },
    )


def run(
    label: str = "A",
    times: Sequence[float] = TIMES,
    powers: Sequence[float] | float = 200.0,
    *,
    nodes: Sequence[str] = ("n1",),
    kind: EnergyKind = EnergyKind.VENDOR_MODEL,
    interval_s: float = 0.001,
    start: datetime = NOON,
    exit_codes: Sequence[int] = (),
    settings: dict[str, str] | None = None,
    factors: dict[str, str | int | float] | None = None,
    processor: str = "Imaginary 9000",
    wire_bytes: int = 0,
    regions: dict[str, float] | None = None,
    metrics: dict[str, float] | None = None,
    unit: str = "",
    gaps: int = 0,
    resets: int = 0,
    whole: bool = False,
) -> Run:
    """A record whose repeat i took times[i] seconds at powers[i] watts (or one power for all)."""
    watts = [powers] * len(times) if isinstance(powers, int | float) else list(powers)
    domains = {"cray:node": Domain.NODE} if whole else {f"powercap:{domain.value}": domain for domain in SPLIT}
    channels = [
        Channel(
            name=name,
            source=name.partition(":")[0],
            node=node,
            domain=domain,
            kind=kind,
            interval_s=interval_s,
            basis=f"/sys/class/{name.partition(':')[0]}/{domain.value}/energy_uj",
        )
        for node in nodes
        for name, domain in domains.items()
    ]
    if wire_bytes:
        channels += [
            Channel(
                name="net:eth0",
                source="net",
                node=node,
                domain=Domain.WIRE,
                kind=EnergyKind.DERIVED,
                interval_s=0,
                basis="octets of /sys/class/net/eth0 at 15 W per 25 GB/s",
            )
            for node in nodes
        ]
    return Run(
        lull_version="0.1.0",
        label=label,
        command=["mpirun", "-n", "8", "./histogram"],
        created=start,
        sampling_hz=10,
        settings=settings or {"LULL_WAIT": "poll"},
        factors=factors or {},
        hosts=[host(node, processor) for node in nodes],
        channels=channels,
        repeats=[
            repeat(
                i,
                seconds,
                seconds * watts[i],
                nodes=nodes,
                kind=kind,
                started=start + timedelta(minutes=2 * i),
                exit_code=exit_codes[i] if i < len(exit_codes) else 0,
                wire_bytes=wire_bytes,
                regions=regions,
                metrics=metrics,
                unit=unit,
                gaps=gaps,
                resets=resets,
                whole=whole,
            )
            for i, seconds in enumerate(times)
        ],
    )


def waiting(rows: dict[tuple[str, int], float], *, cpu_s: float = 40.0, policy: str = "interrupt") -> Waiting:
    """The cost of waiting in a job of 8 PEs; `rows` maps an operation and size to the CPU seconds of its waits."""
    return Waiting(
        policy=policy,
        pes=8,
        nodes=1,
        wall_s=9.5,
        cpu_s=cpu_s,
        progress_cpu_s=cpu_s / 10,
        frequency_changes=0,
        changing_frequency_s=0,
        rows=[
            WaitingRow(
                operation=operation,
                up_to_bytes=size,
                count=100,
                bytes=100 * size,
                waits=80,
                waited_s=2 * seconds,
                asleep_s=seconds,
                cpu_s=seconds,
                sleeps=70,
                timeouts=0,
                missed=0,
            )
            for (operation, size), seconds in rows.items()
        ],
    )


def output(clients: int = 3, servers: int = 1, *, approach: str = "dedicated-cores=1") -> Output:
    """The cost of a job's output: 20 files per client, which computed 6 of its 8 seconds."""
    files = OutputAmount(files=20 * clients, bytes=20_000_000 * clients)
    none = OutputAmount(files=0, bytes=0)
    return Output(
        approach=approach,
        nodes=1,
        outputs=20,
        clients=OutputClients(
            processes=clients,
            wall_s=8.0 * clients,
            compute_s=6.0 * clients,
            stall_s=1.5 * clients,
            write_s=0.5 * clients,
            cpu_s=5.0 * clients,
            handed_over=files if servers else none,
            wrote_itself=none if servers else files,
            dropped=none,
            too_large=0,
        ),
        servers=OutputServers(
            processes=servers,
            wall_s=8.0 * servers,
            idle_s=7.0 * servers,
            write_s=1.0 * servers,
            cpu_s=5.0 * servers,
            written=files if servers else none,
            failed=0,
        ),
    )


def with_output(of: Run, *jobs: Output) -> Run:
    """The same record, with `jobs` in each repeat."""
    return of.model_copy(
        update={"repeats": [repeat.model_copy(update={"output": list(jobs)}) for repeat in of.repeats]}
    )


def with_waiting(of: Run, *jobs: Waiting) -> Run:
    """The same record, with `jobs` in each repeat."""
    return of.model_copy(
        update={"repeats": [repeat.model_copy(update={"waiting": list(jobs)}) for repeat in of.repeats]}
    )


def samples(of: Run, hz: float = 10.0) -> pa.Table:
    """Cumulative energy over time of every channel, with a slightly varying power."""
    rows = []
    for one in of.repeats:
        for part in one.energy:
            steps = max(int(one.wall_s * hz), 1)
            weights = [1 + 0.3 * ((i * 7) % 11 - 5) / 5 for i in range(steps)]
            reached = 0.0
            for i in range(steps + 1):
                rows.append(
                    {
                        "repeat": one.index,
                        "time_s": one.wall_s * i / steps,
                        "node": part.node,
                        "channel": part.channel,
                        "domain": part.domain.value,
                        "kind": part.kind.value,
                        "joules": reached,
                    }
                )
                reached += part.joules * weights[i] / sum(weights) if i < steps else 0.0
    return pa.Table.from_pylist(rows, schema=record.SAMPLES_SCHEMA)


def write(folder: Path, of: Run) -> Path:
    """Write `of` and its samples as a record; returns the folder."""
    record.write(folder, of, samples(of))
    return folder


def faster(times: Sequence[float], by: float) -> list[float]:
    """Times divided by `by`, in another order, so that the two sides are not copies of each other."""
    return [times[(3 * i) % len(times)] / by for i in range(len(times))]
