"""The content of a report: collected from records, and rendered with `templates/report.html.j2`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lull import __version__, record
from lull.base.errors import LullError
from lull.comparison.compare import compare_all, refuse_mixed
from lull.comparison.quantity import Quantity, quantity
from lull.comparison.result import Comparison
from lull.comparison.table import Row, rows, sensor_words
from lull.record import Energy, EnergyKind, Run
from lull.record.labels import distinct
from lull.report import plots, tables
from lull.report.choices import choice_rows, choices_of, choices_plot
from lull.report.output import output_rows
from lull.report.quadrant import MOST_NAMES, gps_up
from lull.report.rendering import rendered
from lull.report.scaling import scaling, scaling_plot
from lull.report.svg import Plot
from lull.report.waiting import waiting_tables
from lull.statistics import bootstrap, formatting, gpsup

if TYPE_CHECKING:
    from lull.report.tabled_plot import TabledPlot

MOST_DRAWN = 40  # most records with plots; with more, only comparisons, curves and tables are shown
OPEN_POWER = 2  # plots of power over time that are open initially; the others are folded

KINDS = {
    EnergyKind.MEASURED: "read from a hardware meter",
    EnergyKind.VENDOR_MODEL: "computed inside the processor or device by the vendor's model (e.g. RAPL)",
    EnergyKind.DERIVED: "computed from a measured quantity by a stated formula, e.g. bytes sent times energy per byte",
    EnergyKind.ESTIMATED: "computed from activity with published coefficients; no meter was readable",
    EnergyKind.SIMULATED: "the output of a simulator",
}


@dataclass(frozen=True)
class PageComparison:
    """One comparison in the form of the page."""

    name: str
    verdict: str
    found: Comparison
    rows: list[Row]
    tone: str  # saves, wastes or neither: class and marker
    mark: str
    sensor: str
    warnings: list[str]  # below the verdict: those that do not apply to all
    notes: list[str]  # below the numbers: within a part, all of them


@dataclass(frozen=True)
class ComparisonGroup:
    """Comparisons in one table and one plane; a single group has no title."""

    title: str
    words: str  # the number that save and that waste energy
    compared: list[PageComparison]
    plane: str


@dataclass(frozen=True)
class Fold:
    """A plot that can be folded."""

    name: str
    svg: str
    opened: bool


@dataclass(frozen=True)
class Page:
    """The page as HTML text, and its plots by the names of their files."""

    text: str
    plots: dict[str, Plot] = field(default_factory=dict)


@dataclass
class Drawn:
    """The plots of a page, collected while they are inserted."""

    plots: dict[str, Plot] = field(default_factory=dict)

    def svg(self, name: str, plot: Plot) -> str:
        """Keep the plot under its name; return its SVG text, in which every id begins with the name."""
        self.plots[name] = plot
        return plot.svg(name)


def render_page(
    folders: list[Path],
    *,
    title: str | None,
    comparisons: list[tuple[str, Comparison]] | None,
    claims: list[dict[str, str]],
    curves: Sequence[TabledPlot] = (),
    impacts: Sequence[TabledPlot] = (),
    bars: Sequence[TabledPlot] = (),
    traces: Sequence[TabledPlot] = (),
    source: str,
    baseline: int,
    region: str | None,
    per: str | None,
    allow_mixed: bool,
) -> Page:
    """The report on the records in `folders`; see `lull.report.write.write_report` for the arguments."""
    runs = distinct(folders, [record.read(folder) for folder in folders])
    quantities = [(run.label, quantity(run, region=region, per=per)) for run in runs]
    refused: list[str] = []
    against = None
    if comparisons is None:
        against = runs[baseline].label if len(runs) > 1 else None
        comparisons, refused = _compare(runs, quantities, baseline, region=region, per=per, allow_mixed=allow_mixed)
    parted = planes(comparisons)
    if len(parted) > 1:  # too many to repeat the same words for each
        common = condense([line for _, found in comparisons for line in found.warnings])
    else:
        common = _common_warnings([found for _, found in comparisons])
    few = len(runs) <= MOST_DRAWN
    grown = scaling([(quantity(run, region=region), run) for run in runs]) if few else None
    drawn = Drawn()
    choices = choices_of(quantities)
    of_choices = choices_plot(choices)
    days = sorted({f"{run.created:%Y-%m-%d}" for run in runs})
    text = rendered(
        "report.html.j2",
        title=title or ("Time and energy of " + ", ".join(run.label for run in runs[:4]) + (" …" * (len(runs) > 4))),
        version=__version__,
        days=days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}",
        words=quantities[0][1].words,
        records=len(runs),
        baseline=against,
        commands=list(dict.fromkeys(shlex.join(run.command) for run in runs)),
        parts=[_part(f"gps-up-{place}", *part, common, drawn) for place, part in enumerate(parted, 1)],
        common_warnings=common,
        refused=refused,
        claims=claims,
        source=source,
        claim_columns=list(dict.fromkeys(key for claim in claims for key in claim)),
        energy_words=tables.energy_words(quantities),
        curves=[(one, drawn.svg(one.name, one.plot)) for one in curves],
        impacts=[(one, drawn.svg(one.name, one.plot)) for one in impacts],
        bars=[(one, drawn.svg(one.name, one.plot)) for one in bars],
        traces=[(one, drawn.svg(one.name, one.plot)) for one in traces],
        runs_plot=drawn.svg("runs", plots.runs_of_each(quantities)) if few else "",
        domains_plot=drawn.svg("domains", plots.energy_by_domain(_energies_of(quantities, region))) if few else "",
        scaling_plot=drawn.svg("scaling", scaling_plot(grown)) if grown else "",
        scaling_unit=grown.unit if grown else "",
        scaling_rows=tables.scaling_rows(grown) if grown else [],
        power_plots=_power_plots(folders, runs, drawn) if few else [],
        run_rows=[tables.run_row(name, q, sample) for name, q in quantities for sample in q.samples],
        node_rows=tables.node_rows(quantities),
        waiting=waiting_tables(quantities),
        output=output_rows(quantities),
        choice_rows=choice_rows(choices),
        choices_plot=drawn.svg("choices", of_choices) if of_choices else "",
        failed=[(name, [index + 1 for index in q.failed]) for name, q in quantities if q.failed],
        settings=tables.settings(runs),
        hosts=tables.hosts(runs),
        channels=tables.channels(runs),
        faults=tables.faults(quantities),
        idle=[(run.label, idle) for run in runs for idle in run.idle],
        origins=tables.origins(runs),
        versions=tables.versions(),
        seeds=sorted({(found.seed, found.resamples) for _, found in comparisons}),
        kinds=[(kind.value, KINDS[kind]) for kind in EnergyKind],
        kinds_of={kind.value: KINDS[kind] for kind in EnergyKind},
        categories=gpsup.CATEGORIES,
        delta=f"{gpsup.DELTA:.0%}".replace("%", " %"),
        least_runs=bootstrap.runs_for_interval(),
        ratio=formatting.ratio,
        probability=formatting.probability,
        si=formatting.si,
        si_range=formatting.si_range,
    )
    return Page(text, drawn.plots)


def _compare(
    runs: Sequence[Run],
    quantities: Sequence[tuple[str, Quantity]],
    baseline: int,
    *,
    region: str | None,
    per: str | None,
    allow_mixed: bool,
) -> tuple[list[tuple[str, Comparison]], list[str]]:
    """Every record compared with the baseline, and, in words, those that cannot be compared."""
    candidates, refused = [], []
    for place, run in enumerate(runs):
        if place == baseline:
            continue
        try:
            if not allow_mixed:
                refuse_mixed(quantities[baseline][1], quantities[place][1])
            candidates.append(run)
        except LullError as error:
            refused.append(f"{run.label} is not compared: {str(error).partition(': ')[2]}")
    found = compare_all(runs[baseline], candidates, region=region, per=per, allow_mixed=allow_mixed)
    return [(run.label, one) for run, one in zip(candidates, found, strict=True)], refused


def _common_warnings(comparisons: Sequence[Comparison]) -> list[str]:
    """The caveats that apply to all of several comparisons."""
    if len(comparisons) < 2:
        return []
    return [line for line in comparisons[0].warnings if all(line in one.warnings for one in comparisons)]


def planes(comparisons: Sequence[tuple[str, Comparison]]) -> list[tuple[str, list[tuple[str, Comparison]]]]:
    """The comparisons of each GPS-UP plane, with the title of the plane.

    Too many comparisons of a study for one plane are divided by their subject: their names are ``what: where``.
    """
    if not comparisons:
        return []
    parts: dict[str, list[tuple[str, Comparison]]] = {}
    for name, found in comparisons:
        what, colon, where = name.partition(": ")
        parts.setdefault(what, []).append((where if colon else name, found))
    if len(comparisons) <= MOST_NAMES or len(parts) == 1 or len(parts) == len(comparisons):
        return [("", list(comparisons))]
    return list(parts.items())


def condense(warnings: list[str]) -> list[str]:
    """The warnings in order, each once; of those that differ only in names and numbers, the first and their number.

    The text before a colon in a warning names its record.
    """
    alike: dict[str, list[str]] = {}
    for warning in dict.fromkeys(warnings):
        shape = re.sub(r"[0-9.]+( [mun]?s\b)?", "#", re.sub(r"^[^ ]+: ", "", warning))
        alike.setdefault(shape, []).append(warning)
    return [
        found[0] if len(found) == 1 else f"{found[0]} (and {len(found) - 1} more like this)" for found in alike.values()
    ]


def _part(
    plane: str, title: str, comparisons: Sequence[tuple[str, Comparison]], common: list[str], drawn: Drawn
) -> ComparisonGroup:
    saves = [found.saves for _, found in comparisons]
    words = f"of {len(saves)}, {saves.count(True)} save energy, {saves.count(False)} waste it"
    compared = [_compared(name, found, common, in_part=bool(title)) for name, found in comparisons]
    return ComparisonGroup(title, words, compared, drawn.svg(plane if title else "gps-up", gps_up(comparisons)))


def _compared(name: str, found: Comparison, common: list[str], *, in_part: bool) -> PageComparison:
    tone, mark = {True: ("saves", "●"), False: ("wastes", "■"), None: ("neither", "◆")}[found.saves]
    sensor = sensor_words(found)
    if in_part:
        verdict = found.verdict.removeprefix(f"{found.candidate.label} ")
        return PageComparison(name, verdict, found, rows(found), tone, mark, sensor, [], found.warnings)
    own = [line for line in found.warnings if line not in common]
    return PageComparison(name, found.verdict, found, rows(found), tone, mark, sensor, own, [])


def _energies_of(
    quantities: Sequence[tuple[str, Quantity]], region: str | None
) -> list[tuple[str, list[list[Energy]]]]:
    return [(name, _energies(of, region)) for name, of in quantities]


def _energies(of: Quantity, region: str | None) -> list[list[Energy]]:
    """The energies of each successful repeat, or of its region."""
    counts = {sample.index for sample in of.samples}
    repeats = [repeat for repeat in of.run.repeats if repeat.index in counts]
    if region is None:
        return [repeat.energy or repeat.totals for repeat in repeats]
    return [part.energy for repeat in repeats for part in repeat.regions if part.name == region]


def _power_plots(folders: list[Path], runs: list[Run], drawn: Drawn) -> list[Fold]:
    made: list[Fold] = []
    for place, (folder, run) in enumerate(zip(folders, runs, strict=True)):
        repeat = plots.typical_repeat(run)
        if repeat is None:
            continue
        plot = plots.power_over_time(run, record.read_samples(folder), repeat)
        if plot is not None:
            name = f"power-{place + 1}-{re.sub('[^A-Za-z0-9]+', '-', run.label).strip('-').lower()}".strip("-")
            made.append(Fold(f"{run.label}, repeat {repeat + 1}", drawn.svg(name, plot), len(made) < OPEN_POWER))
    return made
