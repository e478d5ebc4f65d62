"""The results of a study of simulations so far: drawings and the paper's statements, on the screen and in report.html;
points.csv has every row, savings.csv what each setting saves without waits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lull import __version__
from lull.experiment.state import ExperimentState
from lull.present.document import Document, Line, Note, Part
from lull.report.rendering import rendered
from lull.report.tabled_plot import TabledPlot
from lull.report.write import PlotFiles, write_page, write_plots
from lull.statistics import formatting
from lull.study import paper_table
from lull.study.simulations import savings
from lull.study.simulations.description import StudyOfSimulations
from lull.study.simulations.figures import drawings
from lull.study.simulations.grids import Point
from lull.study.simulations.rows import Row, csv_text, rows_of
from lull.study.simulations.savings import SavingRow, savings_of
from lull.study.simulations.verdicts import Verdict, judge


@dataclass(frozen=True)
class Outcome:
    """The results."""

    rows: list[Row]
    savings: list[SavingRow]  # without waits
    drawings: list[TabledPlot]
    verdicts: list[Verdict]
    progress: list[str]  # for each grid, the number of finished points and their cost


def outcome_of(
    study: StudyOfSimulations,
    points: Sequence[Point],
    state: ExperimentState,
    taken: Mapping[str, Sequence[Row]] | None = None,
) -> Outcome:
    """Read the results of simulations, made here or, in `taken`, by an earlier study.

    Raises:
        LullError: A saved simulation is damaged.
    """
    rows = rows_of(points, state, taken)
    return Outcome(
        rows=rows,
        savings=savings_of(points, state),
        drawings=drawings(study.figures, rows),
        verdicts=[judge(statement, rows, points) for statement in study.paper_results],
        progress=[_progress(grid.name, points, rows) for grid in study.grids],
    )


def _progress(grid: str, points: Sequence[Point], rows: Sequence[Row]) -> str:
    wanted = sum(point.grid == grid for point in points)
    there = {row.point: row for row in rows if row.grid == grid}
    hours = sum(row.simulator_cpu_s for row in there.values()) / 3600
    hops = sum(row.packet_hops for row in there.values())
    took = f", {hours:.2f} h of CPU time, {formatting.si(float(hops), 'packet-hops')}" if there else ""
    return f"grid {grid}: {len(there):,} of {formatting.count(wanted, 'simulation')}{took}"


def describe(study: StudyOfSimulations, outcome: Outcome) -> Document:
    """The tables of the drawings, how far the grids are, and the paper's statements."""
    parts: list[Part] = [
        Line(study.question),
        *(drawn.table() for drawn in outcome.drawings),
        *map(Line, outcome.progress),
        *([Note(study.note)] if study.note else []),
        *paper_table.describe(study.paper, outcome.verdicts),
    ]
    return Document(study.title, tuple(parts))


def write(study: StudyOfSimulations, outcome: Outcome, state: ExperimentState) -> Path:
    """Write points.csv, savings.csv, the plots and the report; return the report.

    Raises:
        LullError: A file cannot be written.
    """
    state.write(state.out / "points.csv", csv_text(outcome.rows).encode())
    state.write(state.out / "savings.csv", savings.csv_text(outcome.savings).encode())
    for form in ("svg", "pdf") if outcome.drawings else ():
        write_plots({one.name: one.plot for one in outcome.drawings}, PlotFiles(state.out / "plots", form))
    text = rendered(
        "simulated_study.html.j2",
        title=study.title,
        question=study.question,
        note=study.note,
        source=study.paper.citation if study.paper else "",
        version=__version__,
        progress=outcome.progress,
        claims=paper_table.rows(outcome.verdicts),
        drawings=[(one, one.plot.svg(one.name)) for one in outcome.drawings],
    )
    report = state.out / "report.html"
    write_page(report, text)
    return report
