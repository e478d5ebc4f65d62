"""The results of a finished study: comparisons, drawings, the paper's claims, and the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lull import record
from lull.comparison.compare import compare_pairs
from lull.comparison.describe import ratios
from lull.comparison.result import Comparison
from lull.present.document import Document, Line, Note, Part
from lull.report.comparisons import condense
from lull.report.tabled_plot import TabledPlot
from lull.report.write import PlotFiles, write_plots, write_report
from lull.study import paper_table
from lull.study.runs.bars import bar_plots
from lull.study.runs.claims import Finding, StudyComparison, find
from lull.study.runs.curves import families, plot_of
from lull.study.runs.description import StudyOfRuns
from lull.study.runs.impacts import impact_plots
from lull.study.runs.points import Point, factors_in_words, pairs, point_name


@dataclass(frozen=True)
class Outcome:
    """The results of a study."""

    rows: list[tuple[str, Comparison]]  # the comparisons that are listed, by name
    curves: list[TabledPlot]
    impacts: list[TabledPlot]
    bars: list[TabledPlot]
    warnings: list[str]  # those of all comparisons, each once
    findings: list[Finding]

    @property
    def drawings(self) -> list[TabledPlot]:
        """All drawings, in order."""
        return [*self.curves, *self.impacts, *self.bars]


def outcome_of(study: StudyOfRuns, points: Sequence[Point], folder: Path) -> Outcome:
    """Compare the records of all points in `folder`, and judge the paper's claims.

    Raises:
        LullError: A record cannot be read, or two cannot be compared.
    """
    runs = {point.name: record.read(folder / point.name) for point in points}
    wanted = [(comparison, *pair) for comparison in study.compare for pair in pairs(study, comparison)]
    sides = [(runs[point_name(baseline)], runs[point_name(candidate)]) for _, _, baseline, candidate in wanted]
    compared, listed = [], []
    found = compare_pairs(sides, region=study.measure.region, per=study.measure.per)
    for (comparison, fixed, _, _), (first, second), one in zip(wanted, sides, found, strict=True):
        varying = {name: value for name, value in fixed.items() if len(study.factors[name]) > 1}
        compared.append(StudyComparison(comparison.name, fixed, factors_in_words(varying), one, first, second))
        if comparison.listed:
            listed.append(compared[-1])
    return Outcome(
        rows=[(f"{one.name}: {one.where}" if one.where else one.name, one.comparison) for one in listed],
        curves=[plot_of(one, f"curves-{place}") for place, one in enumerate(families(study, runs), 1)],
        impacts=impact_plots(study, compared),
        bars=bar_plots(study, runs),
        warnings=condense([warning for one in compared for warning in one.comparison.warnings]),
        findings=[find(claim, compared, study.measure.region) for claim in study.paper_results],
    )


def describe(study: StudyOfRuns, outcome: Outcome) -> Document:
    """The comparisons, the tables of the drawings, and the paper's claims."""
    parts: list[Part] = [
        Line(study.question),
        *([ratios(outcome.rows)] if outcome.rows else []),
        *(drawn.table() for drawn in outcome.drawings),
        *map(Note, outcome.warnings),
        *([Note(study.note)] if study.note else []),
        *paper_table.describe(study.paper, outcome.findings),
    ]
    return Document(study.title, tuple(parts))


def write_outcome(study: StudyOfRuns, points: Sequence[Point], folder: Path, outcome: Outcome) -> Path:
    """Write the plots and the report into the folder of the study; return the report.

    Raises:
        LullError: A file cannot be written.
    """
    for form in ("svg", "pdf") if outcome.drawings else ():
        write_plots({one.name: one.plot for one in outcome.drawings}, PlotFiles(folder / "plots", form))
    claims = paper_table.rows(outcome.findings)
    report = folder / "report.html"
    write_report(
        [folder / point.name for point in points],
        report,
        study.title,
        outcome.rows,
        claims,
        curves=outcome.curves,
        impacts=outcome.impacts,
        bars=outcome.bars,
        source=study.paper.citation if study.paper else "",
        region=study.measure.region,
        per=study.measure.per,
    )
    return report
