"""What a report says: gathered from records into plain rows, which `templates/report.html.j2` sets as a page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lull import __version__, figures, gpsup, plots, record, stats
from lull.compare import distinct
from lull.comparing import compare_runs
from lull.comparison import Comparison
from lull.comparison_table import Row, rows
from lull.errors import LullError
from lull.quantity import Quantity, Sample, quantity
from lull.record import Channel, Energy, EnergyKind, Run

TEMPLATES = Path(__file__).parent / "templates"
OPEN_POWER = 2  # plots of power over time that stand open at once; the rest unfold

KINDS = {
    EnergyKind.MEASURED: "read from a meter of the hardware",
    EnergyKind.VENDOR_MODEL: "computed inside the processor or device by its maker's model of itself (e.g. RAPL)",
    EnergyKind.DERIVED: "computed from something measured by a stated formula, e.g. bytes sent times energy per byte",
    EnergyKind.ESTIMATED: "computed from activity with published coefficients; no meter was readable",
    EnergyKind.SIMULATED: "the output of a simulator",
}


@dataclass(frozen=True)
class Cell:
    """A cell of a sortable table: what is shown, and the number it is sorted by when it is one."""

    text: str
    sort: float | str | None = None
    kind: str = ""


@dataclass(frozen=True)
class Compared:
    """One comparison as the page shows it."""

    name: str
    found: Comparison
    rows: list[Row]
    tone: str  # saves, wastes or neither: class and marker
    mark: str


@dataclass(frozen=True)
class Fold:
    """A plot that may be folded away."""

    name: str
    svg: str
    opened: bool


def render_page(
    folders: list[Path],
    *,
    title: str | None,
    comparisons: list[tuple[str, Comparison]] | None,
    claims: list[dict[str, str]],
    source: str,
    baseline: int,
    region: str | None,
    per: str | None,
    allow_mixed: bool,
) -> str:
    """The report on the records in `folders` as HTML text; see `lull.report.write_report` for the arguments."""
    import jinja2

    runs = distinct(folders, [record.read(folder) for folder in folders])
    quantities = [(run.label, quantity(run, region=region, per=per)) for run in runs]
    refused: list[str] = []
    against = None
    if comparisons is None:
        comparisons = []
        against = runs[baseline].label if len(runs) > 1 else None
        for place, run in enumerate(runs):
            if place == baseline:
                continue
            try:
                found = compare_runs(runs[baseline], run, region=region, per=per, allow_mixed=allow_mixed)
                comparisons.append((run.label, found))
            except LullError as error:
                refused.append(f"{run.label} is not compared: {str(error).partition(': ')[2]}")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    commands = list(dict.fromkeys(" ".join(run.command) for run in runs))
    days = sorted({f"{run.created:%Y-%m-%d}" for run in runs})
    return environment.get_template("report.html.j2").render(
        title=title or ("Time and energy of " + ", ".join(run.label for run in runs[:4]) + (" …" * (len(runs) > 4))),
        version=__version__,
        days=days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}",
        words=quantities[0][1].words,
        records=len(runs),
        baseline=against,
        commands=commands,
        compared=[_compared(name, found) for name, found in comparisons],
        refused=refused,
        claims=claims,
        source=source,
        claim_columns=list(dict.fromkeys(key for claim in claims for key in claim)),
        gps_up=plots.gps_up(comparisons) if comparisons else "",
        runs_plot=plots.runs_of_each(quantities),
        domains_plot=plots.energy_by_domain([(name, _energies(q, region)) for name, q in quantities]),
        power_plots=_power_plots(folders, runs),
        run_rows=[_run_row(name, q, sample) for name, q in quantities for sample in q.samples],
        failed=[(name, [index + 1 for index in q.failed]) for name, q in quantities if q.failed],
        settings=_settings(runs),
        hosts=_hosts(runs),
        channels=_channels(runs),
        faults=_faults(quantities),
        kinds=[(kind.value, KINDS[kind]) for kind in EnergyKind],
        kinds_of={kind.value: KINDS[kind] for kind in EnergyKind},
        categories=gpsup.CATEGORIES,
        delta=f"{gpsup.DELTA:.0%}".replace("%", " %"),
        least_runs=stats.runs_for_interval(),
        ratio=figures.ratio,
        probability=figures.probability,
    )


def _compared(name: str, found: Comparison) -> Compared:
    tone, mark = {True: ("saves", "●"), False: ("wastes", "■"), None: ("neither", "◆")}[found.saves]
    return Compared(name, found, rows(found), tone, mark)


def _energies(of: Quantity, region: str | None) -> list[list[Energy]]:
    """The energies of each repeat that counts, or of the region in it."""
    counts = {sample.index for sample in of.samples}
    repeats = [repeat for repeat in of.run.repeats if repeat.index in counts]
    if region is None:
        return [repeat.energy or repeat.totals for repeat in repeats]
    return [part.energy for repeat in repeats for part in repeat.regions if part.name == region]


def _power_plots(folders: list[Path], runs: list[Run]) -> list[Fold]:
    made: list[Fold] = []
    for place, (folder, run) in enumerate(zip(folders, runs, strict=True)):
        repeat = plots.typical_repeat(run)
        drawn = (
            plots.power_over_time(run, record.read_samples(folder), repeat, f"power-{place}")
            if repeat is not None
            else None
        )
        if repeat is not None and drawn is not None:
            made.append(Fold(f"{run.label}, repeat {repeat + 1}", drawn, len(made) < OPEN_POWER))
    return made


def _run_row(name: str, of: Quantity, sample: Sample) -> list[Cell]:
    time, energy = sample.time_s / sample.work, sample.energy_j / sample.work
    low, high = sample.low_j / sample.work, sample.high_j / sample.work
    kind = sample.kind.value
    scope = " and ".join(dict.fromkeys(part.channel for part in sample.parts))
    sources = sorted({channel.source for channel in of.channels})
    wire = sample.wire
    return [
        Cell(name, name),
        Cell(str(sample.index + 1), sample.index),
        Cell(figures.si(time, "s"), time),
        Cell(figures.si(energy, "J"), energy, kind),
        Cell(f"{figures.si(low, 'J')} – {figures.si(high, 'J')}", high - low),
        Cell(figures.si(energy / time, "W"), energy / time, kind),
        Cell(scope + (f" ({', '.join(sources)})" if sources else ""), scope),
        Cell(figures.si(wire.joules / sample.work, "J"), wire.joules, wire.kind.value) if wire else Cell("–", 0.0),
    ]


@dataclass(frozen=True)
class Settings:
    """Settings and factors: those that differ between the records, as a table, and those alike in all."""

    names: list[str]
    rows: list[tuple[str, list[str]]]  # record and its values
    alike: list[tuple[str, str]]


def _settings(runs: list[Run]) -> Settings:
    tables = [{**{name: str(value) for name, value in run.factors.items()}, **run.settings} for run in runs]
    names = list(dict.fromkeys(name for table in tables for name in table))
    differ = [name for name in names if len({table.get(name) for table in tables}) > 1]
    return Settings(
        differ,
        [(run.label, [table.get(name, "default") for name in differ]) for run, table in zip(runs, tables, strict=True)],
        [(name, tables[0][name]) for name in names if name not in differ],
    )


def _which(labels: list[str], runs: list[Run]) -> str:
    """The records in a few words: all, all but x, a list, or how many."""
    there = list(dict.fromkeys(labels))
    missing = [run.label for run in runs if run.label not in there]
    if not missing:
        return "all"
    if len(there) <= 3:
        return ", ".join(there)
    return f"all but {', '.join(missing)}" if len(missing) <= 2 else f"{len(there)} of {len(runs)}"


def _hosts(runs: list[Run]) -> list[tuple[list[str], str]]:
    """Each host once, with the records made on it."""
    seen: dict[tuple[str, ...], list[str]] = {}
    for run in runs:
        for host in run.hosts:
            memory = f"{host.memory_bytes / 2**30:.0f} GiB"
            key = (host.node, host.processor, str(host.cores), memory, host.kernel)
            seen.setdefault(key, []).append(run.label)
    return [(list(key), _which(labels, runs)) for key, labels in seen.items()]


def _channels(runs: list[Run]) -> list[tuple[Channel, str, list[str], str]]:
    """Each channel once over the nodes that have it, with how often it changes, and the records."""
    seen: dict[tuple[str, ...], tuple[Channel, list[str], list[str]]] = {}
    for run in runs:
        for channel in run.channels:
            key = (channel.name, channel.domain, channel.kind, channel.basis, str(channel.interval_s))
            _, nodes, labels = seen.setdefault(key, (channel, [], []))
            nodes.append(channel.node)
            labels.append(run.label)
    return [
        (
            channel,
            figures.si(channel.interval_s, "s") if channel.interval_s else "at every reading",
            list(dict.fromkeys(nodes)),
            _which(labels, runs),
        )
        for channel, nodes, labels in seen.values()
    ]


def _faults(quantities: list[tuple[str, Quantity]]) -> list[tuple[str, list[int], bool]]:
    """Wraps, gaps, resets and stale readings of each record, and whether its energy is a lower bound."""
    made = []
    for name, of in quantities:
        parts = [part for sample in of.samples for part in sample.parts]
        counts = [sum(getattr(part, what) for part in parts) for what in ("wraps", "gaps", "resets", "stale")]
        unread = any(sample.unread_nodes for sample in of.samples)
        made.append((name, counts, unread or any(part.lower_bound for part in parts)))
    return made
